import { TEMPORAL_KINDS, type ColumnInfo, type ColumnKind } from '../../../connectors/catalog.ts'
import type { CatalogApi, Table } from '../../catalog/api.ts'

/** Conventional names of columns with the time a row was written, the most reliable first. */
const CONVENTIONAL_NAMES = [
  'updated_at',
  'modified_at',
  'last_updated',
  'created_at',
  'inserted_at',
  'loaded_at',
  'event_time',
  'timestamp',
  'ts',
  'date',
]

/** Kinds of a column that a user names: numbers are epochs, texts ISO dates. */
const READABLE_KINDS: readonly ColumnKind[] = [...TEMPORAL_KINDS, 'integer', 'decimal', 'float', 'text']
/** The type of SQLite columns without a declared type, which may contain anything. */
const UNTYPED_TYPE = 'any'
/** MySQL's types with a fixed list of texts, and the year, which as a number of seconds would be one of 1970. */
const UNREADABLE_TYPE = /^((enum|set)\(|year\b)/

export type TypedColumn = Pick<ColumnInfo, 'name' | 'type' | 'base' | 'kind'>

/**
 * Columns whose newest value must not be shown: those tagged as personal data themselves, or that show such a column.
 * A tag on a table or source does not make the time of writing personal.
 */
export function hiddenColumns(
  catalog: CatalogApi,
  table: Pick<Table, 'columnTags' | 'personalFromUpstream'> & { columns: readonly TypedColumn[] },
): ReadonlySet<string> {
  const fromColumns = Object.entries(table.personalFromUpstream).filter(([, level]) => level === 'column')
  const tagged = { ...table, tags: [], personalFromUpstream: Object.fromEntries(fromColumns) }
  return catalog.personalColumns({ source: { tags: [] }, table: tagged })
}

/**
 * The column with the time of the last update: the first preferred name with a readable kind, else the first
 * conventional name with a date or timestamp.
 * @param hidden columns to skip
 * @param preferred names from the source's defaults, the most reliable first
 */
export function detectColumn<Column extends TypedColumn>(
  columns: readonly Column[],
  hidden: ReadonlySet<string> = new Set(),
  preferred: readonly string[] = [],
): Column | undefined {
  const shown = columns.filter(({ name }) => !hidden.has(name))
  const readable = shown.filter(isReadable)
  const temporal = shown.filter(({ kind }) => TEMPORAL_KINDS.includes(kind))
  const named = (some: readonly Column[]) => (name: string) =>
    some.find(column => column.name.toLowerCase() === name.toLowerCase())
  return preferred.map(named(readable)).find(Boolean) ?? CONVENTIONAL_NAMES.map(named(temporal)).find(Boolean)
}

/** Whether values of a column can be moments, judging by its type. */
export function isReadable({ kind, type }: Pick<ColumnInfo, 'kind' | 'type'>): boolean {
  return (READABLE_KINDS.includes(kind) && !UNREADABLE_TYPE.test(type)) || type === UNTYPED_TYPE
}
