import { setTimeout as wait } from 'node:timers/promises'
import { tally, type Tally } from './ledger.ts'
import { setStage, type Play, type Stage } from './stage.ts'

const DESTINATIONS = 4
/** Milliseconds that the receivers take to answer, and after which the server is killed. */
const ANSWER_MS = 4_000
const KILL_AFTER_MS = 300
/** Seconds within which the next attempt comes after a kill: the claim lapses, and the delay of the attempt is over. */
const NEXT_SECONDS = 60

/**
 * The only server is killed in the middle of attempts at a healthy receiver that takes its time, again and again: each
 * attempt that was lost is recorded as one of the five, and the message is delivered.
 */
export async function losses({ isShort, folder }: Play): Promise<Tally> {
  const settings = { WEBHOOK_DELAYS: '0,0,0,0,0' }
  const stage = await setStage({ folder, destinations: DESTINATIONS, role: 'all', settings })
  try {
    stage.receiver.behave({ statuses: [200], percent: 100, delay: ANSWER_MS })
    await stage.plan({ alerts: 1, batch: 1 })
    const kills = isShort ? 1 : 3
    for (let kill = 1; kill <= kills; kill += 1) {
      await arrived(stage, kill * DESTINATIONS)
      await wait(KILL_AFTER_MS)
      stage.members.forEach(member => member.signal('SIGKILL'))
      await stage.start('all')
    }
    const isSettled = await stage.settled(NEXT_SECONDS)
    const result = await tally(stage, { most: kills * DESTINATIONS, isSettled, isShort })
    const ends = await stage.query<{ ends: string; deliveries: number }>(
      `select ends, cast(count(*) as integer) as deliveries from (
         select string_agg(coalesce(a.error_class, 'ok'), ' ' order by a.n) as ends from deliveries d
           join delivery_attempts a on a.delivery_id = d.id where d.event_type = 'alert.triggered' group by d.id) e
        group by ends`,
    )
    const expected = [...Array<string>(kills).fill('interrupted'), 'ok'].join(' ')
    const broken = ends
      .filter(({ ends: found }) => found !== expected)
      .map(
        ({ ends: found, deliveries }) =>
          `${deliveries} deliveries had the attempts ${found}, not ${expected}`,
      )
    return { ...result, broken: [...broken, ...result.broken], note: `${kills} kills, each ${expected}` }
  } finally {
    await stage.end()
  }
}

/** Resolves when so many messages of alerts that began have arrived. */
async function arrived({ receiver }: Stage, count: number): Promise<void> {
  const deadline = Date.now() + NEXT_SECONDS * 1_000
  for (;;) {
    const arrivals = await receiver.arrivals()
    const found = arrivals.filter(({ type }) => type === 'alert.triggered').length
    if (found >= count) return
    if (Date.now() > deadline) throw new Error(`${found} of ${count} messages arrived in ${NEXT_SECONDS} s`)
    await wait(50)
  }
}
