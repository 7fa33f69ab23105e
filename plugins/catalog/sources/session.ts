import {
  assertConnection,
  assertCost,
  assertMap,
  assertParts,
  assertRows,
  assertViews,
} from '../../../connectors/answers/sessions.ts'
import type { Connection, Connector, ConnectOptions, StatementUsage } from '../../../connectors/connector.ts'
import {
  CONNECTION_ERROR_KINDS,
  ConnectorError,
  isEngineReply,
  raisedByStatementError,
} from '../../../connectors/errors.ts'
import { redactStatementError } from '../../../connectors/redaction/statement-errors.ts'
import { RESULT_TOO_LARGE } from '../../../connectors/session.ts'
import { sql, withoutUserSql, type Sql } from '../../../connectors/sql.ts'
import { assertTables } from '../../../connectors/answers/tables.ts'
import { withTimeout } from '../../../server/with-timeout.ts'
import { NOT_ENDED, type CallLimit, type ConnectorCalls } from './connector-calls.ts'

/** What a connection was asked, when that has ended. */
export type FinishedCall = Omit<StatementUsage, 'statements' | 'bytes'>

/** Makes one call of an open connection. */
interface CallRequest<Answer> extends CallLimit {
  /** What is called, for messages. */
  name: string
  /** Whether it runs a statement over rows, which the engine's words may quote. */
  isOfRows?: true
  ask(connection: Connection, signal: AbortSignal): Promise<Answer>
  /** @throws ConnectorError if it is not what the interface says */
  validate(answer: Answer): Answer | Promise<Answer>
  rowsOf?(answer: Answer): number
}

/** How long a session may take to answer after an error that may be its connection's, in milliseconds. */
const ANSWER_TIMEOUT_MS = 5_000

/**
 * Opens a session that reports each call, ends each in time, and validates each answer. One that was cut because a result
 * was too large opens again with the next call, so that only the statement that asked for it fails. One with a call that
 * did not end is given up: later calls fail like that one.
 * @throws ConnectorError, of kind `timeout` if the connector itself does not time out
 */
export async function openSession(
  connector: Connector,
  config: Record<string, unknown>,
  options: ConnectOptions,
  { calls, onCall }: { calls: ConnectorCalls; onCall: (call: FinishedCall) => void },
): Promise<Connection> {
  const { name: engine, capabilities } = connector
  const { deadlines } = calls
  // Here for all connectors, so that none of them plans what a user wrote.
  const plannable = (statement: Sql) => (capabilities.dryRuns ? statement : withoutUserSql(statement))
  const open = () => openWithin(connector, config, options, calls)
  const first = await open()
  let session = Promise.resolve(first)
  let isCut = false
  let lost: ConnectorError | undefined
  /** When the running calls are given up at the latest, as `performance.now()`: the session runs them one by one. */
  const running = new Set<number>()

  async function reopen(former: Connection): Promise<Connection> {
    await closeQuietly(former, deadlines.connect)
    return open()
  }

  async function call<Answer>(request: CallRequest<Answer>): Promise<Answer> {
    if (lost) throw lost
    if (isCut) session = session.then(reopen)
    isCut = false
    const startedAt = performance.now()
    const report = (rows: number, error?: ConnectorError) =>
      onCall({ rows, durationMs: performance.now() - startedAt, ...(error && { error }) })
    try {
      const connection = await session
      const answer = await runAfterOthers(connection, request)
      report(request.rowsOf?.(answer) ?? 0)
      return answer
    } catch (thrown) {
      const error = request.isOfRows
        ? await withStatementBlame(session, redactForeign(thrown), request)
        : thrown
      if (error instanceof ConnectorError) {
        isCut ||= error.code === RESULT_TOO_LARGE
        if (error.code === NOT_ENDED) giveUp(error)
        report(0, error)
      }
      throw error
    }
  }

  async function runAfterOthers<Answer>(
    connection: Connection,
    { name, milliseconds, signal, ask, validate }: CallRequest<Answer>,
  ): Promise<Answer> {
    const now = performance.now()
    const limit = {
      milliseconds: Math.max(0, ...Array.from(running, end => end - now)) + milliseconds,
      signal,
    }
    const end = now + limit.milliseconds
    running.add(end)
    try {
      return await validate(await calls.run(name, limit, given => ask(connection, given)))
    } finally {
      running.delete(end)
    }
  }

  /**
   * The error of a statement: what would be the connection's is the statement's where the session still answers. A view, a
   * function or a foreign table can raise any code, those of a lost connection and a wrong password too.
   */
  async function withStatementBlame(
    asked: Promise<Connection>,
    error: unknown,
    { signal }: CallLimit,
  ): Promise<unknown> {
    if (!(error instanceof ConnectorError) || lost || signal?.aborted) return error
    if (!CONNECTION_ERROR_KINDS.has(error.kind) || !isEngineReply(error)) return error
    try {
      await runAfterOthers(await asked, {
        name: 'query',
        milliseconds: ANSWER_TIMEOUT_MS + deadlines.grace,
        signal,
        ask: (connection, given) =>
          connection.query(sql`select 1 as one`, { timeoutMs: ANSWER_TIMEOUT_MS, signal: given }),
        validate: answer => assertRows(engine, answer),
      })
      return raisedByStatementError(error)
    } catch (thrown) {
      if (thrown instanceof ConnectorError && thrown.code === NOT_ENDED) giveUp(thrown)
      return error
    }
  }

  /** Whether the connection closes is of no interest any more, and may take for ever. */
  function giveUp(error: ConnectorError): void {
    if (lost) return
    lost = error
    void session.then(
      connection => closeQuietly(connection, deadlines.connect),
      () => undefined,
    )
  }

  const askMap = <Value>(
    name: Parameters<typeof assertMap>[1],
    ask: (connection: Connection) => Promise<Map<string, Value>>,
  ) =>
    call({ name, milliseconds: deadlines.catalog, ask, validate: answer => assertMap(engine, name, answer) })

  return {
    introspect: scope =>
      call({
        name: 'introspect',
        milliseconds: deadlines.introspect,
        signal: scope?.signal,
        ask: (connection, signal) => connection.introspect({ ...scope, signal }),
        validate: answer => assertTables(engine, answer),
      }),
    query: (statement, limits) =>
      call({
        name: 'query',
        isOfRows: true,
        milliseconds: limits.timeoutMs + deadlines.grace,
        signal: limits.signal,
        ask: (connection, signal) => connection.query(statement, { ...limits, signal }),
        validate: answer => assertRows(engine, answer),
        rowsOf: found => found.length,
      }),
    ...(first.validate && {
      validate: (statement, limits) =>
        call({
          name: 'validate',
          isOfRows: true,
          milliseconds: limits.timeoutMs + deadlines.grace,
          signal: limits.signal,
          ask: (connection, signal) => connection.validate!(statement, { ...limits, signal }),
          validate: () => undefined,
        }),
    }),
    ...(first.estimateCost && {
      estimateCost: (statement, limits) =>
        call({
          name: 'estimateCost',
          isOfRows: true,
          milliseconds: limits.timeoutMs + deadlines.grace,
          signal: limits.signal,
          ask: (connection, signal) => connection.estimateCost!(plannable(statement), { ...limits, signal }),
          validate: answer => assertCost(engine, answer),
        }),
    }),
    ...(first.viewDefinitions && {
      viewDefinitions: given =>
        call({
          name: 'viewDefinitions',
          milliseconds: deadlines.catalog,
          signal: given?.signal,
          ask: (connection, signal) => connection.viewDefinitions!({ ...given, signal }),
          validate: answer => assertViews(engine, answer),
        }),
    }),
    ...(first.findHiddenTables && {
      findHiddenTables: tables =>
        askMap('findHiddenTables', connection => connection.findHiddenTables!(tables)),
    }),
    ...(first.findHiddenParts && {
      findHiddenParts: tables => askMap('findHiddenParts', connection => connection.findHiddenParts!(tables)),
    }),
    ...(first.findPartitions && {
      findPartitions: tables => askMap('findPartitions', connection => connection.findPartitions!(tables)),
    }),
    ...(first.lastModified && {
      lastModified: tables => askMap('lastModified', connection => connection.lastModified!(tables)),
    }),
    ...(first.estimates && {
      estimates: tables => askMap('estimates', connection => connection.estimates!(tables)),
    }),
    ...(first.listParts && {
      listParts: (table, limits) =>
        call({
          name: 'listParts',
          milliseconds: limits.timeoutMs + deadlines.grace,
          signal: limits.signal,
          ask: (connection, signal) => connection.listParts!(table, { ...limits, signal }),
          validate: answer => assertParts(engine, answer),
        }),
    }),
    close: () =>
      lost
        ? Promise.resolve()
        : session.then(
            connection => closeQuietly(connection, deadlines.connect),
            () => undefined,
          ),
  }
}

/**
 * The engine's words of a connector that classifies errors and leaves them: `makeSession` takes them out itself, where it
 * can name the part of the statement that is meant.
 */
function redactForeign(thrown: unknown): unknown {
  return thrown instanceof ConnectorError ? redactStatementError(thrown, '') : thrown
}

/** Waits for a session to open; one that opens too late is closed. */
async function openWithin(
  connector: Connector,
  config: Record<string, unknown>,
  options: ConnectOptions,
  calls: ConnectorCalls,
): Promise<Connection> {
  const { name: engine } = connector
  const milliseconds = calls.deadlines.connect
  let opening: Promise<Connection> | undefined
  try {
    const opened = await calls.run('connect', { milliseconds, signal: options.signal }, signal => {
      opening = connector.connect(config, { ...options, signal })
      return opening
    })
    return assertConnection(engine, opened)
  } catch (error) {
    // One that could not be opened, or was never promised, has nothing to close.
    void Promise.resolve(opening).then(
      late => late && closeQuietly(late, milliseconds),
      () => undefined,
    )
    throw error
  }
}

/** Closes a session; what it says to that, or that it does not get done, takes nothing from what was read. */
async function closeQuietly(connection: Connection, milliseconds: number): Promise<void> {
  try {
    await withTimeout(connection.close(), milliseconds, () => undefined)
  } catch {
    // The session is given up either way.
  }
}
