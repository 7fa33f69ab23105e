import { canOf } from '../../../connectors/connector.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField, invalidInput } from '../../../server/http/errors.ts'
import type { CatalogApi, ProfiledTimes, Source, Table, TableContext } from '../../catalog/api.ts'
import { detectColumn, hiddenColumns, isReadable } from './columns.ts'
import type { MonitoredTable, Schedule, FreshnessSignal } from '../models.ts'

/** The fields of a schedule that select its signal. */
export interface SignalFields {
  freshness_column?: string | null
  freshness_expression?: string
  freshness_signal?: FreshnessSignal
}

/** The signal of a schedule as stored. */
export type StoredSignal = Pick<Schedule, 'timestampColumn' | 'expression' | 'usesLastModified'>

/**
 * Chooses the signal: the given column or expression, the engine's modification time if requested, else the column that
 * is detected; without one, the modification time until there is one.
 * @param readProfile called where a column has to be detected
 * @throws 400 if the requested signal is not available
 */
export async function chooseSignal(
  catalog: CatalogApi,
  subject: TableContext,
  { freshness_signal: signal, freshness_column: asked, freshness_expression: expression }: SignalFields,
  readProfile: () => Promise<ProfiledTimes | undefined>,
): Promise<StoredSignal> {
  const named = expression !== undefined ? 'expression' : typeof asked === 'string' ? 'column' : undefined
  if (named !== undefined && signal !== undefined && signal !== named)
    throw invalidField('freshness_signal', `must be ${named} or omitted if freshness_${named} is given`)
  if (expression !== undefined) return { timestampColumn: null, expression, usesLastModified: false }
  if (signal === 'expression')
    throw invalidField('freshness_expression', 'is required with freshness_signal expression')
  if (signal === 'last_modified') {
    assertHasModificationTime(catalog, subject)
    return { timestampColumn: null, expression: null, usesLastModified: true }
  }
  const timestampColumn =
    typeof asked === 'string'
      ? requireColumn(catalog, subject, asked)
      : detectColumnOf(catalog, subject, await readProfile())
  if (signal === 'column' && timestampColumn === null)
    throw invalidField('freshness_column', 'is required: no timestamp column was detected')
  return { timestampColumn, expression: null, usesLastModified: false }
}

/** Whether the engine reports when a table was last modified. */
export function hasModificationTime(
  catalog: CatalogApi,
  source: Source,
  { kind }: Pick<Table, 'kind'>,
): boolean {
  const { lastModified } = catalog.connectorOf(source).capabilities
  return lastModified === true ? kind === 'table' : canOf(lastModified, { kind })
}

/** Warnings about a new or changed schedule: that its table has no signal. */
export async function warningsOf(
  catalog: CatalogApi,
  trx: Transaction,
  { tableId, timestampColumn, expression, qualifiedName }: MonitoredTable,
): Promise<string[]> {
  if (timestampColumn !== null || expression !== null) return []
  const subject = await catalog.loadTable(trx, tableId)
  if (subject && hasModificationTime(catalog, subject.source, subject.table)) return []
  return [
    `Nothing shows when ${qualifiedName} was updated: its status stays unknown until the schedule has a freshness_column or freshness_expression`,
  ]
}

function assertHasModificationTime(catalog: CatalogApi, { source, table }: TableContext): void {
  if (hasModificationTime(catalog, source, table)) return
  const { label } = catalog.connectorOf(source)
  const kind = table.kind.replaceAll('_', ' ')
  const error = `${label} does not report when the rows of ${kind.startsWith('e') ? 'an' : 'a'} ${kind} changed: set freshness_column`
  throw invalidInput([{ field: 'freshness_signal', error }])
}

function detectColumnOf(
  catalog: CatalogApi,
  { source, table }: TableContext,
  profile: ProfiledTimes | undefined,
): string | null {
  const preferred = source.freshnessDefaults?.freshness_columns
  const choice = { hidden: hiddenColumns(catalog, table), profile, ...(preferred && { preferred }) }
  return detectColumn(table.columns, choice)?.name ?? null
}

/** The given column. @throws 400 if it may not be read, or has no times */
function requireColumn(catalog: CatalogApi, { table }: TableContext, asked: string): string {
  const hidden = hiddenColumns(catalog, table)
  const column = catalog.findColumn(table, asked, 'freshness_column')
  if (!hidden.has(asked) && isReadable(column)) return column.name
  const error = hidden.has(asked)
    ? `${asked} is tagged as personal data, and its newest value would be shown: choose another, or remove the tag`
    : `${asked} is ${column.type}, which contains no dates or times`
  throw invalidInput([{ field: 'freshness_column', error }])
}

/** The signal of a schedule after a patch. */
export async function chooseSignalOfPatch(
  catalog: CatalogApi,
  trx: Transaction,
  schedule: MonitoredTable,
  patch: SignalFields,
): Promise<StoredSignal> {
  const { freshness_column: column, freshness_expression: expression, freshness_signal: signal } = patch
  if (column === undefined && expression === undefined && signal === undefined) return schedule
  const subject = await catalog.loadTable(trx, schedule.tableId)
  if (!subject) throw apiError('SCHEDULE_NOT_FOUND', 'The table was removed', { schedule_id: schedule.uuid })
  return chooseSignal(catalog, subject, patch, () => readProfile(catalog, trx, subject.table.id))
}

/** The times in the latest profile of a table. */
export async function readProfile(
  catalog: CatalogApi,
  trx: Transaction,
  tableId: string,
): Promise<ProfiledTimes | undefined> {
  return (await catalog.readProfiledTimes(trx, [tableId])).get(tableId)
}
