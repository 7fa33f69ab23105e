import type { QueryOptions, Row, StatementUsage } from './connector.ts'
import { abortedError, closedError, ConnectorError } from './errors.ts'
import { Sql } from './sql.ts'
import { redactStatementError } from './redaction/statement-errors.ts'

/** What an engine implements; `makeSession` adds order, cancelling and closing. */
export interface SessionBackend<Statement> {
  engine: string
  /** The session takes what the engine quotes out of the message: see `redactStatementError`. */
  classify(thrown: unknown): ConnectorError
  /**
   * Runs one statement; nothing else of the session runs meanwhile.
   * @param signal aborts when the caller gives up or the session is closed: end the statement in the server then, and
   *   settle soon
   * @param usage passed on to `onStatement`; it starts as one statement, all of whose rows are returned: correct it
   *   where that is wrong, and add the bytes where they are known
   */
  runStatement(
    statement: Statement,
    limits: StatementLimits,
    signal: AbortSignal,
    usage: RunningUsage,
  ): Promise<Row[]>
  /**
   * Has the engine resolve every name and type of a statement, without running or planning it: planning runs functions
   * that are declared constant. Absent where the engine has nothing of the kind. Settles as `runStatement` does.
   */
  validateStatement?(
    statement: Statement,
    limits: Pick<StatementLimits, 'timeoutMs'>,
    signal: AbortSignal,
    usage: RunningUsage,
  ): Promise<void>
  /** Closes the connection. Called once, after the last statement has settled. */
  end(): Promise<void>
  /** From `ConnectOptions`. */
  onStatement?: (usage: StatementUsage) => void
}

/** Usage of a running statement; `rows` defaults to the number of returned rows. */
export type RunningUsage = Pick<StatementUsage, 'statements' | 'bytes'> & { rows?: number }

/** Limit of one result; the numbers of many checks and samples of rows are far below it. */
const MAX_RESULT_CHARACTERS = 32 * 1024 * 1024

/**
 * Adds the size of a row to that of the rows before it.
 * @returns characters so far
 * @throws ConnectorError of kind `invalid-query` when a result is too large
 */
export function assertResultFits(engine: string, before: number, values: readonly unknown[]): number {
  const size = values.reduce<number>((sum, value) => sum + sizeOf(value), before)
  if (size <= MAX_RESULT_CHARACTERS) return size
  throw resultTooLargeError(engine)
}

/** The error of a result, or of one value, that is too large. */
export function resultTooLargeError(engine: string): ConnectorError {
  const message = `The statement returns more than ${MAX_RESULT_CHARACTERS / 1024 / 1024} MB: select fewer or shorter values.`
  return new ConnectorError({ kind: 'invalid-query', code: RESULT_TOO_LARGE, engine, message })
}

/** The code of `resultTooLargeError`; the engine may have closed the session. */
export const RESULT_TOO_LARGE = 'TOO_LARGE'

function sizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
}

export type StatementLimits = Pick<QueryOptions, 'timeoutMs' | 'maxRows'>

/** The longest timeout, 23 days; timers of Node take little more. */
const MAX_TIMEOUT_MS = 2_000_000_000

/** Rounds a timeout up to whole milliseconds, at least 1 and at most 23 days. */
export function clampTimeout(timeoutMs: number): number {
  return Math.min(Math.max(Math.ceil(timeoutMs), 1), MAX_TIMEOUT_MS)
}

/** An open session; runs statements one by one, in the order of the calls. */
export interface EngineSession<Statement> {
  /** Rejects with a ConnectorError of the engine, or with code `ABORTED` or `CLOSED`. */
  run(statement: Statement, options: QueryOptions): Promise<Row[]>
  /** Resolves if the engine accepts the statement, which is not run; rejects as `run` does. */
  validate?(statement: Statement, options: Omit<QueryOptions, 'maxRows'>): Promise<void>
  /** Ends the running statement, rejects waiting ones and disconnects; a second call waits for the first. */
  close(): Promise<void>
}

/** The text of a statement in whatever form an engine has it: what of an error's message stands in it may be shown. */
function textOf(statement: unknown): string {
  if (statement instanceof Sql) return statement.strings.join('?')
  const { text } = (statement ?? {}) as { text?: unknown }
  return typeof text === 'string' ? text : ''
}

/** Makes a session that runs statements of an engine one by one. */
export function makeSession<Statement>(work: SessionBackend<Statement>): EngineSession<Statement> {
  const { engine } = work
  const ending = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  let closing: Promise<void> | undefined

  async function execute(
    statement: Statement,
    { signal, ...limits }: QueryOptions,
    send: SessionBackend<Statement>['runStatement'],
  ): Promise<Row[]> {
    const refuse = () => {
      if (signal?.aborted) throw abortedError(engine, signal.reason)
      if (closing) throw closedError(engine)
    }
    refuse()
    const given = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
    const startedAt = performance.now()
    const usage: RunningUsage = { statements: 1, bytes: 0 }
    const report = (rows: number, error?: ConnectorError) =>
      work.onStatement?.({
        rows,
        ...usage,
        durationMs: performance.now() - startedAt,
        ...(error && { error }),
      })
    const failure = (error: unknown) => {
      if (signal?.aborted) return abortedError(engine)
      return closing ? closedError(engine) : redactStatementError(work.classify(error), textOf(statement))
    }
    try {
      const rows = await send(statement, limits, given, usage)
      refuse()
      report(rows.length)
      return rows
    } catch (thrown) {
      const error = failure(thrown)
      report(0, error)
      throw error
    }
  }

  /** Sends a statement when those before it have settled. */
  async function enqueue(
    statement: Statement,
    options: QueryOptions,
    send: SessionBackend<Statement>['runStatement'],
  ): Promise<Row[]> {
    if (closing) throw closedError(engine)
    const rows = last.then(() => execute(statement, options, send))
    last = rows.catch(() => {})
    return rows
  }

  async function end(): Promise<void> {
    ending.abort()
    await last
    await work.end()
  }

  return {
    run: (statement, options) => enqueue(statement, options, (...sent) => work.runStatement(...sent)),
    ...(work.validateStatement && {
      async validate(statement, options) {
        await enqueue(statement, options, async (...sent) => {
          await work.validateStatement?.(...sent)
          return []
        })
      },
    }),
    close: () => (closing ??= end()),
  }
}
