import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { AlertHealth, AttentionItem, Severity } from '../api.ts'
import { routineNames, type Kinds } from '../kinds.ts'
import { IS_OPEN, isOpen, type AlertStatus } from '../models.ts'

const MAX_LISTED = 20

/** Alerts of one status and severity. */
interface AlertCount {
  status: AlertStatus
  severity: Severity
  count: number
  /** Of those, the ones with a delivery that failed. */
  failed: number
  /** Opened within the last 24 hours. */
  recent: number
  /** Opened, and resolved or dismissed, since the time that was given; 0 without one. */
  openedSince: number
  endedSince: number
}

/** The time from which alerts are counted, and the names of the kinds that do not count. */
interface CountedSince {
  since: Date | null
  routineKinds: readonly string[]
}

/** Alerts by status and severity, those of them that are open, and totals of alerts and rules. One statement. */
export async function countAlerts(
  trx: Transaction,
  { since, routineKinds }: CountedSince = { since: null, routineKinds: [] },
) {
  const counted = await rows<
    { rules: number; activeRules: number } & (AlertCount | Record<keyof AlertCount, null>)
  >(
    trx,
    `select rules.*, counted.*
       from (
         select count(*)::int as rules, count(*) filter (where is_active)::int as active_rules
           from alert_rules where company_id = :companyId) rules
       left join (
         select status, severity, count(*)::int as count, count(*) filter (where delivery_failed)::int as failed,
                count(*) filter (where created_at > now() - interval '24 hours')::int as recent,
                count(*) filter (where created_at >= :since and ${IS_COUNTED})::int as opened_since,
                count(*) filter (where resolved_at >= :since and ${IS_COUNTED})::int as ended_since
           from alerts where company_id = :companyId group by status, severity) counted on true`,
    { companyId: companyOf(trx), since, routineKinds },
  )
  // One row without counts if there is no alert.
  const counts = counted.filter(row => row.status !== null)
  const open = counts.filter(isOpen)
  const totals: Omit<AlertHealth['summary'], 'active_alerts' | 'affected_tables' | 'active_destinations'> = {
    total_rules: counted[0]?.rules ?? 0,
    active_rules: counted[0]?.activeRules ?? 0,
    recent_alerts: counts.reduce((total, { recent }) => total + recent, 0),
    unresolved_alerts: sumCounts(open),
    open_by_severity: countBySeverity(open),
  }
  return { counts, open, totals }
}

const IS_COUNTED = 'kind <> all(cast(:routineKinds as text[]))'

function countBySeverity(open: readonly AlertCount[]): Record<Severity, number> {
  const count = (severity: Severity) => sumCounts(open.filter(row => row.severity === severity))
  return { critical: count('critical'), warning: count('warning'), info: count('info') }
}

export function sumCounts(counts: readonly { count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

/**
 * Counts of rules and alerts, and the worst open alerts that are not snoozed, newest first. Two statements.
 * @param since where the counts of opened and ended alerts start
 */
export async function readAlertHealth(
  trx: Transaction,
  kinds: Kinds,
  since: Date | undefined,
): Promise<AlertHealth> {
  const { counts, open, totals } = await countAlerts(trx, {
    since: since ?? null,
    routineKinds: routineNames(kinds),
  })
  const attention = await rows<NeedyAlert & { tables: number; destinations: number }>(
    trx,
    `with needing as (
       select id, severity, title, asset_id, created_at, event #>> '{asset,qualified_name}' as asset_name,
         event #>> '{asset,asset_type}' not in ('source', 'destination') as is_table
       from alerts where company_id = :companyId and ${IS_OPEN} and status <> 'snoozed')
     select counted.*, listed.*
     from (select (count(distinct asset_id) filter (where is_table))::int as tables,
         (select count(*)::int from destinations where company_id = :companyId and is_active) as destinations
       from needing) counted
     left join (select id, severity, title, asset_id, asset_name from needing where severity in ('critical', 'warning')
       order by severity = 'critical' desc, created_at desc, id desc limit :limit) listed on true`,
    { companyId: companyOf(trx), limit: MAX_LISTED },
  )
  return {
    summary: {
      ...totals,
      active_alerts: sumCounts(open.filter(({ status }) => status !== 'snoozed')),
      affected_tables: attention[0]?.tables ?? 0,
      active_destinations: attention[0]?.destinations ?? 0,
    },
    since: {
      alerts_opened: counts.reduce((total, { openedSince }) => total + openedSince, 0),
      alerts_ended: counts.reduce((total, { endedSince }) => total + endedSince, 0),
    },
    attention: attention.flatMap(({ id, severity, title, assetId, assetName }) =>
      // One row without an alert if none is listed.
      id === null
        ? []
        : { type: 'alert', severity, title, asset_id: assetId, asset_name: assetName, alert_id: id },
    ),
  }
}

/** An alert that needs attention; its fields are null in the row that stands for none. */
interface NeedyAlert extends Pick<AttentionItem, 'severity' | 'title'> {
  id: string | null
  assetId: string
  assetName: string
}
