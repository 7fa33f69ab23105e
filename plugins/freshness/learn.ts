import { setImmediate } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { rows } from '../../server/database/database.ts'
import { learnThreshold, type Threshold } from './judge.ts'

/** Updates that a cadence is learned from. */
const MOST_UPDATES = 500
/** Learning takes part of a millisecond a table; after this many, requests that wait get their turn. */
const BETWEEN_PAUSES = 10
/** Schedules whose updates are read in one statement: some megabytes of them. */
const AT_ONCE = 1_000

/** A schedule to learn for, and the update that the check at hand has found. */
export interface Learner {
  id: string
  newUpdate: Date | null
}

/**
 * The thresholds of auto_learn schedules by id, from their recorded updates and the new ones. Learned outside
 * of any transaction, since it takes seconds for thousands of tables.
 */
export async function learnThresholds(
  server: Server,
  companyId: string,
  learners: readonly Learner[],
): Promise<Map<string, Threshold>> {
  const learned = new Map<string, Threshold>()
  for (let from = 0; from < learners.length; from += AT_ONCE) {
    const some = learners.slice(from, from + AT_ONCE)
    const updatesOf = await knownUpdates(
      server,
      companyId,
      some.map(({ id }) => id),
    )
    for (const { id, newUpdate } of some) {
      if (learned.size % BETWEEN_PAUSES === 0) await setImmediate()
      learned.set(id, learnThreshold([...(updatesOf.get(id) ?? []), ...(newUpdate ? [newUpdate] : [])]))
    }
  }
  return learned
}

/**
 * The recorded updates of schedules, oldest first. They come as JSON of milliseconds, which is read ten times as fast
 * as an array of timestamps.
 */
async function knownUpdates(
  server: Server,
  companyId: string,
  ids: readonly string[],
): Promise<Map<string, Date[]>> {
  const known = await server.db.company(companyId, trx =>
    rows<{ id: string; updates: number[] }>(
      trx,
      `select f.id, u.updates from freshness_schedules f cross join lateral (
         select json_agg(cast(date_part('epoch', seen) * 1000 as bigint)) as updates from (
           select least(c.last_updated, c.checked_at) as seen from freshness_checks c
           where c.company_id = f.company_id and c.schedule_id = f.id and c.is_update
           order by c.checked_at desc, c.id desc limit ${MOST_UPDATES}) newest) u
       where f.company_id = :companyId and f.id = any(cast(:ids as uuid[])) and u.updates is not null`,
      { companyId, ids },
    ),
  )
  return new Map(
    known.map(({ id, updates }) => [id, updates.sort((a, b) => a - b).map(time => new Date(time))]),
  )
}
