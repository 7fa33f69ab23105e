import { extname } from 'node:path'
import {
  makeSession,
  sql,
  startReader,
  toViewDefinitions,
  type Connection,
  type ConnectOptions,
  type QueryOptions,
  type Reader,
  type ReaderLimits,
  type Row,
  type Sql,
} from 'tidemark/connector'
import { dialect } from './dialect.ts'
import { ENGINE, toConnectorError } from './errors.ts'
import { introspect } from './introspect.ts'
import type { Answer, Request } from './reader/messages.ts'
import { toBound } from './values.ts'

/** The reader's module. Its extension is this file's own: `.ts` in the sources, `.js` in a package. */
const BACKEND = new URL(`./reader/backend${extname(import.meta.url)}`, import.meta.url)

/** Milliseconds for reading the catalog. */
const CATALOG_TIMEOUT = 60_000

/** A statement as SQLite gets it. */
type Statement = ReturnType<typeof dialect.render>

const VIEWS = sql`select 'main' as schema, name, sql as definition from sqlite_schema where type = 'view'`

/**
 * Opens a session with a database file.
 * @param locate gives the file's real path; asked again when the file is opened anew after a statement was ended
 */
export async function openSession(
  locate: () => Promise<string>,
  options: ConnectOptions,
): Promise<Connection> {
  async function open(timeoutMs: number, signal?: AbortSignal): Promise<Reader<Request>> {
    const path = await locate()
    const taken = startReader<Request>({ backend: BACKEND })
    try {
      await taken.ask({ type: 'open', path }, { timeoutMs, signal })
      return taken
    } catch (error) {
      await taken.giveBack()
      throw error
    }
  }

  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000
  let reader = await open(connectTimeoutMs, options.signal).catch((thrown: unknown) => {
    throw toConnectorError(thrown)
  })

  // One statement after the other, giving up and closing: the same for every engine.
  async function ask(request: Request, limits: ReaderLimits): Promise<Answer> {
    if (!reader.isAlive()) reader = await open(connectTimeoutMs, limits.signal)
    return reader.ask(request, limits)
  }

  // It also takes out of an error what SQLite quotes, which may be a value: only what stands in `text` is shown.
  const session = makeSession<Statement>({
    engine: ENGINE,
    classify: toConnectorError,
    async runStatement({ text, values }, { timeoutMs, maxRows }, signal) {
      return toRows(
        await ask({ type: 'query', text, values: values.map(toBound), maxRows }, { timeoutMs, signal }),
      )
    },
    async validateStatement({ text }, { timeoutMs }, signal) {
      await ask({ type: 'validate', text }, { timeoutMs, signal })
    },
    end: () => reader.giveBack(),
    onStatement: options.onStatement,
  })

  const run = (statement: Sql, limits: QueryOptions) => session.run(dialect.render(statement), limits)
  return {
    query: run,
    async validate(statement, limits) {
      await session.validate?.(dialect.render(statement), limits)
    },
    introspect: ({ tables, signal } = {}) =>
      introspect(statement => run(statement, { timeoutMs: CATALOG_TIMEOUT, signal }), tables),
    viewDefinitions: async ({ signal } = {}) =>
      toViewDefinitions(await run(VIEWS, { timeoutMs: CATALOG_TIMEOUT, signal })),
    close: () => session.close(),
  }
}

function toRows({ columns, rows }: Answer): Row[] {
  return rows.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index]])) as Row)
}
