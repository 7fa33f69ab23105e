import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { TestDatabaseOptions } from '../../checks/conformance/engine-database.ts'
import type { ConnectOptions, Connection, Connector, Egress } from '../../connectors/connector.ts'
import { accountHost, type SnowflakeConfig } from '../../connectors/snowflake/config.ts'
import { makeSnowflake } from '../../connectors/snowflake/index.ts'
import type { SnowflakeBinding } from '../../connectors/snowflake/values.ts'
import {
  end,
  ended,
  failed,
  failureOf,
  inProgress,
  paged,
  result,
  timeout,
  type Statement,
} from './snowflake/answers.ts'
import { makeDatabase, recordTable, setMoments, showKeys, touch } from './snowflake/catalog.ts'
import { readCreateTable, writeCreateTable } from './snowflake/ddl.ts'
import { authenticate, checkBody, checkQuery, Refused, type Users } from './snowflake/requests.ts'
import { SnowflakeError, tokenize } from './snowflake/tokens.ts'
import { translate, type Context } from './snowflake/translate.ts'
import {
  openWarehouse,
  startService,
  type Answer,
  type Exchange,
  type RunningStatement,
  type Service,
  type Warehouse,
} from './warehouse.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** What a statement was sent with. */
interface Body {
  statement: string
  timeout?: number
  warehouse?: string
  database?: string
  schema?: string
  role?: string
  bindings?: Record<string, SnowflakeBinding>
  parameters?: Record<string, string>
}

/** A Snowflake account, doubled. */
export interface Snowflake {
  connector: Connector<SnowflakeConfig>
  /** A `connection_config` that signs in with a key pair. */
  config: Omit<SnowflakeConfig, 'password'>
  /** The same with the access token. */
  withToken: SnowflakeConfig
  egress: Egress
  options: ConnectOptions
  service: Service
  warehouse: Warehouse
  /** Runs one statement in Snowflake's SQL as the owner. */
  execute(text: string): Promise<void>
  /** Names a table that may not be read. */
  restrict(table: string): void
  /** Sets when a table was made, altered and defined. */
  setMoments(table: string, times: [Date, Date, Date]): Promise<void>
  /** Statements that were handed over so far. */
  statements(): number
  /** Answers the next requests with a status, before anything is done. */
  fail(...statuses: number[]): void
  /** Acts for one request as if its answer were lost on the way. */
  loseAnswer(): void
  /** Gives of the next page of a result that is not the first all rows but one. */
  loseRow(): void
}

const ACCOUNT = 'TidePool-Test_Account'
const USER = 'observer'
const DATABASE = 'SHOP'
const SCHEMA = 'PUBLIC'
const NAMES = { warehouses: ['SMALL'], roles: ['READER', 'Sales Reader'], schemas: [SCHEMA] }
/** Each so-many-th request is refused as busy. */
const BUSY_EVERY = 60

let keys: { publicKey: string; privateKey: string } | undefined

/** A key pair in PEM form, the same for all tests of the process: making one takes a while. */
export function keyPair(): { publicKey: string; privateKey: string } {
  return (keys ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }))
}

/**
 * Starts a double of the SQL API, version 2, written from its reference
 * (https://docs.snowflake.com/en/developer-guide/sql-api/reference) and before a DuckDB. It shows that requests
 * are what the reference says and that the numbers are right; that Snowflake takes our SQL it cannot show.
 */
export async function startSnowflake(t: Teardown): Promise<Snowflake> {
  const warehouse = await openWarehouse(t)
  await makeDatabase(warehouse, DATABASE, SCHEMA)
  const { publicKey, privateKey } = keyPair()
  const accessToken = `pat-${randomUUID()}`
  const users: Users = { account: ACCOUNT.toUpperCase(), user: USER.toUpperCase(), publicKey, accessToken }
  const statements = new Map<string, Statement>()
  const requests = new Map<string, Statement>()
  const restricted = new Set<string>()
  const failures: number[] = []
  let isLosing = false
  let isLosingRow = false
  let count = 0

  async function run(
    text: string,
    context: Context,
    bindings?: Record<string, SnowflakeBinding>,
  ): Promise<RunningStatement> {
    const explained = /^explain using json /i.exec(text)
    if (explained) {
      const { text: query, values } = translate(text.slice(explained[0].length), context, bindings)
      return explainJson(warehouse.start(`describe ${query}`, values, ["set TimeZone = 'UTC'"]), text)
    }
    const tokens = tokenize(text)
    for (const { kind, text: name } of tokens) {
      if (kind === 'quoted' && restricted.has(name))
        throw new SnowflakeError(
          '003001',
          '42501',
          `SQL access control error:\nInsufficient privileges to operate on table '${name}'.`,
        )
    }
    const shown = await showKeys(warehouse, tokens)
    const { text: sql, values } = shown ? { text: shown, values: [] } : translate(text, context, bindings)
    if (context.warehouse === null && tokens.some(token => token.text === 'FROM')) {
      const message =
        "No active warehouse selected in the current session.  Select an active warehouse with the 'use warehouse' command."
      throw new SnowflakeError('000606', '57P03', message)
    }
    return warehouse.start(sql, values, ["set TimeZone = 'UTC'"])
  }

  async function submit(exchange: Exchange): Promise<Statement> {
    checkBody(exchange)
    const body = exchange.body as Body
    const requestId = exchange.query.get('requestId') ?? randomUUID()
    const known = requests.get(requestId)
    if (known && exchange.query.get('retry') === 'true') return known
    if (known) throw new Refused(400, '391920', 'The requestId was used before: set retry to true.')
    if (body.role !== undefined && !NAMES.roles.includes(body.role)) {
      const message = `Role '${body.role}' specified in the connect string is not granted to this user.`
      throw new Refused(400, '390186', message)
    }
    const running = await run(body.statement, contextOf(body), body.bindings)
    const statement: Statement = { id: randomUUID(), running }
    statements.set(statement.id, statement)
    requests.set(requestId, statement)
    count += 1
    const seconds = body.timeout ?? 172_800
    const timer = setTimeout(() => end(statement, timeout(seconds)), seconds * 1000)
    const most = Number(body.parameters?.ROWS_PER_RESULTSET ?? 0) || Infinity
    running.result
      .then(
        ({ columns, rows }) => Object.assign(statement, { columns, pages: paged(rows.slice(0, most)) }),
        (error: Error) => (statement.failure ??= failureOf(error)),
      )
      .finally(() => clearTimeout(timer))
    return statement
  }

  async function answer(exchange: Exchange): Promise<Answer> {
    const { method, path, query, headers } = exchange
    if (!headers.host?.startsWith(accountHost(ACCOUNT)))
      return { status: 403, body: '"<html>Forbidden</html>"' }
    const busy = failures.shift() ?? (service.requests.length % BUSY_EVERY === 0 ? 429 : undefined)
    if (busy !== undefined)
      return {
        status: busy,
        body: { code: String(busy), message: 'Try later.' },
        headers: { 'retry-after': '0' },
      }
    try {
      authenticate(exchange, users)
      if (method === 'POST' && path === '/api/v2/statements') {
        checkQuery(exchange, 'submit')
        const statement = await submit(exchange)
        if (isLosing) {
          isLosing = false
          return { status: 503, body: '' }
        }
        // Without async=true Snowflake would wait for the end; the connector never asks for that.
        if (query.get('async') !== 'true')
          throw new Refused(400, '391908', 'The double runs asynchronously only.')
        await ended(statement)
        return { status: 202, body: inProgress(statement) }
      }
      const [, id = '', action] = /^\/api\/v2\/statements\/([0-9a-f-]+)(\/cancel)?$/.exec(path) ?? []
      const statement = statements.get(id)
      if (!statement) throw new Refused(400, '000709', `Statement ${id} not found`)
      if (method === 'POST' && action) {
        checkQuery(exchange, 'cancel')
        end(statement, new SnowflakeError('000604', '57014', 'SQL execution canceled'))
        return { body: { code: '000604', message: 'SQL execution canceled', statementHandle: id } }
      }
      if (method !== 'GET' || action) throw new Refused(405, '391905', 'Method not allowed.')
      checkQuery(exchange, 'status')
      const answered = result(statement, query.get('partition'))
      if (!isLosingRow || Number(query.get('partition')) === 0) return answered
      isLosingRow = false
      return { ...answered, body: { data: (answered.body as { data: unknown[] }).data.slice(1) } }
    } catch (error) {
      if (!(error instanceof SnowflakeError)) throw error
      return failed(error, error instanceof Refused ? error.status : 422)
    }
  }

  const hosts = [accountHost(ACCOUNT), accountHost('unknown-account')]
  const service = await startService(t, hosts, answer)
  const egress: Egress = {
    async address(host) {
      if (!hosts.includes(host)) throw Object.assign(new Error(`not found: ${host}`), { code: 'ENOTFOUND' })
      return '127.0.0.1'
    },
    file: path => Promise.resolve(path),
    folder: path => Promise.resolve(path),
  }
  const base = { account: ACCOUNT, warehouse: 'SMALL', database: DATABASE, username: USER }
  return {
    connector: makeSnowflake({ port: service.port }),
    config: { ...base, private_key: privateKey },
    withToken: { ...base, password: accessToken },
    egress,
    options: { egress, log: { debug: () => {}, warn: () => {} } },
    service,
    warehouse,
    async execute(text) {
      const tokens = tokenize(text)
      const created = readCreateTable(tokens)
      const context = { warehouse: 'SMALL', database: DATABASE, schema: SCHEMA, role: 'OWNER' }
      const sql = created ? writeCreateTable(created) : translate(text, context).text
      await warehouse.execute(sql)
      if (created) await recordTable(warehouse, created)
      else await touch(warehouse, DATABASE, tokens)
    },
    restrict: table => void restricted.add(table),
    setMoments: (table, times) => setMoments(warehouse, DATABASE, table, times),
    statements: () => count,
    fail: (...statuses) => void failures.push(...statuses),
    loseAnswer() {
      isLosing = true
    },
    loseRow() {
      isLosingRow = true
    },
  }
}

/** Opens a session for the length of a function. */
export async function withSnowflake<Result>(
  { connector, config, options }: Snowflake,
  use: (connection: Connection) => Promise<Result>,
  changes: object = {},
): Promise<Result> {
  const { value, error } = connector.config.validate({ ...config, ...changes })
  if (error) throw error
  const connection = await connector.connect(value, options)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** What does not exist is null, and no error. */
function contextOf({ warehouse = '', database = '', schema, role = 'READER' }: Body): Context {
  const isDatabase = database === DATABASE
  return {
    warehouse: NAMES.warehouses.includes(warehouse) ? warehouse : null,
    database: isDatabase ? database : null,
    schema: isDatabase && NAMES.schemas.includes(schema ?? SCHEMA) ? (schema ?? SCHEMA) : null,
    role,
  }
}

/** What a stand for checks is made of, on a double of its own; names without quotes are in upper case. */
export async function snowflakeStand(t: Teardown): Promise<TestDatabaseOptions> {
  const double = await startSnowflake(t)
  const connection = await double.connector.connect(double.config, double.options)
  t.teardown(() => connection.close())
  return {
    connector: double.connector,
    connection,
    execute: double.execute,
    tableRef: name => ({ catalog: DATABASE, schema: SCHEMA, name }),
    foldName: name => name.toUpperCase(),
    columnTypes: {
      integer: 'number(38,0)',
      decimal: 'number(38,2)',
      float: 'float',
      text: 'varchar',
      timestamp: 'timestamp_ntz',
      json: 'variant',
    },
  }
}

/** A plan in the form of Snowflake's, in which each table has one micro-partition of 1,024 bytes. */
function explainJson(described: RunningStatement, text: string): RunningStatement {
  const tables = [...text.matchAll(/\b(?:from|join)\s+"/gi)].length
  const stats = { partitionsTotal: tables, partitionsAssigned: tables, bytesAssigned: tables * 1_024 }
  const content = JSON.stringify({ GlobalStats: stats, Operations: [[{ id: 0, operation: 'Result' }]] })
  return {
    ...described,
    result: described.result.then(() => ({
      columns: [{ name: 'content', type: 'VARCHAR' }],
      rows: [[content]],
    })),
  }
}
