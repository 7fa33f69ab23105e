/** What files want of a source: their checks, each good for its table and with all its fields. */
import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'
import { hasErrorData, invalidInput, type InputError } from '../../server/http/errors.ts'
import { makePauses } from '../../server/pauses.ts'
import type { Source, TableContext } from '../catalog/api.ts'
import type { CheckFields, CheckKind, DeclaredChecks } from '../scans/api.ts'
import { formatFault, type FileFault } from './file/monitors-file.ts'
import { pathOf } from './file/read-files.ts'
import type { ReadFile } from './file/read-file.ts'

/** A check of a file. */
export interface WantedCheck {
  key: string
  kind: CheckKind
  file: ReadFile
  /** Where it stands in its document. */
  at: readonly string[]
  /** As the file has it. */
  tablePath: string
  body: Record<string, unknown>
}

/** The same, found good. */
export interface ReadCheck extends WantedCheck {
  table: TableContext
  fields: CheckFields
}

const MAX_ERRORS = 100
/** Tables looked up in one transaction. */
const TABLES_AT_ONCE = 100

/** Collects faults of files, and throws them all together, so that nothing of faulty files is applied. */
export class FaultList {
  readonly #faults: FileFault[] = []

  add(file: ReadFile, path: readonly string[], message: string, candidates: readonly string[] = []): void {
    const { line, column } = file.positionOf(path) ?? { line: null, column: null }
    const more = candidates.length > 0 ? { candidates: [...candidates] } : {}
    this.#faults.push({ file: file.name, line, column, field: path.join('.'), message, ...more })
  }

  /** Adds what an error says of the fields of a check. @throws the error, unless it is one of input */
  addError(check: WantedCheck, error: unknown, at = check.at): void {
    if (!hasErrorData(error) || error.output.statusCode >= 500) throw error
    const { errors } = (error.data?.details ?? {}) as { errors?: InputError[] }
    const found = errors ?? [{ field: 'body', error: error.message }]
    for (const { field, error: message, candidates } of found) {
      const inner = field === 'body' || field === 'table_path' ? [] : field.split('.')
      this.add(check.file, [...at, ...inner], message, candidates)
    }
  }

  /** Whether a reply has no room for more. */
  get isFull(): boolean {
    return this.#faults.length >= MAX_ERRORS
  }

  /** @throws 400 `VALIDATION_ERROR` if there is any */
  throwIfAny(): void {
    if (this.#faults.length > 0) throw faultsError(this.#faults)
  }
}

/** The 400 for faulty files. Each error names its place as its field: `monitors/shop.yaml:12:9`, or `tables.orders`. */
export function faultsError(faults: readonly FileFault[]): Error {
  const errors = faults.slice(0, MAX_ERRORS).map((fault): InputError => {
    const { file, line, column, field, candidates } = fault
    const place = line === null ? field || 'body' : `${file}:${line}:${column}`
    return { field: place, error: formatFault(fault), ...(candidates && { candidates }) }
  })
  return invalidInput(errors, {}, faults.length - errors.length)
}

/** The checks of files, which all name this source and no key twice. */
export function listWanted(source: Pick<Source, 'name'>, files: readonly ReadFile[]): WantedCheck[] {
  const faults = new FaultList()
  const keys = new Map<string, WantedCheck>()
  const wanted: WantedCheck[] = []
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
 * @param retired finds the table of a managed check that the last discovery did not find
 * @throws 400 with all faults
 */
export async function readWanted(
  server: Server,
  source: Source,
  wanted: readonly WantedCheck[],
  retired: (trx: Transaction, check: WantedCheck) => Promise<TableContext | undefined>,
): Promise<ReadCheck[]> {
  const faults = new FaultList()
  const tables = await findTables(server, source, wanted, { faults, retired })
  const kinds = kindsOf(server)
  const read: ReadCheck[] = []
  const scheduled = new Map<string, ReadCheck>()
  const pause = makePauses()
  for (const check of wanted) {
    await pause()
    const table = tables.get(check.tablePath)
    if (!table) continue
    try {
      const fields = asStored(await kinds[check.kind].read(table, check.body, false))
      const found = { ...check, table, fields }
      const other = check.kind === 'freshness' ? scheduled.get(table.table.id) : undefined
      if (other) faults.add(check.file, check.at, `the table has a freshness schedule already: ${other.key}`)
      if (check.kind === 'freshness') scheduled.set(table.table.id, found)
      read.push(found)
    } catch (error) {
      faults.addError(check, error)
    }
  }
  faults.throwIfAny()
  return read
}

async function findTables(
  server: Server,
  source: Source,
  wanted: readonly WantedCheck[],
  { faults, retired }: { faults: FaultList; retired: Parameters<typeof readWanted>[3] },
): Promise<Map<string, TableContext>> {
  const firstOf = new Map(wanted.toReversed().map(check => [check.tablePath, check]))
  const tables = new Map<string, TableContext>()
  const paths = [...firstOf]
  for (let first = 0; first < paths.length && !faults.isFull; first += TABLES_AT_ONCE)
    await server.db.company(source.companyId, async trx => {
      for (const [path, check] of paths.slice(first, first + TABLES_AT_ONCE)) {
        try {
          const table = await server.plugins.catalog.findTable(trx, { source }, path)
          tables.set(path, { source, table })
        } catch (error) {
          const known = await retired(trx, check)
          if (known) tables.set(path, known)
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
  server: Server,
  source: Source,
  checks: readonly ReadCheck[],
): Promise<void> {
  const faults = new FaultList()
  const kinds = kindsOf(server)
  const pause = makePauses()
  await server.plugins.scans.withSharedSession(source, async ask => {
    for (const check of checks) {
      await pause()
      await kinds[check.kind]
        .read(check.table, check.body, ask)
        .catch((error: unknown) => faults.addError(check, error))
    }
  })
  faults.throwIfAny()
}

/** Without what is undefined inside of configurations, such as the bound that a RANGE lacks, as the database gives them. */
function asStored(fields: CheckFields): CheckFields {
  return JSON.parse(JSON.stringify(fields)) as CheckFields
}

/** The kinds of checks by name. */
export function kindsOf(server: Server): Record<CheckKind, DeclaredChecks> {
  const kinds = server.plugins.scans.declaredKinds().map(checks => [checks.kind, checks] as const)
  return Object.fromEntries(kinds) as Record<CheckKind, DeclaredChecks>
}
