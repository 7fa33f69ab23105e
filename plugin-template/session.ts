import { ConnectorError, type Connection, type ConnectOptions, type Row, type Sql } from 'tidemark/connector'
import type { QueryOptions } from 'tidemark/connector'
import { dialect } from './dialect.ts'
import { toConnectorError } from './errors.ts'
import { introspect } from './introspect.ts'
import type { Answer } from './reader/messages.ts'
import { giveBack, takeReader, type Reader } from './reader/pool.ts'

const CONNECT_TIMEOUT = 10_000

/** Milliseconds for reading the catalog. */
const CATALOG_TIMEOUT = 60_000

/** SQLite's own form of a moment in UTC, which its date functions write: `2024-02-29 12:34:56`. */
function formatMoment(moment: Date): string {
  return moment
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, '')
}

/**
 * A value as node:sqlite binds it. A whole number is bound as an integer: as a float its text would be `5.0`.
 * Other objects are refused here, because node:sqlite takes a first one for named parameters.
 */
function toBound(value: unknown): unknown {
  if (typeof value === 'boolean') return BigInt(value)
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value
  if (value instanceof Uint8Array) return value
  if (value instanceof Date) return formatMoment(value)
  throw Object.assign(new TypeError(`A value of type ${typeof value} cannot be bound.`), {
    code: 'UNBINDABLE',
  })
}

function toRows({ columns, rows }: Answer): Row[] {
  return rows.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index]])) as Row)
}

/**
 * Opens a session with a database file.
 * @param locate gives the file's real path; asked again when the file is opened anew after a statement was ended
 */
export async function openSession(
  locate: () => Promise<string>,
  options: ConnectOptions,
): Promise<Connection> {
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT
  let reader: Reader | undefined
  let isClosed = false
  let last: Promise<unknown> = Promise.resolve()

  const closedError = () =>
    new ConnectorError({ kind: 'other', engine: 'sqlite', code: 'CLOSED', message: 'The session is closed.' })

  async function open(signal: AbortSignal | undefined): Promise<Reader> {
    if (isClosed) throw closedError()
    if (reader?.isAlive()) return reader
    const path = await locate()
    const taken = takeReader()
    try {
      await taken.ask({ type: 'open', path }, { timeoutMs: connectTimeoutMs, signal })
      if (isClosed) throw closedError()
    } catch (error) {
      await giveBack(taken)
      throw error
    }
    reader = taken
    return taken
  }

  /** Lets one call run after the other, whatever became of the one before. */
  function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const turn = last.then(run).catch((error: unknown) => {
      throw isClosed ? closedError() : toConnectorError(error)
    })
    last = turn.catch(() => {})
    return turn
  }

  function query(statement: Sql, { timeoutMs, maxRows, signal }: QueryOptions): Promise<Row[]> {
    return inTurn(async () => {
      const { text, values } = dialect.render(statement)
      const request = { type: 'query', text, values: values.map(toBound), maxRows, timeoutMs } as const
      return toRows(await (await open(signal)).ask(request, { timeoutMs, signal }))
    })
  }

  await inTurn(() => open(options.signal))
  return {
    query,
    introspect: scope =>
      introspect(statement => query(statement, { timeoutMs: CATALOG_TIMEOUT }), options.log, scope),
    async close() {
      if (isClosed) return
      isClosed = true
      if (reader) await giveBack(reader)
    },
  }
}
