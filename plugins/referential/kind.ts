import type { CheckType } from '../../checks/check.ts'
import { referential, type ReferentialConfig } from '../../checks/referential.ts'
import { describeLimit, countOf, roundShare, type Finding } from '../../checks/explanation.ts'
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
  filterDetails,
  loadSecondTables,
  subjectOfCheck,
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
    title: { ...subjectOfCheck(check), ...describeBreaches(check, numbers, parent?.name ?? 'its parent') },
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

/** The numbers that are beyond a limit, in words: `5 rows without a match in customers.id (0.3 %)`. */
function describeBreaches(
  check: ReferentialCheck,
  numbers: ReturnType<typeof numbersOf>,
  parent: string,
): Finding {
  const { orphanCount, orphanPercent, parentsBelowMin, parentsAboveMax } = numbers
  const { maxOrphanCount, maxOrphanPercent, minChildCount, maxChildCount } = limitsOf(check)
  const breaches = findBreaches(check, numbers)
  const share = describeLimit('percent', roundShare(orphanPercent ?? 0, maxOrphanPercent ?? 0))
  const words = {
    orphans: `${countOf(orphanCount ?? 0, 'row')} without a match in ${parent}.${check.parentColumnName} (${share})`,
    below: `${countOf(parentsBelowMin ?? 0, 'row')} of ${parent} with fewer than ${countOf(minChildCount ?? 0, 'row')} here`,
    above: `${countOf(parentsAboveMax ?? 0, 'row')} of ${parent} with more than ${countOf(maxChildCount ?? 0, 'row')} here`,
  }
  const limits = [
    ...(maxOrphanCount ? [`at most ${maxOrphanCount.toLocaleString('en-US')}`] : []),
    ...(maxOrphanPercent ? [`at most ${describeLimit('percent', maxOrphanPercent)}`] : []),
  ]
  return {
    found: breaches.map(breach => words[breach]).join('; '),
    expected: breaches.length === 1 && breaches[0] === 'orphans' ? limits.join(' and ') || null : null,
  }
}

/** A result in words. */
function describeResult({ name, severity }: ReferentialCheck, result: CheckResult): Omit<CheckSummary, 'id'> {
  const { status, errorMessage } = result
  const { orphanCount, totalChildRows, parentsBelowMin, parentsAboveMax } = numbersOf(result)
  const counts = [
    `${orphanCount} of ${totalChildRows} rows without a match`,
    ...(parentsBelowMin === null ? [] : [`${parentsBelowMin} parents with too few rows`]),
    ...(parentsAboveMax === null ? [] : [`${parentsAboveMax} parents with too many`]),
  ]
  const message = status === 'error' ? (errorMessage ?? 'The check could not run') : counts.join('; ')
  return { name, severity, status, message }
}
