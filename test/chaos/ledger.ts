/** Holds what the database says was sent against what the receiver got. */
import { deliverJob, retryJob } from '../../plugins/alerts/delivery/job-kinds.ts'
import type { Arrival } from './receiver.ts'
import type { Stage } from './stage.ts'

/** Seconds within which work goes on after a crash. */
export const RECOVERY_SECONDS = 30

/** Attempts that one process may have on their way for one company, which gets half of the slots. */
export const MAX_IN_FLIGHT = ((deliverJob.concurrency?.local ?? 2) + (retryJob.concurrency?.local ?? 2)) / 2

/** How a scenario ended. */
export interface Tally {
  deliveries: number
  /** Promised and not there: a delivery that was never made, that never arrived, or that did not end delivered. */
  lost: number
  /** Messages that arrived though the attempt of their arrival was never recorded. */
  duplicates: number
  /** Messages of which two arrivals had other bytes. */
  different: number
  /** Numbers of attempts that were recorded twice, left out, or came after one that was delivered. */
  wrongRows: number
  /** Messages `alert.resolved` that were taken in before the `alert.triggered` of their alert. */
  overtaken: number
  /** Seconds from each loss to the end of each attempt that was on its way. */
  recoveries: number[]
  /** Most memory of a server, in MiB. */
  memory: number
  /** Promises that were broken, each a sentence. */
  broken: string[]
  /** What else is worth telling. */
  note: string
}

/**
 * Counts it all.
 * @param most duplicates that are allowed
 * @param isSettled whether all that was raised has come to an end
 * @param isShort played beside others: then recovery is reported and not judged
 */
export async function tally(
  stage: Stage,
  { most, isSettled, isShort }: { most: number; isSettled: boolean; isShort: boolean },
): Promise<Tally> {
  const arrivals = await stage.receiver.arrivals()
  const messages = groupOf(arrivals)
  const recoveries = await recoveriesOf(stage)
  const counts = {
    ...(await countLost(stage, messages)),
    duplicates: arrivals.length - (await answeredAttempts(stage)),
    different: [...messages.values()].filter(all => new Set(all.map(({ hash }) => hash)).size > 1).length,
    wrongRows: await countWrongRows(stage),
    overtaken: countOvertaken(messages),
  }
  const slowest = Math.max(0, ...recoveries)
  const broken = [
    !isSettled && 'Not everything came to an end in time',
    counts.lost > 0 && `${counts.lost} deliveries were lost`,
    counts.duplicates > most &&
      `${counts.duplicates} duplicates are more than the ${most} that crashes explain`,
    counts.duplicates < 0 && `${-counts.duplicates} attempts are recorded whose message never arrived`,
    counts.different > 0 && `${counts.different} messages were not the same bytes each time`,
    counts.wrongRows > 0 && `${counts.wrongRows} attempts are recorded wrongly`,
    counts.overtaken > 0 &&
      `${counts.overtaken} messages of resolved alerts came before those of triggered ones`,
    !isShort &&
      slowest > RECOVERY_SECONDS &&
      `Recovery took ${slowest.toFixed(1)} s, which is more than ${RECOVERY_SECONDS} s`,
  ].filter(sentence => sentence !== false)
  const memory = Math.max(...stage.members.map(member => member.peak()))
  return { ...counts, recoveries, memory, broken, note: '' }
}

function keyOf({ path, alertId, type }: Pick<Arrival, 'path' | 'alertId' | 'type'>): string {
  return `${path} ${alertId} ${type}`
}

function groupOf(arrivals: readonly Arrival[]): Map<string, Arrival[]> {
  const messages = new Map<string, Arrival[]>()
  for (const arrival of arrivals) {
    const all = messages.get(keyOf(arrival))
    if (all) all.push(arrival)
    else messages.set(keyOf(arrival), [arrival])
  }
  return messages
}

/** Every alert promises each destination its opening, and its end if it has ended. */
async function countLost(
  stage: Stage,
  messages: ReadonlyMap<string, Arrival[]>,
): Promise<{ deliveries: number; lost: number }> {
  const promised = await stage.query<Pick<Arrival, 'alertId' | 'type' | 'path'> & { status: string | null }>(
    `select a.id as "alertId", m.type, '/' || split_part(t.name, '/', 4) as path, d.status
       from alerts a cross join destinations t
       join lateral (values ('alert.triggered'), ('alert.resolved')) m (type)
         on m.type = 'alert.triggered' or a.status = 'resolved'
       left join deliveries d on d.alert_id = a.id and d.destination_id = t.id and d.event_type = m.type
      -- News, which only rules that name it send.
      where a.kind <> 'discovery_complete'`,
  )
  const lost = promised.filter(message => {
    const isTaken = messages.get(keyOf(message))?.some(({ status }) => status === 200)
    return message.status !== 'delivered' || !isTaken
  })
  return { deliveries: promised.length, lost: lost.length }
}

async function answeredAttempts({ query }: Stage): Promise<number> {
  const [found] = await query<{ count: number }>(
    'select cast(count(*) as integer) as count from delivery_attempts where status_code is not null',
  )
  return found!.count
}

async function countWrongRows({ query }: Stage): Promise<number> {
  const [found] = await query<{ count: number }>(
    `select cast(count(*) as integer) as count from (
       select d.id from deliveries d left join delivery_attempts a on a.delivery_id = d.id
        group by d.id, d.attempt, d.status
       having count(a.n) <> d.attempt or count(distinct a.n) <> d.attempt or max(a.n) <> d.attempt
           or count(*) filter (where a.status_code = 200) <> case when d.status = 'delivered' then 1 else 0 end
     ) as wrong`,
  )
  return found!.count
}

function countOvertaken(messages: ReadonlyMap<string, Arrival[]>): number {
  return [...messages.values()].filter(([resolved]) => {
    if (resolved?.type !== 'alert.resolved') return false
    const opened = messages.get(keyOf({ ...resolved, type: 'alert.triggered' }))
    const taken = opened?.find(({ status }) => status === 200)
    return !taken || taken.at > resolved.at
  }).length
}

/**
 * One that was lost more than once counts from the last time, and nothing recovers while the database is away: it
 * counts from when that was back. What is not recorded counts as lost already.
 */
async function recoveriesOf({ losses, query }: Stage): Promise<number[]> {
  const lost = new Map<string, number>()
  for (const { at, attempts } of losses) for (const { id, n } of attempts) lost.set(`${id} ${n}`, at)
  const ended = await query<{ key: string; at: Date }>(
    `select delivery_id || ' ' || n as key, ended_at as at from delivery_attempts
      where delivery_id || ' ' || n = any($1)`,
    [[...lost.keys()]],
  )
  return ended
    .map(({ key, at }) => {
      const backBefore = losses.filter(loss => loss.wasAway && loss.at <= at.getTime())
      return (at.getTime() - Math.max(lost.get(key)!, ...backBefore.map(loss => loss.at))) / 1_000
    })
    .filter(seconds => seconds > 0)
    .sort((a, b) => a - b)
}
