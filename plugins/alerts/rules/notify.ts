/** Notifies destinations of what happened to alerts: chooses who gets which message. */
import type { Transaction } from '../../../server/database/database.ts'
import { findPostponed, stopPostponed } from '../delivery/postponed.ts'
import type { Deps } from '../deps.ts'
import { alertSubject, type AddressedMessage, type MessageReason } from '../messages/message.ts'
import { findNotified, type NotifiedDestination } from '../messages/notified.ts'
import { laterMessages, sendMessages } from '../messages/send.ts'
import { Alert, isDemo } from '../models.ts'
import { startEscalations } from '../escalation/start.ts'
import { findRecipients, type MessageRecipient, type Recipient } from './recipients.ts'

export interface EndedAlerts {
  alerts: readonly Alert[]
  reasonOf: (alert: Alert) => MessageReason
}

/**
 * Sends `alert.triggered`, except for demo alerts, to destinations that take incidents. A message in a cooldown
 * or a mute window is postponed.
 * @param superseded the alerts that some of these replaced because they got worse. A destination that is notified of the new
 *   alert gets `alert.resolved` of the old one; any other gets it only when the new one is resolved
 */
export async function notifyOpened(
  deps: Deps,
  trx: Transaction,
  alerts: readonly Alert[],
  superseded: EndedAlerts,
): Promise<void> {
  const longOpen = openedLongAgo(deps.config, superseded)
  const recipients = await findRecipients(deps, trx, [...realOf(alerts), ...longOpen])
  const isNew = new Set(alerts.map(({ id }) => id))
  const toNotify = recipients.filter(recipient => isNew.has(recipient.alert.id))
  const opened = toNotify.filter(({ takesIncident }) => !takesIncident).map(openingMessage)
  await startEscalations(trx, toNotify)
  const isNotified = new Set(
    opened
      .filter(({ postponedUntil }) => postponedUntil === null)
      .map(({ subject, destination }) => `${subject.alert.supersedes} ${destination.id}`),
  )
  const ends = await endMessages(trx, superseded, recipients, ({ newestId, destinationId }) =>
    isNotified.has(`${newestId} ${destinationId}`),
  )
  await sendMessages(deps, trx, [...ends, ...opened])
}

const realOf = (alerts: readonly Alert[]) => alerts.filter(alert => !isDemo(alert))

const keyOf = ({ alert, destination }: Pick<Recipient, 'alert' | 'destination'>) =>
  `${alert.id} ${destination.id}`

/** The message that an alert was triggered. */
export function openingMessage({ alert, destination, ruleIds, postponedUntil }: MessageRecipient) {
  const type = 'alert.triggered' as const
  return { subject: alertSubject(alert), type, destination, ruleIds, postponedUntil }
}

/**
 * Sends `alert.triggered` again to the notified destinations whose rules still match, regardless of cooldowns; in a mute
 * window, when it ends. A destination to which such a message is still on its way, or postponed, gets no other.
 */
export async function notifyAgain(
  deps: Deps,
  trx: Transaction,
  alerts: readonly Alert[],
  reason: MessageReason,
): Promise<void> {
  const before = new Set(
    (await findNotified(trx, alerts))
      .filter(({ isPending, isPostponed, newestId, alertId }) => {
        return !isPending && !isPostponed && newestId === alertId
      })
      .map(({ alertId, destinationId }) => `${alertId} ${destinationId}`),
  )
  if (before.size === 0) return
  const recipients = await findRecipients(deps, trx, alerts, { ignoresCooldowns: true })
  const postponed = await findPostponed(
    trx,
    'alert',
    alerts.map(({ id }) => id),
  )
  const again = recipients
    .filter(recipient => before.has(keyOf(recipient)) && !postponed.has(keyOf(recipient)))
    .map(recipient => ({ ...openingMessage(recipient), reason }))
  await sendMessages(deps, trx, again)
}

/** Sends `alert.resolved` to the notified destinations. Postponed messages are stopped. */
export async function notifyResolved(deps: Deps, trx: Transaction, ended: EndedAlerts): Promise<void> {
  const longOpen = openedLongAgo(deps.config, ended)
  const recipients = await findRecipients(deps, trx, longOpen, { ignoresCooldowns: true })
  await sendMessages(deps, trx, await endMessages(trx, ended, recipients))
}

const DAY_MS = 86_400_000

/** Alerts that are older than the stored deliveries. */
function openedLongAgo({ retentionAlertsDays: days }: Deps['config'], { alerts }: EndedAlerts): Alert[] {
  return realOf(alerts).filter(({ createdAt }) => createdAt.getTime() < Date.now() - days * DAY_MS)
}

/**
 * The `alert.resolved` messages of alerts and of those that they superseded.
 * @param recipients by the rules of now, of alerts that were opened long ago, in place of those whose deliveries are gone:
 *   an incident that stays open forever is worse than the end of one that was never opened
 * @param isRecipient whether a destination gets one; defaults to all that were notified
 */
async function endMessages(
  trx: Transaction,
  { alerts, reasonOf }: EndedAlerts,
  recipients: readonly Recipient[],
  isRecipient: (item: NotifiedDestination) => boolean = () => true,
): Promise<AddressedMessage[]> {
  const stored = await findNotified(trx, realOf(alerts))
  await stopPostponed(
    trx,
    stored.filter(({ isPostponed }) => isPostponed),
    'The alert was over, or got worse, before the cooldown of its rule ended',
  )
  const newest = new Map(alerts.map(alert => [alert.id, alert]))
  const hasStored = new Set(stored.map(({ newestId }) => newestId))
  const longAgo = recipients.filter(({ alert: { id } }) => newest.has(id) && !hasStored.has(id))
  const all = [...stored, ...longAgo.flatMap(notifiedLongAgo)]
  const notified = all.filter(item => !item.isPostponed && isRecipient(item))
  const olderIds = notified.map(({ subjectId }) => subjectId).filter(id => !newest.has(id))
  const older = olderIds.length > 0 ? await Alert.query(trx).findByIds([...new Set(olderIds)]) : []
  const byId = new Map([...older, ...alerts].map(alert => [alert.id, alert]))
  return laterMessages(trx, 'alert.resolved', notified, ({ newestId, subjectId }) => {
    const [alert, over] = [byId.get(subjectId), newest.get(newestId)]
    if (!alert || !over) return undefined
    const { status, resolvedAt } = over
    return { subject: alertSubject(alert.$clone().$set({ status, resolvedAt })), reason: reasonOf(over) }
  })
}

function notifiedLongAgo({
  alert: { id },
  destination,
  ruleIds,
  takesIncident,
}: Recipient): NotifiedDestination[] {
  if (takesIncident) return []
  const ids = { newestId: id, subjectId: id, alertId: id, destinationId: destination.id, deliveryId: '' }
  return [{ ...ids, ruleIds, isPostponed: false, isPending: false }]
}
