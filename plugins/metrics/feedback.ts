import type { Transaction } from '../../server/database/database.ts'
import { confirmSnapshots } from './states.ts'
import { lockMetric } from './locks.ts'

const METRIC_CAUSE = /^m_([0-9a-f-]{36})$/

/**
 * Makes the values that an alert spoke of part of what its metric expects: the snapshots that counted on it are
 * confirmed, and the baselines of their groups are read again with them. The metric is locked, as recording its captures does, before the alert is. An alert of groups that came or went has no values: it is dismissed, and
 * nothing is learned, since groups are judged by the last captures alone.
 * @returns whether values were learned
 */
export async function learnExpected(trx: Transaction, alert: { id: string; cause: string }) {
  const id = METRIC_CAUSE.exec(alert.cause)?.[1]
  const metric = id && (await lockMetric(trx, { id }))
  if (!metric) return false
  await confirmSnapshots(trx, metric, alert.id)
  return true
}
