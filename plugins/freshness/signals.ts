import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'
import { apiError, invalidField } from '../../server/http/errors.ts'
import { detectColumn, hiddenColumns, isReadable } from './columns.ts'
import type { MonitoredTable, Schedule, Signal } from './models.ts'

/** The fields of a schedule that say what freshness is read from. */
export interface SignalFields {
  freshness_column?: string | null
  freshness_expression?: string
  freshness_signal?: Signal
}

type Asset = Awaited<ReturnType<Server['plugins']['catalog']['findAsset']>>
type Source = Asset['source']
type Table = NonNullable<Asset['table']>

/** What the freshness of a table is read from, as it is stored. */
export type StoredSignal = Pick<Schedule, 'timestampColumn' | 'expression' | 'usesLastModified'>

/**
 * The column or expression asked for, the engine's time of the last change if that was asked for, else the first column
 * that tells; where there is none, the engine's time as long as there is none.
 * @throws 400 when what was asked for cannot tell
 */
export function signalOf(
  server: Server,
  source: Source,
  table: Pick<Table, 'columns' | 'columnTags' | 'kind'>,
  { freshness_signal: signal, freshness_column: asked, freshness_expression: expression }: SignalFields,
): StoredSignal {
  const named = expression !== undefined ? 'expression' : typeof asked === 'string' ? 'column' : undefined
  if (named !== undefined && signal !== undefined && signal !== named)
    throw invalidField(
      'freshness_signal',
      `must be ${named}, or left out, where a freshness_${named} is given`,
    )
  if (expression !== undefined) return { timestampColumn: null, expression, usesLastModified: false }
  if (signal === 'expression')
    throw invalidField('freshness_expression', 'is required with freshness_signal expression')
  if (signal === 'last_modified') {
    assertModified(server, source, table)
    return { timestampColumn: null, expression: null, usesLastModified: true }
  }
  const timestampColumn = columnOf(server, source, table, asked)
  if (signal === 'column' && timestampColumn === null)
    throw invalidField(
      'freshness_column',
      'is required: no column of the table is known to tell when it was updated',
    )
  return { timestampColumn, expression: null, usesLastModified: false }
}

/** Whether the engine tells when a table of its own was last changed. */
export function tellsModified(server: Server, source: Source, { kind }: Pick<Table, 'kind'>): boolean {
  return kind === 'table' && server.plugins.catalog.connectorOf(source).capabilities.lastModified === true
}

/** What a caller should know of a new or changed schedule: that nothing shows when its table was updated. */
export async function warningsOf(
  server: Server,
  trx: Transaction,
  { tableId, timestampColumn, expression, qualifiedName }: MonitoredTable,
): Promise<string[]> {
  if (timestampColumn !== null || expression !== null) return []
  const known = await server.plugins.catalog.load(trx, tableId)
  if (known && tellsModified(server, known.source, known.table)) return []
  return [
    `Nothing shows when ${qualifiedName} was updated: its status stays unknown until the schedule has a freshness_column or freshness_expression`,
  ]
}

function assertModified(server: Server, source: Source, table: Pick<Table, 'kind'>): void {
  if (tellsModified(server, source, table)) return
  const { label } = server.plugins.catalog.connectorOf(source)
  const what = table.kind === 'table' ? 'a table' : `a ${table.kind.replaceAll('_', ' ')}`
  throw invalidField(
    'freshness_signal',
    `${label} does not tell when the rows of ${what} changed last: name a freshness_column`,
  )
}

/** The name of the column to read: the one asked for, else the first one that tells, else none. */
function columnOf(
  server: Server,
  source: Source,
  table: Pick<Table, 'columns' | 'columnTags'>,
  asked: string | null | undefined,
): string | null {
  const { columns } = table
  const hidden = hiddenColumns(server, table)
  if (asked === undefined || asked === null)
    return detectColumn(columns, hidden, source.freshnessDefaults?.freshness_columns)?.name ?? null
  const column = columns.find(({ name }) => name === asked)
  if (!column) throw invalidField('freshness_column', `the table has no column ${asked}`)
  if (hidden.has(asked))
    throw invalidField(
      'freshness_column',
      `${asked} is tagged as personal data, and its newest value would be shown: choose another, or take the tag off`,
    )
  if (isReadable(column)) return column.name
  throw invalidField('freshness_column', `${asked} is ${column.type}, which holds no dates or times`)
}

/** What a schedule is read from after a patch. */
export async function patchedSignal(
  server: Server,
  trx: Transaction,
  schedule: MonitoredTable,
  patch: SignalFields,
): Promise<StoredSignal> {
  const { freshness_column: column, freshness_expression: expression, freshness_signal: signal } = patch
  if (column === undefined && expression === undefined && signal === undefined) return schedule
  const known = await server.plugins.catalog.load(trx, schedule.tableId)
  if (!known) throw apiError('SCHEDULE_NOT_FOUND', 'The table was removed', { schedule_id: schedule.id })
  return signalOf(server, known.source, known.table, patch)
}
