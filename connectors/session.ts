import type { QueryOptions, Row, StatementUsage } from './connector.ts'
import { abortedError, closedError, ConnectorError } from './errors.ts'

/** What an engine does for a session; order, giving up and closing are the same for all and stand below. */
export interface SessionBackend<Statement> {
  engine: string
  classify(thrown: unknown): ConnectorError
  /**
   * Runs one statement; nothing else of the session runs meanwhile.
   * @param signal aborts when the caller gives up or the session is closed: the statement is then to be ended in
   *   the server, and the promise must settle soon, whichever way
   * @param taken passed on to `onStatement`; assumes one statement whose rows are all returned: correct it where
   *   that is wrong, and add the bytes where they are known
   */
  runWithWarehouse(
    statement: Statement,
    limits: StatementLimits,
    signal: AbortSignal,
    taken: RunningUsage,
  ): Promise<Row[]>
  /** Hangs up. Called once, when nothing runs any more. */
  end(): Promise<void>
  /** That of the `ConnectOptions`. */
  onStatement?: (taken: StatementUsage) => void
}

/** What one statement has taken until now; without `rows`, as many as are returned. */
export type RunningUsage = Pick<StatementUsage, 'statements' | 'bytes'> & { rows?: number }

/** Characters of one result that are kept; the numbers of many checks and samples of rows are far below it. */
const MAX_RESULT_CHARACTERS = 32 * 1024 * 1024

/**
 * Counts the values of a row to those of the rows before it.
 * @returns characters so far
 * @throws ConnectorError of kind `invalid-query` when a result is too large to be kept
 */
export function assertResultFits(engine: string, before: number, values: readonly unknown[]): number {
  const size = values.reduce<number>((sum, value) => sum + sizeOf(value), before)
  if (size <= MAX_RESULT_CHARACTERS) return size
  throw resultTooLargeError(engine)
}

/** A result, or one value of it, is too large to be kept. */
export function resultTooLargeError(engine: string): ConnectorError {
  const message = `The statement gives more than ${MAX_RESULT_CHARACTERS / 1024 / 1024} MB: select fewer or shorter values.`
  return new ConnectorError({ kind: 'invalid-query', code: RESULT_TOO_LARGE, engine, message })
}

/** The code of `resultTooLargeError`; the session may have been cut for it. */
export const RESULT_TOO_LARGE = 'TOO_LARGE'

function sizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
}

export type StatementLimits = Pick<QueryOptions, 'timeoutMs' | 'maxRows'>

/** The longest timeout, 23 days; timers of Node take little more. */
const MAX_TIMEOUT_MS = 2_000_000_000

/** A timeout as servers and timers take it: whole milliseconds, from 1 to 23 days. */
export function clampTimeout(timeoutMs: number): number {
  return Math.min(Math.max(Math.ceil(timeoutMs), 1), MAX_TIMEOUT_MS)
}

/** An open session: statements are run one by one, in the order in which they were asked for. */
export interface EngineSession<Statement> {
  /** Rejects with ConnectorError: that of the engine, or code `ABORTED` or `CLOSED`. */
  run(statement: Statement, options: QueryOptions): Promise<Row[]>
  /** Ends what runs, refuses what waits and hangs up; a second call waits for the first. */
  close(): Promise<void>
}

/** Makes a session of what an engine does. */
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
    const taken: RunningUsage = { statements: 1, bytes: 0 }
    const report = (rows: number, error?: ConnectorError) =>
      work.onStatement?.({
        rows,
        ...taken,
        durationMs: performance.now() - startedAt,
        ...(error && { error }),
      })
    const failure = (error: unknown) => {
      if (signal?.aborted) return abortedError(engine, error)
      return closing ? closedError(engine, error) : work.classify(error)
    }
    try {
      const rows = await work.runWithWarehouse(statement, limits, given, taken)
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
