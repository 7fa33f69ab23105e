/** What files want of a source: their checks, each good for its table and with all its fields. */
import type { Database } from '../../server/database/database.ts'
import { makePauses } from '../../server/pauses.ts'
import type { CatalogApi, Source, TableContext } from '../catalog/api.ts'
import type { CheckKindName, ChecksApi, StoredCheck, WantedCheck } from '../checks/api.ts'
import { FaultList } from './faults.ts'
import { pathOf } from './file/read-files.ts'
import type { ReadFile } from './file/read-file.ts'
import { applyWindows, listWindows, withKeptWindow, type WantedWindow } from './table-windows.ts'

/** What finds checks of files good needs. */
export interface MonitorsDeps {
  db: Database
  catalog: CatalogApi
  checks: ChecksApi
}

/** A check of a file. */
export interface FileCheck {
  key: string
  kind: CheckKindName
  file: ReadFile
  /** Where it stands in its document. */
  at: readonly string[]
  /** As the file has it. */
  tablePath: string
  body: Record<string, unknown>
}

/** The same, found good. */
export interface WantedFileCheck extends FileCheck, WantedCheck {}

/** What files have, and the checks that they manage already, by their keys. */
export interface FilesToRead {
  files: readonly ReadFile[]
  wanted: readonly FileCheck[]
  known: ReadonlyMap<string, StoredCheck | undefined>
}

/** Tables looked up in one transaction. */
const TABLES_AT_ONCE = 100

/** The checks of files, which all name this source and no key twice. */
export function listWanted(source: Pick<Source, 'name'>, files: readonly ReadFile[]): FileCheck[] {
  const faults = new FaultList()
  const keys = new Map<string, FileCheck>()
  const wanted: FileCheck[] = []
  for (const file of files) {
    if (file.source !== source.name)
      faults.add(file, ['source'], `the file is for the source ${file.source}, not for ${source.name}`)
    for (const { tablePath, kind, index, entry } of file.entries) {
      const { key, ...body } = entry
      const at = pathOf({ tablePath, kind, index })
      const check = { key, kind, file, at, tablePath, body }
      const other = keys.get(key)
      if (other && other.file !== file)
        faults.add(file, [...at, 'key'], `the key ${key} is used in ${other.file.name} already`)
      keys.set(key, check)
      wanted.push(check)
    }
  }
  faults.throwIfAny()
  return wanted
}

/**
 * Finds checks good for their tables and fills in their defaults; nothing is asked of the source.
 * @throws 400 with all faults
 */
export async function readWanted(
  deps: MonitorsDeps,
  source: Source,
  { files, wanted, known }: FilesToRead,
): Promise<{ wanted: WantedFileCheck[]; windows: WantedWindow[] }> {
  const faults = new FaultList()
  const stated = listWindows(files, faults)
  const places = [
    ...wanted,
    ...[...stated].map(([tablePath, { file }]) => ({ key: '', file, tablePath, at: ['tables', tablePath] })),
  ]
  const tables = await findTables(deps, source, places, { faults, known })
  const windows = applyWindows(deps.catalog, tables, stated, faults)
  const read: WantedFileCheck[] = []
  const scheduled = new Map<string, FileCheck>()
  const pause = makePauses()
  for (const check of wanted) {
    await pause()
    const table = tables.get(check.tablePath)
    if (!table) continue
    try {
      const body = withKeptWindow(check.body, table, known.get(check.key))
      const fields = await deps.checks.reconciler.read(check.kind, table, body, false)
      const other = check.kind === 'freshness' ? scheduled.get(table.table.id) : undefined
      if (other) faults.add(check.file, check.at, `the table has a freshness schedule already: ${other.key}`)
      if (check.kind === 'freshness') scheduled.set(table.table.id, check)
      read.push({ ...check, body, table, fields })
    } catch (error) {
      faults.addError(check, error)
    }
  }
  faults.throwIfAny()
  return { wanted: read, windows }
}

async function findTables(
  { db, catalog }: MonitorsDeps,
  source: Source,
  wanted: readonly Pick<FileCheck, 'key' | 'file' | 'tablePath' | 'at'>[],
  { faults, known }: Pick<FilesToRead, 'known'> & { faults: FaultList },
): Promise<Map<string, TableContext>> {
  const firstOf = new Map(wanted.toReversed().map(check => [check.tablePath, check]))
  const tables = new Map<string, TableContext>()
  const paths = [...firstOf]
  for (let first = 0; first < paths.length && !faults.isFull; first += TABLES_AT_ONCE)
    await db.company(source.companyId, async trx => {
      for (const [path, check] of paths.slice(first, first + TABLES_AT_ONCE)) {
        try {
          tables.set(path, { source, table: await catalog.findTable(trx, { source }, path) })
        } catch (error) {
          // A managed check keeps its table while its database lacks it, so that one dropped table does not stop all others.
          const stored = known.get(check.key)
          const table =
            stored && !stored.isTableActive ? await catalog.loadTable(trx, stored.tableId) : undefined
          if (table) tables.set(path, table)
          else faults.addError(check, error, ['tables', path])
        }
      }
    })
  // All of it is wrong in some way: looking for more takes as long as for the tables that there are.
  if (faults.isFull) faults.throwIfAny()
  return tables
}

/**
 * Asks the engine about checks of a source that are to be created or changed, in one session.
 * @throws 400 with all faults
 */
export async function assertRunnable(
  deps: Pick<MonitorsDeps, 'checks'>,
  source: Source,
  wanted: readonly WantedFileCheck[],
): Promise<void> {
  const faults = new FaultList()
  const pause = makePauses()
  await deps.checks.withSharedSession(source, async ask => {
    for (const check of wanted) {
      await pause()
      await deps.checks.reconciler
        .read(check.kind, check.table, check.body, ask)
        .catch((error: unknown) => faults.addError(check, error))
    }
  })
  faults.throwIfAny()
}
