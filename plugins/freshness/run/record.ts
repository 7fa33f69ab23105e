import { formatFinding, type Finding } from '../../../checks/explanation.ts'
import { tablePath } from '../../../connectors/catalog.ts'
import type { ConnectorError } from '../../../connectors/errors.ts'
import { companyOf, type Transaction } from '../../../server/database/database.ts'
import { isSameSlot } from '../../../server/database/due.ts'
import { formatDuration, sayAgeAbove, sayDuration } from '../../../server/settings/durations.ts'
import type { AlertEvent } from '../../alerts/api.ts'
import type { CatalogApi } from '../../catalog/api.ts'
import { storeFindings, type SourceFinding } from '../../checks/kit.ts'
import type { FreshnessFinding, FreshnessListener } from '../api.ts'
import type { FreshnessDeps } from '../deps.ts'
import { alertSeverityOf, type FreshnessVerdict } from './judge.ts'
import { lockSchedules, type LockedSchedule } from '../locks.ts'
import { Schedule, tableRefOf, type FreshnessDetails } from '../models.ts'
import { pastJob } from '../past/past-job.ts'
import type { WatchedTable } from './watched.ts'

/** The result of reading one table. */
export interface Observation {
  watched: WatchedTable
  timestampColumn: string | null
  checkedAt: Date
  /** Why the table could not be read; null if it was. */
  error: ConnectorError | null
  lastUpdated: Date | null
  /** Whether the newest timestamp is new. */
  isUpdate: boolean
  /** The engine's modification time at the last reading, if it has one. */
  modifiedAt: Date | null
  /** The time zone used for local times. */
  zone: string
  /** Whether the table is read alone from now on. */
  isSlow: boolean
  /** Whether the values of the column are days. */
  isDay: boolean
}

export interface JudgedObservation extends Observation {
  /** The updates from which its threshold was learned, with a new one; null where nothing was learned yet. */
  updatesSeen: number | null
  /** Null if the table could not be read. */
  judgement: FreshnessVerdict | null
}

/** What recording needs, and what it calls with its findings. */
export interface RecordDeps extends Pick<FreshnessDeps, 'alerts' | 'catalog' | 'jobs' | 'telemetry'> {
  notifyChecked: FreshnessListener
}

/**
 * Stores observations, and raises or resolves alerts. A warning or violation opens an alert, a table within its SLA
 * resolves it, and an unknown status does neither. Changes to a schedule since it was loaded take precedence: the source
 * and then its schedules are locked first.
 * @param options `isReplay` stores a check of the past, which would otherwise be dropped in favour of a later one
 * @throws 404 `ASSET_NOT_FOUND` if the source was removed, 409 `CONFLICT` if it was deactivated
 */
export async function recordObservations(
  { alerts, catalog, jobs, telemetry, notifyChecked }: RecordDeps,
  trx: Transaction,
  sourceId: string,
  findings: readonly JudgedObservation[],
  { isReplay }: { isReplay: boolean },
): Promise<void> {
  const schedules = await lockCurrent(catalog, trx, sourceId, { findings, isReplay })
  const current: CurrentObservation[] = []
  const dropped: LockedSchedule[] = []
  for (const finding of findings) {
    const schedule = schedules.get(finding.watched.id)
    if (!schedule) continue
    if (isCurrent(schedule, finding, isReplay)) current.push(applySchedule(schedule, finding))
    else if (isSameSlot(schedule, finding.watched)) dropped.push(schedule)
  }
  await storeFindings(trx, current.map(toFinding))
  for (const { judgement } of current) telemetry.verdict('freshness', 'age', judgement?.status ?? 'error')
  await releaseSlots(trx, dropped)
  const over = current.filter(
    finding => finding.watched.alertSeverity !== null && severityOf(finding) === null,
  )
  const causes = over.map(({ watched }) => watched.uuid)
  await alerts.resolveAll(trx, 'freshness_violation', causes)
  await alerts.raiseAll(
    trx,
    current.flatMap(finding => violationEvent(catalog, sourceId, finding) ?? []),
  )
  await notifyChecked(
    trx,
    sourceId,
    current.map(finding => ({ scheduleId: finding.watched.uuid, ...describeFinding(finding) })),
  )
  const companyId = companyOf(trx)
  // The first check of a table has no earlier ones: its past is read from its rows.
  if (!isReplay && current.some(lacksPast))
    await jobs.send(pastJob, { company_id: companyId, source_id: sourceId }, { trx, group: companyId })
}

/** Whether the column of a table was read, and its earlier values never were. */
function lacksPast({ watched, timestampColumn, lastUpdated, error }: CurrentObservation): boolean {
  return (
    watched.isActive &&
    watched.pastReadAt === null &&
    timestampColumn !== null &&
    lastUpdated !== null &&
    !error
  )
}

/** What a check found, for other features. */
export function describeFinding({
  error,
  judgement,
}: JudgedObservation): Omit<FreshnessFinding, 'scheduleId'> {
  const status = judgement?.status ?? 'unknown'
  const age = judgement?.ageSeconds ?? null
  if (status === 'stale' && judgement && age !== null)
    return {
      status,
      reason: formatFinding(describeAge(age, judgement.slaSeconds ?? 0)),
    }
  const unknown = status === 'unknown' ? 'nothing shows when it was updated' : null
  return { status, reason: error?.message ?? unknown }
}

/** Locks the source and then the schedules that still exist. @returns them by id */
async function lockCurrent(
  catalog: CatalogApi,
  trx: Transaction,
  sourceId: string,
  { findings, isReplay }: { findings: readonly JudgedObservation[]; isReplay: boolean },
): Promise<Map<string, LockedSchedule>> {
  const source = await catalog.lockSource(trx, sourceId)
  // Its alerts were resolved when it was deactivated; a new one would stay open.
  if (!source.isActive && !isReplay) throw catalog.sourceInactive(source)
  const ids = findings.map(({ watched }) => watched.id)
  return new Map((await lockSchedules(trx, ids)).map(schedule => [schedule.id, schedule]))
}

/** Whether an observation still applies: the schedule has the same terms, and no later check was stored. */
function isCurrent(schedule: LockedSchedule, { watched, checkedAt }: JudgedObservation, isReplay: boolean) {
  return (
    COMPARED_FIELDS.every(term => schedule[term] === watched[term]) &&
    (isReplay || schedule.lastCheckedAt === null || schedule.lastCheckedAt <= checkedAt)
  )
}

const COMPARED_FIELDS = [
  'timestampColumn',
  'expression',
  'usesLastModified',
  'monitoringMode',
  'slaThreshold',
  'isTableActive',
] as const

/** An observation to store. */
interface CurrentObservation extends JudgedObservation {
  /** Whether it ends the slot that it was claimed for. */
  endsSlot: boolean
}

/** Updates an observation with the current state of its schedule. */
function applySchedule(
  { isActive, alertSeverity, lastUpdated, runningSlot }: LockedSchedule,
  finding: JudgedObservation,
): CurrentObservation {
  const { watched } = finding
  // Another check may have stored the same update.
  const isNew = finding.lastUpdated?.getTime() !== lastUpdated?.getTime()
  return {
    ...finding,
    watched: { ...watched, isActive, alertSeverity },
    isUpdate: finding.isUpdate && isNew,
    endsSlot: isSameSlot({ runningSlot }, watched),
  }
}

/** Ends the slots of dropped observations, so that the next check need not wait for them. */
async function releaseSlots(trx: Transaction, dropped: readonly LockedSchedule[]): Promise<void> {
  if (dropped.length === 0) return
  await Schedule.query(trx)
    .findByIds(dropped.map(({ id }) => id))
    .patch({ runningSlot: null })
}

const STATUSES = { within_sla: 'pass', warning: 'warning', violated: 'fail' } as const

function toFinding(finding: CurrentObservation): SourceFinding {
  const { watched, timestampColumn, checkedAt, error, lastUpdated, isUpdate, judgement } = finding
  const { modifiedAt, zone, isSlow, endsSlot } = finding
  // JSON in PostgreSQL rejects NUL and lone surrogates, which a truncated message may end with.
  const errorMessage = error?.message.replaceAll('\0', '\uFFFD').toWellFormed() ?? null
  const found = judgement && {
    lastUpdated,
    expectedNext: judgement.expectedNext,
    learnedSlaSeconds: watched.monitoringMode === 'auto_learn' ? judgement.slaSeconds : null,
    updatesSeen: finding.updatesSeen,
  }
  const details: FreshnessDetails = { lastUpdated, ...(isUpdate && { isUpdate }) }
  return {
    id: watched.id,
    at: checkedAt,
    status: error ? 'error' : judgement?.slaStatus ? STATUSES[judgement.slaStatus] : null,
    value: judgement?.ageSeconds ?? null,
    errorMessage,
    details,
    settings: {
      ...{ timestampColumn, modifiedAt, isSlow, readZone: zone, lastError: errorMessage },
      // What was known stays known after an error.
      ...found,
      alertSeverity: severityOf(finding),
    },
    endsSlot,
  }
}

function severityOf({ watched, judgement, checkedAt }: JudgedObservation): 'warning' | 'critical' | null {
  return alertSeverityOf(judgement, watched, checkedAt)
}

/** The alert event of a late table; undefined if the table is within its SLA or its status is unknown. */
function violationEvent(
  catalog: CatalogApi,
  sourceId: string,
  finding: JudgedObservation,
): AlertEvent | undefined {
  const { watched, judgement } = finding
  if (severityOf(finding) === null || !judgement?.slaStatus) return undefined
  const isViolated = judgement.slaStatus === 'violated'
  const path = tablePath(tableRefOf(watched))
  const age = judgement.ageSeconds ?? 0
  const threshold = thresholdOf(watched, judgement)
  return {
    type: 'freshness_violation',
    cause: watched.uuid,
    // A warning after a violation counts on that alert. If a user has closed it, the new alert is a warning.
    severity: isViolated ? 'critical' : 'warning',
    sourceId,
    asset: {
      id: watched.tableId,
      qualifiedName: watched.qualifiedName,
      assetType: watched.tableKind,
      tags: catalog.tagsOf({ tags: watched.sourceTags }, watched, [finding.timestampColumn]),
    },
    ruleName: `Freshness of ${path}`,
    title: describeAge(age, judgement.slaSeconds ?? 0),
    details: {
      table_path: path,
      timestamp_column: finding.timestampColumn,
      last_updated: finding.lastUpdated,
      sla_threshold: threshold,
      data_age_minutes: Math.floor(age / 60),
      explanation:
        watched.monitoringMode === 'explicit'
          ? 'The threshold is set by hand'
          : 'The threshold follows from earlier updates',
    },
  }
}

/** `3 days old`, expected `every 24 h`; of one that is late and not stale `20 h old, stale after 24 h`. */
export function describeAge(ageSeconds: number, slaSeconds: number): Finding {
  const age = sayAgeAbove(ageSeconds, slaSeconds)
  const threshold = sayDuration(slaSeconds)
  return ageSeconds >= slaSeconds
    ? { found: `${age} old`, expected: `every ${threshold}` }
    : { found: `${age} old, stale after ${threshold}` }
}

function thresholdOf(watched: WatchedTable, judgement: FreshnessVerdict): string {
  const own = watched.monitoringMode === 'explicit' ? watched.slaThreshold : null
  return own ?? formatDuration(judgement.slaSeconds ?? 0)
}
