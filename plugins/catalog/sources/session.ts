import type { Connection, Connector, ConnectOptions, StatementUsage } from '../../../connectors/connector.ts'
import { ConnectorError, noResponseError } from '../../../connectors/errors.ts'
import { RESULT_TOO_LARGE } from '../../../connectors/session.ts'
import { withTimeout } from '../../../server/with-timeout.ts'

/** Milliseconds that a connector may take to open a session, or to close it: those of ours take less in any case. */
const OPEN_TIMEOUT_MS = 30_000

/** What a connection was asked, when that has ended. */
export type FinishedCall = Omit<StatementUsage, 'statements' | 'bytes'>

/**
 * Opens a session that reports each call. One that was cut because a result was too large opens again with the next
 * call, so that only the statement that asked for it fails.
 * @throws ConnectorError, of kind `timeout` if the connector itself does not time out
 */
export async function openSession(
  connector: Connector,
  config: Record<string, unknown>,
  options: ConnectOptions,
  onCall: (call: FinishedCall) => void,
): Promise<Connection> {
  const open = () => openWithin(connector.name, connector.connect(config, options))
  const first = await open()
  let session = Promise.resolve(first)
  let isCut = false

  async function reopen(former: Connection): Promise<Connection> {
    await closeQuietly(former)
    return open()
  }

  async function call<Result>(
    ask: (connection: Connection) => Promise<Result>,
    rowsOf: (result: Result) => number = () => 0,
  ): Promise<Result> {
    if (isCut) session = session.then(reopen)
    isCut = false
    const startedAt = performance.now()
    const report = (rows: number, error?: ConnectorError) =>
      onCall({ rows, durationMs: performance.now() - startedAt, ...(error && { error }) })
    try {
      const result = await ask(await session)
      report(rowsOf(result))
      return result
    } catch (error) {
      if (error instanceof ConnectorError) {
        isCut ||= error.code === RESULT_TOO_LARGE
        report(0, error)
      }
      throw error
    }
  }

  return {
    introspect: scope => call(connection => connection.introspect(scope)),
    query: (statement, limits) =>
      call(
        connection => connection.query(statement, limits),
        found => found.length,
      ),
    ...(first.validate && {
      validate: (statement, limits) => call(connection => connection.validate!(statement, limits)),
    }),
    ...(first.findHiddenTables && {
      findHiddenTables: tables => call(connection => connection.findHiddenTables!(tables)),
    }),
    ...(first.findHiddenParts && {
      findHiddenParts: tables => call(connection => connection.findHiddenParts!(tables)),
    }),
    ...(first.viewDefinitions && {
      viewDefinitions: options => call(connection => connection.viewDefinitions!(options)),
    }),
    ...(first.findPartitions && {
      findPartitions: tables => call(connection => connection.findPartitions!(tables)),
    }),
    ...(first.lastModified && {
      lastModified: tables => call(connection => connection.lastModified!(tables)),
    }),
    ...(first.estimates && {
      estimates: tables => call(connection => connection.estimates!(tables)),
    }),
    close: () => session.then(closeQuietly, () => undefined),
  }
}

/** Waits for a session to open; one that opens after the timeout is closed. */
function openWithin(engine: string, opening: Promise<Connection>): Promise<Connection> {
  return withTimeout(opening, OPEN_TIMEOUT_MS, () => {
    opening.then(closeQuietly, () => undefined)
    throw noResponseError(engine, 'answer')
  })
}

/** Closes a session; what it says to that, or that it does not get done, takes nothing from what was read. */
async function closeQuietly(connection: Connection): Promise<void> {
  try {
    await withTimeout(connection.close(), OPEN_TIMEOUT_MS, () => undefined)
  } catch {
    // The session is given up either way.
  }
}
