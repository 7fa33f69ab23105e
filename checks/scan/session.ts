/** The time of a scan, and the statements that it sends within it. */
import type { Connection, QueryOptions, Row } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Sql } from '../../connectors/sql.ts'
import { askOnce, type ValidationSession } from '../engine-validation.ts'
import type { Engine } from '../plan.ts'

export interface ScanOptions {
  /**
   * Milliseconds for the whole scan. Every statement gets what is left, rounded up to a tenth of the whole,
   * and the engine ends it then.
   */
  timeoutMs: number
  /** Invalid rows to keep per failing rule, 0 to 100, for all or by check id; defaults to 0. */
  sampleLimit?: number | Readonly<Record<string, number>>
  /** Whether samples have all columns of their rows. */
  wholeRows?: boolean | undefined
  /** Columns of personal data: no sample selects or shows their values. */
  maskedColumns?: ReadonlySet<string>
  /** Whether the rows of a rule's own SELECT, which may read any table of the source, are hidden. */
  hideSelectRows?: boolean
  /** Whether the engine has just validated the checks, so that it need not do so again. */
  isValidated?: boolean
  signal?: AbortSignal
  /** A monotonic clock in milliseconds; defaults to `performance.now`. */
  now?: () => number
}

/** The statements of one scan, within its time. */
export interface ScanSession {
  engine: Engine
  isValidated: boolean
  run(statement: Sql): Promise<Row[]>
  /** Asks about what users wrote. */
  questions: ValidationSession
  now(): number
  count(): number
  /** The same session, whose statements get one of so many shares of the time that is left. */
  withShare(shares: number): ScanSession
}

/** Starts the time of a scan. */
export function openSession(
  connection: Pick<Connection, 'query' | 'validate'>,
  engine: Engine,
  { timeoutMs, signal, isValidated = false }: ScanOptions,
  now: () => number,
): ScanSession {
  const deadline = now() + timeoutMs
  // Changing the limit may cost a statement, so it changes at most ten times.
  const step = Math.ceil(timeoutMs / 10)
  let statements = 0

  async function send<Result>(
    shares: number,
    ask: (limits: QueryOptions) => Promise<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted()
    const left = Math.min(timeoutMs, Math.ceil((deadline - now()) / shares / step) * step)
    if (left <= 0) throw timeoutError(engine, timeoutMs)
    statements += 1
    try {
      return await ask({ timeoutMs: left, signal })
    } catch (thrown) {
      // A cancelled statement is not the fault of its checks.
      signal?.throwIfAborted()
      throw thrown
    }
  }

  const questions = askOnce({
    run: select => send(1, limits => connection.query(select, limits)),
    ...(connection.validate && {
      validate: statement => send(1, limits => connection.validate!(statement, limits)),
    }),
  })
  const withShare = (shares: number): ScanSession => ({
    engine,
    isValidated,
    now,
    count: () => statements,
    withShare,
    // No `maxRows`: every statement limits its own rows, and PostgreSQL gives up parallel workers for one
    // that is fetched up to a number of rows.
    run: statement => send(shares, limits => connection.query(statement, limits)),
    questions,
  })
  return withShare(1)
}

function timeoutError(engine: Engine, timeoutMs: number): ConnectorError {
  const message = `The ${timeoutMs / 1000} s allowed for the scan were used up before this check ran.`
  return new ConnectorError({ kind: 'timeout', engine: engine.name, message })
}
