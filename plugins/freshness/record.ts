import type { Server } from '@hapi/hapi'
import { tablePath } from '../../connectors/catalog.ts'
import type { ConnectorError } from '../../connectors/errors.ts'
import { companyOf, rows, type Transaction } from '../../server/database.ts'
import { formatDuration, sayAge } from '../../server/durations.ts'
import { isLate, type Judgement } from './judge.ts'
import { refOf } from './models.ts'
import type { Watched } from './watched.ts'

/** What a check saw of one table. */
export interface Seen {
  watched: Watched
  timestampColumn: string | null
  checkedAt: Date
  /** Why the table could not be read; null when it was. */
  error: ConnectorError | null
  lastUpdated: Date | null
  /** Whether the newest timestamp was a new one. */
  isUpdate: boolean
  /** The engine's time of the last change as of the last reading, where it tells one. */
  modifiedAt: Date | null
  /** The zone that wall clock times were taken to be of. */
  zone: string
  /** Whether it is to be read alone from now on. */
  isSlow: boolean
}

/** What was seen, judged. */
export interface Finding extends Seen {
  /** Null when the table could not be read. */
  judgement: Judgement | null
}

/**
 * Records findings in one statement, and raises or resolves the alerts of those that call for it. A violation, or the
 * warning before it, opens an alert; a table in time again closes it. Not knowing does neither.
 * @param options `isReplay` records a check of the past, which else gives way to a later one
 */
export async function record(
  server: Server,
  trx: Transaction,
  sourceId: string,
  findings: readonly Finding[],
  { isReplay }: { isReplay: boolean },
): Promise<void> {
  const stored = await store(trx, findings, isReplay)
  const recorded = findings.filter(({ watched }) => stored.has(watched.id))
  const over = recorded.filter(
    finding => finding.watched.alertSeverity !== null && severityOf(finding) === null,
  )
  const { alerts } = server.plugins
  await alerts.resolveAll(
    trx,
    'freshness_violation',
    over.map(({ watched }) => watched.id),
  )
  await alerts.raiseAll(
    trx,
    recorded.flatMap(finding => eventOf(server, sourceId, finding) ?? []),
  )
}

/** @returns the schedules that were recorded: not those deleted, given another column or checked again meanwhile */
async function store(
  trx: Transaction,
  findings: readonly Finding[],
  isReplay: boolean,
): Promise<Set<string>> {
  const stored = await rows<{ id: string }>(
    trx,
    `with r as materialized (
       select * from jsonb_to_recordset(cast(:findings as jsonb)) as r (
         id uuid, known_column text, known_expression text, known_last_modified boolean, timestamp_column text,
         status text, sla_status text, last_updated timestamptz, is_update boolean, is_slow boolean,
         modified_at timestamptz, zone text, age_seconds bigint, learned_sla_seconds integer,
         expected_next timestamptz, error text, alert_severity text, checked_at timestamptz)
     ), updated as (
       update freshness_schedules s
       set status = r.status, sla_status = r.sla_status, last_error = r.error, last_check_at = r.checked_at,
         timestamp_column = r.timestamp_column, running_slot = null, alert_severity = r.alert_severity,
         is_slow = r.is_slow, modified_at = r.modified_at, read_zone = r.zone,
         last_updated = case when r.error is null then r.last_updated else s.last_updated end,
         expected_next = case when r.error is null then r.expected_next else s.expected_next end,
         learned_sla_seconds = case when r.error is null then r.learned_sla_seconds else s.learned_sla_seconds end
       from r
       where s.company_id = :companyId and s.id = r.id
         and s.timestamp_column is not distinct from r.known_column
         and s.expression is not distinct from r.known_expression
         and s.uses_last_modified = r.known_last_modified
         and (:isReplay or s.last_check_at is null or s.last_check_at <= r.checked_at)
       returning s.id
     )
     insert into freshness_checks
       (company_id, schedule_id, status, sla_status, last_updated, is_update, data_age_seconds, error_message, checked_at)
     select :companyId, r.id, r.status, r.sla_status, r.last_updated, r.is_update, r.age_seconds, r.error, r.checked_at
     from r join updated u on u.id = r.id
     returning schedule_id as id`,
    { companyId: companyOf(trx), isReplay, findings: JSON.stringify(findings.map(toRecord)) },
  )
  return new Set(stored.map(({ id }) => id))
}

function toRecord(finding: Finding): object {
  const { watched, timestampColumn, checkedAt, error, lastUpdated, isUpdate, judgement } = finding
  return {
    id: watched.id,
    known_column: watched.timestampColumn,
    known_expression: watched.expression,
    known_last_modified: watched.usesLastModified,
    timestamp_column: timestampColumn,
    status: judgement?.status ?? 'unknown',
    sla_status: judgement?.slaStatus ?? null,
    last_updated: lastUpdated,
    is_update: isUpdate,
    is_slow: finding.isSlow,
    modified_at: finding.modifiedAt,
    zone: finding.zone,
    age_seconds: judgement?.ageSeconds == null ? null : Math.floor(judgement.ageSeconds),
    learned_sla_seconds: watched.monitoringMode === 'auto_learn' ? (judgement?.slaSeconds ?? null) : null,
    expected_next: judgement?.expectedNext ?? null,
    error: error?.message ?? null,
    alert_severity: severityOf(finding),
    checked_at: checkedAt,
  }
}

/** What the open alert is to be: none for a table in time, as it was while nothing is known. */
function severityOf({ watched, judgement, checkedAt }: Finding): 'warning' | 'critical' | null {
  if (!judgement?.slaStatus) return watched.alertSeverity
  if (judgement.slaStatus === 'within_sla') return null
  if (judgement.slaStatus === 'violated') return 'critical'
  const warning = watched.monitoringMode === 'explicit' || isLate(judgement, checkedAt) ? 'warning' : null
  // And a table that was violated is not well again before it is in time.
  return watched.alertSeverity ?? warning
}

/** What is to be told of a table that is not in time; undefined of one that is, or of which nothing is known. */
function eventOf(server: Server, sourceId: string, finding: Finding): Event | undefined {
  const { watched, judgement } = finding
  const severity = severityOf(finding)
  if (severity === null || !judgement?.slaStatus) return undefined
  const path = tablePath(refOf(watched))
  const age = judgement.ageSeconds ?? 0
  const threshold = thresholdOf(watched, judgement)
  return {
    type: 'freshness_violation',
    cause: watched.id,
    severity,
    sourceId,
    asset: {
      id: watched.tableId,
      qualifiedName: watched.qualifiedName,
      assetType: watched.kind,
      tags: server.plugins.catalog.tagsOf({ tags: watched.sourceTags }, watched, [finding.timestampColumn]),
    },
    ruleName: `Freshness of ${path}`,
    title:
      judgement.slaStatus === 'violated'
        ? `${path} is stale: its newest data is ${sayAge(age)} old, and at most ${threshold} are allowed`
        : `${path} is nearly stale: its newest data is ${sayAge(age)} old of the ${threshold} allowed`,
    details: {
      table_path: path,
      timestamp_column: finding.timestampColumn,
      last_updated: finding.lastUpdated,
      sla_threshold: threshold,
      data_age_minutes: Math.floor(age / 60),
    },
  }
}

type Event = Parameters<Server['plugins']['alerts']['raiseAll']>[1][number]

function thresholdOf(watched: Watched, judgement: Judgement): string {
  const own = watched.monitoringMode === 'explicit' ? watched.slaThreshold : null
  return own ?? formatDuration(judgement.slaSeconds ?? 0)
}
