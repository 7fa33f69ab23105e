/** The default windows of tables, as files state them. */
import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../../server/database/database.ts'
import type { AuditEvent } from '../../server/http/audit.ts'
import { tableWindowBody, type TableWindow } from '../../server/http/check-schemas.ts'
import { validateBody } from '../../server/http/validate-body.ts'
import type { CatalogApi, TableContext } from '../catalog/api.ts'
import type { StoredCheck } from '../checks/api.ts'
import type { FaultList } from './faults.ts'
import type { ReadFile } from './file/read-file.ts'

/** A default window of a file, and the one that its table has. */
export interface WantedWindow {
  file: ReadFile
  /** As the file has it. */
  tablePath: string
  tableId: string
  old: TableWindow | null
  new: TableWindow | null
}

/** The default windows that files state, each once. */
export function listWindows(files: readonly ReadFile[], faults: FaultList) {
  const stated = new Map<string, { file: ReadFile; window: object | null }>()
  for (const file of files)
    for (const { tablePath, window } of file.windows) {
      const other = stated.get(tablePath)
      if (other)
        faults.add(
          file,
          ['tables', tablePath, 'default_window'],
          `the default window of the table stands in ${other.file.name} already`,
        )
      stated.set(tablePath, { file, window })
    }
  return stated
}

/** Finds the windows of files good for their tables, and gives the tables with them. */
export function applyWindows(
  catalog: Pick<CatalogApi, 'assertTableWindow'>,
  tables: Map<string, TableContext>,
  stated: ReturnType<typeof listWindows>,
  faults: FaultList,
): WantedWindow[] {
  const wanted: WantedWindow[] = []
  for (const [tablePath, { file, window }] of stated) {
    const found = tables.get(tablePath)
    if (!found) continue
    const at = ['tables', tablePath, 'default_window']
    try {
      const read = window === null ? null : validateBody<TableWindow>(tableWindowBody, window)
      if (read) catalog.assertTableWindow(found, read)
      wanted.push({ file, tablePath, tableId: found.table.id, old: found.table.windowSetting, new: read })
      const table = found.table.$clone()
      table.windowSetting = read
      tables.set(tablePath, { ...found, table })
    } catch (error) {
      faults.addError({ file, at }, error)
    }
  }
  return wanted
}

/**
 * The body of a check that names no window, on a table with a default one: a check that is there keeps its window, so that a
 * default that is set later replaces no check of a file.
 */
export function withKeptWindow(
  body: Record<string, unknown>,
  { table }: TableContext,
  stored: Pick<StoredCheck, 'tableId' | 'fields'> | undefined,
): Record<string, unknown> {
  const isStated = body.window !== undefined || body.time_column !== undefined
  if (isStated || !table.windowSetting || stored?.tableId !== table.id || !('window' in stored.fields))
    return body
  const { time_column, window, window_delay, revisit } = stored.fields
  return { window_delay, revisit, ...body, time_column, window }
}

/** Those that differ from what their tables have. */
export function changedWindows(wanted: readonly WantedWindow[]): WantedWindow[] {
  return wanted.filter(window => !isDeepStrictEqual(window.old, window.new))
}

/** Stores default windows that differ, and audits them. */
export async function storeWindows(
  catalog: Pick<CatalogApi, 'setTableWindow'>,
  trx: Transaction,
  changed: readonly WantedWindow[],
  record: (event: AuditEvent) => Promise<unknown>,
): Promise<void> {
  for (const { tableId, new: window } of changed) {
    await catalog.setTableWindow(trx, tableId, window)
    await record({
      action: 'table.updated',
      target: { type: 'table', id: tableId },
      details: { fields: ['default_window'] },
    })
  }
}
