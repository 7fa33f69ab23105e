import type { Duplex } from 'node:stream'
import type { ConnectOptions, Row, Value } from '../connector.ts'
import { withConnectTimeout, rejectOnAbort } from '../dial.ts'
import {
  abortedError,
  closedError,
  type ConnectorError,
  invalidQueryError,
  markRunTime,
  noResponseError,
  timeoutError,
  unsendableError,
} from '../errors.ts'
import { watchReceivedBytes } from '../byte-counter.ts'
import { assertResultFits, clampTimeout, makeSession, resultTooLargeError } from '../session.ts'
import type { StatementLimits, EngineSession, RunningUsage } from '../session.ts'
import type { StageReporter } from '../stages.ts'
import type { MysqlConfig } from './config.ts'
import { dial, importMysql2, requestCancel } from './dial.ts'
import type { MysqlDriver, MysqlLink, MysqlTarget } from './dial.ts'
import { classifyMysqlError, classifyStatementError } from './errors.ts'
import { makeMysqlEncoder, rowReader, type MysqlField } from './values.ts'

export const ENGINE = 'mysql'

/** A statement as the server gets it. */
export interface MysqlStatement {
  text: string
  values: readonly unknown[]
  /** Gets each row as it arrives, which then is not kept: for results too big to hold twice. */
  onRow?(row: Row): void
}

/** An open session, and which of the two servers it is with. */
export interface MysqlSession extends EngineSession<MysqlStatement> {
  isMariadb: boolean
}

/** How much longer than its own timeout a statement may take before it is ended from outside, in ms. */
const GRACE_MS = 200
/** How much longer until the connection is given up. */
const NO_RESPONSE_MS = 5_000
const HANG_UP_MS = 2_000

/** Dials, signs in and sets the session up with one statement. Rejects with ConnectorError. */
export async function openSession(
  config: MysqlConfig,
  options: ConnectOptions,
  timeoutMs: number,
  step?: StageReporter,
): Promise<MysqlSession> {
  try {
    const driver = await importMysql2(ENGINE)
    return await withConnectTimeout(ENGINE, options, async signal => {
      const vetted = options.egress.address(config.host, config.port, config.database)
      const target: MysqlTarget = { ...config, address: await rejectOnAbort(vetted, signal) }
      const line = await dial(driver, target, signal, step)
      const limitMs = clampTimeout(options.statementTimeoutMs ?? timeoutMs)
      const startedAt = performance.now()
      await runCommand(line, sessionSettings(line, limitMs)).catch((error: unknown) => {
        line.socket.destroy()
        throw error
      })
      options.onStatement?.({ statements: 1, rows: 0, bytes: 0, durationMs: performance.now() - startedAt })
      return startSession(line, target, limitMs, options.onStatement)
    })
  } catch (error) {
    throw classifyMysqlError(ENGINE, error)
  }
}

/** The value of `sql_select_limit` without a limit; `default` is the server's own, which would cut the catalog. */
const NO_LIMIT = '18446744073709551615'

/**
 * The settings of a session, as one statement. CUSTOM_SQL is read by a grammar in which double quotes hold names and
 * `||` joins texts, which by default is MySQL's OR; the rest of sql_mode is off, so that the same statement gives the same number on every server.
 */
function sessionSettings({ isMariadb }: MysqlLink, limitMs: number): string {
  const given = {
    [isMariadb ? 'tx_read_only' : 'transaction_read_only']: '1',
    autocommit: '1',
    time_zone: `'+00:00'`,
    sql_mode: `'ANSI_QUOTES,PIPES_AS_CONCAT'`,
    lock_wait_timeout: '1',
    sql_select_limit: NO_LIMIT,
    ...(isMariadb ? { default_regex_flags: `''` } : {}),
    ...timeLimitSetting(isMariadb, limitMs),
  }
  return assignSettings(given)
}

/** The server's own time limit: MariaDB's in seconds and of every statement, MySQL's in ms and of SELECT. */
function timeLimitSetting(isMariadb: boolean, limitMs: number): Record<string, string> {
  return isMariadb ? { max_statement_time: String(limitMs / 1000) } : { max_execution_time: String(limitMs) }
}

function assignSettings(given: Readonly<Record<string, string>>): string {
  const assignments = Object.entries(given).map(([name, value]) => `@@session.${name} = ${value}`)
  return `set ${assignments.join(', ')}`
}

/** Sends a statement of our own, without values and without rows. */
function runCommand({ client }: MysqlLink, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(text, error => (error ? reject(error as Error) : resolve()))
  })
}

/** Each statement is a transaction of its own, which may only read. */
function startSession(
  line: MysqlLink,
  target: MysqlTarget,
  startMs: number,
  onStatement: ConnectOptions['onStatement'],
): MysqlSession {
  const { client, socket, driver, isMariadb } = line
  let ended: ConnectorError | undefined
  let cutFor: ConnectorError | undefined
  let limits = { limitMs: startMs, maxRows: undefined as number | undefined }

  const cut = (reason: ConnectorError) => {
    ended ??= reason
    cutFor ??= reason
    socket.destroy()
  }
  // Encrypted, what the socket receives is read by another stream.
  const { stream } = client as unknown as { stream: Duplex }
  const flow = watchReceivedBytes(stream, () => cut(resultTooLargeError(ENGINE)))
  client.on('error', error => (ended ??= closedError(ENGINE, error)))
  socket.once('close', () => (ended ??= closedError(ENGINE)))

  /** Waits, at most `patienceMs`, for what the server says. */
  async function withResponseTimeout<Result>(
    doing: () => Promise<Result>,
    patienceMs: number,
  ): Promise<Result> {
    if (ended) throw closedError(ENGINE, ended)
    const timer = setTimeout(() => cut(noResponseError(ENGINE, 'answer the statement')), patienceMs)
    try {
      return await doing()
    } catch (error) {
      throw cutFor ?? classifyStatementError(ENGINE, error)
    } finally {
      clearTimeout(timer)
    }
  }

  async function applyLimits(wanted: typeof limits, taken: RunningUsage): Promise<void> {
    const changes = {
      ...(wanted.limitMs === limits.limitMs ? {} : timeLimitSetting(isMariadb, wanted.limitMs)),
      ...(wanted.maxRows === limits.maxRows ? {} : { sql_select_limit: String(wanted.maxRows ?? NO_LIMIT) }),
    }
    if (Object.keys(changes).length === 0) return
    taken.statements += 1
    await withResponseTimeout(() => runCommand(line, assignSettings(changes)), NO_RESPONSE_MS)
    limits = wanted
  }

  /** Ends the running statement in the server, and cuts the connection when that does not help. */
  function cancelRunning(reason: unknown): { over(): Promise<void> } {
    const signal = AbortSignal.timeout(NO_RESPONSE_MS)
    const cancelling = requestCancel(target, line, signal).catch(() => {})
    const late = setTimeout(() => cut(abortedError(ENGINE, reason)), NO_RESPONSE_MS)
    return {
      async over() {
        clearTimeout(late)
        await cancelling
        // A request that came late would end the next statement; it ends this one, which does nothing.
        if (!ended) await withResponseTimeout(() => runCommand(line, 'do 0'), NO_RESPONSE_MS).catch(() => {})
      },
    }
  }

  /** Runs a statement by a function that sends it and calls what it gets for each row. */
  async function run(
    statement: MysqlStatement,
    { timeoutMs, maxRows }: StatementLimits,
    signal: AbortSignal,
    taken: RunningUsage,
    send: (heard: () => void) => Promise<Row[]>,
  ): Promise<Row[]> {
    assertReadOnly(statement)
    const receivedBefore = flow.received()
    let received = 0
    const limitMs = clampTimeout(timeoutMs)
    let abandoned: ReturnType<typeof cancelRunning> | undefined
    const abort = () => (abandoned ??= cancelRunning(signal.reason))
    signal.addEventListener('abort', abort, { once: true })
    let overdue: NodeJS.Timeout | undefined
    const heard = () => {
      received += 1
      flow.countRow()
    }
    try {
      await applyLimits({ limitMs, maxRows }, taken)
      signal.throwIfAborted()
      const startedAt = performance.now()
      overdue = setTimeout(() => (abandoned ??= cancelRunning(undefined)), limitMs + GRACE_MS)
      flow.beginResult({ isKept: !statement.onRow })
      const rows = await withResponseTimeout(() => send(heard), limitMs + NO_RESPONSE_MS)
      // A statement that is ended within sleep() or benchmark() gives a row, as if nothing had happened.
      if (abandoned || performance.now() - startedAt >= limitMs) throw timeoutError(ENGINE, 'ETIMEDOUT')
      return rows.slice(0, maxRows)
    } catch (error) {
      throw abandoned && !ended ? timeoutError(ENGINE, 'ETIMEDOUT', error) : error
    } finally {
      taken.rows = received
      taken.bytes = flow.received() - receivedBefore
      clearTimeout(overdue)
      signal.removeEventListener('abort', abort)
      await abandoned?.over()
    }
  }

  async function end(): Promise<void> {
    const gone = new Promise(resolve => socket.once('close', resolve))
    const late = setTimeout(() => socket.destroy(), HANG_UP_MS)
    if (ended) socket.destroy()
    else client.end(() => {})
    ended ??= closedError(ENGINE)
    if (!socket.destroyed) await gone
    clearTimeout(late)
  }

  const session = makeSession<MysqlStatement>({
    engine: ENGINE,
    classify: thrown => classifyMysqlError(ENGINE, thrown),
    runStatement: (statement, ...rest) =>
      run(statement, ...rest, heard => executePrepared(driver, line, statement, heard)),
    async validateStatement(statement, ...rest) {
      await run(statement, ...rest, () => prepareOnly(line, statement))
    },
    end,
    onStatement,
  })
  return { ...session, isMariadb }
}

/** White space, brackets and comments, save those that the servers run. */
const LEADING_COMMENTS = /^(?:\s|\(|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*(?!M?!)[^]*?\*\/)*/
const READING_KEYWORD = /^(?:select|with|show|explain|describe|desc|values|table)\b/i

/**
 * Refuses what does not begin as a statement that reads. The session's transactions may only read, but a statement
 * could lift that, for the next one or, on MariaDB, for itself (`set statement tx_read_only = 0 for …`).
 */
function assertReadOnly({ text }: MysqlStatement): void {
  if (READING_KEYWORD.test(text.slice(LEADING_COMMENTS.exec(text)?.[0].length ?? 0))) return
  throw invalidQueryError(ENGINE, 'The statement does more than read: use a plain SELECT.')
}

/**
 * Runs a prepared statement: its values never stand in its text, and a second statement in the text is an error.
 * @param heard is called for each row
 */
function executePrepared(
  driver: MysqlDriver,
  { client }: MysqlLink,
  { text, values, onRow: take }: MysqlStatement,
  heard: () => void,
): Promise<Row[]> {
  const bound = bindValues(driver, values)
  const kept: Row[] = []
  const give = take ?? (row => void kept.push(row))
  let read: ((values: readonly Value[]) => Row) | undefined
  let failure: unknown
  let size = 0
  return new Promise<Row[]>((resolve, reject) => {
    const running = client.execute({ sql: text, values: bound, rowsAsArray: true })
    // Only the connection itself emits that it broke.
    client.once('error', reject)
    // Once it was prepared, the server knows all names of its text.
    running.on('error', error =>
      reject(('statement' in running && running.statement ? markRunTime(error) : error) as Error),
    )
    running.on('fields', (fields: MysqlField[] | undefined) => (read = fields && rowReader(fields)))
    running.on('result', found => {
      heard()
      if (failure !== undefined || !read) return
      try {
        const values = found as unknown as Value[]
        if (!take) size = assertResultFits(ENGINE, size, values)
        give(read(values))
      } catch (error) {
        failure = error
      }
    })
    running.on('end', () => {
      client.off('error', reject)
      if (failure !== undefined) reject(failure as Error)
      else if (!read) reject(invalidQueryError(ENGINE, 'The statement gives no rows: use a plain SELECT.'))
      else resolve(kept)
    })
  })
}

/**
 * Has the server prepare a statement, which resolves names and types, and forget it again. Neither server optimizes it
 * before it is executed, and so evaluates no constant and no sub-query.
 */
function prepareOnly({ client }: MysqlLink, { text }: MysqlStatement): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    client.once('error', reject)
    client.prepare(text, error => {
      client.off('error', reject)
      if (error) return reject(error as Error)
      client.unprepare(text)
      resolve([])
    })
  })
}

function bindValues(driver: MysqlDriver, values: readonly unknown[]) {
  try {
    return values.map(makeMysqlEncoder(driver.TypedParameter))
  } catch (cause) {
    throw unsendableError(ENGINE, cause)
  }
}
