import { setTimeout as wait } from 'node:timers/promises'
import type { Tally } from './ledger.ts'
import { addDestination, setStage, signUp, type Play, type Stage } from './stage.ts'

/** Receivers of the first company, which take requests and never answer, and its alerts. */
const SILENT_DESTINATIONS = 16
const SILENT_ALERTS = 8
/** Seconds that a first attempt of the second company may wait at p99, and a later one: a poll is 2 s. */
const FIRST_SECONDS = 1
const LATER_SECONDS = 3
/** Requests in flight at one destination. */
const MAX_IN_FLIGHT = 4

/**
 * One company's receivers never answer; beside it, another company's receiver takes what it gets, some of it at the
 * second try. The second company does not wait for the first: neither for first attempts nor for later ones.
 */
export async function tarpit({
  isShort,
  folder,
}: Play): Promise<Partial<Tally> & Pick<Tally, 'broken' | 'note'>> {
  const stage = await setStage({ folder, destinations: 1, role: 'all' })
  try {
    const { url } = stage.members[0]!
    const silent = await signUp(url)
    for (let n = 1; n <= SILENT_DESTINATIONS; n += 1)
      await addDestination(url, silent.key, `${stage.receiver.url}/silent/${n}`)
    stage.receiver.behave({ statuses: [500, 200], percent: 30, delay: 40, silent: '/silent/' })
    await stage.query('insert into chaos_plan values ($1, $2, $2, 100)', [silent.companyId, SILENT_ALERTS])
    await requested(stage, SILENT_DESTINATIONS * (MAX_IN_FLIGHT - 1))
    // In the long form, it goes on while the first company's later attempts are under way.
    const alerts = isShort ? 10 : 150
    await stage.query('update chaos_plan set alerts = $2, batch = 1, pause = 700 where company_id = $1', [
      stage.companyId,
      alerts,
    ])
    const isSettled = await settled(stage, alerts)
    return { ...(await judge(stage, { isShort, isSettled })), memory: stage.members[0]!.peak() }
  } finally {
    await stage.end()
  }
}

/** Resolves when so many requests wait at silent receivers. */
async function requested({ receiver }: Stage, count: number): Promise<void> {
  const deadline = Date.now() + 60_000
  while ((await receiver.waiting()) < count) {
    if (Date.now() > deadline)
      throw new Error(`${await receiver.waiting()} of ${count} requests came in a minute`)
    await wait(100)
  }
}

/** @returns whether all alerts of the second company were raised and delivered within the time of one silent attempt */
async function settled({ query, companyId }: Stage, alerts: number): Promise<boolean> {
  const deadline = Date.now() + alerts * 1_000 + 25_000
  while (Date.now() < deadline) {
    const [found] = await query<{ isDone: boolean }>(
      `select (select count(*) from alerts where company_id = $1) >= $2
          and not exists (select from deliveries where company_id = $1 and status = 'pending') as "isDone"`,
      [companyId, alerts],
    )
    if (found!.isDone) return true
    await wait(200)
  }
  return false
}

async function judge(stage: Stage, { isShort, isSettled }: { isShort: boolean; isSettled: boolean }) {
  const { query, companyId } = stage
  const attempts = await query<{ n: number; lag: number; silentEnded: number }>(
    `select a.n, extract(epoch from a.started_at - case when a.n = 1 then d.created_at else
              (select b.ended_at from delivery_attempts b where b.delivery_id = d.id and b.n = a.n - 1)
                + make_interval(secs => a.n - 1) end)::float8 as lag,
            (select count(*)::int from delivery_attempts s where s.company_id <> d.company_id
              and s.ended_at < a.started_at) as "silentEnded"
       from deliveries d join delivery_attempts a on a.delivery_id = d.id
      -- The end of an alert waits for its beginning.
      where d.company_id = $1 and d.event_type = 'alert.triggered' order by lag`,
    [companyId],
  )
  const undelivered = await query(`select from deliveries where company_id = $1 and status <> 'delivered'`, [
    companyId,
  ])
  const arrivals = (await stage.receiver.arrivals()).filter(({ path }) => !path.startsWith('/silent/'))
  const recorded = await query(`select from delivery_attempts where company_id = $1`, [companyId])
  const [most] = await query<{ most: number }>(
    `select max(open)::int as most from (
       select count(*) as open from deliveries d join delivery_attempts a on a.delivery_id = d.id
         join deliveries e on e.destination_id = d.destination_id
         join delivery_attempts b on b.delivery_id = e.id
          and b.started_at <= a.started_at and b.ended_at > a.started_at
        group by a.delivery_id, a.n) as at_once`,
  )
  const lags = { first: attempts.filter(({ n }) => n === 1), later: attempts.filter(({ n }) => n > 1) }
  const p99 = (all: readonly { lag: number }[]) => all[Math.floor(0.99 * (all.length - 1))]?.lag ?? 0
  const [first, later] = [p99(lags.first), p99(lags.later)]
  const overtaken = lags.first.filter(({ silentEnded }) => silentEnded > 0).length
  const duplicates = arrivals.length - recorded.length
  const broken = [
    !isSettled && 'The second company was not served in time',
    undelivered.length > 0 && `${undelivered.length} deliveries of the second company were lost`,
    duplicates !== 0 && `${duplicates} messages of the second company arrived again`,
    lags.later.length === 0 && 'No attempt of the second company was a later one',
    (most?.most ?? 0) > MAX_IN_FLIGHT && `${most!.most} requests were in flight at one destination`,
    isShort && overtaken > 0 && `${overtaken} first attempts waited until a silent one was given up on`,
    !isShort && first > FIRST_SECONDS && `First attempts waited ${first.toFixed(1)} s at p99`,
    !isShort && later > LATER_SECONDS && `Later attempts waited ${later.toFixed(1)} s at p99`,
  ].filter(sentence => sentence !== false)
  const note = `waited at p99: ${first.toFixed(2)} s, later attempts ${later.toFixed(2)} s`
  return { deliveries: attempts.length, lost: undelivered.length, duplicates, broken, note }
}
