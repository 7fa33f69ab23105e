import type { ColumnKind } from '../../connectors/catalog.ts'
import type { Deviation, TestDatabase, TestColumn, TestTable, ColumnTrait } from './test-database.ts'

/** What a case must come to. */
export type ExpectedOutcome =
  | { invalid: number }
  /** Compared to within 1e-9 of its size. */
  | { value: number | null }
  /**
   * Of each group its values and then the number, in any order; a date as `2024-02-29`, a truth value as true or
   * false, also where the engine keeps it as 0 or 1.
   */
  | { groups: readonly (readonly unknown[])[] }
  /** The config is refused when the check is made, by its schema or by `refuses`. */
  | { refused: RegExp }
  /** The measure is an error, with this message. */
  | { error: RegExp }

/** A further column of a case's table. */
export interface ExtraColumn {
  name: string
  kind: ColumnKind
  /** As many as the case has. */
  values: readonly unknown[]
}

/** One column of values and what the check must say of it. */
export interface CheckCase {
  name: string
  /** The values, a row each, bound as they are. */
  values: readonly unknown[]
  /** A plain name for the column, for SQL that names it; one that needs quoting unless told. */
  column?: string
  /** The column's kind; text unless told. */
  kind?: ColumnKind
  /** The column's type in the engine's words. */
  type?: string
  /** What the column must be able to hold or do: the stand tells the type that can, or why none. */
  trait?: ColumnTrait
  extraColumns?: readonly ExtraColumn[]
  /** Names of further columns. */
  groupBy?: readonly string[]
  /** The check's config, or what makes it of the column's name on the stand, for SQL that names the column. */
  config?: Record<string, unknown> | ((column: string) => Record<string, unknown>)
  /** `treat_null_as_valid`. */
  nullIsValid?: boolean
  expect: ExpectedOutcome
  /** What it must come to instead on an engine of such a nature. */
  expectIf?: Readonly<Partial<Record<Deviation, ExpectedOutcome>>>
}

/** What a case must come to on a stand. */
export function expectedOutcome(
  { expect, expectIf: byNature = {} }: CheckCase,
  { deviations: natures = [] }: TestDatabase,
): ExpectedOutcome {
  const [nature] = natures.filter(each => byNature[each])
  return (nature && byNature[nature]) ?? expect
}

/** The config of a case on a stand. */
export function caseConfig({ config = {}, ...item }: CheckCase, on: TestDatabase): Record<string, unknown> {
  return typeof config === 'function' ? config(caseColumn(item, on).name) : config
}

/** The column that a case is about, on a stand. */
export function caseColumn(item: Omit<CheckCase, 'config'>, on: TestDatabase): TestColumn {
  const name =
    item.column === undefined ? (on.columnName ?? 'a "value"') : (on.foldName?.(item.column) ?? item.column)
  const told = item.trait && on.traits?.[item.trait]
  return { name, kind: item.kind ?? 'text', type: item.type ?? (typeof told === 'string' ? told : undefined) }
}

/** Why a stand cannot have the columns of a case, or null when it can. */
export function whyUnsupported(item: CheckCase, on: TestDatabase): string | null {
  const told = item.trait && on.traits?.[item.trait]
  if (typeof told === 'object') return told.unsupported
  const columns: TestColumn[] = [caseColumn(item, on), ...(item.extraColumns ?? [])]
  return columns.map(column => on.whyUnsupported?.(column) ?? null).find(reason => reason !== null) ?? null
}

/** The tables that were made, by stand and content: cases that share one make it once. */
const made = new WeakMap<TestDatabase, Map<string, Promise<TestTable>>>()

/** The table of a case, or the same without its rows. */
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
