import type { ColumnKind, TableInfo } from '../../connectors/catalog.ts'
import type { Connection } from '../../connectors/connector.ts'
import type { Engine } from '../plan.ts'

/**
 * What only some engines' columns can hold or do: floats that are `NaN` or an `infinity`; an `exact` decimal of 7
 * digits before the point and 20 after it; a `zoned` timestamp, which is a moment whatever zone it was written in;
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
 * In what an engine's numbers differ from all others by its nature: decimals are kept as doubles; the text of a
 * moment is all that is kept of it; texts are equal whatever blanks they end in; a percentile is refused where there
 * is an infinity; the least of numbers and NaN is NaN; a regular expression ignores case on a
 * column whose collation does.
 */
export type Deviation =
  | 'decimals are doubles'
  | 'moments are texts'
  | 'texts are padded'
  | 'percentiles are finite'
  | 'NaN is the least'
  | 'patterns follow collations'

/** A column of a table that a stand makes. */
export interface TestColumn {
  name: string
  kind: ColumnKind
  /** The column's type in the engine's words; the stand's usual one for the kind unless told. */
  type?: string
}

/** A table with rows, and a session that can read it. */
export interface TestTable {
  table: TableInfo
  connection: Pick<Connection, 'query'>
}

/** Where checks are measured: an engine, and a way to make tables in it. */
export interface TestDatabase {
  engine: Engine
  /** The name of the column under test; `a "value"`, which needs quoting, unless the engine takes no such name. */
  columnName?: string
  /** Which column types have a trait. Cases of a trait that is not told are skipped. */
  traits?: ColumnTraits
  /** By what nature its numbers differ; by none unless told. */
  deviations?: readonly Deviation[]
  /** How the engine keeps a name that is written without quotes; as it is unless told. */
  foldName?(name: string): string
  /** Why a table with such a column cannot be made, or null when it can. */
  whyUnsupported?(column: TestColumn): string | null
  /** Makes a table with these rows and a primary key `id` that counts them from 1. */
  createTable(columns: readonly TestColumn[], rows: readonly (readonly unknown[])[]): Promise<TestTable>
}

/** The catalog entry of a table that a stand made: its `id`, then the columns. */
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
