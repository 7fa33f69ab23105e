import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import type { IncidentNews } from '../../rules/notify-incidents.ts'
import { Incident, IS_ACTIVE, type ActivityType, type IncidentStatus } from '../models.ts'
import { addActivities, summaryOf } from './store.ts'

/** How the alerts of an incident are. */
export interface AlertCounts {
  triggered: number
  acknowledged: number
  snoozed: number
  /** The status of the alert that ended last; null if none has ended. */
  lastEnd: 'resolved' | 'dismissed' | null
}

/**
 * The status of an incident by those of its alerts. It stays acknowledged, and snoozed until its time, when further
 * alerts join: a person has taken it on, or put it off.
 */
function statusBy(
  { status, snoozedUntil }: Pick<Incident, 'status' | 'snoozedUntil'>,
  { triggered, acknowledged, snoozed, lastEnd }: AlertCounts,
  now: Date,
): IncidentStatus {
  if (triggered + acknowledged + snoozed === 0) return lastEnd ?? 'resolved'
  if (triggered + acknowledged === 0) return 'snoozed'
  if (status === 'snoozed' && snoozed > 0 && snoozedUntil !== null && snoozedUntil > now) return 'snoozed'
  if (triggered === 0 || status === 'acknowledged') return 'acknowledged'
  return 'open'
}

interface Followed extends AlertCounts {
  id: string
  status: IncidentStatus
  snoozedUntil: Date | null
  /** The end of the last snooze of its alerts. */
  until: Date | null
  /** How often it was over and went on. */
  reopenedCount: number
  /** By whom, and why, the status of an alert changed last. */
  actor: string | null
  reason: string | null
}

const WAS_LATER: Record<IncidentStatus, ActivityType> = {
  open: 'reopened',
  acknowledged: 'acknowledged',
  snoozed: 'snoozed',
  resolved: 'resolved',
  dismissed: 'dismissed',
}

const SNOOZE_OVER = 'The snooze is over'

/** Whether the message about the end of an incident waits: it came back before, and no person ended it. */
function isHeld({
  to,
  actor,
  reopenedCount,
}: { to: IncidentStatus } & Pick<Followed, 'actor' | 'reopenedCount'>) {
  return to === 'resolved' && reopenedCount > 0 && (actor ?? 'system') === 'system'
}

/**
 * Updates the status of incidents by those of their alerts. The caller holds the lock of incidents. The message about the
 * end of one that comes and goes waits until it has been over for the window.
 * @returns what to notify of
 */
export async function followAlerts(
  trx: Transaction,
  incidentIds: readonly string[],
  windowMinutes: number,
): Promise<Pick<IncidentNews, 'changed' | 'ended'>> {
  const followed = await loadFollowed(trx, incidentIds)
  const now = new Date()
  const moved = followed.flatMap(item => {
    const to = statusBy(item, item, now)
    const until = to === 'snoozed' ? (item.until ?? item.snoozedUntil) : null
    const isSame = to === item.status && until?.getTime() === item.snoozedUntil?.getTime()
    return isSame ? [] : [{ ...item, to, until }]
  })
  if (moved.length === 0) return { changed: [], ended: [] }
  await rows(
    trx,
    `update incidents i
        set status = r.status, snoozed_until = r.until,
            acknowledged_at = case when r.status = 'acknowledged' then coalesce(acknowledged_at, now()) else acknowledged_at end,
            resolved_at = case when r.status in ('resolved', 'dismissed') then now() end,
            end_held_until = case when r.is_held then now() + make_interval(mins => :windowMinutes) end
       from jsonb_to_recordset(cast(:records as jsonb)) as r (id uuid, status text, until timestamptz, is_held boolean)
      where i.company_id = :companyId and i.id = r.id`,
    {
      companyId: companyOf(trx),
      windowMinutes,
      records: JSON.stringify(
        moved.map(item => ({ id: item.id, status: item.to, until: item.until, is_held: isHeld(item) })),
      ),
    },
  )
  await addActivities(
    trx,
    moved.map(({ id, to, until, actor, reason }) => ({
      incidentId: id,
      activityType: WAS_LATER[to],
      actor: actor ?? 'system',
      metadata: { ...(reason !== null && { reason }), ...(until && { until }) },
    })),
  )
  const after = await Incident.query(trx).findByIds(moved.map(({ id }) => id))
  const byId = new Map(after.map(incident => [incident.id, summaryOf(incident)]))
  const woken = moved.filter(({ status, to }) => status === 'snoozed' && to === 'open')
  const over = moved.filter(({ to }) => to === 'resolved' || to === 'dismissed')
  return {
    changed: woken.map(({ id }) => ({ incident: byId.get(id)!, reason: SNOOZE_OVER, isReminder: true })),
    ended: over.map(item => ({
      incident: byId.get(item.id)!,
      reason: item.reason,
      isHeld: isHeld(item),
    })),
  }
}

function loadFollowed(trx: Transaction, incidentIds: readonly string[]): Promise<Followed[]> {
  return rows(trx, FOLLOWED_INCIDENTS, { companyId: companyOf(trx), ids: [...incidentIds] })
}

const countOf = (status: 'triggered' | 'acknowledged' | 'snoozed') =>
  `count(*) filter (where a.status = '${status}')::int as ${status}`

const FOLLOWED_INCIDENTS = `
  select i.id, i.status, i.snoozed_until, i.reopened_count, counted.*, ended.last_end, latest.actor, latest.reason
    from incidents i
   cross join lateral (
     select ${countOf('triggered')}, ${countOf('acknowledged')}, ${countOf('snoozed')}, max(a.snoozed_until) as until
       from incident_alerts ia join alerts a on a.company_id = :companyId and a.id = ia.alert_id
      where ia.company_id = :companyId and ia.incident_id = i.id) counted
    left join lateral (
     select a.status as last_end
       from incident_alerts ia join alerts a on a.company_id = :companyId and a.id = ia.alert_id
      where ia.company_id = :companyId and ia.incident_id = i.id and a.status in ('resolved', 'dismissed')
      order by a.resolved_at desc, a.id desc limit 1) ended on true
    left join lateral (
     select h.actor, h.reason
       from incident_alerts ia join alert_history h on h.company_id = :companyId and h.alert_id = ia.alert_id
      where ia.company_id = :companyId and ia.incident_id = i.id
      order by h.id desc limit 1) latest on true
   where i.company_id = :companyId and i.id = any(cast(:ids as uuid[])) and i.${IS_ACTIVE}
   order by i.id`
