import { actorOf, caller, type AnyRequest } from '../../../../server/http/access.ts'
import { auditRequest } from '../../../../server/http/audit.ts'
import { apiError } from '../../../../server/http/errors.ts'
import type { Transaction } from '../../../../server/database/database.ts'
import type { Deps } from '../../deps.ts'
import { findDestination } from '../../destinations/destinations.ts'
import { lockIncidents } from '../../locks.ts'
import { lockNotifiedOfIncidents } from '../../messages/notified.ts'
import { sendMessages } from '../../messages/send.ts'
import { readActorNames } from '../../people/timeline.ts'
import { incidentMessage, rankOf } from '../../rules/notify-incidents.ts'
import { loadOpenMembers } from '../../rules/open-members.ts'
import { addActivities, summaryOf } from '../grouping/store.ts'
import { assertActive } from './actions.ts'
import { findIncident } from './lists.ts'

const MAX_SENT_PER_MINUTE = 10

/**
 * Sends an incident once to a destination that a person chose, whatever its rules say. From then on it gets what happens
 * to the incident, and its end.
 * @throws 404 `INCIDENT_NOT_FOUND`, 404 `DESTINATION_NOT_FOUND`, 409 `CONFLICT` if the incident is over or the destination
 * is switched off, 429 for too many of one incident
 */
export async function sendIncident(
  deps: Deps,
  request: AnyRequest,
  id: string,
  destinationId: string,
): Promise<void> {
  const who = caller(request)
  await request.server.limits.take(`incident-send:${id}`, MAX_SENT_PER_MINUTE, 60, request)
  await deps.db.company(who.companyId, async trx => {
    await lockIncidents(trx)
    const incident = await findIncident(trx, id)
    assertActive(incident, 'sent')
    const destination = await findDestination(trx, destinationId)
    if (!destination.isActive)
      throw apiError('CONFLICT', 'The destination is switched off: PATCH it with is_active true first', {
        destination_id: destinationId,
      })
    const summary = summaryOf(incident)
    const alerts = await loadOpenMembers(trx, [id])
    const [alert] = alerts.toSorted(
      (a, b) => rankOf({ alert: b, incident: summary }) - rankOf({ alert: a, incident: summary }),
    )
    if (!alert) throw apiError('CONFLICT', 'All alerts of the incident are over', { incident_id: id })
    const notified = await lockNotifiedOfIncidents(trx, [summary], [alert.id])
    const isRepeat = notified.some(item => item.destinationId === destination.id && !item.isPostponed)
    const recipient = { alert, destination, ruleIds: [], postponedUntil: null }
    const reason = `Sent by ${await nameActor(trx, actorOf(who))}`
    const [deliveryId] = await sendMessages(deps, trx, [
      { ...incidentMessage(recipient, summary, { isRepeat }), reason: { reason } },
    ])
    await addActivities(trx, [
      {
        ...{ incidentId: id, activityType: 'sent', actor: actorOf(who) },
        metadata: { destination: destination.name, delivery_id: deliveryId },
      },
    ])
    await auditRequest(request, trx, {
      action: 'incident.sent',
      target: { type: 'incident', id },
      details: { destination_id: destination.id, name: destination.name },
    })
  })
}

const nameActor = async (trx: Transaction, actor: string) =>
  (await readActorNames(trx, [actor])).get(actor) ?? 'a person'
