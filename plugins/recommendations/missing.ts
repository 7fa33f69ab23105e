/** The one way in which recommendations and watching create checks: those that tables and columns lack. */
import { tablePath } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import { INTERVAL_SECONDS } from '../../server/database/due.ts'
import type { Source } from '../catalog/api.ts'
import type { CheckFields, LackedCheck, MissingChecks } from '../checks/api.ts'
import { BACKFILL_DAYS } from './backfill.ts'
import type { RecommendationsDeps } from './deps.ts'
import type { CheckTypeName, Suggestion } from './rules/evidence.ts'

/** All checks that are created here run together, so that a table is scanned once for them. */
const CHECK_INTERVAL = 'daily'
export const RUNS_PER_DAY = INTERVAL_SECONDS['1d'] / INTERVAL_SECONDS[CHECK_INTERVAL]

/** A check that a table, or a column of it, is to have unless it has one of the type, active or not. */
export interface PlannedCheck
  extends Pick<LackedCheck, 'kind' | 'column'>, Partial<Pick<Suggestion, 'config' | 'settings' | 'parent'>> {
  type: CheckTypeName
  /** A schedule is created where it is known that there is none. */
  table: LackedCheck['table'] & { freshness?: { isScheduled: boolean } }
}

/** The fields that say what a check measures, as bodies have them. */
export function measuredFields(
  { kind, type, config = {}, parent }: Pick<PlannedCheck, 'kind' | 'type' | 'config' | 'parent'>,
  column: string | undefined,
): CheckFields {
  if (kind === 'referential' && parent)
    return {
      child_column_name: column,
      parent_table_path: tablePath(parent.table),
      parent_column_name: parent.column,
    }
  if (kind === 'comparison') return config
  const ofColumn = column === undefined ? {} : { column_name: column }
  return kind === 'metric'
    ? { metric_type: type, ...ofColumn, ...config }
    : { rule_type: type, ...ofColumn, rule_config: config }
}

/** What is to be there. */
interface PlanRequest<Planned extends PlannedCheck> {
  source: Source
  planned: readonly Planned[]
  /** Creates nothing, and returns what would be created. */
  isDryRun: boolean
  /** Whether those that learn are given the past of their tables, by a job. */
  backfill: boolean
}

/** Creates checks that are missing. The caller has locked the source. */
export async function createMissing<Planned extends PlannedCheck>(
  deps: RecommendationsDeps,
  trx: Transaction,
  { source, planned, isDryRun, backfill }: PlanRequest<Planned>,
): Promise<MissingChecks<Planned>> {
  const { schedules = [], others = [] } = Object.groupBy(planned, ({ kind }) =>
    kind === 'freshness' ? 'schedules' : 'others',
  )
  const wanted = others.map(lackedCheck)
  const { missing, refused } = await deps.checks.reconciler.addMissing(trx, {
    source,
    wanted,
    isDryRun,
    backfillDays: backfill ? BACKFILL_DAYS : null,
  })
  if (!isDryRun && backfill && [...missing].some(({ kind }) => kind === 'metric'))
    await deps.checks.sendBackfill(trx, source)
  const lacking = schedules.filter(({ table }) => table.freshness?.isScheduled === false)
  if (!isDryRun && lacking.length > 0) await createSchedules(deps, trx, source, lacking)
  const plannedOf = (checks: Iterable<{ planned: Planned }>) => [...checks].map(check => check.planned)
  return { missing: new Set([...plannedOf(missing), ...lacking]), refused: new Set(plannedOf(refused)) }
}

function lackedCheck<Planned extends PlannedCheck>(planned: Planned) {
  const { kind, table, column, settings, parent } = planned
  const interval = kind === 'validity' ? 'check_interval' : 'capture_interval'
  const otherTable = parent && { id: parent.tableId, name: parent.table.name }
  return {
    kind,
    table,
    fields: { ...measuredFields(planned, column?.name), [interval]: CHECK_INTERVAL, ...settings },
    column,
    ...(otherTable && { otherTable }),
    planned,
  }
}

/** The feature of schedules chooses the signal of each. */
async function createSchedules(
  { freshness }: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  lacking: readonly PlannedCheck[],
): Promise<void> {
  await freshness.createSchedules(trx, {
    asset_id: source.id,
    include_patterns: [],
    exclude_patterns: [],
    only_with_signal: true,
    dry_run: false,
    is_active: true,
    table_ids: new Set(lacking.map(({ table }) => table.id)),
    columns: new Map(lacking.flatMap(({ table, column }) => (column ? [[table.id, column.name]] : []))),
  })
}
