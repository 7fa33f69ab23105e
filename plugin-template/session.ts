import {
  makeSession,
  sql,
  toViewDefinitions,
  type Connection,
  type ConnectOptions,
  type Row,
  type Sql,
} from 'tidemark/connector'
import { dialect } from './dialect.ts'
import { ENGINE, toConnectorError } from './errors.ts'
import { introspect } from './introspect.ts'
import type { Answer } from './reader/messages.ts'
import { giveBack, takeReader, type Reader } from './reader/pool.ts'
import { toBound } from './values.ts'

/** Milliseconds for reading the catalog. */
const CATALOG_TIMEOUT = 60_000

const VIEWS = sql`select 'main' as schema, name, sql as definition from sqlite_schema where type = 'view'`

/**
 * Opens a session with a database file.
 * @param locate gives the file's real path; asked again when the file is opened anew after a statement was ended
 */
export async function openSession(
  locate: () => Promise<string>,
  options: ConnectOptions,
): Promise<Connection> {
  async function open(timeoutMs: number, signal?: AbortSignal): Promise<Reader> {
    const path = await locate()
    const taken = takeReader()
    try {
      await taken.ask({ type: 'open', path }, { timeoutMs, signal })
      return taken
    } catch (error) {
      await giveBack(taken)
      throw error
    }
  }

  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000
  let reader = await open(connectTimeoutMs, options.signal).catch((thrown: unknown) => {
    throw toConnectorError(thrown)
  })

  // One statement after the other, giving up and closing: the same for every engine.
  const session = makeSession<Sql>({
    engine: ENGINE,
    classify: toConnectorError,
    async runStatement(statement, { timeoutMs, maxRows }, signal) {
      const { text, values } = dialect.render(statement)
      const request = { type: 'query', text, values: values.map(toBound), maxRows, timeoutMs } as const
      if (!reader.isAlive()) reader = await open(connectTimeoutMs, signal)
      return toRows(await reader.ask(request, { timeoutMs, signal }))
    },
    end: () => giveBack(reader),
    onStatement: options.onStatement,
  })

  return {
    query: (statement, limits) => session.run(statement, limits),
    introspect: ({ tables, signal } = {}) =>
      introspect(statement => session.run(statement, { timeoutMs: CATALOG_TIMEOUT, signal }), tables),
    viewDefinitions: async ({ signal } = {}) =>
      toViewDefinitions(await session.run(VIEWS, { timeoutMs: CATALOG_TIMEOUT, signal })),
    close: () => session.close(),
  }
}

function toRows({ columns, rows }: Answer): Row[] {
  return rows.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index]])) as Row)
}
