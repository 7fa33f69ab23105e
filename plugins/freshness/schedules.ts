import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { apiError, hasCode, invalidField } from '../../server/http/errors.ts'
import { checkSource } from './check.ts'
import { assertExpression } from './expression.ts'
import { formatDuration } from '../../server/settings/durations.ts'
import { within } from '../../server/with-timeout.ts'
import { monitoredTables, Schedule, type MonitoredTable } from './models.ts'
import { patchedSignal, signalOf, type SignalFields } from './signals.ts'
import { lockSchedule } from './locks.ts'

/** The fields of a schedule that clients set, validated. */
export interface ScheduleFields extends SignalFields {
  monitoring_mode?: 'auto_learn' | 'explicit'
  sla_threshold?: string
  expected_interval_hours?: number
  check_interval?: string
  is_active?: boolean
}

/** The body of `POST /sdk/freshness/schedules`, validated. */
export interface NewSchedule extends ScheduleFields {
  asset_id: string
  table_path?: string
  is_active: boolean
}

type Asset = Awaited<ReturnType<Server['plugins']['catalog']['findAsset']>>
type Table = NonNullable<Asset['table']>
type Source = Asset['source']

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Milliseconds that a request waits for the check it caused; the check goes on beyond. */
const PATIENCE_MS = 5_000

/** How often a table is checked unless its schedule or its source says otherwise. */
const CHECK_INTERVAL = '1h'

/** The next time on a schedule's own grid, so that checks do not drift and missed ones come once. */
export const NEXT_ON_GRID = `next_run_at + make_interval(secs =>
  extract(epoch from cast(check_interval as interval)) *
  (floor(extract(epoch from now() - next_run_at) / extract(epoch from cast(check_interval as interval))) + 1))`

/** Makes the schedule of a table, due at once. @throws 409 when the table has one */
export async function createSchedule(
  server: Server,
  trx: Transaction,
  body: NewSchedule,
): Promise<MonitoredTable> {
  const { source, table } = await tableOf(server, trx, body)
  const { mode, slaThreshold, checkInterval } = termsOf(source, body)
  const signal = signalOf(server, source, table, body)
  const id = v7()
  const made = await rows(
    trx,
    `insert into freshness_schedules
       (id, company_id, source_id, table_id, timestamp_column, expression, uses_last_modified, monitoring_mode,
        sla_threshold, check_interval, is_active)
     values (:id, :companyId, :sourceId, :tableId, :timestampColumn, :expression, :usesLastModified, :mode,
       :slaThreshold, :checkInterval, :isActive)
     on conflict (table_id) do nothing returning id`,
    {
      id,
      companyId: companyOf(trx),
      sourceId: source.id,
      tableId: table.id,
      ...signal,
      mode,
      slaThreshold: slaThreshold ?? null,
      checkInterval,
      isActive: body.is_active,
    },
  )
  if (made.length > 0) return findSchedule(trx, id)
  const known = await Schedule.query(trx).findOne('tableId', table.id)
  const message = `${table.qualifiedName} has a freshness schedule already: PATCH that one`
  throw apiError('CONFLICT', message, { field: 'table_path', schedule_id: known?.id ?? null })
}

/**
 * Refuses the expression of a new or changed schedule, if there is one, that its source would not run. It asks the
 * source: call it outside of a transaction.
 * @throws 400 `VALIDATION_ERROR`
 */
export async function assertRunnable(
  server: Server,
  companyId: string,
  target: NewSchedule | { id: string },
  { freshness_expression: expression }: SignalFields,
): Promise<void> {
  if (expression === undefined) return
  const loaded = await server.db.company(companyId, async trx => {
    if ('asset_id' in target) return tableOf(server, trx, target)
    const { tableId } = await findSchedule(trx, target.id)
    return server.plugins.catalog.load(trx, tableId)
  })
  if (loaded) await assertExpression(server, loaded, expression)
}

/**
 * Changes what is given; a threshold makes a schedule explicit, unless the patch says otherwise. It is due at once, and
 * what was learned from another column is forgotten.
 */
export async function patchSchedule(
  server: Server,
  trx: Transaction,
  id: string,
  patch: ScheduleFields,
): Promise<MonitoredTable> {
  const schedule = await holdSchedule(trx, id)
  const ownThreshold = thresholdOf(patch)
  const slaThreshold = ownThreshold ?? schedule.slaThreshold
  const monitoringMode =
    patch.monitoring_mode ?? (ownThreshold === undefined ? schedule.monitoringMode : 'explicit')
  assertThreshold(monitoringMode, slaThreshold ?? undefined)
  const { timestampColumn, expression, usesLastModified } = await patchedSignal(server, trx, schedule, patch)
  const isReadElsewhere =
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
      nextRunAt: raw('now()'),
      // A check that is on its way is of what was before.
      runningSlot: null,
      // By the clock of checks: what was found before a pause ends with it.
      updatedAt: raw('clock_timestamp()'),
    })
  if (isReadElsewhere) await forget(trx, schedule.id)
  if (!isActive) await closeAlert(server, trx, schedule)
  return findSchedule(trx, schedule.id)
}

/** Removes a schedule with its history, and closes its alert. */
export async function deleteSchedule(server: Server, trx: Transaction, id: string): Promise<MonitoredTable> {
  const schedule = await holdSchedule(trx, id)
  await Schedule.query(trx).deleteById(schedule.id)
  await closeAlert(server, trx, schedule)
  return schedule
}

async function closeAlert(server: Server, trx: Transaction, { id }: MonitoredTable): Promise<void> {
  await server.plugins.alerts.resolveOrphaned(trx, { type: 'freshness_violation', causes: [id] })
}

/** A schedule that nobody else changes until the transaction ends: a check that records it has opened its alert by then. */
async function holdSchedule(trx: Transaction, id: string): Promise<MonitoredTable> {
  const { id: known } = await findSchedule(trx, id)
  await lockSchedule(trx, known)
  return findSchedule(trx, known)
}

/** @throws 404 `SCHEDULE_NOT_FOUND` */
export async function findSchedule(trx: Transaction, id: string): Promise<MonitoredTable> {
  const schedule = UUID.test(id)
    ? await monitoredTables(trx).findById(id).castTo<MonitoredTable | undefined>()
    : undefined
  if (!schedule)
    throw apiError('SCHEDULE_NOT_FOUND', 'There is no such freshness schedule', { schedule_id: id })
  return schedule
}

/** Runs the check that a new or changed schedule is due for, waits for it a little, and gives the schedule. */
export async function checkAtOnce(server: Server, schedule: MonitoredTable): Promise<MonitoredTable> {
  const { companyId, sourceId, id } = schedule
  if (!schedule.isActive) return schedule
  const checking = checkSource(server, { companyId, sourceId, scheduleIds: [id] })
    .then(() => server.db.company(companyId, trx => advance(trx, id)))
    // The schedule stays due: the sweep tries again, of a paused source when it is active.
    .catch((error: Error) => {
      if (!hasCode(error, 'CONFLICT'))
        server.pino.warn({ err: error.message, schedule_id: id }, 'first freshness check failed')
    })
  await within(checking, PATIENCE_MS, () => undefined)
  return server.db.company(companyId, trx => findSchedule(trx, id))
}

async function advance(trx: Transaction, id: string): Promise<void> {
  await trx.raw(
    `update freshness_schedules set next_run_at = ${NEXT_ON_GRID}
     where company_id = :companyId and id = :id and next_run_at <= now()`,
    { companyId: companyOf(trx), id },
  )
}

async function tableOf(
  server: Server,
  trx: Transaction,
  body: NewSchedule,
): Promise<Asset & { table: Table }> {
  const { source, table } = await server.plugins.catalog.findAsset(trx, body.asset_id)
  if (body.table_path === undefined) {
    if (!table)
      throw invalidField(
        'table_path',
        'is required unless asset_id names a table; POST /api/v1/sdk/freshness/schedules/bulk watches many tables of a source',
      )
    if (!table.isActive)
      throw invalidField('asset_id', 'names a table that was not there at the last discovery')
    return { source, table }
  }
  const named = await server.plugins.catalog.findTable(trx, { source, table }, body.table_path)
  return { source, table: named }
}

function thresholdOf({
  sla_threshold: threshold,
  expected_interval_hours: hours,
}: ScheduleFields): string | undefined {
  return hours === undefined ? threshold : formatDuration(Math.round(hours * 3600))
}

function assertThreshold(mode: string, threshold: string | undefined): void {
  if (mode === 'explicit' && threshold === undefined) {
    throw invalidField('sla_threshold', 'is required with monitoring_mode explicit, such as 24h')
  }
}

/** What a table is held to and how often it is looked at: by its schedule, else by the defaults of its source. */
export function termsOf(
  { freshnessDefaults }: Pick<Source, 'freshnessDefaults'>,
  fields: ScheduleFields,
): { mode: 'auto_learn' | 'explicit'; slaThreshold: string | undefined; checkInterval: string } {
  const defaults = freshnessDefaults ?? {}
  const own = thresholdOf(fields)
  const slaThreshold = own ?? defaults.sla_threshold
  // A threshold says what is expected, so nothing is left to learn.
  const natural = slaThreshold === undefined ? 'auto_learn' : 'explicit'
  const mode =
    fields.monitoring_mode ?? (own === undefined ? (defaults.monitoring_mode ?? natural) : 'explicit')
  assertThreshold(mode, slaThreshold)
  return {
    mode,
    slaThreshold,
    checkInterval: fields.check_interval ?? defaults.check_interval ?? CHECK_INTERVAL,
  }
}

async function forget(trx: Transaction, id: string): Promise<void> {
  await trx.raw(
    `update freshness_checks set is_update = false where company_id = ? and schedule_id = ? and is_update`,
    [companyOf(trx), id],
  )
  await Schedule.query(trx).findById(id).patch({
    status: 'unknown',
    slaStatus: null,
    lastUpdated: null,
    expectedNext: null,
    learnedSlaSeconds: null,
    modifiedAt: null,
    isSlow: false,
    lastError: null,
    lastCheckAt: null,
  })
}
