import type { ColumnKind } from '../../connectors/catalog.ts'
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
  /** The check's config, or a function of the column's name, for SQL that names the column. */
  config?: Record<string, unknown> | ((column: string) => Record<string, unknown>)
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

export function caseConfig({ config = {}, ...item }: CheckCase, on: TestDatabase): Record<string, unknown> {
  return typeof config === 'function' ? config(caseColumn(item, on).name) : config
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
  const columns: TestColumn[] = [caseColumn(item, on), ...(item.extraColumns ?? [])]
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
  const held = rows === 'all' ? lines : []
  const tables = made.get(on) ?? new Map<string, Promise<TestTable>>()
  made.set(on, tables)
  const key = JSON.stringify([columns, held.map(line => line.map(value => [typeof value, String(value)]))])
  const table = tables.get(key) ?? on.createTable(columns, held)
  tables.set(key, table)
  return table
}
