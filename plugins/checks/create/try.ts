import type { CheckOutcome } from '../../../checks/check.ts'
import { measureHistory, timestampColumn, type HistoryPoint } from '../../../checks/history.ts'
import { explainScan } from '../../../checks/scan.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { INTERVAL_SECONDS } from '../../../server/database/due.ts'
import { invalidInput } from '../../../server/http/errors.ts'
import type { TableContext } from '../../catalog/api.ts'
import type {
  Backfill,
  CheckCost,
  ComputedHistory,
  ConfiguredCheck,
  DryRunMeasurement,
  HistoryRange,
} from '../types.ts'
import { estimateCheck, type CheckInterval } from '../costs/estimate.ts'
import type { CheckDeps } from '../deps.ts'
import { measure, tableRefusal } from '../run/measure.ts'
import {
  newestWindow,
  pastWindow,
  windowPlace,
  type WindowColumns,
  type WindowPlace,
} from '../windows/windows.ts'

/** What checks are tried with. */
type TryDeps = Pick<CheckDeps, 'catalog' | 'db' | 'telemetry' | 'timezone' | 'types'>

const DAY_SECONDS = 86_400

/** The id of the one check of a scan that stores nothing. */
const DRY_RUN_ID = 'tried'

/** What a check with a window would have said of its last buckets, at most a hundred: exact, whatever the type. */
async function computeBuckets(
  deps: TryDeps,
  configured: ConfiguredCheck & { window: WindowColumns },
  { days }: HistoryRange,
): Promise<ComputedHistory> {
  const { check, window: columns } = configured
  const window = pastWindow(columns, requirePlace(deps, configured), days)
  if (!window)
    return { message: `${days} days have no bucket of ${columns.windowSize} that is over`, isFinal: true }
  const { outcomes } = await measure(deps, configured, [{ ...check, id: DRY_RUN_ID, window }], {
    purpose: 'dry_run',
    isLowPriority: true,
  })
  const [outcome] = outcomes
  if (outcome?.status !== 'windowed')
    return { message: outcome?.status === 'error' ? outcome.message : 'Nothing was measured', isFinal: false }
  return {
    column: window.column,
    points: outcome.buckets.map(({ bucket, outcome: one }) => ({ at: bucket.start, bucket, outcome: one })),
  }
}

function requirePlace({ catalog, timezone }: TryDeps, table: TableContext): WindowPlace {
  const place = windowPlace(catalog, table, { timezone, now: new Date() })
  if (place) return place
  throw catalog.sourceInactive(table.source)
}

/** What a check would have said in the past, by one statement. The last point lies one interval before now. */
async function computeHistory(
  deps: TryDeps,
  configured: ConfiguredCheck,
  range: HistoryRange,
): Promise<ComputedHistory> {
  const { source, table, check, window } = configured
  if (window?.windowSize != null) return computeBuckets(deps, { ...configured, window }, range)
  const { catalog } = deps
  const { days, interval } = range
  const column = timestampColumn(catalog.tableInfo(table))
  if (!column) {
    const message = `${table.qualifiedName} has no timestamp column, such as created_at, with the time at which its rows were added`
    return { message, isFinal: true }
  }
  if (
    check.column !== undefined &&
    check.type.revealsValue &&
    catalog.personalColumns({ source, table }).has(check.column)
  ) {
    const message = `${check.column} is tagged as personal data, and the past of ${check.type.name} would show its value of every period of one row`
    return { message, isFinal: true }
  }
  const refusal = source.isActive
    ? tableRefusal({ source, table })?.message
    : catalog.sourceInactive(source).message
  if (refusal) return { message: refusal, isFinal: false }
  const seconds = INTERVAL_SECONDS[interval]
  const count = Math.floor((days * DAY_SECONDS) / seconds)
  const from = new Date(Date.now() - (count + 1) * seconds * 1_000)
  const timeoutMs = catalog.statementTimeoutMs(source)
  try {
    const history = await catalog.withConnection(
      source,
      connection =>
        measureHistory(
          connection,
          catalog.connectorOf(source),
          catalog.tableInfo(table),
          { ...check, id: DRY_RUN_ID },
          { column: column.name, periods: { from, seconds, count }, timeoutMs },
        ),
      { purpose: 'dry_run', timeoutMs, isLowPriority: true },
    )
    if ('none' in history) return { message: history.none, isFinal: true }
    return {
      column: column.name,
      points: history.points.map(point => ({ at: point.at, outcome: outcomeOf(point) })),
    }
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    return { message: error.message, isFinal: false }
  }
}

function outcomeOf({ total, invalid, value = null }: HistoryPoint): CheckOutcome {
  const taken = { id: DRY_RUN_ID, durationMs: 0, total }
  if (invalid !== undefined) return { ...taken, status: 'counted', invalid, samples: [], measured: {} }
  return { ...taken, status: 'measured', value }
}

/** The past that a new check starts with. */
export async function backfill(
  deps: TryDeps,
  configured: ConfiguredCheck,
  choice: HistoryRange,
): Promise<Backfill> {
  const past = await computeHistory(deps, configured, choice)
  if ('points' in past) {
    const { points, column } = past
    const how =
      configured.window?.windowSize == null
        ? `${choice.interval} values of the last ${choice.days} days were computed from ${column}, as if rows had only been added`
        : `buckets of ${column} were measured`
    const message = `${points.length} ${how}`
    return { points, summary: { points: points.length, timestamp_column: column, message } }
  }
  if (past.isFinal) throw invalidInput([{ field: 'backfill_days', error: past.message }])
  const message = `The past could not be read: ${past.message}`
  return { points: [], summary: { points: 0, timestamp_column: null, message } }
}

/**
 * Measures a check now, and its past unless `choice` is null, and stores nothing.
 * @param costInterval how often it would run; with it, what it would cost is estimated before it is measured
 * @throws 409 `CONFLICT` when its source is switched off
 */
export async function dryRun(
  deps: TryDeps,
  configured: ConfiguredCheck,
  choice: HistoryRange | null,
  costInterval?: CheckInterval,
): Promise<DryRunMeasurement> {
  const { catalog } = deps
  const { source, table } = configured
  if (!source.isActive) throw catalog.sourceInactive(source)
  const window = configured.window && newestWindow(configured.window, requirePlace(deps, configured))
  const check = { ...configured.check, id: DRY_RUN_ID, ...(window && { window }) }
  const statements = await explainScan(catalog.connectorOf(source), catalog.tableInfo(table), [check])
  const { isEngineValidated } = configured
  let cost: CheckCost | null = null
  const { outcomes } = await measure(deps, configured, [check], {
    purpose: 'dry_run',
    isLowPriority: true,
    isEngineValidated,
    async beforeScan(connection) {
      if (costInterval) cost = await estimateCheck(deps, configured, { connection, interval: costInterval })
    },
  })
  const [whole] = outcomes
  if (!whole) throw new Error('A check was measured and has no outcome')
  const [newest] = whole.status === 'windowed' ? whole.buckets : []
  const { outcome, at } = newest
    ? { outcome: newest.outcome, at: newest.bucket.start }
    : { outcome: whole, at: new Date() }
  return {
    statements: statements.map(({ text, values }) => ({ text, values })),
    outcome,
    at,
    history: choice && (await computeHistoryBeside(deps, configured, outcome, choice)),
    cost,
  }
}

/** Where the check itself cannot run, its past would only say so again. */
async function computeHistoryBeside(
  deps: TryDeps,
  configured: ConfiguredCheck,
  outcome: CheckOutcome,
  choice: HistoryRange,
): Promise<ComputedHistory> {
  if (outcome.status === 'error') return { message: outcome.message, isFinal: true }
  return computeHistory(deps, configured, choice)
}

/**
 * Measures checks of one table now, in one scan, and stores nothing.
 * @returns their outcomes, in their order
 * @throws 409 `CONFLICT` when its source is switched off
 */
export async function measureOnce(
  deps: TryDeps,
  table: TableContext,
  checks: readonly ConfiguredCheck['check'][],
): Promise<CheckOutcome[]> {
  if (!table.source.isActive) throw deps.catalog.sourceInactive(table.source)
  const numbered = checks.map((check, place) => ({ ...check, id: `${DRY_RUN_ID} ${place}` }))
  const { outcomes } = await measure(deps, table, numbered, { purpose: 'dry_run', isLowPriority: true })
  const byId = new Map(outcomes.map(outcome => [outcome.id, outcome]))
  return numbered.map(({ id }) => {
    const outcome = byId.get(id)
    if (!outcome) throw new Error('A check was measured and has no outcome')
    return outcome
  })
}
