import { rows, type Transaction } from '../../../server/database/database.ts'
import { IS_POSTPONED, stopPostponed } from '../delivery/postponed.ts'
import { sweepCompanies } from '../delivery/sweep-companies.ts'
import type { Deps } from '../deps.ts'
import { lockDeliveries, lockFreeAlerts, lockIncidents } from '../locks.ts'
import type { IncidentSummary } from '../messages/message.ts'
import { findNewestSent, findNotifiedOfEnds } from '../messages/notified.ts'
import { sendMessages } from '../messages/send.ts'
import { Alert, Delivery } from '../models.ts'
import { openingMessage } from './notify.ts'
import { incidentMessage, rankOf } from './notify-incidents.ts'
import { distinctIncidents, loadMergedIncidents, loadOpenMembers } from './open-members.ts'
import { findRecipients, type Recipient } from './recipients.ts'

/** Per sweep. */
const MAX_DUE = 1_000

const IS_DUE = `${IS_POSTPONED} and coalesce(next_attempt_at, created_at) <= now()`

/**
 * Sends the postponed messages of all companies whose cooldowns and mute windows ended, if their alerts or incidents are
 * still open. Those of a snoozed alert wait until its snooze ends.
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
 * any more is stopped, and one in another cooldown or mute window is postponed again. The row of a sent message is replaced
 * by a new delivery. An alert that another transaction has locked is left to the next sweep. News is over when it is
 * opened: what is postponed of it is stopped.
 */
async function sendDueMessages(deps: Deps, trx: Transaction, alertIds: readonly string[]): Promise<number> {
  await lockIncidents(trx)
  const incidentOf = await loadMergedIncidents(trx, await findIncidentIds(trx, alertIds))
  const incidents = distinctIncidents(incidentOf.values())
  const incidentIds = incidents.map(({ id }) => id)
  const members = await loadOpenMembers(trx, incidentIds)
  const alerts = await lockFreeAlerts(
    Alert.query(trx)
      .whereRaw('id = any(cast(? as uuid[]))', [[...new Set([...alertIds, ...members.map(({ id }) => id)])]])
      .whereNot({ status: 'snoozed' }),
  )
  const isAsked = new Set(alertIds)
  const locked = alerts.filter(({ id }) => isAsked.has(id))
  const due = await lockDeliveries(
    Delivery.query(trx)
      .whereRaw('alert_id = any(cast(? as uuid[]))', [locked.map(({ id }) => id)])
      .whereRaw(IS_DUE),
  )
  const open = alerts.filter(({ resolvedAt }) => resolvedAt === null)
  const recipients = await findRecipients(deps, trx, open)
  const notified = await findNewestSent(trx, locked, incidents)
  const incidentIdOf = new Map(members.map(({ id, incidentId }) => [id, incidentId]))
  const covered = new Set<string>()
  const reviewed = due.map(delivery => {
    const { id, alertId, destinationId, incidentId } = delivery
    const incident = incidentId === null ? undefined : incidentOf.get(incidentId)
    const key = `${incident?.id ?? alertId} ${destinationId}`
    const sentId = notified.get(key)
    // It was sent since this one was postponed, or is by another one that is due: of an incident that was merged with its.
    if ((incidentId !== null && !incident) || (sentId !== undefined && sentId > id) || covered.has(key))
      return { delivery }
    covered.add(key)
    const candidates = recipients.filter(
      recipient =>
        recipient.destination.id === destinationId &&
        (incident ? incidentIdOf.get(recipient.alert.id) === incident.id : recipient.alert.id === alertId),
    )
    return {
      delivery,
      incident,
      recipient: pickRecipient(candidates, incident),
      isRepeat: sentId !== undefined,
    }
  })
  await stopPostponed(
    trx,
    reviewed
      .filter(({ recipient }) => !recipient)
      .map(({ delivery: { id, alertId } }) => ({ deliveryId: id, alertId: alertId! })),
    'When its time came, the alert was over, the destination was switched off, or no rule matched any more',
  )
  for (const { delivery, recipient } of reviewed)
    if (recipient?.postponedUntil)
      await Delivery.query(trx).where({ id: delivery.id }).patch({ nextAttemptAt: recipient.postponedUntil })
  const wereOver = await findNotifiedOfEnds(trx, incidentIds)
  const sent = reviewed.flatMap(({ delivery, incident, recipient, isRepeat = false }) => {
    if (recipient?.postponedUntil !== null) return []
    const wasOver = incident !== undefined && wereOver.has(`${incident.id} ${recipient.destination.id}`)
    const message = incident
      ? incidentMessage(recipient, incident, { wasOver, isRepeat })
      : openingMessage(recipient)
    const reason = { reason: 'It is still open after a mute window', remindedAt: new Date() }
    return [{ id: delivery.id, message: { ...message, ...(isRepeat && !wasOver && { reason }) } }]
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

/** The incidents that the due messages of some alerts are about. */
async function findIncidentIds(trx: Transaction, alertIds: readonly string[]): Promise<string[]> {
  const due = await Delivery.query(trx)
    .distinct('incidentId')
    .whereRaw('alert_id = any(cast(? as uuid[]))', [[...alertIds]])
    .whereRaw(IS_DUE)
    .whereNotNull('incidentId')
  return due.map(({ incidentId }) => incidentId!)
}

/** What a message shows: of an incident the alert of its cause, or else the worst, first those that may be sent now. */
function pickRecipient(
  candidates: readonly Recipient[],
  incident: IncidentSummary | undefined,
): Recipient | undefined {
  const free = candidates.filter(({ postponedUntil }) => postponedUntil === null)
  const [first] = (free.length > 0 ? free : candidates).toSorted((one, other) =>
    incident ? rankOf({ ...other, incident }) - rankOf({ ...one, incident }) : 0,
  )
  return first
}
