import type { Server } from '@hapi/hapi'
import { tablePath } from '../../connectors/catalog.ts'
import type { ConnectorError } from '../../connectors/errors.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { isSameSlot } from '../../server/database/due.ts'
import { formatDuration, sayAge } from '../../server/settings/durations.ts'
import { alertOf, type Judgement } from './judge.ts'
import { refOf } from './models.ts'
import type { Watched } from './watched.ts'
import { lockSchedules, type LockedSchedule } from './locks.ts'

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
 * Records findings, and raises or resolves the alerts of those that call for it. A violation, or the warning before it,
 * opens an alert; a table in time again closes it. Not knowing does neither. What another check or a client has made
 * of a schedule since it was loaded counts: rows are held first, the source's before its schedules'.
 * @param options `isReplay` records a check of the past, which else gives way to a later one
 * @throws 404 `ASSET_NOT_FOUND` when the source was removed, 409 `CONFLICT` when it was switched off meanwhile
 */
export async function record(
  server: Server,
  trx: Transaction,
  sourceId: string,
  findings: readonly Finding[],
  { isReplay }: { isReplay: boolean },
): Promise<void> {
  const held = await hold(server, trx, sourceId, { findings, isReplay })
  const current: Current[] = []
  const dropped: LockedSchedule[] = []
  for (const finding of findings) {
    const schedule = held.get(finding.watched.id)
    if (!schedule) continue
    if (isOf(schedule, finding, isReplay)) current.push(asOf(schedule, finding))
    else if (isSameSlot(schedule, finding.watched)) dropped.push(schedule)
  }
  await store(trx, current)
  for (const { judgement } of current)
    server.telemetry.verdict('freshness', 'age', judgement?.status ?? 'error')
  await release(trx, dropped)
  const over = current.filter(
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
    current.flatMap(finding => eventOf(server, sourceId, finding) ?? []),
  )
}

/** The schedules that are still there, held until the transaction ends, by their ids. */
async function hold(
  server: Server,
  trx: Transaction,
  sourceId: string,
  { findings, isReplay }: { findings: readonly Finding[]; isReplay: boolean },
): Promise<Map<string, LockedSchedule>> {
  const source = await server.plugins.catalog.lockSource(trx, sourceId)
  // Its alerts are closed, and one that is opened now would stay open.
  if (!source.isActive && !isReplay) throw server.plugins.catalog.switchedOff(source)
  const held = await lockSchedules(
    trx,
    findings.map(({ watched }) => watched.id),
  )
  return new Map(held.map(schedule => [schedule.id, schedule]))
}

/** Whether a finding is of a schedule and a table as they are now: not read or judged otherwise, nor checked again meanwhile. */
function isOf(held: LockedSchedule, { watched, checkedAt }: Finding, isReplay: boolean): boolean {
  return (
    TERMS.every(term => held[term] === watched[term]) &&
    (isReplay || held.lastCheckAt === null || held.lastCheckAt <= checkedAt)
  )
}

const TERMS = [
  'timestampColumn',
  'expression',
  'usesLastModified',
  'monitoringMode',
  'slaThreshold',
  'isKnown',
] as const

/** A finding to be recorded. */
interface Current extends Finding {
  /** Whether the slot that it was claimed for ends with it. */
  endsSlot: boolean
}

/** A finding as of the schedule that is there now. */
function asOf(
  { isActive, alertSeverity, lastUpdated, runningSlot }: LockedSchedule,
  finding: Finding,
): Current {
  const { watched } = finding
  // Another check may have seen the same update.
  const isNew = finding.lastUpdated?.getTime() !== lastUpdated?.getTime()
  return {
    ...finding,
    watched: { ...watched, isActive, alertSeverity },
    isUpdate: finding.isUpdate && isNew,
    endsSlot: isSameSlot({ runningSlot }, watched),
  }
}

async function store(trx: Transaction, findings: readonly Current[]): Promise<void> {
  await rows(
    trx,
    `with r as materialized (
       select * from jsonb_to_recordset(cast(:findings as jsonb)) as r (
         id uuid, timestamp_column text, status text, sla_status text, last_updated timestamptz, is_update boolean,
         is_slow boolean, modified_at timestamptz, zone text, age_seconds bigint, learned_sla_seconds integer,
         expected_next timestamptz, error text, alert_severity text, checked_at timestamptz, ends_slot boolean)
     ), updated as (
       update freshness_schedules s
       set status = r.status, sla_status = r.sla_status, last_error = r.error, last_check_at = r.checked_at,
         timestamp_column = r.timestamp_column, alert_severity = r.alert_severity,
         running_slot = case when r.ends_slot then null else s.running_slot end,
         is_slow = r.is_slow, modified_at = r.modified_at, read_zone = r.zone,
         last_updated = case when r.error is null then r.last_updated else s.last_updated end,
         expected_next = case when r.error is null then r.expected_next else s.expected_next end,
         learned_sla_seconds = case when r.error is null then r.learned_sla_seconds else s.learned_sla_seconds end
       from r where s.company_id = :companyId and s.id = r.id
     )
     insert into freshness_checks
       (company_id, schedule_id, status, sla_status, last_updated, is_update, data_age_seconds, error_message, checked_at)
     select :companyId, id, status, sla_status, last_updated, is_update, age_seconds, error, checked_at from r`,
    { companyId: companyOf(trx), findings: JSON.stringify(findings.map(toRecord)) },
  )
}

/** Ends slots that were claimed for findings which came to nothing, so that the next check need not wait for them. */
async function release(trx: Transaction, dropped: readonly LockedSchedule[]): Promise<void> {
  if (dropped.length === 0) return
  await rows(
    trx,
    'update freshness_schedules set running_slot = null where company_id = ? and id = any(cast(? as uuid[]))',
    [companyOf(trx), dropped.map(({ id }) => id)],
  )
}

function toRecord(finding: Current): object {
  const { watched, timestampColumn, checkedAt, error, lastUpdated, isUpdate, judgement } = finding
  return {
    id: watched.id,
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
    // No JSON holds a NUL or half a character, which a message that was cut may end with.
    error: error?.message.replaceAll('\0', '\uFFFD').toWellFormed() ?? null,
    alert_severity: severityOf(finding),
    checked_at: checkedAt,
    ends_slot: finding.endsSlot,
  }
}

function severityOf({ watched, judgement, checkedAt }: Finding): 'warning' | 'critical' | null {
  return alertOf(judgement, watched, checkedAt)
}

/** What is to be told of a table that is not in time; undefined of one that is, or of which nothing is known. */
function eventOf(server: Server, sourceId: string, finding: Finding): Event | undefined {
  const { watched, judgement } = finding
  if (severityOf(finding) === null || !judgement?.slaStatus) return undefined
  const isViolated = judgement.slaStatus === 'violated'
  const path = tablePath(refOf(watched))
  const age = judgement.ageSeconds ?? 0
  const threshold = thresholdOf(watched, judgement)
  return {
    type: 'freshness_violation',
    cause: watched.id,
    // A warning after a violation counts on the alert of that; when somebody has closed it, it opens no critical one.
    severity: isViolated ? 'critical' : 'warning',
    sourceId,
    asset: {
      id: watched.tableId,
      qualifiedName: watched.qualifiedName,
      assetType: watched.kind,
      tags: server.plugins.catalog.tagsOf({ tags: watched.sourceTags }, watched, [finding.timestampColumn]),
    },
    ruleName: `Freshness of ${path}`,
    title: isViolated
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
