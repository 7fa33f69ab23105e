import { formatName } from '../../connectors/catalog.ts'
import { presentFields } from '../../server/http/fields.ts'
import type { TableContext } from '../catalog/api.ts'
import type {
  AlertTexts,
  Capture,
  CheckKind,
  CheckSummary,
  JudgedSeries,
  OwnMeasurement,
} from '../checks/api.ts'
import {
  causesWithoutSecondTable,
  filterDetails,
  loadSecondTables,
  subjectOfCheck,
  type CheckResult,
} from '../checks/kit.ts'
import { comparisonFailure } from './alert-kind.ts'
import type { MeasureDeps } from './deps.ts'
import { limitFields } from './fields.ts'
import { judgeOutcome, limitsOf } from './judge.ts'
import { measureComparison } from './measure.ts'
import { Comparison, detailsOf } from './models.ts'
import { describeComparison, describeDifferences, sideNames } from './texts.ts'

/** Comparisons of a table with another one, of the same source or of another. */
export function makeComparisonKind(deps: MeasureDeps): CheckKind<Comparison> {
  const kind: CheckKind<Comparison> = {
    name: 'comparison',
    feature: 'comparisons',
    label: 'Comparison',
    idPrefix: 'c_',
    model: Comparison,
    alert: comparisonFailure,
    telemetry: { subject: 'comparison', type: 'rows' },
    async specs(comparisons, left, trx) {
      const rights = await loadSecondTables(deps.catalog, trx, comparisons)
      return comparisons.map(comparison => {
        const right = rights.get(comparison.otherTableId!)
        if (right?.table.isActive) return measureOf(deps, comparison, { left, right })
        const name = right?.table.qualifiedName ?? 'on the right'
        return {
          kind: 'missing-object',
          message: `The table ${name} is no longer in its source: the last discovery did not find it`,
        }
      })
    },
    judge: judgeOutcome,
    alertTexts,
    // Without its right table, a comparison cannot recover.
    moreAlerts: async (_trx, { captures }) => ({ orphaned: causesWithoutSecondTable(kind, captures) }),
    describe: (comparison, [result]) => describeResult(comparison, result!),
  }
  return kind
}

function measureOf(
  deps: MeasureDeps,
  comparison: Comparison,
  tables: { left: TableContext; right: TableContext },
): OwnMeasurement {
  return { measure: options => measureComparison(deps, comparison, tables, options) }
}

function alertTexts(
  { row: comparison, other }: Capture<Comparison>,
  { judged }: JudgedSeries,
  { source, table: left }: TableContext,
): AlertTexts {
  const details = detailsOf(judged)!
  const right = other ? formatName([other.catalogName, other.schemaName, other.name]) : ''
  const rightSource = other ? other.qualifiedName.slice(0, -right.length - 1) : ''
  const sides = sideNames(
    { source: source.name, table: left.name },
    { source: rightSource, table: other?.name },
  )
  const value = judged.value ?? 0
  return {
    severity: comparison.severity,
    ruleName: comparison.name,
    title: { ...subjectOfCheck(comparison), ...describeComparison(comparison, { value, details, sides }) },
    details: {
      check_id: comparison.uuid,
      table_path: formatName([left.catalogName, left.schemaName, left.name]),
      right_source: rightSource,
      right_table_path: right,
      level: comparison.level,
      ...filterDetails(comparison),
      differing_rows: value,
      rows_left: details.rowsLeft,
      rows_right: details.rowsRight,
      only_left: details.onlyLeft,
      only_right: details.onlyRight,
      differing: details.differing,
      differing_percent: details.differingPercent,
      differing_columns: details.byColumn,
      ...presentFields(limitFields, limitsOf(comparison)),
    },
  }
}

/** A result in words. */
function describeResult(comparison: Comparison, result: CheckResult): Omit<CheckSummary, 'id'> {
  const { name, severity } = comparison
  const details = detailsOf(result)
  const message = details
    ? describeDifferences(comparison, result.value ?? 0, details, { left: 'left', right: 'right' })
    : (result.errorMessage ?? 'The comparison could not run')
  return { name, severity, status: result.status, message }
}
