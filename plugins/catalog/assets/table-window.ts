/** The window that new checks of a table have: as it was set, or as it follows from how the table is partitioned. */
import Joi from 'joi'
import { findWindowProblem, keepingOf } from '../../../checks/plan.ts'
import { findTimeColumn, TEMPORAL_KINDS, tablePath, type TableInfo } from '../../../connectors/catalog.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
import { held, record } from '../../../server/http/envelopes.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { TableWindow } from '../../../server/http/check-schemas.ts'
import { Table } from '../models.ts'

/** A window that is proposed, and what it follows from. */
export interface ProposedWindow extends TableWindow {
  origin: 'partition' | 'clustering'
}

/** Estimated rows from which on automatic checks of a table use the proposal although none was set. */
export const LARGE_TABLE_ROWS = 10_000_000

const reply = { time_column: held.text, window: held.text, window_delay: held.text.allow(null) }

/** The two windows in the record of a table. */
export const tableWindowReplies = {
  default_window: record(reply)
    .label('DefaultWindow')
    .allow(null)
    .optional()
    .description('The window of new rules and metrics that name none. Left out of lists.')
    .example(null),
  proposed_window: record({ ...reply, origin: Joi.valid('partition', 'clustering') })
    .label('ProposedWindow')
    .allow(null)
    .optional()
    .description('Where none is set: what partitions, or the sort key, make useful.')
    .example({ time_column: 'ordered_on', window: '1d', window_delay: null, origin: 'partition' }),
}

/** One day at a time of the first column of days or moments by which the engine leaves partitions unread. */
export function proposeWindow(table: Pick<TableInfo, 'columns' | 'partitioning'>): ProposedWindow | null {
  const { columns = [], clustering = [] } = table.partitioning ?? {}
  const isTemporal = (name: string) => {
    const column = findTimeColumn(table, name)
    return column !== undefined && TEMPORAL_KINDS.includes(column.kind)
  }
  // Hash partitions of a range of time are all of them.
  const partition = columns.find(({ name, method }) => method !== 'hash' && isTemporal(name))
  const proposal = { window: '1d', window_delay: null }
  if (partition) return { time_column: partition.name, ...proposal, origin: 'partition' }
  const [first] = clustering
  return first !== undefined && isTemporal(first)
    ? { time_column: first, ...proposal, origin: 'clustering' }
    : null
}

/** The window of checks that no person states one by one: of watching, recommendations and profiles; null for all rows. */
export function automaticWindow(
  table: Pick<TableInfo, 'columns' | 'partitioning' | 'estimatedRows'>,
  setting: TableWindow | null,
): TableWindow | null {
  if (setting) return setting
  const isLarge = (table.estimatedRows ?? 0) >= LARGE_TABLE_ROWS
  if (!isLarge && !table.partitioning?.requiresFilter) return null
  const proposal = proposeWindow(table)
  if (!proposal) return null
  const { origin: _, ...proposed } = proposal
  return proposed
}

/** Tables whose rows are read at once: those with partitions or a window are few, and their columns may be many. */
const TABLES_AT_ONCE = 1_000

/** The windows of some tables, as `server.plugins.catalog.automaticWindows` gives them. */
export async function automaticWindows(
  trx: Transaction,
  tableIds: readonly string[],
): Promise<Map<string, TableWindow>> {
  const found = new Map<string, TableWindow>()
  for (let from = 0; from < tableIds.length; from += TABLES_AT_ONCE) {
    const tables = await Table.query(trx)
      .select('id', 'columns', 'partitioning', 'windowSetting', 'estimatedRows')
      .whereRaw('id = any(cast(? as uuid[]))', [tableIds.slice(from, from + TABLES_AT_ONCE)])
      .whereRaw('(window_setting is not null or partitioning is not null)')
    for (const { id, columns, partitioning, windowSetting, estimatedRows } of tables) {
      const info = {
        columns,
        ...(partitioning && { partitioning }),
        ...(estimatedRows !== null && { estimatedRows: Number(estimatedRows) }),
      }
      const window = automaticWindow(info, windowSetting)
      if (window) found.set(id, window)
    }
  }
  return found
}

/** The active tables of a source with a default window, as `server.plugins.catalog.windowedTables` gives them. */
export async function windowedTables(trx: Transaction, sourceId: string): Promise<Map<string, TableWindow>> {
  const tables = await Table.query(trx)
    .select('catalogName', 'schemaName', 'name', 'windowSetting')
    .where({ sourceId, isActive: true })
    .whereNotNull('windowSetting')
  return new Map(
    tables.map(({ catalogName: catalog, schemaName: schema, name, windowSetting }) => [
      tablePath({ catalog, schema, name }),
      windowSetting!,
    ]),
  )
}

/** Sets the default window of a table, as `server.plugins.catalog.setTableWindow` does. */
export async function setTableWindow(
  trx: Transaction,
  tableId: string,
  window: TableWindow | null,
): Promise<void> {
  await Table.query(trx).findById(tableId).patch({ windowSetting: window, updatedAt: new Date() })
}

/** What is wrong with a default window of a table: the field, and a sentence; null if nothing is. */
export function findTableWindowProblem(
  { time_column: name, window: size }: TableWindow,
  table: TableInfo,
  dialect: Dialect,
): { field: keyof TableWindow; error: string } | null {
  const column = findTimeColumn(table, name)
  if (!column) return { field: 'time_column', error: `does not exist in ${tablePath(table)}` }
  if (!TEMPORAL_KINDS.includes(column.kind))
    return {
      field: 'time_column',
      error: `is of type ${column.type}: a window needs a column of dates or timestamps`,
    }
  const problem = findWindowProblem(size, keepingOf(column, dialect))
  return problem === null ? null : { field: 'window', error: problem }
}
