import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { IS_POSTPONED, stopPostponed } from '../delivery/postponed.ts'
import { sweepCompanies } from '../delivery/sweep-companies.ts'
import type { Deps } from '../deps.ts'
import { lockDeliveries, lockFreeAlerts, lockIncidents } from '../locks.ts'
import type { IncidentSummary } from '../messages/message.ts'
import { findNotifiedOfEnds, findNotifiedOfIncidents } from '../messages/notified.ts'
import { sendMessages } from '../messages/send.ts'
import { Alert, Delivery } from '../models.ts'
import { openingMessage } from './notify.ts'
import { incidentMessage } from './notify-incidents.ts'
import { findRecipients } from './recipients.ts'

/** Per sweep. */
const MAX_DUE = 1_000

const IS_DUE = `${IS_POSTPONED} and coalesce(next_attempt_at, created_at) <= now()`

/**
 * Sends the postponed messages of all companies whose cooldowns ended and whose alerts are still open. Those of a snoozed
 * alert wait until its snooze ends.
 * @returns the number of deliveries sent
 */
export async function sendPostponed(deps: Deps, log: Pick<Deps['log'], 'error'>): Promise<number> {
  const due = await deps.db.system(trx =>
    rows<{ alertId: string; companyId: string }>(
      trx,
      `select alert_id, company_id from deliveries d
        where ${IS_DUE} and exists (select from alerts a where a.id = d.alert_id and a.status <> 'snoozed')
        order by next_attempt_at limit :most`,
      { most: MAX_DUE },
    ),
  )
  return sweepCompanies(log, 'send postponed messages', due, (companyId, messages) => {
    const alertIds = [...new Set(messages.map(({ alertId }) => alertId))]
    return deps.db.company(companyId, trx => sendDueMessages(deps, trx, alertIds))
  })
}

/**
 * Sends the due postponed messages of some alerts, by the rules and destinations of now: a message that matches no rule
 * any more is stopped, and one in another cooldown is postponed again. The row of a sent message is replaced by a new
 * delivery. An alert that another transaction has locked is left to the next sweep. News is over when it is opened: what
 * is postponed of it is stopped.
 */
async function sendDueMessages(deps: Deps, trx: Transaction, alertIds: readonly string[]): Promise<number> {
  await lockIncidents(trx)
  const alerts = await lockFreeAlerts(
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
  const recipients = await findRecipients(deps, trx, open)
  const unsent = await findUnsentIncidents(trx, due)
  const reviewed = due.map(delivery => {
    const { alertId, destinationId, incidentId } = delivery
    const recipient = recipients.find(
      ({ alert, destination }) => alert.id === alertId && destination.id === destinationId,
    )
    const incident = unsent.get(delivery.id)
    return { delivery, incident, recipient: incidentId !== null && !incident ? undefined : recipient }
  })
  await stopPostponed(
    trx,
    reviewed
      .filter(({ recipient }) => !recipient)
      .map(({ delivery: { id, alertId } }) => ({ deliveryId: id, alertId: alertId! })),
    'When the cooldown ended, the alert was over, the destination was switched off, or no rule matched any more',
  )
  for (const { delivery, recipient } of reviewed)
    if (recipient?.postponedUntil)
      await Delivery.query(trx).where({ id: delivery.id }).patch({ nextAttemptAt: recipient.postponedUntil })
  const wereOver = await findNotifiedOfEnds(trx, [...new Set([...unsent.values()].map(({ id }) => id))])
  const sent = reviewed.flatMap(({ delivery, incident, recipient }) => {
    if (recipient?.postponedUntil !== null) return []
    const message = incident
      ? incidentMessage(recipient, incident, wereOver.has(`${incident.id} ${recipient.destination.id}`))
      : openingMessage(recipient)
    return [{ id: delivery.id, message }]
  })
  await Delivery.query(trx)
    .delete()
    .whereRaw('id = any(cast(? as uuid[]))', [sent.map(({ id }) => id)])
  await sendMessages(
    deps,
    trx,
    sent.map(({ message }) => message),
  )
  return sent.length
}

/** The incidents, by message, that postponed messages are about and that their destinations were not notified of since. */
async function findUnsentIncidents(
  trx: Transaction,
  due: readonly Delivery[],
): Promise<Map<string, IncidentSummary>> {
  const about = due.filter(({ incidentId }) => incidentId !== null)
  if (about.length === 0) return new Map()
  const incidents = await loadIncidents(
    trx,
    about.map(({ alertId }) => alertId!),
  )
  const notified = await findNotifiedOfIncidents(trx, incidents)
  const isSent = new Set(
    notified
      .filter(({ isPostponed }) => !isPostponed)
      .map(({ subjectId, destinationId }) => `${subjectId} ${destinationId}`),
  )
  return new Map(
    about.flatMap(({ id, alertId, destinationId }) => {
      const incident = incidents.find(item => item.alertId === alertId)
      return incident && !isSent.has(`${incident.id} ${destinationId}`) ? [[id, incident] as const] : []
    }),
  )
}

/** The incidents that alerts are in now, which may have been merged since. */
function loadIncidents(
  trx: Transaction,
  alertIds: readonly string[],
): Promise<(IncidentSummary & { alertId: string })[]> {
  return rows(
    trx,
    `select ia.alert_id, i.id, i.status, i.severity, i.title, i.alert_count, i.created_at,
            i.cause ->> 'qualified_name' as cause_asset, i.cause ->> 'alert_id' as cause_alert_id
       from incident_alerts ia join incidents i on i.company_id = :companyId and i.id = ia.incident_id
      where ia.company_id = :companyId and ia.alert_id = any(cast(:alertIds as uuid[]))`,
    { companyId: companyOf(trx), alertIds: [...alertIds] },
  )
}
