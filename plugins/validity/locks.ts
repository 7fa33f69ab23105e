/** Locks of rules: before their alerts. The order of all locks: `server/database/locks.ts`. */
import type { Transaction } from '../../server/database/database.ts'
import { ValidityRule } from './models.ts'

/** Locks a rule; undefined if it was removed. Once it is locked, no scan of it is being recorded. */
export async function lockValidityRule(trx: Transaction, key: { id: ValidityRule['id'] } | { uuid: string }) {
  return ValidityRule.query(trx).findOne(key).forUpdate()
}

/** Locks the rules that use an operating schedule, in the order in which scans lock rules. */
export async function lockRulesOfSchedule(trx: Transaction, operatingScheduleId: string) {
  return ValidityRule.query(trx).where({ operatingScheduleId }).orderBy('id').forUpdate()
}
