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

/** The column that tells when a table was last updated: the first conventional name of a date or timestamp. */
export function detectColumn(columns: readonly ColumnInfo[]): ColumnInfo | undefined {
  const temporal = columns.filter(({ kind }) => TEMPORAL.includes(kind))
  return CONVENTIONAL.map(name => temporal.find(column => column.name.toLowerCase() === name)).find(Boolean)
}

/** Whether a column's values can be read as moments. */
export function isReadable({ kind }: ColumnInfo): boolean {
  return READABLE.includes(kind)
}
