import type { CheckType } from '../../checks/check.ts'
import { referential, type ReferentialConfig } from '../../checks/referential.ts'
import { formatName } from '../../connectors/catalog.ts'
import { presentFields } from '../../server/http/fields.ts'
import type { CatalogApi, Table, TableContext } from '../catalog/api.ts'
import type {
  AlertTexts,
  Capture,
  CheckSpec,
  CheckSummary,
  JudgedSeries,
  CheckKind,
  MeasureRefusal,
} from '../checks/api.ts'
import {
  causesWithoutSecondTable,
  describeFilter,
  describeWindow,
  filterDetails,
  loadSecondTables,
  type CheckResult,
} from '../checks/kit.ts'
import { referentialFailure } from './alert-kind.ts'
import { limitFields } from './fields.ts'
import { findBreaches, judgeOutcome, limitsOf, type ReferentialLimits } from './judge.ts'
import { numbersOf, ReferentialCheck } from './models.ts'

/** Checks that the values of a column occur in another table. */
export function makeReferentialKind(catalog: CatalogApi): CheckKind<ReferentialCheck> {
  const kind: CheckKind<ReferentialCheck> = {
    name: 'referential',
    feature: 'referential',
    label: 'Referential check',
    idPrefix: '',
    model: ReferentialCheck,
    alert: referentialFailure,
    telemetry: { subject: 'referential', type: 'orphans' },
    async specs(checks, _table, trx) {
      const parents = await loadSecondTables(catalog, trx, checks)
      return checks.map(check => checkSpecOf(catalog, check, parents.get(check.otherTableId!)))
    },
    judge: judgeOutcome,
    alertTexts,
    // Without its parent, a check cannot recover.
    moreAlerts: async (_trx, { captures }) => ({ orphaned: causesWithoutSecondTable(kind, captures) }),
    describe: (check, [result]) => describeResult(check, result!),
  }
  return kind
}

type MeasuredCheck = ReferentialLimits & Pick<ReferentialCheck, 'columnName' | 'parentColumnName' | 'filter'>

/** What a check wants measured, which need not be stored, or why it cannot be, as far as the catalog knows. */
export function checkSpecOf(
  catalog: CatalogApi,
  check: MeasuredCheck,
  parent: TableContext | undefined,
): (CheckSpec & { type: CheckType }) | MeasureRefusal {
  if (!parent?.table.isActive) {
    const name = parent?.table.qualifiedName ?? 'of the parent'
    return {
      kind: 'missing-object',
      message: `The table ${name} is no longer in the source: the last discovery did not find it`,
    }
  }
  const { minChildCount, maxChildCount } = limitsOf(check)
  const config: ReferentialConfig = {
    parent: catalog.tableInfo(parent.table),
    parentColumn: check.parentColumnName,
    minChildren: minChildCount,
    maxChildren: maxChildCount,
  }
  // Orphans are values of the parent's kind: an email that no customer has is one all the same.
  const isPersonal = catalog.personalColumns(parent).has(check.parentColumnName)
  return {
    type: referential as unknown as CheckType,
    column: check.columnName!,
    config: { ...config },
    ...(check.filter !== null && { filter: check.filter }),
    ...(isPersonal && { maskedColumns: [check.columnName!] }),
  }
}

const pathOf = ({ catalogName, schemaName, name }: Table) => formatName([catalogName, schemaName, name])

function alertTexts(
  { row: check, other: parent }: Capture<ReferentialCheck>,
  { judged }: JudgedSeries,
  { table: child }: TableContext,
): AlertTexts {
  const numbers = numbersOf(judged)
  const paths = { child: pathOf(child), parent: parent ? pathOf(parent) : '' }
  return {
    severity: check.severity,
    ruleName: check.name,
    title: `${check.name}: ${describeBreaches(check, numbers, paths)}`,
    details: {
      check_id: check.uuid,
      child_table_path: paths.child,
      child_column_name: check.columnName,
      ...filterDetails(check),
      parent_table_path: paths.parent,
      parent_column_name: check.parentColumnName,
      orphan_count: numbers.orphanCount,
      orphan_percent: numbers.orphanPercent,
      total_child_rows: numbers.totalChildRows,
      parents_below_min: numbers.parentsBelowMin,
      parents_above_max: numbers.parentsAboveMax,
      ...presentFields(limitFields, limitsOf(check)),
    },
  }
}

/** The numbers that are beyond a limit, in words. */
function describeBreaches(
  check: ReferentialCheck,
  numbers: ReturnType<typeof numbersOf>,
  paths: { child: string; parent: string },
): string {
  const { orphanCount, orphanPercent, totalChildRows, parentsBelowMin, parentsAboveMax } = numbers
  const { minChildCount, maxChildCount } = limitsOf(check)
  const share = Number((orphanPercent ?? 0).toPrecision(3))
  const words = {
    orphans: `${orphanCount} of ${totalChildRows} rows of ${paths.child}${describeFilter(check)}${describeWindow(check)} have a ${check.columnName} that is not in ${paths.parent} (${share} % of those that have one)`,
    below: `parents with fewer rows than ${minChildCount}: ${parentsBelowMin}`,
    above: `parents with more rows than ${maxChildCount}: ${parentsAboveMax}`,
  }
  return findBreaches(check, numbers)
    .map(breach => words[breach])
    .join('; ')
}

/** A result in words. */
function describeResult({ name, severity }: ReferentialCheck, result: CheckResult): Omit<CheckSummary, 'id'> {
  const { status, errorMessage } = result
  const { orphanCount, totalChildRows, parentsBelowMin, parentsAboveMax } = numbersOf(result)
  const counts = [
    `${orphanCount} of ${totalChildRows} rows have no parent`,
    ...(parentsBelowMin === null ? [] : [`${parentsBelowMin} parents have too few rows`]),
    ...(parentsAboveMax === null ? [] : [`${parentsAboveMax} parents have too many`]),
  ]
  const message = status === 'error' ? (errorMessage ?? 'The check could not run') : counts.join('; ')
  return { name, severity, status, message }
}
