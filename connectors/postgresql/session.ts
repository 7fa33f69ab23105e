import pg from 'pg'
import type { ConnectOptions, Row } from '../connector.ts'
import { opening, reach, unlessAborted } from '../dial.ts'
import { aborted, closed, ConnectorError, silent, type ErrorRule } from '../errors.ts'
import { watchFlow } from '../flow.ts'
import type { PostgresqlConfig } from './config.ts'
import type { SslMode } from '../server-config.ts'
import { adopted, requestCancel, secure, type Line, type Target } from './dial.ts'
import { postgresqlError } from './errors.ts'
import { clampTimeout, makeSession, tooLarge, type Limits, type Session, type Taken } from '../session.ts'
import { Statement } from './statement.ts'
import { encode, type BoundValue } from './values.ts'

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

/** A step of opening a session that is done, with what is worth telling about it. */
type Step = (name: 'reach' | 'tls' | 'sign_in', told: string, status?: 'skipped') => void

const READ_ONLY = 'default_transaction_read_only'

/** How much longer than its own timeout a statement may take before the connection is given up, in ms. */
const SILENCE_MS = 5_000
const GOODBYE_MS = 2_000

/** Dials, signs in and sets the session up; no statement is sent. Rejects with ConnectorError. */
export async function openSession(
  given: SessionProfile,
  config: PostgresqlConfig,
  options: ConnectOptions,
  step: Step = () => {},
): Promise<Session<Statement>> {
  const profile = { ...given, timeoutMs: options.statementTimeoutMs ?? given.timeoutMs }
  try {
    return await opening(profile.engine, options, async signal => {
      const vetted = options.egress.address(config.host, config.port, config.database)
      const address = await unlessAborted(vetted, signal)
      const target: Target = { ...config, address }
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
    throw postgresqlError(profile.engine, error, profile.errors)
  }
}

/** A profile, and who is told what the session's statements take. */
type ToldProfile = SessionProfile & Pick<ConnectOptions, 'onStatement'>

async function dial(
  profile: ToldProfile,
  config: PostgresqlConfig,
  target: Target,
  signal: AbortSignal,
  step: Step,
): Promise<Session<Statement>> {
  const socket = await reach(target, signal)
  try {
    step('reach', `${config.host}:${config.port} answers.`)
    const line = await secure(socket, target, signal)
    if (line.encrypted) step('tls', 'The connection is encrypted.')
    else step('tls', 'The connection is not encrypted.', 'skipped')
    const client = makeClient(profile, config, line)
    const told = new Map<string, string>()
    client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) =>
      told.set(parameterName ?? '', parameterValue ?? ''),
    )
    await client.connect()
    refuseDropped(profile, told)
    step(
      'sign_in',
      `Signed in as ${config.username} to ${profile.label} ${told.get('server_version') ?? ''}.`,
    )
    return startSession(profile, client, target)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** A pooler that ignores the settings would leave sessions that may write and have no time limit. */
function refuseDropped({ engine, settings }: SessionProfile, told: ReadonlyMap<string, string>): void {
  // Told by PostgreSQL 14 and later.
  const given = told.get(READ_ONLY)
  if (given === undefined || settings[READ_ONLY] !== 'on' || given === 'on') return
  throw new ConnectorError({
    kind: 'other',
    engine,
    message:
      'The settings of the session did not arrive, as behind a connection pooler that ignores them: connect to the database itself.',
  })
}

function makeClient(profile: SessionProfile, config: PostgresqlConfig, { socket }: Line): pg.Client {
  const client = new pg.Client({
    stream: () => adopted(socket),
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
  return code === '28000' && /pg_hba.*SSL (on|encryption)/.test(message ?? '')
}

/** Each statement runs in its own transaction, which only reads where the profile's settings say so. */
function startSession(profile: ToldProfile, client: pg.Client, target: Target): Session<Statement> {
  const { engine, onStatement } = profile
  const classify = (thrown: unknown) => postgresqlError(engine, thrown, profile.errors)
  let ended: ConnectorError | undefined
  let limitMs = profile.timeoutMs

  const cut = (reason: ConnectorError) => {
    ended ??= reason
    client.connection.stream.destroy()
  }
  const flow = watchFlow(client.connection.stream, () => cut(tooLarge(engine)))
  client.on('end', () => (ended ??= closed(engine)))
  client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
    // Told by PostgreSQL 14 and later. A statement that can call set_config could lift it for the next one.
    if (parameterName !== READ_ONLY || profile.settings[READ_ONLY] !== 'on' || parameterValue === 'on') return
    cut(
      new ConnectorError({
        kind: 'invalid-query',
        engine,
        message: 'The statement tried to make the session writable: use a plain SELECT.',
      }),
    )
  })

  /** Sends one statement and waits, at most `patienceMs`, for what the server says. */
  async function send(statement: Statement, patienceMs: number): Promise<Row[]> {
    if (ended) throw closed(engine, ended)
    const late = setTimeout(() => cut(silent(engine, 'answer the statement')), patienceMs)
    statement.onRow = flow.row
    flow.begin(statement)
    try {
      client.query(statement)
      return await statement.rows
    } catch (error) {
      throw ended ?? classify(error)
    } finally {
      clearTimeout(late)
    }
  }

  async function limitTime(timeoutMs: number, taken: Taken): Promise<void> {
    if (timeoutMs === limitMs) return
    taken.statements += 1
    await send(new Statement(`set statement_timeout = ${timeoutMs}`, []), SILENCE_MS)
    limitMs = timeoutMs
  }

  async function cancel(): Promise<void> {
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
    await requestCancel(target, { processID, secretKey }, AbortSignal.timeout(SILENCE_MS)).catch(() => {})
  }

  /** Asks the server to end the running statement, and cuts the connection when that does not help. */
  function abandon(reason: unknown): { over(): Promise<void> } {
    const cancelling = cancel()
    const late = setTimeout(() => cut(aborted(engine, reason)), SILENCE_MS)
    return {
      async over() {
        clearTimeout(late)
        // A request that arrives late must not end the next statement.
        await cancelling
      },
    }
  }

  async function execute(
    statement: Statement,
    { timeoutMs }: Limits,
    signal: AbortSignal,
    taken: Taken,
  ): Promise<Row[]> {
    const receivedBefore = flow.received()
    const wantedMs = clampTimeout(timeoutMs)
    let abandoned: ReturnType<typeof abandon> | undefined
    const abort = () => (abandoned = abandon(signal.reason))
    signal.addEventListener('abort', abort, { once: true })
    try {
      await limitTime(wantedMs, taken)
      signal.throwIfAborted()
      const rows = await send(statement, wantedMs + SILENCE_MS)
      if (client.getTransactionStatus() !== 'I') await refuseTransaction()
      return rows
    } finally {
      taken.rows = statement.received
      taken.bytes = flow.received() - receivedBefore
      signal.removeEventListener('abort', abort)
      await abandoned?.over()
    }
  }

  async function refuseTransaction(): Promise<never> {
    await send(new Statement('rollback', []), SILENCE_MS)
    throw new ConnectorError({
      kind: 'invalid-query',
      engine,
      message: 'The statement opens a transaction: use a plain SELECT.',
    })
  }

  async function end(): Promise<void> {
    ended ??= closed(engine)
    const late = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS)
    await client.end()
    clearTimeout(late)
  }

  return makeSession({
    engine,
    classify,
    run: execute,
    end,
    onStatement,
  })
}

/** What may be told of a statement besides its text and values. */
export interface StatementOptions {
  maxRows?: number
  /** Gets each row as it arrives, which then is not kept: for results too big to hold twice. */
  take?(row: Row): void
  /** Puts a value into the wire's form; PostgreSQL's way unless told. */
  encode?(value: unknown): BoundValue
}

/**
 * Makes a statement of the session.
 * @throws ConnectorError of kind `invalid-query` for what could not be sent
 */
export function prepare(
  engine: string,
  text: string,
  values: readonly unknown[] = [],
  { maxRows, take, encode: write = encode }: StatementOptions = {},
): Statement {
  try {
    // The text ends at a NUL on the wire; what follows would be read as the next part of the message.
    if (text.includes('\0')) throw new TypeError('it holds a NUL character')
    return new Statement(text, values.map(write), maxRows, take)
  } catch (cause) {
    const message = `The statement cannot be sent: ${(cause as Error).message}`
    throw new ConnectorError({ kind: 'invalid-query', engine, message, cause })
  }
}
