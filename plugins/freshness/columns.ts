import type { Server } from '@hapi/hapi'
import type { ColumnInfo, ColumnKind } from '../../connectors/catalog.ts'

/** Names that say when a row was written, the surest first. */
const CONVENTIONAL = [
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

/** Kinds that a detected column has. */
const TEMPORAL: readonly ColumnKind[] = ['date', 'timestamp']
/** Kinds that a column named by hand may have: numbers are epochs, texts ISO dates. */
const READABLE: readonly ColumnKind[] = [...TEMPORAL, 'integer', 'decimal', 'float', 'text']
/** The type of columns without a declared type, SQLite's and those of its views: they may hold anything. */
const UNTYPED = 'any'
/** Texts out of a fixed list of values, on MySQL. */
const LISTED = /^(enum|set)\(/

/** What has to be known of a column. */
export type KnownColumn = Pick<ColumnInfo, 'name' | 'type' | 'base' | 'kind'>

/**
 * The columns whose newest value is not to be shown: those that are tagged as personal data themselves. A tag on the
 * table or the source says nothing of when its rows were written.
 */
export function hiddenColumns(
  server: Server,
  table: { columns: readonly KnownColumn[]; columnTags: Record<string, string[]> },
): ReadonlySet<string> {
  return server.plugins.catalog.personalColumns({ source: { tags: [] }, table: { ...table, tags: [] } })
}

/**
 * The column that tells when a table was last updated: the first of the preferred names, of a kind that can be read,
 * else the first conventional name of a date or timestamp.
 * @param hidden columns that are left out
 * @param preferred names of the source's own, the surest first
 */
export function detectColumn<Column extends KnownColumn>(
  columns: readonly Column[],
  hidden: ReadonlySet<string> = new Set(),
  preferred: readonly string[] = [],
): Column | undefined {
  const shown = columns.filter(({ name }) => !hidden.has(name))
  const readable = shown.filter(isReadable)
  const temporal = shown.filter(({ kind }) => TEMPORAL.includes(kind))
  const named = (some: readonly Column[]) => (name: string) =>
    some.find(column => column.name.toLowerCase() === name.toLowerCase())
  return preferred.map(named(readable)).find(Boolean) ?? CONVENTIONAL.map(named(temporal)).find(Boolean)
}

/** Whether a column's values can be read as moments, as far as its type shows. */
export function isReadable({ kind, type }: Pick<ColumnInfo, 'kind' | 'type'>): boolean {
  return (READABLE.includes(kind) && !LISTED.test(type)) || type === UNTYPED
}
