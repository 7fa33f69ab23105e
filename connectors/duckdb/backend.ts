/**
 * What the reader process does. DuckDB runs in a process of its own: its memory is outside of JavaScript's heap, and a
 * statement occupies threads that all of Node shares.
 */
import { join } from 'node:path'
import { DuckDBInstance, StatementType, type DuckDBConnection } from '@duckdb/node-api'
import type { ReaderBackend, ReaderFailure } from '../reader/messages.ts'
import { FILES_CATALOG } from './locations.ts'
import type { QueryAnswer, Description, OpenRequest, Request, FileView } from './messages.ts'
import { toBindable, valueReader } from './values.ts'

/** Characters and bytes of a result; this process and the one that asked hold it at once. */
const KEPT_BYTES = 32 * 1024 * 1024
/** Milliseconds that a database file is waited for which a writer holds. */
const LOCK_WAIT = 2000
const LOCK_POLL = 100
/** Milliseconds without a request after which a database file is let go: a reader keeps writers out. */
const HOLD = 200

function refused(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

interface Opened {
  instance: DuckDBInstance
  connection: DuckDBConnection
  views: Map<string, string>
}

let settings: OpenRequest | undefined
let opened: Opened | undefined
let lettingGo: NodeJS.Timeout | undefined

const isLocked = (thrown: unknown) => (thrown as Error).message.includes('Could not set lock on file')

async function openInstance({ file, folder, memoryMb, threads }: OpenRequest): Promise<Opened> {
  const deadline = performance.now() + LOCK_WAIT
  for (;;) {
    try {
      const instance = await DuckDBInstance.create(file ?? ':memory:', {
        ...(file !== undefined && { access_mode: 'READ_ONLY' }),
        memory_limit: `${memoryMb}MB`,
        threads: String(threads),
        temp_directory: '',
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
        allow_community_extensions: 'false',
      })
      const connection = await instance.connect()
      const statements = [
        `set timezone = 'UTC'`,
        ...(folder
          ? [
              `attach ':memory:' as ${FILES_CATALOG}`,
              `create schema ${FILES_CATALOG}.${quote(folder.schema)}`,
              `use ${FILES_CATALOG}.${quote(folder.schema)}`,
              // DuckDB 1.5.5 fails to take the minimum or maximum of a key from what it knows of one file.
              ...(folder.hasKeys ? [`set disabled_optimizers = 'statistics_propagation'`] : []),
              `set allowed_directories = [${literal(join(folder.path, '/'))}]`,
            ]
          : []),
        'set enable_external_access = false',
        'set lock_configuration = true',
      ]
      for (const statement of statements) await connection.run(statement)
      return { instance, connection, views: new Map() }
    } catch (error) {
      if (!isLocked(error)) throw error
      if (performance.now() >= deadline) throw refused('LOCKED', (error as Error).message)
      await new Promise(resolve => setTimeout(resolve, LOCK_POLL))
    }
  }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function close(): void {
  clearTimeout(lettingGo)
  opened?.connection.closeSync()
  opened?.instance.closeSync()
  opened = undefined
}

/** Runs something with the database open, and lets a file go soon after. */
async function withConnection<Result>(use: (opened: Opened) => Promise<Result>): Promise<Result> {
  if (!settings) throw refused('CLOSED', 'The database is closed.')
  clearTimeout(lettingGo)
  opened ??= await openInstance(settings)
  try {
    return await use(opened)
  } catch (error) {
    // After an error of its own DuckDB answers nothing more.
    if (/^(INTERNAL|FATAL) Error: /i.test((error as Error).message)) close()
    throw error
  } finally {
    if (settings.file !== undefined) lettingGo = setTimeout(close, HOLD)
  }
}

async function makeViews({ connection, views }: Opened, wanted: readonly FileView[] = []): Promise<void> {
  for (const { name, relation } of wanted) {
    if (views.get(name) === relation) continue
    await connection.run(`create or replace view ${quote(name)} as select * from ${relation}`)
    views.set(name, relation)
  }
}

/** One statement that reads; what is open for reading only refuses to write by itself. */
async function prepare({ connection }: Opened, text: string) {
  const statements = await connection.extractStatements(text)
  if (statements.count !== 1)
    throw refused('NOT_ONE_STATEMENT', 'The text holds more than one statement; send one at a time.')
  const prepared = await statements.prepare(0)
  if (prepared.statementType === StatementType.SELECT) return prepared
  prepared.destroySync()
  throw refused('NOT_A_SELECT', 'Only SELECT statements run in a monitored database.')
}

async function query(
  open: Opened,
  { text, values, maxRows = Infinity }: Extract<Request, { type: 'query' }>,
): Promise<QueryAnswer> {
  const prepared = await prepare(open, text)
  try {
    if (values.length > 0) {
      const bindable = values.map(toBindable)
      prepared.bind(
        bindable.map(({ value }) => value),
        bindable.map(({ type }) => type),
      )
    }
    const result = await prepared.stream()
    const columns = result.columnNames()
    const readers = result.columnTypes().map(valueReader)
    const rows: unknown[][] = []
    let size = 0
    while (rows.length < maxRows) {
      const chunk = await result.fetchChunk()
      if (!chunk || chunk.rowCount === 0) break
      for (const row of chunk.getRows().slice(0, maxRows - rows.length)) {
        const read = row.map((value, index) => (value === null ? null : readers[index]?.(value)))
        for (const value of read)
          size += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
        if (size > KEPT_BYTES)
          throw refused('TOO_LARGE', 'The statement returns more than 32 MB: select fewer or shorter values.')
        rows.push(read)
      }
    }
    return { columns, rows }
  } finally {
    prepared.destroySync()
  }
}

/** Binding a SELECT resolves its columns; of a Parquet file it reads the footer, of a text the first lines. */
async function describeRelation({ connection }: Opened, relation: string): Promise<Description> {
  try {
    const found = await connection.runAndReadAll(`describe select * from ${relation}`)
    return { columns: found.getRows().map(([name, type]) => [String(name), String(type)]) }
  } catch (error) {
    return describe(error)
  }
}

function isSame(one: OpenRequest | undefined, other: OpenRequest): boolean {
  const key = ({ file, folder, memoryMb, threads }: OpenRequest) =>
    JSON.stringify([file, folder, memoryMb, threads])
  return one !== undefined && key(one) === key(other)
}

async function answer(request: Request): Promise<unknown> {
  switch (request.type) {
    case 'open':
      if (!isSame(settings, request)) close()
      settings = request
      // DuckDB fails now if it is no database.
      return withConnection(() => Promise.resolve(null))
    case 'close':
      // What is open on a folder keeps nothing from writing, and the next session is likely to ask for the same.
      return settings?.folder ? undefined : close()
    case 'validate':
      return withConnection(async open => {
        await makeViews(open, request.views)
        ;(await prepare(open, request.text)).destroySync()
      })
    case 'describe':
      return withConnection(async open => {
        const found: Description[] = []
        for (const relation of request.relations) found.push(await describeRelation(open, relation))
        return found
      })
    case 'query':
      return withConnection(async open => {
        await makeViews(open, request.views)
        return query(open, request)
      })
  }
}

/** DuckDB gives its errors no codes: a message begins with the class, `Binder Error: …`. */
const CLASS = /^(?:Failed to extract statements: |TransactionContext Error: )?([A-Z][A-Za-z ]*?) Error: /

function describe(thrown: unknown): ReaderFailure {
  const { name, code, message: whole } = thrown as Error & { code?: string }
  // What follows repeats the statement, or lists names that would have fitted.
  const [message = ''] = whole.split('\n')
  if (code !== undefined) return { code, message }
  const found = CLASS.exec(message)
  return found
    ? {
        code: `DUCKDB_${found[1]?.replaceAll(' ', '_').toUpperCase()}`,
        message: message.slice(found[0].length),
      }
    : { code: name, message }
}

export const backend: ReaderBackend<Request> = { answer, describe }
