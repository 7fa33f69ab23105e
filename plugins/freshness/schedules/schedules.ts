import type { Transaction } from '../../../server/database/database.ts'
import type { AuditEvent } from '../../../server/http/audit.ts'
import { databaseNow, timeOf } from '../../../server/database/now.ts'
import { apiError, hasCode, invalidField } from '../../../server/http/errors.ts'
import { nextOnGrid } from '../../../server/database/due.ts'
import type { AlertsApi } from '../../alerts/api.ts'
import type { CatalogApi, Source, TableContext } from '../../catalog/api.ts'
import { lockCheck, removeCheck, restartBaseline, storeOneEach } from '../../checks/kit.ts'
import type { FreshnessApi } from '../api.ts'
import type { FreshnessDeps } from '../deps.ts'
import { assertExpression } from './expression.ts'
import { formatDuration } from '../../../server/settings/durations.ts'
import { withTimeout } from '../../../server/with-timeout.ts'
import { freshnessKind } from '../kind.ts'
import { monitoredTables, Schedule, type MonitoredTable } from '../models.ts'
import {
  chooseSignalOfPatch,
  chooseSignal,
  readProfile,
  type SignalFields,
  type StoredSignal,
} from './signals.ts'

/** The fields of a schedule that clients set, validated. */
export interface ScheduleFields extends SignalFields {
  monitoring_mode?: 'auto_learn' | 'explicit'
  sla_threshold?: string
  expected_interval_hours?: number
  check_interval?: string
  is_active?: boolean
}

/** The body of `POST /sdk/freshness/schedules`, validated. */
export interface ScheduleRequest extends ScheduleFields {
  asset_id: string
  table_path?: string
  is_active: boolean
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** How long a request waits for its check, which continues afterwards. */
const MAX_WAIT_MS = 5_000

const DEFAULT_CHECK_INTERVAL = '1h'

/** Creates the schedule of a table, due at once. @throws 409 if the table has one */
export async function createSchedule(catalog: CatalogApi, trx: Transaction, body: ScheduleRequest) {
  return insertSchedule(catalog, trx, await tableOf(catalog, trx, body), body)
}

/** Stores the schedule of a table, due at once. @throws 409 if the table has one */
export async function insertSchedule(
  catalog: CatalogApi,
  trx: Transaction,
  subject: TableContext,
  body: ScheduleFields & { is_active: boolean },
): Promise<MonitoredTable> {
  const { source, table } = subject
  const terms = { ...resolveTerms(source, body), isActive: body.is_active }
  const signal = await chooseSignal(catalog, subject, body, () => readProfile(catalog, trx, table.id))
  const schedule = { tableId: table.id, ...signal }
  const [stored] = await storeSchedules(trx, source, [schedule], terms)
  if (stored) return findSchedule(trx, stored.uuid)
  const existing = await Schedule.query(trx).findOne('tableId', table.id)
  const message = `${table.qualifiedName} already has a freshness schedule: PATCH it`
  throw apiError('CONFLICT', message, { field: 'table_path', schedule_id: existing?.uuid ?? null })
}

/** A schedule that is to be stored. */
export interface NewSchedule extends StoredSignal {
  tableId: string
}

/** Stores schedules that share their terms, due at once. @returns those of tables that had none, with their ids */
export async function storeSchedules<New extends NewSchedule>(
  trx: Transaction,
  source: Source,
  schedules: readonly New[],
  { mode, slaThreshold, checkInterval, isActive }: ReturnType<typeof resolveTerms> & { isActive: boolean },
): Promise<(New & { uuid: string })[]> {
  const all = schedules.map(schedule => {
    const { timestampColumn, expression, usesLastModified } = schedule
    const settings = {
      timestampColumn,
      expression,
      usesLastModified,
      monitoringMode: mode,
      slaThreshold: slaThreshold ?? null,
    }
    return { ...schedule, sourceId: source.id, checkInterval, isActive, settings }
  })
  return storeOneEach(trx, Schedule.kind, all)
}

/**
 * Rejects an expression that the source would not run. It queries the source, so call it outside of a transaction.
 * @throws 400 `VALIDATION_ERROR`
 */
export async function assertRunnable(
  { db, catalog }: Pick<FreshnessDeps, 'db' | 'catalog'>,
  companyId: string,
  target: ScheduleRequest | { id: string },
  { freshness_expression: expression }: SignalFields,
): Promise<void> {
  if (expression === undefined) return
  const subject = await db.company(companyId, async trx => {
    if ('asset_id' in target) return tableOf(catalog, trx, target)
    const { tableId } = await findSchedule(trx, target.id)
    return catalog.loadTable(trx, tableId)
  })
  if (subject) await assertExpression(catalog, subject, expression)
}

/**
 * Changes the given fields; a threshold makes the schedule explicit unless the patch sets the mode. The schedule is due
 * at once. A different signal deletes what was learned.
 */
export async function patchSchedule(
  { alerts, catalog }: Pick<FreshnessDeps, 'alerts' | 'catalog'>,
  trx: Transaction,
  id: string,
  patch: ScheduleFields,
) {
  const schedule = await findLockedSchedule(trx, id)
  const ownThreshold = thresholdOf(patch)
  const slaThreshold = ownThreshold ?? schedule.slaThreshold
  const monitoringMode =
    patch.monitoring_mode ?? (ownThreshold === undefined ? schedule.monitoringMode : 'explicit')
  assertThreshold(monitoringMode, slaThreshold ?? undefined)
  const { timestampColumn, expression, usesLastModified } = await chooseSignalOfPatch(
    catalog,
    trx,
    schedule,
    patch,
  )
  const isOtherSignal =
    timestampColumn !== schedule.timestampColumn ||
    expression !== schedule.expression ||
    usesLastModified !== schedule.usesLastModified
  const isActive = patch.is_active ?? schedule.isActive
  await Schedule.query(trx)
    .findById(schedule.id)
    .patch({
      monitoringMode,
      slaThreshold,
      timestampColumn,
      expression,
      usesLastModified,
      checkInterval: patch.check_interval ?? schedule.checkInterval,
      isActive,
      ...(!isActive && { alertSeverity: null }),
      ...(isOtherSignal && { ...FORGOTTEN, ...restartBaseline(schedule) }),
      nextRunAt: databaseNow(),
      // A running check measures the previous terms.
      runningSlot: null,
      // Comparable with check times: verdicts from before a pause lapse.
      updatedAt: timeOf('clock_timestamp()'),
    })
  if (!isActive)
    await alerts.resolveOrphaned(trx, { type: freshnessKind.alert.name, causes: [schedule.uuid] })
  return findSchedule(trx, id)
}

/** What is set when the signal is another. */
const FORGOTTEN = {
  status: null,
  lastUpdated: null,
  expectedNext: null,
  learnedSlaSeconds: null,
  modifiedAt: null,
  isSlow: false,
  lastError: null,
  lastCheckedAt: null,
  updatesSeen: null,
  pastReadAt: null,
  pastNote: null,
}

/** Removes a schedule with its history, and resolves its alert. */
export async function deleteSchedule(
  alerts: AlertsApi,
  trx: Transaction,
  id: string,
): Promise<MonitoredTable> {
  const schedule = await findLockedSchedule(trx, id)
  await removeCheck(alerts, trx, freshnessKind, schedule)
  return schedule
}

/** The entry of the audit log for what happened to a schedule. */
export function scheduleEvent(
  happened: 'created' | 'updated' | 'removed',
  { uuid: id }: Pick<MonitoredTable, 'uuid'>,
  details: Record<string, unknown>,
): AuditEvent {
  return { action: `schedule.${happened}`, target: { type: 'schedule', id }, details }
}

/** Locks a schedule: a check that stores its result now has raised its alert before this returns. */
async function findLockedSchedule(trx: Transaction, id: string): Promise<MonitoredTable> {
  if (UUID.test(id)) await lockCheck(trx, Schedule, { uuid: id })
  return findSchedule(trx, id)
}

/** @throws 404 `SCHEDULE_NOT_FOUND` */
export async function findSchedule(trx: Transaction, id: string): Promise<MonitoredTable> {
  const schedule = UUID.test(id) ? await monitoredTables(trx).where('checks.uuid', id).first() : undefined
  if (!schedule)
    throw apiError('SCHEDULE_NOT_FOUND', 'The freshness schedule does not exist', { schedule_id: id })
  return schedule
}

interface CheckNowDeps extends Pick<FreshnessDeps, 'db' | 'pino'>, Pick<FreshnessApi, 'checkSource'> {}

/** Runs the check of a new or changed schedule, waits for it up to 5 s, and returns the schedule. */
export async function checkNow(
  { db, pino, checkSource }: CheckNowDeps,
  schedule: MonitoredTable,
): Promise<MonitoredTable> {
  const { companyId, sourceId, uuid: id } = schedule
  if (!schedule.isActive) return schedule
  const checking = checkSource({ companyId, sourceId, scheduleIds: [id] })
    .then(() => db.company(companyId, trx => advanceNextRun(trx, id)))
    // The schedule stays due, so a sweep retries; for a paused source once it is active.
    .catch((error: Error) => {
      if (!hasCode(error, 'CONFLICT'))
        pino.warn({ err: error.message, schedule_id: id }, 'first freshness check failed')
    })
  await withTimeout(checking, MAX_WAIT_MS, () => undefined)
  return db.company(companyId, trx => findSchedule(trx, id))
}

async function advanceNextRun(trx: Transaction, id: string): Promise<void> {
  await Schedule.query(trx)
    .where({ uuid: id })
    .where('nextRunAt', '<=', databaseNow())
    .patch({ nextRunAt: nextOnGrid('check_interval') })
}

/** The table that a request names by its asset, or by its path in the asset. @throws 400, 404 */
export async function tableOf(
  catalog: CatalogApi,
  trx: Transaction,
  body: { asset_id: string; table_path?: string },
): Promise<TableContext> {
  const { source, table } = await catalog.findAsset(trx, body.asset_id)
  if (body.table_path === undefined) {
    if (!table)
      throw invalidField(
        'table_path',
        'is required unless asset_id is a table; POST /api/v1/sdk/freshness/schedules/bulk covers many tables of a source',
      )
    if (!table.isActive) throw invalidField('asset_id', 'is a table that the last discovery did not find')
    return { source, table }
  }
  const named = await catalog.findTable(trx, { source, table }, body.table_path)
  return { source, table: named }
}

function thresholdOf({ sla_threshold: threshold, expected_interval_hours: hours }: ScheduleFields) {
  return hours === undefined ? threshold : formatDuration(Math.round(hours * 3600))
}

function assertThreshold(mode: string, threshold: string | undefined): void {
  if (mode === 'explicit' && threshold === undefined) {
    throw invalidField('sla_threshold', 'is required with monitoring_mode explicit, such as 24h')
  }
}

/** Mode, threshold and interval of a schedule: its own, else the defaults of its source. */
export function resolveTerms(
  { freshnessDefaults }: Pick<Source, 'freshnessDefaults'>,
  fields: ScheduleFields,
): { mode: 'auto_learn' | 'explicit'; slaThreshold: string | undefined; checkInterval: string } {
  const defaults = freshnessDefaults ?? {}
  const own = thresholdOf(fields)
  const slaThreshold = own ?? defaults.sla_threshold
  // With a threshold there is nothing to learn.
  const natural = slaThreshold === undefined ? 'auto_learn' : 'explicit'
  const mode =
    fields.monitoring_mode ?? (own === undefined ? (defaults.monitoring_mode ?? natural) : 'explicit')
  assertThreshold(mode, slaThreshold)
  return {
    mode,
    slaThreshold,
    checkInterval: fields.check_interval ?? defaults.check_interval ?? DEFAULT_CHECK_INTERVAL,
  }
}
