import type { Server } from '@hapi/hapi'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { Alert, Delivery } from '../models.ts'
import { IS_POSTPONED, stopPostponed } from '../delivery/postponed.ts'
import { findRecipients } from './recipients.ts'
import { findIncidents } from '../lifecycle/notice.ts'
import { findNotifiedOfIncidents, partOf } from './incident-messages.ts'
import { sweepCompanies, type SweepContext } from '../delivery/sweep-companies.ts'
import { triggeredMessage, sendMessages } from './notify.ts'
import { lockDeliveries, lockFreeAlertsOfDeliveries, lockIncidents } from '../locks.ts'

/** Per sweep. */
const MAX_DUE = 1_000

const IS_DUE = `${IS_POSTPONED} and coalesce(next_attempt_at, created_at) <= now()`

/**
 * Sends the postponed messages of all companies whose cooldowns ended and whose alerts are still open. Those of a snoozed
 * alert wait until its snooze ends.
 * @returns the number of deliveries sent
 */
export async function sendPostponed({ server, log }: SweepContext): Promise<number> {
  const due = await server.db.system(trx =>
    rows<{ alertId: string; companyId: string }>(
      trx,
      `select alert_id, company_id from deliveries d
        where ${IS_DUE} and exists (select from alerts a where a.id = d.alert_id and a.status <> 'snoozed')
        order by next_attempt_at limit :most`,
      { most: MAX_DUE },
    ),
  )
  return sweepCompanies(log, 'send postponed messages', due, (companyId, those) => {
    const alertIds = [...new Set(those.map(({ alertId }) => alertId))]
    return server.db.company(companyId, trx => sendDueMessages(server, trx, alertIds))
  })
}

/**
 * Sends the due postponed messages of some alerts, by the rules and destinations of now: a message that matches no rule
 * any more is stopped, and one in another cooldown is postponed again. The row of a sent message is replaced by a new
 * delivery. An alert that another transaction has locked is left to the next sweep. A closed alert has postponed messages
 * only if the previous version of the program closed it.
 */
async function sendDueMessages(server: Server, trx: Transaction, alertIds: readonly string[]) {
  await lockIncidents(trx)
  const alerts = await lockFreeAlertsOfDeliveries(
    Alert.query(trx)
      .whereRaw('id = any(cast(? as uuid[]))', [[...alertIds]])
      .whereNot({ status: 'snoozed' }),
  )
  const due = await lockDeliveries(
    Delivery.query(trx)
      .whereRaw('alert_id = any(cast(? as uuid[]))', [alerts.map(({ id }) => id)])
      .whereRaw(IS_DUE),
  )
  const open = alerts.filter(({ resolvedAt }) => resolvedAt === null)
  const found = await findRecipients(server, trx, open)
  const reviewed = due.map(delivery => {
    const place = open.findIndex(({ id }) => id === delivery.alertId)
    const recipient = found[place]?.find(({ destination }) => destination.id === delivery.destinationId)
    return { delivery, alert: open[place]!, recipient }
  })
  const incidentOf = await findUnsentIncidents(server, trx, due)
  const unwanted = reviewed
    .filter(({ recipient, delivery }) => !recipient || incidentOf(delivery) === null)
    .map(({ delivery }) => delivery)
  await stopPostponed(
    trx,
    unwanted.map(({ id, alertId }) => ({ deliveryId: id, alertId: alertId! })),
    'When the cooldown ended, the alert was over, the destination was switched off, or no rule matched any more',
  )
  const wanted = reviewed.filter(({ delivery }) => !unwanted.includes(delivery))
  for (const { delivery, recipient } of wanted)
    if (recipient?.postponedUntil)
      await Delivery.query(trx).where({ id: delivery.id }).patch({ nextAttemptAt: recipient.postponedUntil })
  const sent = wanted.flatMap(({ delivery, alert, recipient }) => {
    if (recipient?.postponedUntil !== null) return []
    const incident = incidentOf(delivery)
    const message = triggeredMessage(alert, recipient)
    return [{ id: delivery.id, message: incident ? { ...message, incident } : message }]
  })
  await Delivery.query(trx)
    .delete()
    .whereRaw('id = any(cast(? as uuid[]))', [sent.map(({ id }) => id)])
  const messages = sent.map(({ message }) => message)
  await sendMessages(server, trx, messages)
  return sent.length
}

/**
 * What postponed messages say of the incidents that they are about.
 * @returns by message: undefined of one about an alert alone, null if its destination was notified of the incident since
 */
async function findUnsentIncidents(server: Server, trx: Transaction, due: readonly Delivery[]) {
  const about = due.filter(({ incidentId }) => incidentId !== null)
  const incidents = await findIncidents(
    server,
    trx,
    about.map(({ alertId }) => alertId!),
  )
  const notified = await findNotifiedOfIncidents(trx, [...incidents.values()])
  return ({ incidentId, alertId, destinationId }: Delivery) => {
    if (incidentId === null) return undefined
    const incident = incidents.get(alertId!)
    const isSent = notified.some(
      item => item.incidentId === incident?.id && item.destinationId === destinationId && !item.isPostponed,
    )
    return incident && !isSent ? partOf(server, incident, 'opened') : null
  }
}
