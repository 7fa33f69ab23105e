import { extname } from 'node:path'
import { tablePath, type TableInfo, type TableRef } from '../catalog.ts'
import type { Connection, ConnectOptions, QueryOptions, Row, TablePart } from '../connector.ts'
import { startReader, type Reader, type ReaderLimits } from '../reader/pool.ts'
import { makeSession } from '../session.ts'
import { raw, sql, type Sql } from '../sql.ts'
import { toViewDefinitions } from '../view-definitions.ts'
import type { DuckdbConfig } from './config.ts'
import { duckdbDialect } from './dialect.ts'
import { ENGINE, toDuckdbError } from './errors.ts'
import { lastChange, listTables, type FileTable } from './files.ts'
import { introspect, readEstimates } from './introspect.ts'
import { describeTable, findProblem, knownRows, relationOf, unreadable, type FileReader } from './layouts.ts'
import { FILES_CATALOG, locate, type FolderLocation } from './locations.ts'
import type { QueryAnswer, Description, Request, FileView } from './messages.ts'

const BACKEND = new URL(`./backend${extname(import.meta.url)}`, import.meta.url)

/** Milliseconds for reading the catalog, also of the footers of many files. */
const CATALOG_TIMEOUT_MS = 120_000

/** Megabytes of the process beside what DuckDB counts: Node.js itself, and what an allocator has not given back. */
const PROCESS_MB = 512

/** A statement as DuckDB gets it. */
type Statement = ReturnType<typeof duckdbDialect.render>

const VIEWS = sql`select database_name as catalog, schema_name as schema, view_name as name, sql as definition from duckdb_views()
  where database_name = current_database() and not internal and not temporary`

/** Opens a session with a database file, or with a folder of data files. */
export async function openSession(config: DuckdbConfig, options: ConnectOptions): Promise<Connection> {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000
  const { memory_mb: memoryMb, threads } = config
  const location = await locate(config.path, options.egress).catch(rethrow)
  const folder = 'folder' in location ? location.folder : null
  const first = folder && (await listTables(folder).catch(rethrow))
  if (first?.size === 0) throw toDuckdbError({ code: 'NO_FILES' })
  const hasKeys = [...(first?.values() ?? [])].some(({ files: [file] }) => (file?.keys.length ?? 0) > 0)

  async function open(signal?: AbortSignal): Promise<Reader<Request>> {
    const taken = startReader<Request>({ backend: BACKEND, memoryMb: memoryMb + PROCESS_MB })
    const place = folder ? { folder: { path: folder.path, schema: folder.schema, hasKeys } } : location
    try {
      await taken.ask({ type: 'open', ...place, memoryMb, threads } as Request, {
        timeoutMs: connectTimeoutMs,
        signal,
      })
      return taken
    } catch (error) {
      await taken.giveBack()
      throw toDuckdbError(error)
    }
  }

  let reader = await open(options.signal)
  async function ask<Reply>(request: Request, limits: ReaderLimits): Promise<Reply> {
    if (!reader.isAlive()) reader = await open(limits.signal)
    return reader.ask<Reply>(request, limits)
  }
  const files = folder && fileTables(folder, ask)

  const session = makeSession<Statement>({
    engine: ENGINE,
    classify: toDuckdbError,
    async runStatement({ text, values }, { timeoutMs, maxRows }, signal) {
      const views = await files?.viewsOf(text, signal)
      return toRows(
        await ask<QueryAnswer>({ type: 'query', text, values, maxRows, views }, { timeoutMs, signal }),
      )
    },
    async validateStatement({ text }, { timeoutMs }, signal) {
      const views = await files?.viewsOf(text, signal)
      await ask({ type: 'validate', text, views }, { timeoutMs, signal })
    },
    end: () => reader.giveBack(),
    onStatement: options.onStatement,
  })
  const run = (statement: Sql, limits: QueryOptions) => session.run(duckdbDialect.render(statement), limits)
  const readCatalog = (signal?: AbortSignal) => (statement: Sql) =>
    run(statement, { timeoutMs: CATALOG_TIMEOUT_MS, signal })
  // What a folder holds is asked of the same process, so it waits for the statement that runs.
  const inTurn = async <Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> => {
    await readCatalog(signal)(sql`select 1 as one`)
    return work().catch(rethrow)
  }
  return {
    query: run,
    async validate(statement, limits) {
      await session.validate?.(duckdbDialect.render(statement), limits)
    },
    introspect: ({ tables, signal } = {}) =>
      files
        ? inTurn(() => files.introspect(tables, signal), signal)
        : introspect(readCatalog(signal), tables),
    viewDefinitions: async ({ signal } = {}) =>
      files ? [] : toViewDefinitions(await readCatalog(signal)(VIEWS)),
    lastModified: async tables => (await files?.lastModified(tables).catch(rethrow)) ?? new Map(),
    estimates: tables =>
      files ? inTurn(() => files.estimates(tables)) : readEstimates(readCatalog(), tables),
    listParts: async (table, limits) =>
      files ? inTurn(() => files.listParts(table, limits.signal), limits.signal) : null,
    close: () => session.close(),
  }
}

function rethrow(thrown: unknown): never {
  throw toDuckdbError(thrown)
}

type Ask = <Reply>(request: Request, limits: ReaderLimits) => Promise<Reply>

/** The tables of a folder, whose files are listed anew for each question. */
function fileTables(folder: FolderLocation, ask: Ask) {
  let listed: Map<string, FileTable> | undefined
  const list = async () => (listed = await listTables(folder))
  const refOf = ({ name }: FileTable) => ({ catalog: FILES_CATALOG, schema: folder.schema, name })
  const readerOf = (signal?: AbortSignal): FileReader => ({
    describe: relations =>
      ask<Description[]>({ type: 'describe', relations }, { timeoutMs: CATALOG_TIMEOUT_MS, signal }),
    query: text =>
      ask<QueryAnswer>({ type: 'query', text, values: [] }, { timeoutMs: CATALOG_TIMEOUT_MS, signal }),
  })
  /** Those of some tables that are there, by the order of their names. */
  const found = async (wanted?: readonly TableRef[]) => {
    const paths = wanted && new Set(wanted.map(tablePath))
    const tables = [...(await list()).values()].filter(table => !paths || paths.has(tablePath(refOf(table))))
    return tables.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  return {
    /** The views of tables whose names stand in a statement. @throws ConnectorError where one of them cannot be read */
    async viewsOf(text: string, signal: AbortSignal): Promise<FileView[]> {
      const lower = text.toLowerCase()
      const named = [...(listed ?? (await list()))].filter(([name]) =>
        lower.includes(name.replaceAll('"', '""')),
      )
      const views: FileView[] = []
      for (const [, table] of named) {
        const problem = await findProblem(table, readerOf(signal))
        if (problem === undefined) views.push({ name: table.name, relation: relationOf(table.files) })
        // Elsewhere in the text it may be any word.
        else if (lower.includes(`"${table.name.toLowerCase().replaceAll('"', '""')}"`))
          throw unreadable(problem)
      }
      return views
    },
    async introspect(wanted?: readonly TableRef[], signal?: AbortSignal): Promise<TableInfo[]> {
      const tables: TableInfo[] = []
      for (const table of await found(wanted))
        tables.push(await describeTable(refOf(table), table, readerOf(signal)))
      return tables
    },
    async lastModified(wanted: readonly TableRef[]): Promise<Map<string, Date>> {
      const times = new Map<string, Date>()
      for (const table of await found(wanted)) {
        const time = lastChange(table)
        if (time) times.set(tablePath(refOf(table)), time)
      }
      return times
    },
    async estimates(wanted: readonly TableRef[]): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      for (const table of await found(wanted)) {
        if ((await findProblem(table, readerOf())) !== undefined) continue
        const count = knownRows(table.files)
        if (count !== undefined) counts.set(tablePath(refOf(table)), count)
      }
      return counts
    },
    /** Each file is a part, read with the types that all of them have together. */
    async listParts(ref: TableRef, signal?: AbortSignal): Promise<TablePart[] | null> {
      const [table] = await found([ref])
      if (!table || table.files.length < 2) return null
      const { columns, columnsError } = await describeTable(ref, table, readerOf(signal))
      if (columnsError) throw columnsError
      return table.files.map(file => {
        const rows = knownRows([file])
        return {
          name: file.name,
          version: file.version,
          from: raw(relationOf([file], { all: table.files, columns })),
          ...(rows !== undefined && { rows }),
        }
      })
    },
  }
}

function toRows({ columns, rows }: QueryAnswer): Row[] {
  return rows.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index]])) as Row)
}
