import { actorOf, caller, type AnyRequest } from '../../../../server/http/access.ts'
import { auditRequest } from '../../../../server/http/audit.ts'
import { apiError } from '../../../../server/http/errors.ts'
import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import { defineCap, enforceCap } from '../../../../server/database/company-caps.ts'
import type { Deps } from '../../deps.ts'
import { readStatusBody, type StatusBody, type StatusRequest } from '../../lifecycle/status-body.ts'
import { changeStatus } from '../../lifecycle/transitions.ts'
import { addActivities, type NewActivity } from '../grouping/store.ts'
import { updateIncidents } from '../update.ts'
import { Incident, type IncidentStatus } from '../models.ts'
import { IS_OPEN } from '../../models.ts'
import { describeAssignment } from '../../people/assignee.ts'
import { presentActivities } from '../../people/timeline.ts'
import { findIncident } from './lists.ts'
import type { IncidentPatch } from './schemas.ts'

const COMMENT_CAP = defineCap({
  name: 'incident_comments',
  table: 'incident_activities',
  most: 1_000,
  what: 'comments on one incident',
  advice: 'go on in its post-mortem',
  condition: `activity_type = 'comment' and incident_id = :within`,
})

/** The statuses in which others can be asked for. */
const ACTIVE_STATUSES: readonly IncidentStatus[] = ['open', 'acknowledged', 'snoozed']

/**
 * Changes the status of the open alerts of an incident, and then that of the incident. Two transactions: the first holds
 * locks of alerts, which those of incidents come before. Should the second be lost, a job does its work.
 * @throws 404 `INCIDENT_NOT_FOUND`, 409 `CONFLICT` if it is over
 */
export async function changeIncident(
  deps: Deps,
  request: AnyRequest,
  id: string,
  to: StatusRequest['to'],
  body: StatusBody | null,
): Promise<void> {
  const who = caller(request)
  const change = { to, actor: actorOf(who), ...readStatusBody(body) }
  await moveIncident(deps, who.companyId, id, change, (trx, alerts) =>
    auditRequest(request, trx, {
      action: `incident.${to}`,
      target: { type: 'incident', id },
      details: { alerts },
    }),
  )
}

/** As `changeIncident`, for a caller that is no request. @param record gets the number of alerts that were changed */
export async function moveIncident(
  deps: Deps,
  companyId: string,
  id: string,
  change: StatusRequest,
  record?: (trx: Transaction, alerts: number) => Promise<unknown>,
): Promise<void> {
  const changed = await deps.db.company(companyId, async trx => {
    assertActive(await findIncident(trx, id), change.to)
    const alerts = await changeStatus(deps, trx, await openAlertsOf(trx, id), change)
    await record?.(trx, alerts.length)
    return alerts.map(alert => alert.id)
  })
  await deps.db.company(companyId, trx => updateIncidents(deps, trx, changed))
}

/** @throws 409 `CONFLICT` if an incident is over */
export function assertActive({ status, mergedInto }: Incident, requested: string): void {
  if (ACTIVE_STATUSES.includes(status)) return
  throw apiError(
    'CONFLICT',
    mergedInto === null
      ? `The incident is ${status}, which is final`
      : `The incident belongs to another one, which has its alerts: ${mergedInto}`,
    { status, requested },
  )
}

async function openAlertsOf(trx: Transaction, incidentId: string): Promise<string[]> {
  const open = await rows<{ id: string }>(
    trx,
    `select a.id from incident_alerts ia join alerts a on a.company_id = :companyId and a.id = ia.alert_id
      where ia.company_id = :companyId and ia.incident_id = :incidentId
        and a.${IS_OPEN}`,
    { companyId: companyOf(trx), incidentId },
  )
  return open.map(({ id }) => id)
}

/** Adds a comment to the timeline. @throws 404 `INCIDENT_NOT_FOUND`, 409 `LIMIT_REACHED` */
export async function addComment(
  trx: Transaction,
  id: string,
  { actor, comment }: { actor: string; comment: string },
) {
  await findIncident(trx, id)
  const activities = await addActivities(trx, [
    { incidentId: id, activityType: 'comment', actor, metadata: { comment } },
  ])
  await enforceCap(trx, companyOf(trx), COMMENT_CAP, id)
  const [shown] = await presentActivities(trx, activities)
  return shown!
}

/** Changes what people write about an incident. @throws 404 `INCIDENT_NOT_FOUND`, 404 `USER_NOT_FOUND` */
export async function patchIncident(
  trx: Transaction,
  id: string,
  { assignee_id: assigneeId, post_mortem: postMortem }: IncidentPatch,
  actor: string,
): Promise<void> {
  const incident = await findIncident(trx, id)
  const activities: NewActivity[] = []
  if (assigneeId !== undefined && assigneeId !== incident.assigneeId) {
    const metadata = await describeAssignment(trx, assigneeId)
    activities.push({ incidentId: id, activityType: 'assigned', actor, metadata })
  }
  if (postMortem !== undefined && postMortem !== incident.postMortem)
    activities.push({ incidentId: id, activityType: 'post_mortem_changed', actor })
  await Incident.query(trx)
    .where({ id })
    .patch({
      ...(assigneeId !== undefined && { assigneeId }),
      ...(postMortem !== undefined && { postMortem }),
    })
  await addActivities(trx, activities)
}
