import type { QueryOptions, Row, StatementUsage } from './connector.ts'
import { abortedError, closedError, ConnectorError } from './errors.ts'

/** What an engine implements; `makeSession` adds order, cancelling and closing. */
export interface SessionBackend<Statement> {
  engine: string
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
  /** Ends the running statement, rejects waiting ones and disconnects; a second call waits for the first. */
  close(): Promise<void>
}

/** Makes a session that runs statements of an engine one by one. */
export function makeSession<Statement>(work: SessionBackend<Statement>): EngineSession<Statement> {
  const { engine } = work
  const ending = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  let closing: Promise<void> | undefined

  async function execute(statement: Statement, { signal, ...limits }: QueryOptions): Promise<Row[]> {
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
      if (signal?.aborted) return abortedError(engine, error)
      return closing ? closedError(engine, error) : work.classify(error)
    }
    try {
      const rows = await work.runStatement(statement, limits, given, usage)
      refuse()
      report(rows.length)
      return rows
    } catch (thrown) {
      const error = failure(thrown)
      report(0, error)
      throw error
    }
  }

  async function end(): Promise<void> {
    ending.abort()
    await last
    await work.end()
  }

  return {
    async run(statement, options) {
      if (closing) throw closedError(engine)
      const rows = last.then(() => execute(statement, options))
      last = rows.catch(() => {})
      return rows
    },
    close: () => (closing ??= end()),
  }
}
