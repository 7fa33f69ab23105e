import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database.ts'
import { startDeliveries } from './delivery.ts'
import { messageBody } from './message.ts'
import type { Alert, MessageType } from './models.ts'
import { recipients } from './recipients.ts'

/** Sends a message about each of some alerts to all who should hear of it. */
export async function tell(
  server: Server,
  trx: Transaction,
  alerts: readonly Alert[],
  type: MessageType,
): Promise<void> {
  const told = await recipients(trx, alerts, type)
  const messages = alerts.flatMap((alert, place) => {
    const those = told[place] ?? []
    if (those.length === 0) return []
    const body = messageBody(alert, type, server.config.baseUrl)
    return those.map(({ destination, ruleIds }) => ({
      alertId: alert.id,
      destinationId: destination.id,
      ruleIds,
      eventType: type,
      body,
    }))
  })
  if (messages.length > 0) await startDeliveries(server, trx, messages)
}
