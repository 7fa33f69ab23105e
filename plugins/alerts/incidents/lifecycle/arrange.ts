import { v7 } from 'uuid'
import { actorOf, caller, type AnyRequest } from '../../../../server/http/access.ts'
import { auditRequest } from '../../../../server/http/audit.ts'
import { apiError } from '../../../../server/http/errors.ts'
import type { Transaction } from '../../../../server/database/database.ts'
import type { Deps } from '../../deps.ts'
import { lockIncidents } from '../../locks.ts'
import { notifyIncidents } from '../../rules/notify-incidents.ts'
import { applyArrangement } from '../grouping/apply.ts'
import type { Arrangement } from '../grouping/assign.ts'
import type { Member } from '../grouping/cause.ts'
import { findFindings } from '../grouping/findings.ts'
import { readFlow } from '../grouping/flow.ts'
import { loadMembers } from '../grouping/load.ts'
import type { Incident } from '../models.ts'
import { assertActive } from './actions.ts'
import { findIncident } from './lists.ts'

/**
 * Moves alerts of an incident into a new one. Grouping never puts them together again.
 * @throws 404 `INCIDENT_NOT_FOUND`, 404 `ALERT_NOT_FOUND` for one that is not in it, 409 `CONFLICT` if it is over, or if
 * none of its alerts would be left
 * @returns the id of the new incident
 */
export async function splitIncident(
  deps: Deps,
  request: AnyRequest,
  id: string,
  alertIds: readonly string[],
): Promise<string> {
  const newId = v7()
  await arrange(deps, request, id, async (trx, incident) => {
    assertActive(incident, 'split')
    const members = await loadMembers(deps, trx, [id])
    const asked = new Set(alertIds)
    const missing = alertIds.filter(alertId => !members.some(member => member.id === alertId))
    if (missing.length > 0)
      throw apiError('ALERT_NOT_FOUND', 'The incident has no alert of this id', { alert_id: missing[0] })
    if (members.every(member => asked.has(member.id)))
      throw apiError('CONFLICT', 'An incident keeps at least one alert: leave one out', {
        alerts: asked.size,
      })
    await auditRequest(request, trx, {
      action: 'incident.split',
      target: { type: 'incident', id },
      details: { into: newId, alert_ids: [...asked] },
    })
    return { members, moved: new Map([...asked].map(alertId => [alertId, newId])), created: new Set([newId]) }
  })
  return newId
}

/**
 * Gives the alerts of an incident to another one, which grouping never takes apart again.
 * @throws 404 `INCIDENT_NOT_FOUND`, 409 `CONFLICT` if one of them is over, or both are the same
 */
export async function mergeIncident(
  deps: Deps,
  request: AnyRequest,
  id: string,
  into: string,
): Promise<void> {
  await arrange(deps, request, id, async (trx, incident) => {
    const target = await findIncident(trx, into)
    assertActive(incident, 'merged')
    assertActive(target, 'merged')
    if (id === into) throw apiError('CONFLICT', 'An incident cannot be merged into itself', { into })
    await auditRequest(request, trx, {
      action: 'incident.merged',
      target: { type: 'incident', id },
      details: { into },
    })
    return { members: await loadMembers(deps, trx, [id, into]), mergedInto: new Map([[id, into]]) }
  })
}

/** Stores what a person arranges, and sends what is to be sent. */
async function arrange(
  deps: Deps,
  request: AnyRequest,
  id: string,
  read: (
    trx: Transaction,
    incident: Incident,
  ) => Promise<{ members: Member[] } & Partial<Pick<Arrangement, 'moved' | 'created' | 'mergedInto'>>>,
): Promise<void> {
  const who = caller(request)
  await deps.db.company(who.companyId, async trx => {
    await lockIncidents(trx)
    const { members, ...asked } = await read(trx, await findIncident(trx, id))
    const flow = await readFlow(
      deps.lookUps,
      trx,
      members.map(({ assetId }) => assetId),
    )
    const news = await applyArrangement(deps, trx, {
      members,
      arrangement: {
        ...{ incidentOf: new Map(), created: new Set(), mergedInto: new Map() },
        ...{ moved: new Map(), reopened: new Set(), ...asked, actor: actorOf(who) },
      },
      flow,
      findAround: all => findFindings(deps, trx, all, flow),
    })
    await notifyIncidents(deps, trx, news)
  })
}
