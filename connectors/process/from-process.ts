import type Joi from 'joi'
import { assertTables, malformedError } from '../answers/tables.ts'
import { sortTables, type TableInfo, type TableRef } from '../catalog.ts'
import type { Capabilities, Connection, Connector, ConnectOptions, Egress, Row } from '../connector.ts'
import type { Dialect } from '../dialect.ts'
import {
  abortedError,
  classifyError,
  ConnectorError,
  errorRule,
  noResponseError,
  redactMessage,
  timeoutError,
  unsendableError,
  type ConnectorErrorKind,
  type ErrorRule,
} from '../errors.ts'
import type { StatementFault } from '../redaction/engine-words.ts'
import {
  assertResultFits,
  makeSession,
  RESULT_TOO_LARGE,
  resultTooLargeError,
  type StatementLimits,
} from '../session.ts'
import { runConnectionTest } from '../stages.ts'
import { ProgramError, startProgram, type Program, type ProgramResult } from './program.ts'
import { decodeValue, encodeValue } from './values.ts'

/** What a program can be asked for; the others need a connector in JavaScript. */
export type ProcessCapabilities = Omit<
  Capabilities,
  'lastModified' | 'estimates' | 'costEstimates' | 'dryRuns' | 'byteLimit' | 'partitions'
>

/** A connector whose sessions are processes of a program, in any language. */
export interface ProcessConnector<Config> extends Pick<Connector<Config>, 'name' | 'label'> {
  /** The `connection_config`, as of every connector. */
  config: Joi.ObjectSchema<Config>
  dialect: Dialect
  capabilities: ProcessCapabilities
  /** The program, by its path or in /usr/local/bin, /usr/bin or /bin, and its words. */
  command: readonly [program: string, ...words: string[]]
  /** Its environment beside that PATH, which it may replace: nothing of the service's is passed on by itself. */
  env?: Record<string, string>
  /** The folder that it runs in; defaults to that of the service. */
  cwd?: string
  /** Megabytes of address space. Leave it out for runtimes that reserve much more than they use, such as the JVM. */
  memoryMb?: number
  /**
   * Asks the egress policy for what the program will open, and gives the config that it gets: with the address in place
   * of the host, or the real path of a file.
   */
  reach(config: Config, egress: Egress): Promise<Record<string, unknown>>
  /** The program answers `validate`, too. */
  validates?: true
}

/** Milliseconds for reading the catalog. */
const CATALOG_TIMEOUT_MS = 600_000
const CLOSE_TIMEOUT_MS = 2_000

const KINDS: ReadonlySet<unknown> = new Set<ConnectorErrorKind>([
  'credentials',
  'network',
  'timeout',
  'tls',
  'permission',
  'missing-object',
  'invalid-query',
  'other',
])

/** What a session does in its turn: it runs a statement, or reads the catalog, whose tables are found. */
type SessionTask = { text: string; values: unknown[] } | { tables: TableRef[] | null; found: TableInfo[] }

/**
 * Makes a connector of a program that reads requests from stdin and writes answers to stdout, as JSON lines. It has a
 * process for each session, which is killed when a statement outlives its time or is cancelled; the next statement
 * starts another. The documentation of plugins has the protocol.
 */
export function fromProcess<Config>(definition: ProcessConnector<Config>): Connector<Config> {
  const { name: engine, label, config, dialect, capabilities } = definition
  const classify = (thrown: unknown) => toConnectorError(engine, thrown)
  return {
    name: engine,
    label,
    config,
    dialect,
    capabilities,
    connect: (given, options) => openSession(definition, given, options),
    test: (given, options) =>
      runConnectionTest(classify, async step => {
        await definition.reach(given, options.egress)
        step('reach', 'It may be reached from here.')
        step('tls', 'The program of the connector decides about TLS.', 'skipped')
        const connection = await openSession(definition, given, options)
        try {
          step('sign_in', 'The program has connected.')
          const tables = await connection.introspect()
          step('read_catalog', `The catalog can be read: ${tables.length} tables and views.`)
        } finally {
          await connection.close()
        }
      }),
  }
}

async function openSession<Config>(
  definition: ProcessConnector<Config>,
  config: Config,
  options: ConnectOptions,
): Promise<Connection> {
  const { name: engine, dialect, validates } = definition
  const { log, connectTimeoutMs: timeoutMs = 10_000 } = options

  async function open(signal?: AbortSignal): Promise<Program> {
    const reached = await definition.reach(config, options.egress)
    const program = startProgram({ ...definition, engine, log })
    try {
      await program.ask('connect', { config: reached, timeout_ms: timeoutMs }, { timeoutMs, signal })
      return program
    } catch (error) {
      program.kill()
      if (error instanceof ProgramError && error.code === 'TIMEOUT') throw noResponseError(engine, 'answer')
      throw error
    }
  }

  let program = await open(options.signal).catch((thrown: unknown) => {
    throw toConnectorError(engine, thrown)
  })

  async function ask(method: string, params: object, limit: number, signal?: AbortSignal) {
    if (!program.isAlive()) program = await open(signal)
    return program.ask(method, params, { timeoutMs: limit, signal })
  }

  async function query(
    { text, values }: { text: string; values: unknown[] },
    { timeoutMs: limit, maxRows }: StatementLimits,
    signal: AbortSignal,
  ): Promise<Row[]> {
    const bound = encodeAll(engine, values)
    const params = { text, values: bound, max_rows: maxRows ?? null, timeout_ms: limit }
    return toRows(engine, await ask('query', params, limit, signal), maxRows)
  }

  async function readCatalog(tables: TableRef[] | null, limit: number, signal: AbortSignal) {
    const answer = await ask('introspect', { tables }, limit, signal)
    return sortTables(await assertTables(engine, answer.tables))
  }

  const session = makeSession<SessionTask>({
    engine,
    classify: thrown => toConnectorError(engine, thrown),
    async runStatement(asked, limits, signal) {
      if (!('tables' in asked)) return query(asked, limits, signal)
      asked.found.push(...(await readCatalog(asked.tables, limits.timeoutMs, signal)))
      return []
    },
    ...(validates && {
      async validateStatement(asked, { timeoutMs: limit }, signal) {
        if ('tables' in asked) return
        const values = encodeAll(engine, asked.values)
        await ask('validate', { text: asked.text, values, timeout_ms: limit }, limit, signal)
      },
    }),
    async end() {
      if (program.isAlive())
        await program.ask('close', {}, { timeoutMs: CLOSE_TIMEOUT_MS }).catch(() => undefined)
      program.kill()
    },
    onStatement: options.onStatement,
  })

  return {
    query: (statement, limits) => session.run(dialect.render(statement), limits),
    ...(session.validate && {
      validate: (statement, limits) =>
        session.validate?.(dialect.render(statement), limits) ?? Promise.resolve(),
    }),
    async introspect({ tables = null, signal } = {}) {
      const found: TableInfo[] = []
      await session.run({ tables, found }, { timeoutMs: CATALOG_TIMEOUT_MS, signal })
      return found
    },
    close: () => session.close(),
  }
}

function encodeAll(engine: string, values: readonly unknown[]) {
  try {
    return values.map(encodeValue)
  } catch (error) {
    throw unsendableError(engine, error)
  }
}

/** @throws ConnectorError naming what is wrong with an answer to `query` */
function toRows(engine: string, answer: ProgramResult, maxRows = Number.POSITIVE_INFINITY): Row[] {
  const { columns, rows } = answer
  const isNames = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every(name => typeof name === 'string')
  if (!isNames(columns)) throw malformedError(engine, 'query', 'columns must be an array of texts')
  if (!Array.isArray(rows)) throw malformedError(engine, 'query', 'rows must be an array of arrays')
  let size = 0
  return (rows as unknown[]).slice(0, maxRows).map((row, place) => {
    if (!Array.isArray(row) || row.length !== columns.length)
      throw malformedError(engine, 'query', `rows[${place}] must have a value for each of the columns`)
    const values = row.map((value: unknown, index) => {
      try {
        return decodeValue(value)
      } catch (error) {
        throw malformedError(engine, 'query', `rows[${place}][${index}]: ${(error as Error).message}`)
      }
    })
    size = assertResultFits(engine, size, values)
    return Object.fromEntries(columns.map((name, index) => [name, values[index]])) as Row
  })
}

/** What a program says, or does not say, as an error: of the kind that it gives, or that its end means. */
function toConnectorError(engine: string, thrown: unknown): ConnectorError {
  if (thrown instanceof ConnectorError || !(thrown instanceof ProgramError))
    return classifyError(engine, FILE_RULES, thrown)
  const { code, message, fields } = thrown
  if (code === 'ABORTED') return abortedError(engine)
  if (code === 'TIMEOUT') return timeoutError(engine, code)
  if (code === RESULT_TOO_LARGE) return resultTooLargeError(engine)
  const own = OWN_ERRORS[code]
  if (own) return new ConnectorError({ kind: 'other', engine, code, message: `${message}: ${own}` })
  const { kind, hint, fault } = fields
  const rule: ErrorRule = {
    kind: KINDS.has(kind) ? (kind as ConnectorErrorKind) : 'other',
    code,
    // Without a hint the program's message is the engine's, which may quote rows: a session takes it out.
    ...(typeof hint === 'string' && { hint: redactMessage(hint) }),
    ...(typeof fault === 'string' && { fault: fault as StatementFault }),
  }
  return classifyError(engine, [rule], { code, message: message || 'no message' })
}

/** What asking for a file can fail with. */
const FILE_RULES: readonly ErrorRule[] = [
  errorRule('missing-object', { code: /^(ENOENT|ENOTDIR)$/ }).say('There is no such file: check its path.'),
  errorRule('permission', { code: /^(EACCES|EPERM)$/ }).say(
    'The file may not be read: give this service the right to read it and to enter its folders.',
  ),
]

/** Ends of a program, with what to do. */
const OWN_ERRORS: Record<string, string> = {
  ENOPROGRAM: 'check command of the connector, and that the program is installed',
  ENDED: 'try again; at LOG_LEVEL=debug the log has what it wrote to stderr',
  MALFORMED: 'correct the program of the connector',
}
