import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import type { Severity } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import { IS_OPEN } from '../../models.ts'
import { IS_ACTIVE } from '../models.ts'
import type { Member } from './cause.ts'
import { kindsShowing, symptomOf } from './symptoms.ts'

/**
 * How long an alert that is still open can be the cause of new ones downstream of it: data of a pipeline that runs once a
 * day takes up to a day for a step. What lies on no path of data flow is bound to the window.
 */
const FLOW_HOURS = 24

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
  isOpen: boolean
  isCauseOnly: boolean
}

const ALERT_COLUMNS = `a.id, a.kind, a.severity, a.source_id, a.asset_id, a.title, a.created_at, a.supersedes,
  a.event #>> '{asset,qualified_name}' as qualified_name, a.event -> 'details' as details, a.${IS_OPEN} as is_open`

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
 * Alerts of active incidents that new ones may belong to: those of incidents with an alert within the window, and those
 * that can be a cause for longer, up to the window after their end: what they spoiled is mended step by step.
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
       or (a.${IS_OPEN} or a.resolved_at >= now() - make_interval(mins => :windowMinutes))
          and (a.kind = any(cast(:lastingKinds as text[]))
            or a.created_at >= now() - make_interval(hours => ${FLOW_HOURS})
               and not (a.kind = any(cast(:driftKinds as text[])) and a.severity = 'info')))
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

/** An alert that failed again, and the incident that is over and has an alert of the same check. */
interface Recurrence {
  alertId: string
  incidentId: string
}

/**
 * The incidents that ended within the window and have an alert of the same check as one of the given ones, the one that
 * ended last for each. One that was dismissed is no problem, and does not come back.
 */
export async function loadRecurrences(
  trx: Transaction,
  alertIds: readonly string[],
  windowMinutes: number,
): Promise<Map<string, string>> {
  const found = await rows<Recurrence>(
    trx,
    `select distinct on (n.id) n.id as alert_id, i.id as incident_id
       from alerts n
       join alerts a on a.company_id = :companyId and a.kind = n.kind and a.cause = n.cause and a.id <> n.id
       join incident_alerts ia on ia.company_id = :companyId and ia.alert_id = a.id
       join incidents i on i.company_id = :companyId and i.id = ia.incident_id
      where n.company_id = :companyId and n.id = any(cast(:ids as uuid[]))
        and i.status = 'resolved' and i.merged_into is null
        and i.resolved_at >= now() - make_interval(mins => :windowMinutes)
      order by n.id, i.resolved_at desc, i.id desc`,
    { companyId: companyOf(trx), ids: [...alertIds], windowMinutes },
  )
  return new Map(found.map(({ alertId, incidentId }) => [alertId, incidentId]))
}

/** The active incidents that people arranged, which grouping leaves as they are. */
export async function loadArranged(trx: Transaction): Promise<Set<string>> {
  const arranged = await rows<{ id: string }>(
    trx,
    `select id from incidents where company_id = :companyId and ${IS_ACTIVE} and arranged_by is not null`,
    { companyId: companyOf(trx) },
  )
  return new Set(arranged.map(({ id }) => id))
}
