import { setTimeout as wait } from 'node:timers/promises'
import { startBlackhole, type Blackhole } from './blackhole.ts'
import { MAX_IN_FLIGHT, tally, type Tally } from './ledger.ts'
import { setStage, type Play, type Stage } from './stage.ts'

/** Seconds after which everything works again once packets pass. */
const RECOVERY_LIMIT_SECONDS = 20
/** Requests that meet the silence; more than connections. */
const CALLERS = 40

/**
 * The network between a server and its PostgreSQL silently drops every packet for a while: each pool
 * works again soon after, and no request waits for ever.
 */
export async function silences({ isShort, folder }: Play): Promise<Tally> {
  let hole: Blackhole | undefined
  const stage = await setStage({
    folder,
    destinations: 4,
    role: 'all',
    through: async cluster => (hole = await startBlackhole(cluster)).port,
  })
  try {
    const broken: string[] = []
    const healing: number[] = []
    for (const seconds of isShort ? [5] : [5, 60]) {
      // Endless: there is always something on its way.
      await stage.plan({ alerts: 1_000_000, batch: 1, pause: 200 })
      await wait(3_000)
      const round = await fallSilent(stage, hole!, seconds)
      healing.push(round.api, round.jobs)
      if (round.hanging > 0) broken.push(`${round.hanging} requests were never answered`)
      for (const [what, took] of [['requests', round.api] as const, ['deliveries', round.jobs] as const]) {
        if (took > RECOVERY_LIMIT_SECONDS)
          broken.push(`After ${seconds} s of silence ${what} took ${took.toFixed(1)} s to work`)
      }
    }
    await stage.plan({ alerts: 0 })
    const isSettled = await stage.settled(120)
    const result = await tally(stage, { most: healing.length * MAX_IN_FLIGHT, isSettled, isShort })
    return {
      ...result,
      note: `requests and deliveries again after ${healing.map(took => took.toFixed(1)).join(', ')} s`,
      recoveries: healing.sort((a, b) => a - b),
      broken: [...broken, ...result.broken],
    }
  } finally {
    await stage.end()
    hole?.close()
  }
}

interface Healing {
  /** Seconds until a request was answered that needs both roles of the database. */
  api: number
  /** Seconds until a message arrived of an alert that was raised afterwards. */
  jobs: number
  /** Requests that got no answer at all. */
  hanging: number
}

async function fallSilent(stage: Stage, hole: Blackhole, seconds: number): Promise<Healing> {
  hole.silence()
  const calls = Array.from({ length: CALLERS }, (_, n) =>
    wait((n * seconds * 1_000) / CALLERS).then(() => call(stage, (seconds + 60) * 1_000)),
  )
  await wait(seconds * 1_000)
  hole.heal()
  const healedAt = Date.now()
  const since = () => (Date.now() - healedAt) / 1_000
  const works = async (isWorking: () => Promise<boolean>) => {
    while (!(await isWorking()) && since() < 90) await wait(250)
    return since()
  }
  const [api, jobs, statuses] = await Promise.all([
    works(async () => (await call(stage, 5_000)) === 200),
    works(async () => {
      const fresh = await stage.query<{ id: string }>(
        'select id from alerts where created_at > to_timestamp($1)',
        [healedAt / 1_000],
      )
      const ids = new Set(fresh.map(({ id }) => id))
      return (await stage.receiver.arrivals()).some(({ alertId }) => ids.has(alertId))
    }),
    Promise.all(calls),
  ])
  return { api, jobs, hanging: statuses.filter(status => status === null).length }
}

/** @returns the status, or null when there was no answer in time */
async function call(stage: Stage, patience: number): Promise<number | null> {
  const url = `${stage.members[0]!.url}/api/v1/sdk/alerts/destinations`
  const headers = { authorization: `Bearer ${stage.key}` }
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(patience) })
    await response.arrayBuffer()
    return response.status
  } catch {
    return null
  }
}
