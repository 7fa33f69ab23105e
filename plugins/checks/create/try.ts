import type { CheckOutcome } from '../../../checks/check.ts'
import { explainScan } from '../../../checks/scan.ts'
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
import { computePasts, requirePlace } from '../past/computed.ts'
import { measure } from '../run/measure.ts'
import { newestWindow } from '../windows/windows.ts'

/** What checks are tried with. */
type TryDeps = Pick<CheckDeps, 'catalog' | 'db' | 'telemetry' | 'timezone' | 'types'>

/** The id of the one check of a scan that stores nothing. */
const DRY_RUN_ID = 'tried'

/** The past that a new check starts with. */
export async function backfill(
  deps: TryDeps,
  configured: ConfiguredCheck,
  choice: HistoryRange,
): Promise<Backfill> {
  const [past] = await computePasts(deps, configured, [configured], choice)
  if (!past) throw new Error('A past was computed and is missing')
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
  const [past] = await computePasts(deps, configured, [configured], choice)
  if (!past) throw new Error('A past was computed and is missing')
  return past
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
