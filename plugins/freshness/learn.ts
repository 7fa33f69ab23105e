import { setImmediate } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { rows } from '../../server/database.ts'
import { learnThreshold, type Threshold } from './judge.ts'

/** Updates that a cadence is learned from. */
const MOST_UPDATES = 500
/** Learning takes milliseconds a table; after this many, requests that wait get their turn. */
const BETWEEN_PAUSES = 10

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
  if (learners.length === 0) return new Map()
  const known = await server.db.company(companyId, trx =>
    rows<{ id: string; updates: Date[] | null }>(
      trx,
      `select f.id, (select array_agg(u.seen order by u.seen) from (
         select least(c.last_updated, c.checked_at) as seen from freshness_checks c
         where c.company_id = f.company_id and c.schedule_id = f.id and c.is_update
         order by c.checked_at desc, c.id desc limit ${MOST_UPDATES}
       ) u) as updates
     from freshness_schedules f where f.company_id = :companyId and f.id = any(cast(:ids as uuid[]))`,
      { companyId, ids: learners.map(({ id }) => id) },
    ),
  )
  const updatesOf = new Map(known.map(({ id, updates }) => [id, updates ?? []]))
  const learned = new Map<string, Threshold>()
  for (const { id, newUpdate } of learners) {
    if (learned.size % BETWEEN_PAUSES === 0) await setImmediate()
    learned.set(id, learnThreshold([...(updatesOf.get(id) ?? []), ...(newUpdate ? [newUpdate] : [])]))
  }
  return learned
}
