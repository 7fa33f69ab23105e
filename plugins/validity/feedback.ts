import type { Transaction } from '../../server/database/database.ts'
import { relearn } from './baseline.ts'
import { ValidityResult } from './models.ts'
import { lockValidityRule } from './locks.ts'

/**
 * Makes what an alert spoke of part of what its rule expects: the results that counted on it are confirmed, and the
 * baseline is read again with them. Of a manual rule, whose threshold is the user's own, they are marked, no more.
 * The rule is locked, as recording its results does, before the alert is.
 * @returns whether the rule judges by it from now on
 */
export async function learnExpected(trx: Transaction, alert: { id: string; cause: string }) {
  const rule = await lockValidityRule(trx, { uuid: alert.cause.slice('v_'.length) })
  if (!rule) return false
  await ValidityResult.query(trx)
    .where({ validityRuleId: rule.id, alertId: alert.id })
    .patch({ isConfirmed: true })
  await relearn(trx, [rule])
  return rule.detectionMode !== 'manual'
}
