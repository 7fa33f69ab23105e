import type { ColumnKind, TableInfo } from '../../connectors/catalog.ts'
import type { Connection } from '../../connectors/connector.ts'
import type { Engine } from '../plan.ts'

/**
 * Traits that only some engines' columns have: floats that are `NaN` or an `infinity`; an `exact` decimal of 7 digits
 * before the point and 20 after it; a `zoned` timestamp, which is a moment whatever zone it was written in;
 * a timestamp with `microseconds`; a `padded` text of 12 characters, CHAR(12); a `case-insensitive` text.
 */
export const COLUMN_TRAITS = [
  'NaN',
  'infinity',
  'exact',
  'zoned',
  'microseconds',
  'padded',
  'case-insensitive',
] as const
export type ColumnTrait = (typeof COLUMN_TRAITS)[number]

/** The column type that has a trait, true when the usual type of its kind has it, or why no column has it. */
export type TraitSupport = string | true | { unsupported: string }
export type ColumnTraits = Readonly<Partial<Record<ColumnTrait, TraitSupport>>>

/**
 * Known deviations of an engine's numbers: decimals are stored as doubles; timestamps are stored as text; trailing
 * blanks of texts are ignored; a percentile over an infinity fails; the minimum of numbers and NaN is NaN; a regular
 * expression ignores case where the column's collation does.
 */
export type Deviation =
  | 'decimals are doubles'
  | 'moments are texts'
  | 'texts are padded'
  | 'percentiles are finite'
  | 'NaN is the least'
  | 'patterns follow collations'

export interface TestColumn {
  name: string
  kind: ColumnKind
  /** The column type of the engine; defaults to the usual one for the kind. */
  type?: string
}

/** A table with rows, and a session that can read it. */
export interface TestTable {
  table: TableInfo
  connection: Pick<Connection, 'query'>
}

/** An engine on which checks are tested, with a way to create tables. */
export interface TestDatabase {
  engine: Engine
  /** The name of the column under test; defaults to `a "value"`, which needs quoting. */
  columnName?: string
  /** Column types by trait. Cases of a trait that is not listed are skipped. */
  traits?: ColumnTraits
  /** Defaults to none. */
  deviations?: readonly Deviation[]
  /** How the engine folds an unquoted name; defaults to no change. */
  foldName?(name: string): string
  /** Why the engine has no such column, or null. */
  whyUnsupported?(column: TestColumn): string | null
  /** Creates a table with these rows and a primary key `id` that numbers them from 1. */
  createTable(columns: readonly TestColumn[], rows: readonly (readonly unknown[])[]): Promise<TestTable>
}

/** The catalog entry of a created table: `id`, then the columns. */
export function describeTable(
  ref: { catalog: string; schema: string; name: string },
  columns: readonly TestColumn[],
): TableInfo {
  const all: readonly TestColumn[] = [{ name: 'id', kind: 'integer' }, ...columns]
  return {
    ...ref,
    kind: 'table',
    comment: null,
    constraints: [{ name: 'pk', type: 'primary_key', columns: ['id'] }],
    columns: all.map(({ name, kind, type }, index) => ({
      name,
      ordinal: index + 1,
      type: type ?? kind,
      rawType: type ?? kind,
      kind,
      nullable: name !== 'id',
      default: null,
      comment: null,
    })),
  }
}
