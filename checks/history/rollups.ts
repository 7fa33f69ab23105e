/** How the number of all rows follows from those of their periods or parts. */
import type { Row, Value } from '../../connectors/connector.ts'
import { Sql } from '../../connectors/sql.ts'
import { isRowRule, type CheckType, type Rollup } from '../check.ts'
import { isNumeric } from '../column-values.ts'
import { addDecimals } from '../decimals.ts'
import { DECIMAL, toNumber } from '../measures.ts'
import type { PlannedCheck } from '../plan.ts'

/** Where a row has the number of a measure, and those that are needed to add it to others. */
export interface RolledColumns {
  rollup: Rollup
  column: string
  /** For a mean and a standard deviation: the number of values. */
  weight?: string
  /** For a standard deviation: the mean. */
  mean?: string
}

/** The number of all rows so far. */
export interface RunningValue {
  value: number | null
  /** Number of values behind a mean or a standard deviation. */
  weight: number
  /** For a standard deviation: the mean, and the sum of the squared distances from it. */
  mean: number
  squares: number
  /** A sum as a decimal text, as long as all that was added was exact. */
  exact: string | null
}

/** How each measure of a check accumulates; those that have no rollup are missing. */
export function rollupsOf(
  type: CheckType,
  { measures }: Pick<PlannedCheck, 'measures'>,
): Readonly<Record<string, Rollup>> {
  if (!isRowRule(type)) return type.rollup ?? {}
  return Object.fromEntries(Object.keys(measures).map(name => [name, 'count']))
}

/** The aggregate of a measure by its name. @throws TypeError if the check has none */
export function aggregateOf({ check, measures }: PlannedCheck, name: string): Sql {
  const measure = measures[name]
  const aggregate =
    measure && !(measure instanceof Sql) && 'aggregate' in measure ? measure.aggregate : measure
  if (aggregate instanceof Sql) return aggregate
  throw new TypeError(`rollup of ${check.type.name} names ${name}, which is none of its measures`)
}

/** The aggregates that a mean and a standard deviation need beside them: the number of values, and the mean. */
export function companionsOf(
  { context }: Pick<PlannedCheck, 'context'>,
  rollup: Rollup,
): { weight?: Sql; mean?: Sql } {
  if (rollup !== 'mean' && rollup !== 'standard_deviation') return {}
  const { value, info, dialect } = context
  const weight = dialect.countNonNull(isNumeric(info) ? dialect.asNumber(value) : value)
  return rollup === 'mean' ? { weight } : { weight, mean: dialect.mean(value) }
}

/** The value of a measure over no rows. */
export function emptyValue(rollup: Rollup): RunningValue {
  const isCount = rollup === 'count' || rollup === 'distinct' || rollup === 'repeated'
  return { value: isCount ? 0 : null, weight: 0, mean: 0, squares: 0, exact: '0' }
}

/** Adds the numbers of a period or part. @throws NotFiniteError for what is no finite number */
export function addRolled(sum: RunningValue, columns: RolledColumns, row: Row): void {
  const { rollup, column, weight } = columns
  const value = numberOf(row, column)
  if (rollup === 'standard_deviation') return addSpread(sum, columns, row)
  if (value === null) return
  if (rollup === 'mean') {
    const weighed = (numberOf(row, weight ?? '') ?? 0) + sum.weight
    // The old mean plus a share of the difference, so that no intermediate value overflows.
    if (weighed > 0) sum.value = (sum.value ?? 0) + (value - (sum.value ?? 0)) * (1 - sum.weight / weighed)
    sum.weight = weighed
  } else if (rollup === 'min') sum.value = Math.min(sum.value ?? value, value)
  else if (rollup === 'max') sum.value = Math.max(sum.value ?? value, value)
  else addToSum(sum, value, row[column] ?? null)
}

/** Integers and decimals are added exactly, however long they are; with a float, all are doubles. */
function addToSum(sum: RunningValue, value: number, given: Value): void {
  const isExact = typeof given === 'string' ? DECIMAL.test(given) : Number.isSafeInteger(value)
  sum.exact = isExact && sum.exact !== null ? addDecimals(sum.exact, String(given)) : null
  sum.value = sum.exact === null ? (sum.value ?? 0) + value : Number(sum.exact)
}

/** Adds the squared distances of a period as Chan, Golub and LeVeque do: no difference of large squares loses digits. */
function addSpread(
  sum: RunningValue,
  { column, weight = '', mean: meanColumn = '' }: RolledColumns,
  row: Row,
) {
  const count = numberOf(row, weight) ?? 0
  const mean = numberOf(row, meanColumn)
  if (count === 0 || mean === null) return
  // One value has no deviation of its own.
  const deviation = numberOf(row, column) ?? 0
  const all = sum.weight + count
  const apart = mean - sum.mean
  sum.squares += deviation ** 2 * (count - 1) + apart ** 2 * (sum.weight / all) * count
  sum.mean += apart * (count / all)
  sum.weight = all
  sum.value = all < 2 ? null : Math.sqrt(sum.squares / (all - 1))
}

/**
 * The number in a column of a row; null without a row. A missing column means that nothing was measured; taken for zero,
 * every rule would pass.
 */
export function numberOf(row: Row | undefined, name: string): number | null {
  if (row === undefined) return null
  const value: Value | undefined = row[name]
  if (value !== undefined) return toNumber(value)
  throw new Error(`the engine gave no row with the column ${name}`)
}
