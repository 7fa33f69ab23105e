import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../../server/database/database.ts'
import { startDeliveries, type OutgoingMessage } from '../delivery/delivery.ts'
import { isDemo } from '../demo.ts'
import type { MessageType } from '../destinations/destination.ts'
import { alertPayload, type MessageReason } from '../messages/message.ts'
import { Alert, Destination } from '../models.ts'
import { postponeMessages, stopPostponed } from '../delivery/postponed.ts'
import {
  findNotified,
  findNotifiedOfTwins,
  findRecipients,
  type AlertTwins,
  type NotifiedDestination,
  type Recipient,
} from './recipients.ts'
import { composeBody } from '../messages/compose.ts'
import { takesIncident } from '../lifecycle/notice.ts'
import type { IncidentPart } from '../destinations/payload.ts'

/** One message to one destination, before it is composed. */
export interface AddressedMessage {
  alert: Alert
  /** What it says of the incident of the alert; absent of a message about the alert alone. */
  incident?: IncidentPart
  type: MessageType
  reason?: MessageReason
  destination: Destination
  ruleIds: string[]
  /** Whether an earlier message of the alert to the destination has to end first. */
  isWaiting: boolean
}

export interface EndedAlerts {
  alerts: readonly Alert[]
  reasonOf: (alert: Alert) => MessageReason
}

/**
 * Sends `alert.triggered`, except for demo alerts, to destinations that take incidents, and to those that were notified of
 * the twin of an alert. A message in a cooldown is postponed.
 * @param superseded the alerts that some of these replaced because they got worse. A destination that is notified of the
 * new alert gets `alert.resolved` of the old one; any other gets it only when the new one is resolved.
 */
export async function notifyTriggered(
  server: Server,
  trx: Transaction,
  alerts: readonly Alert[],
  { superseded, twins }: { superseded: EndedAlerts; twins: AlertTwins },
): Promise<void> {
  const real = alerts.filter(alert => !isDemo(alert))
  const found = await findRecipients(server, trx, real)
  const isKnown = await findNotifiedOfTwins(trx, twins)
  const all = real.flatMap((alert, place) =>
    (found[place] ?? [])
      .filter(
        ({ destination }) =>
          !takesIncident(server, alert, destination) && !isKnown.has(`${alert.id} ${destination.id}`),
      )
      .map(recipient => ({ ...triggeredMessage(alert, recipient), ...recipient })),
  )
  const now = all.filter(({ postponedUntil }) => postponedUntil === null)
  const isNotified = new Set(now.map(({ alert, destination }) => `${alert.supersedes} ${destination.id}`))
  const ends = await resolvedMessages(server, trx, superseded, (id, destinationId) =>
    isNotified.has(`${id} ${destinationId}`),
  )
  await sendMessages(server, trx, [...ends, ...now])
  await postponeUntil(server, trx, all)
}

/** Postpones those of some messages that are in a cooldown. */
export async function postponeUntil(
  server: Server,
  trx: Transaction,
  all: readonly (AddressedMessage & Pick<Recipient, 'postponedUntil'>)[],
): Promise<void> {
  const postponed = all.filter(({ postponedUntil }) => postponedUntil !== null)
  const messages = composeMessages(server, postponed)
  await postponeMessages(
    trx,
    postponed.map(({ postponedUntil }, place) => ({ message: messages[place]!, until: postponedUntil! })),
  )
}

/**
 * Sends `alert.triggered` again to the notified destinations whose rules still match, regardless of cooldowns. A
 * destination to which such a message is still on its way gets no other.
 */
export async function notifyAgain(
  server: Server,
  trx: Transaction,
  alerts: readonly Alert[],
  reason: MessageReason,
): Promise<void> {
  const notified = await findNotified(trx, alerts)
  const before = new Set(
    notified
      .filter(({ isPending, newestId, alertId }) => !isPending && newestId === alertId)
      .map(({ alertId, destinationId }) => `${alertId} ${destinationId}`),
  )
  if (before.size === 0) return
  const found = await findRecipients(server, trx, alerts, { ignoresCooldowns: true })
  const again = alerts.flatMap((alert, place) =>
    (found[place] ?? [])
      .filter(({ destination }) => before.has(`${alert.id} ${destination.id}`))
      .map(recipient => ({ ...triggeredMessage(alert, recipient), reason })),
  )
  await sendMessages(server, trx, again)
}

/** Sends `alert.resolved` to the notified destinations. Postponed messages are stopped. */
export async function notifyResolved(server: Server, trx: Transaction, ended: EndedAlerts): Promise<void> {
  await sendMessages(server, trx, await resolvedMessages(server, trx, ended))
}

export function triggeredMessage(alert: Alert, { destination, ruleIds }: Omit<Recipient, 'postponedUntil'>) {
  return { alert, type: 'alert.triggered' as const, destination, ruleIds, isWaiting: false }
}

/**
 * The `alert.resolved` messages of alerts and of those that they superseded. A destination that is switched off gets one
 * too: its attempt ends as `stopped`, and it can be sent again later. A deleted one gets none.
 * @param isRecipient whether a destination gets the message of an alert
 */
async function resolvedMessages(
  server: Server,
  trx: Transaction,
  { alerts, reasonOf }: EndedAlerts,
  isRecipient: (alertId: string, destinationId: string) => boolean = () => true,
): Promise<AddressedMessage[]> {
  const real = alerts.filter(alert => !isDemo(alert))
  const known = await findNotified(trx, real)
  const all = [...known, ...(await findRecipientsOfOldAlerts(server, trx, real, known))]
  await stopPostponed(
    trx,
    all.filter(({ isPostponed }) => isPostponed),
    'The alert was over, or got worse, before the cooldown of its rule ended',
  )
  const notified = all.filter(
    ({ isPostponed, newestId, destinationId }) => !isPostponed && isRecipient(newestId, destinationId),
  )
  if (notified.length === 0) return []
  const newest = new Map(alerts.map(alert => [alert.id, alert]))
  const olderIds = notified.map(({ alertId }) => alertId).filter(id => !newest.has(id))
  const older = olderIds.length > 0 ? await Alert.query(trx).findByIds([...new Set(olderIds)]) : []
  const byId = new Map([...older, ...alerts].map(alert => [alert.id, alert]))
  const destinations = await Destination.query(trx)
    .findByIds([...new Set(notified.map(({ destinationId }) => destinationId))])
    .whereNull('deletedAt')
  return notified.flatMap(({ newestId, alertId, destinationId, ruleIds, isPending: isWaiting }) => {
    const destination = destinations.find(({ id }) => id === destinationId)
    const [alert, over] = [byId.get(alertId), newest.get(newestId)]
    if (!destination || !alert || !over) return []
    const { status, resolvedAt } = over
    const shown = alert.$clone().$set({ status, resolvedAt })
    return [
      {
        alert: shown,
        type: 'alert.resolved' as const,
        reason: reasonOf(over),
        destination,
        ruleIds,
        isWaiting,
      },
    ]
  })
}

/**
 * The recipients, by the rules of now, of alerts that are older than the stored deliveries: an incident that stays open
 * forever is worse than the end of one that was never opened.
 */
async function findRecipientsOfOldAlerts(
  server: Server,
  trx: Transaction,
  alerts: readonly Alert[],
  known: readonly NotifiedDestination[],
): Promise<NotifiedDestination[]> {
  const retainedSince = Date.now() - server.config.retentionAlertsDays * DAY_MS
  const old = alerts.filter(
    ({ id, createdAt }) =>
      createdAt.getTime() < retainedSince && !known.some(({ newestId }) => newestId === id),
  )
  const found = await findRecipients(server, trx, old, { ignoresCooldowns: true })
  return old.flatMap((alert, place) =>
    found[place]!.filter(({ destination }) => !takesIncident(server, alert, destination)).map(
      ({ destination, ruleIds }) => ({
        newestId: alert.id,
        alertId: alert.id,
        destinationId: destination.id,
        ruleIds,
        deliveryId: '',
        isPostponed: false,
        isPending: false,
      }),
    ),
  )
}

const DAY_MS = 86_400_000

export async function sendMessages(server: Server, trx: Transaction, addressed: readonly AddressedMessage[]) {
  if (addressed.length > 0) await startDeliveries(server, trx, composeMessages(server, addressed))
}

/** Composes each body once for all destinations of a type. */
function composeMessages(server: Server, addressed: readonly AddressedMessage[]): OutgoingMessage[] {
  const bodies = new Map<string, string>()
  return addressed.map(({ alert, incident, type, reason, destination, ruleIds, isWaiting }) => {
    const { id: destinationId, destinationType } = destination
    const key = [type, alert.id, destinationType, incident?.id, incident?.event].join(' ')
    const body =
      bodies.get(key) ??
      composeBody(server, destinationType, alertPayload(server, alert, type, { ...reason, incident }))
    bodies.set(key, body)
    const isFailing = destination.failingSince !== null
    const incidentId = incident?.id ?? null
    return {
      alertId: alert.id,
      incidentId,
      destinationId,
      ruleIds,
      eventType: type,
      body,
      isFailing,
      isWaiting,
    }
  })
}
