import { v7 } from 'uuid'
import { companyOf, insertAll, rows, type Transaction } from '../../../../server/database/database.ts'
import type { Severity } from '../../api.ts'
import type { IncidentSummary } from '../../messages/message.ts'
import { IncidentActivity, IncidentAlert, type ActivityType, type Incident } from '../models.ts'
import type { NamedCause } from './cause.ts'
import type { Membership } from './membership.ts'

/** The fields that grouping writes. */
export interface IncidentFields {
  id: string
  severity: Severity
  title: string
  cause: NamedCause
  startedAt: Date | null
}

const toRecord = ({ id, severity, title, cause, startedAt }: IncidentFields) => ({
  id,
  severity,
  title,
  event_type: cause.event_type,
  cause,
  started_at: startedAt?.toISOString() ?? null,
})

const FIELDS = 'id uuid, severity text, title text, event_type text, cause jsonb, started_at timestamptz'

/** Stores new incidents, whose alerts come after them. The lock of incidents keeps others from taking their numbers. */
export async function insertIncidents(trx: Transaction, created: readonly IncidentFields[]): Promise<void> {
  await insertAll(created, async chunk => {
    await rows(
      trx,
      `insert into incidents (id, company_id, number, status, severity, title, event_type, cause, started_at, alert_count)
       select id, cast(:companyId as uuid), row_number() over (order by id) + coalesce(
                (select max(number) from incidents where company_id = :companyId), 0),
              'open', severity, title, event_type, cause, started_at, 0
         from jsonb_to_recordset(cast(:records as jsonb)) as r (${FIELDS})
        order by id`,
      { companyId: companyOf(trx), records: JSON.stringify(chunk.map(toRecord)) },
    )
    return []
  })
}

/** Writes cause and severity of incidents, and counts their alerts. */
export async function updateIncidents(trx: Transaction, changed: readonly IncidentFields[]): Promise<void> {
  await insertAll(changed, async chunk => {
    await rows(
      trx,
      `update incidents i
          set severity = r.severity, title = r.title, event_type = r.event_type, cause = r.cause,
              started_at = r.started_at, last_alert_at = counted.newest, alert_count = counted.alerts
         from jsonb_to_recordset(cast(:records as jsonb)) as r (${FIELDS})
         join lateral (
           select count(*)::int as alerts, coalesce(max(a.created_at), now()) as newest
             from incident_alerts ia join alerts a on a.company_id = :companyId and a.id = ia.alert_id
            where ia.company_id = :companyId and ia.incident_id = r.id) counted on true
        where i.company_id = :companyId and i.id = r.id`,
      { companyId: companyOf(trx), records: JSON.stringify(chunk.map(toRecord)) },
    )
    return []
  })
}

/** Puts alerts into incidents. */
export async function insertMembers(
  trx: Transaction,
  incidentOf: ReadonlyMap<string, string>,
): Promise<void> {
  const all = [...incidentOf].map(([alertId, incidentId]) => ({ alertId, incidentId }))
  await insertAll(all, chunk => IncidentAlert.query(trx).insert(chunk))
}

/** Moves alerts that have an incident to other ones. @param actor who put them there; null for the program */
export async function moveMembers(
  trx: Transaction,
  moved: ReadonlyMap<string, string>,
  actor: string | null,
): Promise<void> {
  if (moved.size === 0) return
  await rows(
    trx,
    `update incident_alerts a set incident_id = m.incident_id, placed_by = :actor, joined_at = now()
       from unnest(cast(:ids as uuid[]), cast(:into as uuid[])) as m (id, incident_id)
      where a.company_id = :companyId and a.alert_id = m.id`,
    { companyId: companyOf(trx), ids: [...moved.keys()], into: [...moved.values()], actor },
  )
}

/** Stores why alerts belong to their incidents, where that changed. */
export async function storeMemberships(
  trx: Transaction,
  memberships: ReadonlyMap<string, Membership>,
): Promise<void> {
  const all = [...memberships].map(([id, reason]) => ({ id, reason }))
  await insertAll(all, async chunk => {
    await rows(
      trx,
      `update incident_alerts a set reason = r.reason
         from jsonb_to_recordset(cast(:records as jsonb)) as r (id uuid, reason jsonb)
        where a.company_id = :companyId and a.alert_id = r.id and a.reason is distinct from r.reason`,
      { companyId: companyOf(trx), records: JSON.stringify(chunk) },
    )
    return []
  })
}

/** Opens incidents again that were over. */
export async function reopenIncidents(trx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await rows(
    trx,
    `update incidents set status = 'open', resolved_at = null, end_held_until = null, reopened_count = reopened_count + 1
      where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
}

/** Notes who arranged incidents, so that grouping leaves them as they are. */
export async function markArranged(trx: Transaction, ids: readonly string[], actor: string): Promise<void> {
  await rows(
    trx,
    `update incidents set arranged_by = :actor where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids: [...ids], actor },
  )
}

/** Gives the alerts of incidents to those that these turned out to be a part of, and ends them. */
export async function mergeIncidents(
  trx: Transaction,
  mergedInto: ReadonlyMap<string, string>,
  actor: string | null,
): Promise<void> {
  if (mergedInto.size === 0) return
  const bindings = {
    companyId: companyOf(trx),
    ids: [...mergedInto.keys()],
    into: [...mergedInto.values()],
    actor,
  }
  const pairs = 'unnest(cast(:ids as uuid[]), cast(:into as uuid[])) as m (id, into_id)'
  await rows(
    trx,
    `update incident_alerts a set incident_id = m.into_id, placed_by = coalesce(:actor, placed_by) from ${pairs}
      where a.company_id = :companyId and a.incident_id = m.id`,
    bindings,
  )
  await rows(
    trx,
    `update incidents i set status = 'resolved', resolved_at = now(), snoozed_until = null, merged_into = m.into_id,
            alert_count = 0
       from ${pairs} where i.company_id = :companyId and i.id = m.id`,
    bindings,
  )
}

export interface NewActivity {
  incidentId: string
  activityType: ActivityType
  actor?: string
  metadata?: Record<string, unknown>
}

/** Adds entries to the timelines of incidents, in their order. */
export async function addActivities(
  trx: Transaction,
  activities: readonly NewActivity[],
): Promise<IncidentActivity[]> {
  const entries = activities.map(({ actor = 'system', metadata = {}, ...rest }) => ({
    id: v7(),
    actor,
    metadata,
    ...rest,
  }))
  return insertAll(entries, chunk => IncidentActivity.query(trx).insert(chunk).returning('*'))
}

/** The qualified name of what is named as the cause; null where none is. */
export const namedAsset = ({ cause }: Incident): string | null =>
  cause.is_named === false ? null : cause.qualified_name

/** What messages state of incidents. */
export function summaryOf(incident: Incident): IncidentSummary {
  const { id, status, severity, title, cause, alertCount, createdAt } = incident
  return {
    id,
    status,
    severity,
    title,
    alertCount,
    createdAt,
    causeAsset: namedAsset(incident),
    causeAlertId: cause.alert_id,
  }
}
