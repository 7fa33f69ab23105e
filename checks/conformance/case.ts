import type { ColumnKind, TableInfo } from '../../connectors/catalog.ts'
import type { Deviation, TestDatabase, TestColumn, TestTable, ColumnTrait } from './test-database.ts'

/** The outcome that a case must have. */
export type ExpectedOutcome =
  | { invalid: number }
  /** Compared to within 1e-9 of its size. */
  | { value: number | null }
  /**
   * Each group as its values and the number, in any order; dates as `2024-02-29`, booleans as true or false even where
   * the engine stores 0 or 1.
   */
  | { groups: readonly (readonly unknown[])[] }
  /** The config is rejected by its schema or by `validateConfig`. */
  | { refused: RegExp }
  /** The measure is an error, with this message. */
  | { error: RegExp }

/** Another column of a case's table. */
export interface ExtraColumn {
  name: string
  kind: ColumnKind
  /** One per row of the case. */
  values: readonly unknown[]
}

/** One column of values and the outcome that the check must have. */
export interface CheckCase {
  name: string
  /** One row each. */
  values: readonly unknown[]
  /** Defaults to a name that needs quoting; set a plain one for SQL that names the column. */
  column?: string
  /** Defaults to text. */
  kind?: ColumnKind
  /** The column type of the engine. */
  type?: string
  /** A trait that the column must have. */
  trait?: ColumnTrait
  extraColumns?: readonly ExtraColumn[]
  /** Names of extra columns. */
  groupBy?: readonly string[]
  /**
   * A second table, which the check compares with: its name and columns are the second argument of `config`. Besides the
   * case itself, the kit tests that the check is refused at creation where that table does not exist.
   */
  otherTable?: readonly ExtraColumn[]
  /** The check's config, or a function of the column's name, for SQL that names the column, and of the second table. */
  config?: Record<string, unknown> | ((column: string, other?: TableInfo) => Record<string, unknown>)
  /** `treat_null_as_valid`. */
  nullIsValid?: boolean
  expect: ExpectedOutcome
  /** Expectations that replace `expect` on an engine with a deviation. */
  expectIf?: Readonly<Partial<Record<Deviation, ExpectedOutcome>>>
}

type NumberCase = (
  name: string,
  kind: ColumnKind,
  values: CheckCase['values'],
  config: CheckCase['config'],
  expected: number,
  more?: Partial<Omit<CheckCase, 'expect'>>,
) => CheckCase

/** A case of a rule, and how many rows are invalid. */
export const ruleCase: NumberCase = (name, kind, values, config, invalid, more) => {
  return { name, kind, values, config, expect: { invalid }, ...more }
}

/** A case of a metric, and its value. */
export const metricCase: NumberCase = (name, kind, values, config, value, more) => {
  return { name, kind, values, config, expect: { value }, ...more }
}

/** A config that is refused, on a column of text unless a kind is given. */
export function refusedCase(
  name: string,
  config: CheckCase['config'],
  refused: RegExp,
  kind?: ColumnKind,
): CheckCase {
  return { name, kind, values: [], config, expect: { refused } }
}

export function expectedOutcome(
  { expect, expectIf = {} }: CheckCase,
  { deviations = [] }: TestDatabase,
): ExpectedOutcome {
  const deviation = deviations.find(each => expectIf[each])
  return (deviation && expectIf[deviation]) ?? expect
}

/** @param other the second table of the case, if it has one */
export function caseConfig(
  { config = {}, ...item }: CheckCase,
  on: TestDatabase,
  other?: TableInfo,
): Record<string, unknown> {
  return typeof config === 'function' ? config(caseColumn(item, on).name, other) : config
}

export function caseColumn(item: Omit<CheckCase, 'config'>, on: TestDatabase): TestColumn {
  const name =
    item.column === undefined ? (on.columnName ?? 'a "value"') : (on.foldName?.(item.column) ?? item.column)
  const support = item.trait && on.traits?.[item.trait]
  return {
    name,
    kind: item.kind ?? 'text',
    type: item.type ?? (typeof support === 'string' ? support : undefined),
  }
}

/** Why a database cannot have the columns of a case, or null if it can. */
export function whyUnsupported(item: CheckCase, on: TestDatabase): string | null {
  const support = item.trait && on.traits?.[item.trait]
  if (typeof support === 'object') return support.unsupported
  const further = [...(item.extraColumns ?? []), ...(item.otherTable ?? [])]
  const columns: TestColumn[] = [caseColumn(item, on), ...further]
  return columns.map(column => on.whyUnsupported?.(column) ?? null).find(reason => reason !== null) ?? null
}

/** Created tables by database and content: cases with equal tables share one. */
const made = new WeakMap<TestDatabase, Map<string, Promise<TestTable>>>()

/** Creates the table of a case, or reuses an equal one; `none` is the table without rows. */
export function createCaseTable(
  item: CheckCase,
  on: TestDatabase,
  rows: 'all' | 'none' = 'all',
): Promise<TestTable> {
  const further = item.extraColumns ?? []
  const columns = [caseColumn(item, on), ...further.map(({ name, kind }) => ({ name, kind }))]
  const lines = item.values.map((value, index) => [value, ...further.map(({ values }) => values[index])])
  return createTable(columns, rows === 'all' ? lines : [], on)
}

/** Creates the second table of a case, or reuses an equal one; undefined for a case without one. */
export async function createOtherTable(
  { otherTable }: CheckCase,
  on: TestDatabase,
): Promise<TableInfo | undefined> {
  if (!otherTable) return undefined
  const columns = otherTable.map(({ name, kind }) => ({ name: on.foldName?.(name) ?? name, kind }))
  const count = Math.max(0, ...otherTable.map(({ values }) => values.length))
  const lines = Array.from({ length: count }, (_, index) =>
    otherTable.map(({ values }) => values[index] ?? null),
  )
  return (await createTable(columns, lines, on)).table
}

function createTable(
  columns: readonly TestColumn[],
  lines: readonly (readonly unknown[])[],
  on: TestDatabase,
): Promise<TestTable> {
  const tables = made.get(on) ?? new Map<string, Promise<TestTable>>()
  made.set(on, tables)
  const key = JSON.stringify([columns, lines.map(line => line.map(value => [typeof value, String(value)]))])
  const table = tables.get(key) ?? on.createTable(columns, lines)
  tables.set(key, table)
  return table
}
