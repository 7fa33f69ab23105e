import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database.ts'
import { startDeliveries } from './delivery.ts'
import type { MessageType } from './destination.ts'
import { payloadOf } from './message.ts'
import type { Alert } from './models.ts'
import { recipients } from './recipients.ts'
import { composed } from './types.ts'

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
    const payload = payloadOf(alert, type, server.config.baseUrl)
    const bodies = new Map<string, string>()
    return those.map(({ destination, ruleIds }) => {
      const { id: destinationId, destinationType } = destination
      const body = bodies.get(destinationType) ?? composed(server, destinationType, payload)
      bodies.set(destinationType, body)
      return { alertId: alert.id, destinationId, ruleIds, eventType: type, body }
    })
  })
  if (messages.length > 0) await startDeliveries(server, trx, messages)
}
