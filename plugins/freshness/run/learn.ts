import { setImmediate } from 'node:timers/promises'
import { median } from '../../../checks/cadence.ts'
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
  /** The age of the new update when it was found. */
  newAgeSeconds: number
  /** How often it is checked: that much later than it happened an update may be found. */
  intervalSeconds: number
  /** Whether the values are days: data of one may arrive until the day after. */
  isDay: boolean
}

/** A threshold, and the updates that it was learned from. */
export interface LearnedThreshold extends Threshold {
  updates: number
}

/** An update as a check found it. */
interface FoundUpdate {
  at: Date
  ageSeconds: number
}

/**
 * Thresholds of `auto_learn` schedules by id, from stored updates and the new ones. Learned outside of any transaction,
 * because thousands of tables take seconds.
 */
export async function learnThresholds(
  db: Database,
  companyId: string,
  learners: readonly LearningSchedule[],
): Promise<Map<string, LearnedThreshold>> {
  const learned = new Map<string, LearnedThreshold>()
  for (let from = 0; from < learners.length; from += SCHEDULES_PER_STATEMENT) {
    const some = learners.slice(from, from + SCHEDULES_PER_STATEMENT)
    const ids = some.map(({ id }) => id)
    const updatesOf = await db.company(companyId, trx => readFoundUpdates(trx, ids))
    for (const { id, newUpdate, newAgeSeconds, ...lag } of some) {
      if (learned.size % TABLES_BETWEEN_PAUSES === 0) await setImmediate()
      const added = newUpdate ? [{ at: newUpdate, ageSeconds: newAgeSeconds }] : []
      const updates = [...(updatesOf.get(id) ?? []), ...added]
      const threshold = learnThreshold(
        updates.map(({ at }) => at),
        lagSeconds(updates, lag),
      )
      learned.set(id, { ...threshold, updates: Math.min(updates.length, MAX_UPDATES) })
    }
  }
  return learned
}

const DAY_SECONDS = 86_400
/** The newest updates whose ages are looked at. */
const LAG_UPDATES = 7

/**
 * How much later than their times updates are found, beyond what checks are apart: that of dates that a load of the
 * next day writes. Their gaps alone would call the table late before each load.
 */
function lagSeconds(
  updates: readonly FoundUpdate[],
  { intervalSeconds, isDay }: Pick<LearningSchedule, 'intervalSeconds' | 'isDay'>,
): number {
  const ages = updates.slice(-LAG_UPDATES).map(({ ageSeconds }) => ageSeconds)
  const seen = ages.length === 0 ? 0 : median(ages) - intervalSeconds
  return Math.max(isDay ? DAY_SECONDS : 0, seen)
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

/** Stored update times of schedules, oldest first. */
export async function readUpdates(trx: Transaction, ids: readonly string[]): Promise<Map<string, Date[]>> {
  const found = await readFoundUpdates(trx, ids)
  return new Map([...found].map(([id, updates]) => [id, updates.map(({ at }) => at)]))
}

/** Stored updates of schedules, oldest first. JSON of milliseconds is parsed ten times as fast as an array of timestamps. */
async function readFoundUpdates(
  trx: Transaction,
  ids: readonly string[],
): Promise<Map<string, FoundUpdate[]>> {
  const stored = await rows<{ id: string; updates: [ms: number, age: number][] }>(
    trx,
    `select c.id, u.updates from checks c cross join lateral (
       select json_agg(json_build_array(cast((date_part('epoch', at) - value) * 1000 as bigint), value)) as updates from (
         ${updatesOf('c')} limit ${MAX_UPDATES}) newest) u
     where c.company_id = :companyId and c.id = any(cast(:ids as bigint[])) and u.updates is not null`,
    { companyId: companyOf(trx), ids },
  )
  return new Map(
    stored.map(({ id, updates }) => [
      id,
      updates.sort(([a], [b]) => a - b).map(([time, ageSeconds]) => ({ at: new Date(time), ageSeconds })),
    ]),
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
