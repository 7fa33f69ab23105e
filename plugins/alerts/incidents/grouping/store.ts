import { v7 } from 'uuid'
import { companyOf, insertAll, rows, type Transaction } from '../../../../server/database/database.ts'
import type { Severity } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import type { IncidentSummary } from '../../messages/message.ts'
import { IncidentActivity, IncidentAlert, IS_ACTIVE, type ActivityType, type Incident } from '../models.ts'
import type { Member, NamedCause } from './cause.ts'
import { IS_OPEN } from '../../models.ts'
import { kindsShowing, symptomOf } from './symptoms.ts'

/** How long an alert that is still open can be the cause of a new one; others are bound to the window. */
const DRIFT_HOURS = 24

/** Alerts of active incidents that new ones are compared with. */
const MAX_JOINABLE = 2_000
/** Alerts of an incident that are looked at: the first, and so the likeliest causes. */
const MAX_MEMBERS = 500

interface AlertRow {
  id: string
  kind: string
  severity: Severity
  sourceId: string
  assetId: string
  title: string
  qualifiedName: string
  details: Record<string, unknown>
  createdAt: Date
  supersedes: string | null
  incidentId: string | null
  isCauseOnly: boolean
}

const ALERT_COLUMNS = `a.id, a.kind, a.severity, a.source_id, a.asset_id, a.title, a.created_at, a.supersedes,
  a.event #>> '{asset,qualified_name}' as qualified_name, a.event -> 'details' as details`

/** What loading alerts uses. */
type MemberDeps = Pick<Deps, 'kinds' | 'log'>

function toMember(deps: MemberDeps, row: AlertRow): Member {
  const details = row.details ?? {}
  return { ...row, details, symptom: symptomOf(deps, row.kind, details) }
}

/** Alerts that have no incident yet, of some ids. */
export async function loadUngrouped(
  deps: MemberDeps,
  trx: Transaction,
  ids: readonly string[],
): Promise<Member[]> {
  const alerts = await rows<AlertRow>(
    trx,
    `select ${ALERT_COLUMNS}, null::uuid as incident_id, false as is_cause_only from alerts a
      where a.company_id = :companyId and a.id = any(cast(:ids as uuid[])) and a.asset_id is not null
        and not exists (select from incident_alerts i where i.company_id = :companyId and i.alert_id = a.id)
      order by a.created_at, a.id`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
  return alerts.map(row => toMember(deps, row))
}

/**
 * Alerts of active incidents that new ones may belong to: those of incidents with an alert within the window, and open
 * ones that can be a cause for longer.
 */
export async function loadJoinable(
  deps: MemberDeps,
  trx: Transaction,
  { windowMinutes, supersededIds }: { windowMinutes: number; supersededIds: readonly string[] },
): Promise<Member[]> {
  const alerts = await rows<AlertRow>(trx, JOINABLE_ALERTS, {
    companyId: companyOf(trx),
    windowMinutes,
    supersededIds: [...supersededIds],
    lastingKinds: kindsShowing(deps.kinds, 'stale', 'connection'),
    driftKinds: kindsShowing(deps.kinds, 'drift'),
  })
  return alerts.map(row => toMember(deps, row))
}

const JOINABLE_ALERTS = `
  select ${ALERT_COLUMNS}, i.id as incident_id,
         i.last_alert_at < now() - make_interval(mins => :windowMinutes)
           and a.id <> all(cast(:supersededIds as uuid[])) as is_cause_only
    from incidents i
    join incident_alerts ia on ia.company_id = :companyId and ia.incident_id = i.id
    join alerts a on a.company_id = :companyId and a.id = ia.alert_id
   where i.company_id = :companyId and i.${IS_ACTIVE}
     and (i.last_alert_at >= now() - make_interval(mins => :windowMinutes)
       or a.id = any(cast(:supersededIds as uuid[]))
       or a.${IS_OPEN}
          and (a.kind = any(cast(:lastingKinds as text[]))
            or a.kind = any(cast(:driftKinds as text[])) and a.severity <> 'info'
               and a.created_at >= now() - make_interval(hours => ${DRIFT_HOURS})))
   order by i.last_alert_at desc, a.created_at desc, a.id desc limit ${MAX_JOINABLE}`

/** The first alerts of some incidents. */
export async function loadMembers(
  deps: MemberDeps,
  trx: Transaction,
  incidentIds: readonly string[],
): Promise<Member[]> {
  const alerts = await rows<AlertRow>(
    trx,
    `select m.* from unnest(cast(:ids as uuid[])) as asked (id)
      cross join lateral (
        select ${ALERT_COLUMNS}, ia.incident_id, false as is_cause_only
          from incident_alerts ia join alerts a on a.company_id = :companyId and a.id = ia.alert_id
         where ia.company_id = :companyId and ia.incident_id = asked.id
         order by a.created_at, a.id limit ${MAX_MEMBERS}) m`,
    { companyId: companyOf(trx), ids: [...incidentIds] },
  )
  return alerts.map(row => toMember(deps, row))
}

/** The fields that grouping writes. */
export interface IncidentFields {
  id: string
  severity: Severity
  cause: NamedCause
  startedAt: Date | null
}

const toRecord = ({ id, severity, cause, startedAt }: IncidentFields) => ({
  id,
  severity,
  title: cause.summary,
  event_type: cause.event_type,
  cause,
  started_at: startedAt?.toISOString() ?? null,
})

const FIELDS = 'id uuid, severity text, title text, event_type text, cause jsonb, started_at timestamptz'

/** Stores new incidents, whose alerts come after them. */
export async function insertIncidents(trx: Transaction, created: readonly IncidentFields[]): Promise<void> {
  await insertAll(created, async chunk => {
    await rows(
      trx,
      `insert into incidents (id, company_id, status, severity, title, event_type, cause, started_at, alert_count)
       select id, cast(:companyId as uuid), 'open', severity, title, event_type, cause, started_at, 0
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

/** Gives the alerts of incidents to those that these turned out to be a part of, and ends them. */
export async function mergeIncidents(
  trx: Transaction,
  mergedInto: ReadonlyMap<string, string>,
): Promise<void> {
  if (mergedInto.size === 0) return
  const bindings = {
    companyId: companyOf(trx),
    ids: [...mergedInto.keys()],
    into: [...mergedInto.values()],
  }
  const pairs = 'unnest(cast(:ids as uuid[]), cast(:into as uuid[])) as m (id, into_id)'
  await rows(
    trx,
    `update incident_alerts a set incident_id = m.into_id from ${pairs}
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
    causeAsset: cause.qualified_name,
    causeAlertId: cause.alert_id,
  }
}
