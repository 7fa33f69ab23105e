import pg from 'pg'
import type { ConnectOptions, Row } from '../connector.ts'
import { withConnectTimeout, connectSocket, rejectOnAbort } from '../dial.ts'
import {
  abortedError,
  closedError,
  ConnectorError,
  invalidQueryError,
  noResponseError,
  unsendableError,
  type ErrorRule,
} from '../errors.ts'
import { watchReceivedBytes } from '../byte-counter.ts'
import type { PostgresqlConfig } from './config.ts'
import type { SslMode } from '../server-config.ts'
import type { StageReporter } from '../stages.ts'
import { adoptSocket, requestCancel, negotiateTls } from './dial.ts'
import type { PostgresqlLink, PostgresqlTarget } from './dial.ts'
import { classifyPostgresqlError } from './errors.ts'
import { clampTimeout, makeSession, resultTooLargeError } from '../session.ts'
import type { StatementLimits, EngineSession, RunningUsage } from '../session.ts'
import { PostgresqlStatement } from './statement.ts'
import { encodeValue, type BoundValue } from './values.ts'

/** What differs between the engines that speak this protocol. */
export interface SessionProfile {
  engine: string
  /** Shown to people. */
  label: string
  /** Settings of the session, sent when it starts, so that they cost no statement. */
  settings: Readonly<Record<string, string>>
  /** Milliseconds of the `statement_timeout` that a session starts with; other ones cost a statement. */
  timeoutMs: number
  /** Errors that are read differently than PostgreSQL's. */
  errors?: readonly ErrorRule[]
}

const READ_ONLY_SETTING = 'default_transaction_read_only'

/** How much longer than its own timeout a statement may take before the connection is given up, in ms. */
const NO_RESPONSE_MS = 5_000
const HANG_UP_MS = 2_000

/** Dials, signs in and sets the session up; no statement is sent. Rejects with ConnectorError. */
export async function openSession(
  given: SessionProfile,
  config: PostgresqlConfig,
  options: ConnectOptions,
  step: StageReporter = () => {},
): Promise<EngineSession<PostgresqlStatement>> {
  const profile = { ...given, timeoutMs: options.statementTimeoutMs ?? given.timeoutMs }
  try {
    return await withConnectTimeout(profile.engine, options, async signal => {
      const vetted = options.egress.address(config.host, config.port, config.database)
      const address = await rejectOnAbort(vetted, signal)
      const target: PostgresqlTarget = { ...config, address }
      const signIn = (mode: SslMode) =>
        dial(
          { ...profile, onStatement: options.onStatement },
          config,
          { ...target, sslmode: mode },
          signal,
          step,
        )
      try {
        return await signIn(config.sslmode)
      } catch (error) {
        // As libpq does: a server may offer TLS and yet let this user in only without.
        if (config.sslmode !== 'prefer' || !refusesEncryption(error)) throw error
        return await signIn('disable')
      }
    })
  } catch (error) {
    throw classifyPostgresqlError(profile.engine, error, profile.errors)
  }
}

type ObservedProfile = SessionProfile & Pick<ConnectOptions, 'onStatement'>

async function dial(
  profile: ObservedProfile,
  config: PostgresqlConfig,
  target: PostgresqlTarget,
  signal: AbortSignal,
  step: StageReporter,
): Promise<EngineSession<PostgresqlStatement>> {
  const socket = await connectSocket(target, signal)
  try {
    step('reach', `${config.host}:${config.port} answers.`)
    const line = await negotiateTls(socket, target, signal)
    if (line.encrypted) step('tls', 'The connection is encrypted.')
    else step('tls', 'The connection is not encrypted.', 'skipped')
    const client = makeClient(profile, config, line)
    const parameters = new Map<string, string>()
    client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) =>
      parameters.set(parameterName ?? '', parameterValue ?? ''),
    )
    await client.connect()
    assertSettingsApplied(profile, parameters)
    step(
      'sign_in',
      `Signed in as ${config.username} to ${profile.label} ${parameters.get('server_version') ?? ''}.`,
    )
    return startSession(profile, client, target)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** A pooler that ignores the settings would leave sessions that may write and have no time limit. */
function assertSettingsApplied(
  { engine, settings }: SessionProfile,
  parameters: ReadonlyMap<string, string>,
): void {
  // Sent by PostgreSQL 14 and later.
  const given = parameters.get(READ_ONLY_SETTING)
  if (given === undefined || settings[READ_ONLY_SETTING] !== 'on' || given === 'on') return
  const message =
    'The settings of the session did not arrive, as behind a connection pooler that ignores them: connect to the database itself.'
  throw new ConnectorError({ kind: 'other', engine, message })
}

function makeClient(
  profile: SessionProfile,
  config: PostgresqlConfig,
  { socket }: PostgresqlLink,
): pg.Client {
  const client = new pg.Client({
    stream: () => adoptSocket(socket),
    ssl: false,
    sslnegotiation: 'postgres',
    host: config.host,
    port: config.port,
    user: config.username,
    database: config.database,
    // A function, because for an empty text pg would take PGPASSWORD or ~/.pgpass of this service.
    password: () => config.password,
    application_name: 'tidemark',
    options: startOptions({ ...profile.settings, statement_timeout: String(profile.timeoutMs) }),
  })
  // Without a listener, a connection that breaks while idle would end the process.
  client.on('error', () => {})
  return client
}

/** Settings in the form of the start-up packet's `options`: white space and backslashes are escaped. */
function startOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\s\\]/g, '\\$&')}`)
    .join(' ')
}

function refusesEncryption(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  return code === '28000' && message?.includes('pg_hba') === true && /SSL (on|encryption)/.test(message)
}

/** Each statement runs in its own transaction, which only reads where the profile's settings say so. */
function startSession(
  profile: ObservedProfile,
  client: pg.Client,
  target: PostgresqlTarget,
): EngineSession<PostgresqlStatement> {
  const { engine, onStatement } = profile
  const classify = (thrown: unknown) => classifyPostgresqlError(engine, thrown, profile.errors)
  let ended: ConnectorError | undefined
  let limitMs = profile.timeoutMs

  const cut = (reason: ConnectorError) => {
    ended ??= reason
    client.connection.stream.destroy()
  }
  const flow = watchReceivedBytes(client.connection.stream, () => cut(resultTooLargeError(engine)))
  client.on('end', () => (ended ??= closedError(engine)))
  client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
    // Sent by PostgreSQL 14 and later. A statement that can call set_config could lift it for the next one.
    const isReadOnly = profile.settings[READ_ONLY_SETTING] === 'on'
    if (parameterName !== READ_ONLY_SETTING || !isReadOnly || parameterValue === 'on') return
    cut(invalidQueryError(engine, 'The statement tried to make the session writable: use a plain SELECT.'))
  })

  /** Sends one statement and waits, at most `patienceMs`, for what the server says. */
  async function send(statement: PostgresqlStatement, patienceMs: number): Promise<Row[]> {
    if (ended) throw closedError(engine, ended)
    const late = setTimeout(() => cut(noResponseError(engine, 'answer the statement')), patienceMs)
    statement.onReceived = flow.countRow
    flow.beginResult(statement)
    try {
      client.query(statement)
      return await statement.rows
    } catch (error) {
      throw ended ?? classify(error)
    } finally {
      clearTimeout(late)
    }
  }

  async function applyTimeout(timeoutMs: number, taken: RunningUsage): Promise<void> {
    if (timeoutMs === limitMs) return
    taken.statements += 1
    await send(new PostgresqlStatement(`set statement_timeout = ${timeoutMs}`, []), NO_RESPONSE_MS)
    limitMs = timeoutMs
  }

  async function cancel(): Promise<void> {
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
    await requestCancel(target, { processID, secretKey }, AbortSignal.timeout(NO_RESPONSE_MS)).catch(() => {})
  }

  /** Asks the server to end the running statement, and cuts the connection when that does not help. */
  function cancelRunning(reason: unknown): { over(): Promise<void> } {
    const cancelling = cancel()
    const late = setTimeout(() => cut(abortedError(engine, reason)), NO_RESPONSE_MS)
    return {
      async over() {
        clearTimeout(late)
        // A request that arrives late must not end the next statement.
        await cancelling
      },
    }
  }

  async function execute(
    statement: PostgresqlStatement,
    { timeoutMs }: StatementLimits,
    signal: AbortSignal,
    taken: RunningUsage,
  ): Promise<Row[]> {
    const receivedBefore = flow.received()
    const wantedMs = clampTimeout(timeoutMs)
    let abandoned: ReturnType<typeof cancelRunning> | undefined
    const abort = () => (abandoned = cancelRunning(signal.reason))
    signal.addEventListener('abort', abort, { once: true })
    try {
      await applyTimeout(wantedMs, taken)
      signal.throwIfAborted()
      const rows = await send(statement, wantedMs + NO_RESPONSE_MS)
      if (client.getTransactionStatus() !== 'I') await rollBackAndThrow()
      return rows
    } finally {
      taken.rows = statement.received
      taken.bytes = flow.received() - receivedBefore
      signal.removeEventListener('abort', abort)
      await abandoned?.over()
    }
  }

  async function rollBackAndThrow(): Promise<never> {
    await send(new PostgresqlStatement('rollback', []), NO_RESPONSE_MS)
    throw invalidQueryError(engine, 'The statement opens a transaction: use a plain SELECT.')
  }

  async function end(): Promise<void> {
    ended ??= closedError(engine)
    const late = setTimeout(() => client.connection.stream.destroy(), HANG_UP_MS)
    await client.end()
    clearTimeout(late)
  }

  return makeSession({
    engine,
    classify,
    runStatement: execute,
    async validateStatement(statement, ...rest) {
      await execute(statement.parsedOnly(), ...rest)
    },
    end,
    onStatement,
  })
}

export interface StatementOptions {
  maxRows?: number
  /** Gets each row as it arrives, which then is not kept: for results too big to hold twice. */
  onRow?(row: Row): void
  /** Encodes a value for the wire; defaults to PostgreSQL's encoding. */
  encode?(value: unknown): BoundValue
}

/**
 * Makes a statement of the session.
 * @throws ConnectorError of kind `invalid-query` for what could not be sent
 */
export function prepareStatement(
  engine: string,
  text: string,
  values: readonly unknown[] = [],
  { maxRows, onRow: take, encode: write = encodeValue }: StatementOptions = {},
): PostgresqlStatement {
  try {
    // The text ends at a NUL on the wire; what follows would be read as the next part of the message.
    if (text.includes('\0')) throw new TypeError('it holds a NUL character')
    return new PostgresqlStatement(text, values.map(write), maxRows, take)
  } catch (cause) {
    throw unsendableError(engine, cause)
  }
}
