import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { Alert } from '../models.ts'

/** @throws 404 `ALERT_NOT_FOUND` */
export async function findAlert(trx: Transaction, id: string): Promise<Alert> {
  const alert = await Alert.query(trx).findById(id)
  if (alert) return alert
  throw noAlert(id)
}

/** The 404 of an alert that does not exist. */
export function noAlert(id: string) {
  const message = 'There is no alert of this id: GET /api/v1/sdk/alerts lists them'
  return apiError('ALERT_NOT_FOUND', message, { alert_id: id })
}
