/** Locks of checks: before their alerts. The order of all locks: `server/database/locks.ts`. */
import type { Transaction } from '../../server/database/database.ts'
import { queryChecks, type CheckRow, type CheckModel } from './models.ts'

/** Locks those checks that still exist, by id. */
export async function lockChecks<Row extends CheckRow>(
  trx: Transaction,
  model: CheckModel<Row>,
  ids: readonly string[],
): Promise<Row[]> {
  return queryChecks(model, trx)
    .findByIds([...ids])
    .orderBy('checks.id')
    .forUpdate()
}

/** Locks those checks that still exist, by id, as above. */
export async function lockChecksByUuid<Row extends CheckRow>(
  trx: Transaction,
  model: CheckModel<Row>,
  uuids: readonly string[],
): Promise<void> {
  const some = queryChecks(model, trx).whereRaw('uuid = any(cast(? as uuid[]))', [uuids])
  await some.select('checks.id').orderBy('checks.id').forUpdate()
}

/** Locks a check; undefined if it was removed. Once it is locked, no scan of it is being recorded. */
export async function lockCheck<Row extends CheckRow>(
  trx: Transaction,
  model: CheckModel<Row>,
  key: { id: string } | { uuid: string },
): Promise<Row | undefined> {
  return queryChecks(model, trx).findOne(key).forUpdate()
}

/** Locks the checks that use an operating schedule, in the order in which scans lock them. */
export async function lockChecksOfSchedule<Row extends CheckRow>(
  trx: Transaction,
  model: CheckModel<Row>,
  operatingScheduleId: string,
): Promise<Row[]> {
  return queryChecks(model, trx).where({ operatingScheduleId }).orderBy('checks.id').forUpdate()
}
