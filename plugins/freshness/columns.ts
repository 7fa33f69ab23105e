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
const READABLE: readonly ColumnKind[] = [...TEMPORAL, 'integer', 'decimal', 'float', 'text', 'other']

/**
 * The columns whose newest value is not to be shown: those that are tagged as personal data themselves. A tag on the
 * table or the source says nothing of when its rows were written.
 */
export function hiddenColumns(
  server: Server,
  table: { columns: ColumnInfo[]; columnTags: Record<string, string[]> },
): ReadonlySet<string> {
  return server.plugins.catalog.personalColumns({ source: { tags: [] }, table: { ...table, tags: [] } })
}

/**
 * The column that tells when a table was last updated: the first conventional name of a date or timestamp.
 * @param hidden columns that are left out
 */
export function detectColumn(
  columns: readonly ColumnInfo[],
  hidden: ReadonlySet<string> = new Set(),
): ColumnInfo | undefined {
  const temporal = columns.filter(({ name, kind }) => TEMPORAL.includes(kind) && !hidden.has(name))
  return CONVENTIONAL.map(name => temporal.find(column => column.name.toLowerCase() === name)).find(Boolean)
}

/** Whether a column's values can be read as moments. */
export function isReadable({ kind }: ColumnInfo): boolean {
  return READABLE.includes(kind)
}
