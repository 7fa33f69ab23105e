import { setImmediate } from 'node:timers/promises'
import { companyOf, rows, type Database, type Transaction } from '../../../server/database/database.ts'
import type { TableUpdates } from '../api.ts'
import { Schedule } from '../models.ts'
import { learnThreshold, type Threshold } from './judge.ts'

const MAX_UPDATES = 500
/** Learning takes a fraction of a millisecond per table; pausing lets other requests proceed. */
const TABLES_BETWEEN_PAUSES = 10
/** Keeps a statement's result at some megabytes. */
const SCHEDULES_PER_STATEMENT = 1_000

/** A schedule in `auto_learn` mode, and the update that the current check found. */
export interface LearningSchedule {
  id: string
  newUpdate: Date | null
}

/**
 * Thresholds of `auto_learn` schedules by id, from stored updates and the new ones. Learned outside of any transaction,
 * because thousands of tables take seconds.
 */
export async function learnThresholds(
  db: Database,
  companyId: string,
  learners: readonly LearningSchedule[],
): Promise<Map<string, Threshold>> {
  const learned = new Map<string, Threshold>()
  for (let from = 0; from < learners.length; from += SCHEDULES_PER_STATEMENT) {
    const some = learners.slice(from, from + SCHEDULES_PER_STATEMENT)
    const ids = some.map(({ id }) => id)
    const updatesOf = await db.company(companyId, trx => readUpdates(trx, ids))
    for (const { id, newUpdate } of some) {
      if (learned.size % TABLES_BETWEEN_PAUSES === 0) await setImmediate()
      learned.set(id, learnThreshold([...(updatesOf.get(id) ?? []), ...(newUpdate ? [newUpdate] : [])]))
    }
  }
  return learned
}

/**
 * The results of a row `check` of checks that found an update, newest first. The time of the update is that of the result
 * less the age; the age of a future one is 0, so that it counts as of the check that saw it.
 */
export const updatesOf = (check: string): string => `
  select r.at, r.value from check_results r
  where r.company_id = ${check}.company_id and r.check_id = ${check}.id and r.id > ${check}.baseline_after
    and r.details ->> 'isUpdate' is not null
  order by r.at desc, r.id desc`

/**
 * Stored update times of schedules, oldest first. JSON of milliseconds is parsed ten times as fast as an array of
 * timestamps.
 */
export async function readUpdates(trx: Transaction, ids: readonly string[]): Promise<Map<string, Date[]>> {
  const stored = await rows<{ id: string; updates: number[] }>(
    trx,
    `select c.id, u.updates from checks c cross join lateral (
       select json_agg(cast((date_part('epoch', at) - value) * 1000 as bigint)) as updates from (
         ${updatesOf('c')} limit ${MAX_UPDATES}) newest) u
     where c.company_id = :companyId and c.id = any(cast(:ids as bigint[])) and u.updates is not null`,
    { companyId: companyOf(trx), ids },
  )
  return new Map(
    stored.map(({ id, updates }) => [id, updates.sort((a, b) => a - b).map(time => new Date(time))]),
  )
}

/** The stored updates of the schedules of some tables. */
export async function readUpdatesOfTables(
  trx: Transaction,
  tableIds: readonly string[],
): Promise<TableUpdates[]> {
  const schedules = await Schedule.query(trx)
    .whereRaw('table_id = any(cast(? as uuid[]))', [tableIds])
    .select('id', 'tableId')
    .orderBy('tableId')
  const updates = await readUpdates(
    trx,
    schedules.map(({ id }) => id),
  )
  return schedules.map(({ id, tableId }) => ({ tableId, updates: updates.get(id) ?? [] }))
}
