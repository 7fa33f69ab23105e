import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../server/database.ts'
import { startDeliveries } from './delivery.ts'
import { isDemo } from './demo.ts'
import type { MessageType } from './destination.ts'
import { payloadOf, type Ending } from './message.ts'
import type { Alert } from './models.ts'
import { recipients } from './recipients.ts'
import { composed } from './types.ts'

/**
 * Sends a message about each of some alerts to all who should hear of it; of demo alerts, nobody should.
 * @param endingOf of `alert.resolved`: why an alert is over
 */
export async function tell(
  server: Server,
  trx: Transaction,
  all: readonly Alert[],
  type: MessageType,
  endingOf?: (alert: Alert) => Ending,
): Promise<void> {
  const alerts = all.filter(alert => !isDemo(alert))
  const told = await recipients(trx, alerts, type)
  const isOnItsWay = type === 'alert.resolved' ? await triggeredPending(trx, alerts) : () => false
  const messages = alerts.flatMap((alert, place) => {
    const those = told[place] ?? []
    if (those.length === 0) return []
    const payload = payloadOf(alert, type, server.config.baseUrl, endingOf?.(alert))
    const bodies = new Map<string, string>()
    return those.map(({ destination, ruleIds }) => {
      const { id: destinationId, destinationType } = destination
      const isFailing = destination.failingSince !== null
      const isWaiting = isOnItsWay(alert.id, destinationId)
      const body = bodies.get(destinationType) ?? composed(server, destinationType, payload)
      bodies.set(destinationType, body)
      return { alertId: alert.id, destinationId, ruleIds, eventType: type, body, isFailing, isWaiting }
    })
  })
  if (messages.length > 0) await startDeliveries(server, trx, messages)
}

/**
 * To which destinations `alert.triggered` of some alerts is still on its way: what follows must not overtake it. Asked
 * under the alerts' locks, under which deliveries end.
 */
async function triggeredPending(
  trx: Transaction,
  alerts: readonly Alert[],
): Promise<(alertId: string, destinationId: string) => boolean> {
  const pending = await rows<{ alertId: string; destinationId: string }>(
    trx,
    `select alert_id, destination_id from deliveries
      where company_id = :companyId and alert_id = any(cast(:ids as uuid[]))
        and event_type = 'alert.triggered' and status = 'pending'`,
    { companyId: companyOf(trx), ids: alerts.map(({ id }) => id) },
  )
  const known = new Set(pending.map(({ alertId, destinationId }) => `${alertId} ${destinationId}`))
  return (alertId, destinationId) => known.has(`${alertId} ${destinationId}`)
}
