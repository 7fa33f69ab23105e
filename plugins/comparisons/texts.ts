/** What a comparison found, in words. */
import { countOf as counted, type Finding } from '../../checks/explanation.ts'
import { limitsOf } from './judge.ts'
import type { Comparison, ComparisonDetails } from './models.ts'

/** Columns that a sentence names. */
const MAX_NAMED_COLUMNS = 3

/** Names of the two sides, as sentences have them. */
export interface SideNames {
  left: string
  right: string
}

/** A table, as far as a sentence names it; without a name for one that is gone. */
interface ComparedName {
  source: string
  table: string | undefined
}

/** The names by which sentences distinguish two tables: those of their sources, or on one source their own. */
export function sideNames(left: ComparedName, right: ComparedName): SideNames {
  return left.source === right.source
    ? { left: left.table ?? 'the table', right: right.table ?? 'the other table' }
    : { left: left.source, right: right.source }
}

/** `412 of 1,204,331 rows differ: 400 only in shop`, expected `at most 10 rows`. */
export function describeComparison(
  comparison: Pick<Comparison, 'level' | 'maxDifferingRows' | 'maxDifferingPercent'>,
  { value, details, sides }: { value: number; details: ComparisonDetails; sides: SideNames },
): Finding {
  return {
    found: describeDifferences(comparison, value, details, sides),
    expected: describeLimits(comparison),
  }
}

/** `412 of 1,204,331 rows differ: 400 only in shop, 12 in column total`; what was compared where nothing differs. */
export function describeDifferences(
  { level }: Pick<Comparison, 'level'>,
  value: number,
  details: ComparisonDetails,
  sides: SideNames,
): string {
  const { rowsLeft, rowsRight } = details
  if (level === 'rows') return describeRows(value, details, sides)
  if (level === 'counts')
    return value === 0
      ? `${counted(rowsLeft, 'row')} on both sides`
      : `${counted(rowsLeft, 'row')} in ${sides.left}, ${rowsRight.toLocaleString('en')} in ${sides.right}`
  if (value === 0) return 'all aggregates are equal'
  const [first] = details.aggregates
  const example = first
    ? `: ${first.measure} of ${first.column ?? 'rows'} is ${first.left ?? 'NULL'} in ${sides.left}, ${first.right ?? 'NULL'} in ${sides.right}`
    : ''
  return `${counted(value, 'aggregate')} ${value === 1 ? 'differs' : 'differ'}${example}`
}

function describeRows(
  value: number,
  { rowsLeft, onlyLeft, onlyRight, differing, byColumn }: ComparisonDetails,
  sides: SideNames,
): string {
  const all = rowsLeft + (onlyRight ?? 0)
  if (value === 0) return `all ${counted(all, 'row')} are equal`
  const columns = Object.entries(byColumn)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, MAX_NAMED_COLUMNS)
    .map(([name, count]) => `${count.toLocaleString('en')} in column ${name}`)
  const parts = [
    ...(onlyLeft ? [`${onlyLeft.toLocaleString('en')} only in ${sides.left}`] : []),
    ...(onlyRight ? [`${onlyRight.toLocaleString('en')} only in ${sides.right}`] : []),
    ...(differing
      ? columns.length > 0
        ? columns
        : [`${differing.toLocaleString('en')} have other values`]
      : []),
  ]
  return `${value.toLocaleString('en')} of ${counted(all, 'row')} ${value === 1 ? 'differs' : 'differ'}: ${parts.join(', ')}`
}

/** `at most 10 rows`; null where nothing may differ. */
function describeLimits(comparison: Parameters<typeof limitsOf>[0]): string | null {
  const { maxDifferingRows, maxDifferingPercent } = limitsOf(comparison)
  const limits = [
    ...(maxDifferingRows ? [counted(maxDifferingRows, 'row')] : []),
    ...(maxDifferingPercent === null ? [] : [`${maxDifferingPercent} %`]),
  ]
  return limits.length === 0 ? null : `at most ${limits.join(' or ')}`
}
