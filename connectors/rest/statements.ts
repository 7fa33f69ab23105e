import { setTimeout as sleep } from 'node:timers/promises'
import type { Row } from '../connector.ts'
import { rejectOnAbort } from '../dial.ts'
import { timeoutError } from '../errors.ts'
import { makeSession } from '../session.ts'
import type { EngineSession, RunningUsage, SessionBackend, StatementLimits } from '../session.ts'
import type { RestClient } from './http.ts'
import { isTransportFailure } from './errors.ts'

/** Some rows of a result; `next` names the page after it and is absent on the last. */
export interface RowPage {
  rows: Row[]
  next?: string
}

/** How far a statement is: it runs still while there is no first page. */
export interface StatementProgress {
  id: string
  first?: RowPage
}

/** How a service runs statements: each is handed over, asked after, and its result read page by page. */
export interface StatementApi<Statement> {
  /**
   * Hands a statement over and answers soon, finished or not, so that what was started can be cancelled.
   * Passes `timeoutMs` to a service that can end the statement itself, and `maxRows` to one that can stop at it.
   */
  start(statement: Statement, limits: StatementLimits): Promise<StatementProgress>
  /** May wait a while for the end, at most a minute. */
  poll(id: string, signal: AbortSignal): Promise<StatementProgress>
  page(id: string, next: string, signal: AbortSignal): Promise<RowPage>
  /** Ends a statement in the service; of one that has ended, nothing. */
  cancel(id: string): Promise<void>
}

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2_000
/** How much longer than its time a statement may take before it is cancelled from here, in ms. */
const GRACE_MS = 2_000
/** How long giving up waits for the id of a statement and for its cancelling, in ms. */
const CANCEL_TIMEOUT_MS = 20_000

/**
 * Runs one statement to its end, for the `runStatement` of a session with such a service.
 * @throws what the api throws; a ConnectorError of kind `timeout` when the statement took too long and was cancelled
 */
export async function runRestStatement<Statement>(
  engine: string,
  api: StatementApi<Statement>,
  statement: Statement,
  limits: StatementLimits,
  signal: AbortSignal,
): Promise<Row[]> {
  const late = AbortSignal.timeout(limits.timeoutMs + GRACE_MS)
  const given = AbortSignal.any([signal, late])
  given.throwIfAborted()
  const started = api.start(statement, limits)
  let hasEnded = false
  try {
    const { id, first } = await waitForFirstPage(api, await rejectOnAbort(started, given), given)
    hasEnded = true
    return await collectRows(api, id, first, limits.maxRows ?? Infinity, given)
  } catch (error) {
    if (given.aborted || (!hasEnded && isTransportFailure(error))) await cancelStarted(api, started)
    if (!given.aborted) throw error
    throw signal.aborted ? signal.reason : timeoutError(engine, 'TIMEOUT', error)
  }
}

/**
 * Makes a session of statements that a service runs; the bytes of the replies count as a statement's.
 * @param validate has the service resolve the names and types of a statement without running it
 */
export function makeRestSession<Statement>(
  http: Pick<RestClient, 'received' | 'close'>,
  backend: Pick<SessionBackend<Statement>, 'engine' | 'classify' | 'onStatement'>,
  run: (statement: Statement, limits: StatementLimits, signal: AbortSignal) => Promise<Row[]>,
  validate?: (statement: Statement, limits: StatementLimits, signal: AbortSignal) => Promise<unknown>,
): EngineSession<Statement> {
  const counted = async <Result>(taken: RunningUsage, send: () => Promise<Result>): Promise<Result> => {
    const before = http.received()
    try {
      return await send()
    } finally {
      taken.bytes = http.received() - before
    }
  }
  return makeSession({
    ...backend,
    runStatement: (statement, limits, signal, taken) => counted(taken, () => run(statement, limits, signal)),
    ...(validate && {
      async validateStatement(statement, limits, signal, taken) {
        await counted(taken, () => validate(statement, limits, signal))
      },
    }),
    end: async () => http.close(),
  })
}

async function waitForFirstPage<Statement>(
  api: StatementApi<Statement>,
  start: StatementProgress,
  signal: AbortSignal,
): Promise<Required<StatementProgress>> {
  let progress = start
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS)) {
    const { id, first } = progress
    if (first) return { id, first }
    await sleep(pauseMs, undefined, { signal })
    progress = await api.poll(id, signal)
  }
}

async function collectRows<Statement>(
  api: StatementApi<Statement>,
  id: string,
  first: RowPage,
  maxRows: number,
  signal: AbortSignal,
): Promise<Row[]> {
  const rows = [...first.rows]
  let { next } = first
  while (next !== undefined && rows.length < maxRows) {
    const page = await api.page(id, next, signal)
    for (const row of page.rows) rows.push(row)
    next = page.next
  }
  return rows.length > maxRows ? rows.slice(0, maxRows) : rows
}

/** Cancels what was started, also when the service has yet to say under which id. */
async function cancelStarted<Statement>(
  api: StatementApi<Statement>,
  started: Promise<StatementProgress>,
): Promise<void> {
  try {
    const cancelled = started.then(({ id }) => api.cancel(id))
    await rejectOnAbort(cancelled, AbortSignal.timeout(CANCEL_TIMEOUT_MS))
  } catch {
    // What could not be cancelled ends at the service's own limit.
  }
}
