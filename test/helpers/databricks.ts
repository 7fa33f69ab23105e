import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connector, ConnectOptions } from '../../connectors/connector.ts'
import { makeDatabricks, type DatabricksConfig } from '../../connectors/databricks/index.ts'
import { buildCatalogs } from './databricks/catalog.ts'
import { StatementFailure, sqlError, translated } from './databricks/errors.ts'
import { readRequest, refusal, type StatementRequest } from './databricks/requests.ts'
import { columnsOf, rowsOf, type ManifestColumn } from './databricks/results.ts'
import { rewrite } from './databricks/rewrite.ts'
import type { CertificateKind } from './certificates.ts'
import {
  openWarehouse,
  startService,
  type Answer,
  type Exchange,
  type RunningStatement,
  type WarehouseResult,
  type Service,
} from './warehouse.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

export const HOST = 'dbc-a1b2c3d4-e5f6.cloud.databricks.com'
export const WAREHOUSE = '1a2b3c4d5e6f7a8b'
export const TOKEN = 'dapi0123456789abcdef0123456789abcdef'
export const CATALOGS = ['system', 'shop', 'archive']

/** How the double behaves; a test may change it while it runs. */
export interface Knobs {
  /** Rows of one chunk. */
  chunkRows: number
  /** Bytes of a result that still go into replies. */
  inlineBytes: number
  /** Every so many requests are refused because there are too many; 0 for none. */
  throttleEvery: number
  /** Milliseconds that a reply waits for a statement for each second that it was asked to. */
  secondMs: number
  /** What `GET` of the warehouse returns. */
  warehouseState: string
  /** Statements wait for the warehouse. */
  isPending: boolean
  /** The token was revoked. */
  isTokenRevoked: boolean
  /** A first cancel is received and lost. */
  losesCancels: boolean
  /** Answers instead of the double where it gives something. */
  instead(exchange: Exchange): Answer | undefined
}

interface Statement {
  id: string
  state: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELED' | 'CLOSED'
  failure?: StatementFailure
  columns: ManifestColumn[]
  rows: (string | null)[][]
  isTruncated: boolean
  running?: RunningStatement
  cancels: number
  ended: Promise<void>
}

/** A workspace of Databricks with one SQL warehouse, doubled on a loopback port. */
export interface Workspace {
  connector: Connector<DatabricksConfig>
  /** A working `connection_config`. */
  config: { host: string; http_path: string; default_catalog: string; access_token: string }
  options: ConnectOptions
  service: Service
  knobs: Knobs
  /** Runs one statement of Databricks SQL as its owner. */
  execute(text: string): Promise<unknown>
  /** No role may read the table from here on. */
  revoke(path: string): void
  /** How many statements run now. */
  running(): number
  /** The texts of the statements that were sent. */
  statements(): string[]
}

/**
 * Starts a double of the Statement Execution API, written from its reference
 * (https://docs.databricks.com/api/workspace/statementexecution) and tutorial
 * (https://docs.databricks.com/dev-tools/sql-execution-tutorial.html), with DuckDB as its engine. What it cannot
 * show: that Databricks takes the SQL, which test/peers/databricks.peer.ts tries on Spark, and what its messages
 * say word for word.
 */
export async function startDatabricks(t: Teardown, certificate?: CertificateKind): Promise<Workspace> {
  const warehouse = await openWarehouse(t)
  await buildCatalogs(warehouse, CATALOGS.slice(1))
  const statements = new Map<string, Statement>()
  const revoked = new Set<string>()
  const knobs: Knobs = {
    chunkRows: 1000,
    inlineBytes: 25 * 1024 * 1024,
    throttleEvery: 41,
    secondMs: 40,
    warehouseState: 'RUNNING',
    isPending: false,
    isTokenRevoked: false,
    losesCancels: false,
    instead: () => undefined,
  }
  /** Those that were turned away, as the double does now and then, are sent again and count once. */
  const accepted: string[] = []
  let requests = 0

  function answer(exchange: Exchange): Promise<Answer> | Answer {
    const instead = knobs.instead(exchange)
    if (instead) return instead
    requests += 1
    if (knobs.throttleEvery > 0 && requests % knobs.throttleEvery === 0) return throttled(requests)
    const { headers, method, path } = exchange
    if (headers.host?.split(':')[0] !== HOST) return refusal(404, 'ENDPOINT_NOT_FOUND', 'No such workspace.')
    const denial = authorize(headers.authorization)
    if (denial) return denial
    const [, id = '', rest = ''] = /^\/api\/2\.0\/sql\/statements\/([\w-]+)(\/.*)?$/.exec(path) ?? []
    if (method === 'GET' && path.startsWith('/api/2.0/sql/warehouses/')) return describe(path.split('/')[5])
    if (method === 'POST' && /^\/api\/2\.0\/sql\/statements\/?$/.test(path)) return start(exchange)
    const statement = statements.get(id)
    const chunk = /^\/result\/chunks\/(\d+)$/.exec(rest)
    if (!statement && id !== '')
      return refusal(404, 'RESOURCE_DOES_NOT_EXIST', `The statement ${id} was not found.`)
    if (statement && method === 'GET' && rest === '') return { body: reply(statement) }
    if (statement && method === 'GET' && chunk) return readChunk(statement, Number(chunk[1]))
    if (statement && method === 'POST' && rest === '/cancel') return cancel(statement)
    return refusal(404, 'ENDPOINT_NOT_FOUND', `No API found for '${method} ${path}'`)
  }

  function authorize(header: string | undefined): Answer | undefined {
    const [scheme, token] = header?.split(' ') ?? []
    if (scheme !== 'Bearer')
      return refusal(401, 401, 'Credential was not sent or was of an unsupported type.')
    if (token === TOKEN && !knobs.isTokenRevoked) return undefined
    return refusal(403, 403, `Invalid access token. [ReqId: ${randomUUID()}]`)
  }

  function describe(id: string | undefined): Answer {
    if (id !== WAREHOUSE) return refusal(404, 'RESOURCE_DOES_NOT_EXIST', `Endpoint ${id} does not exist.`)
    return { body: { id, name: 'Shop', state: knobs.warehouseState, cluster_size: 'Small', num_clusters: 1 } }
  }

  async function start({ body }: Exchange): Promise<Answer> {
    const request = readRequest(body)
    if (!('warehouse_id' in request)) return request
    if (request.warehouse_id !== WAREHOUSE) {
      return refusal(404, 'RESOURCE_DOES_NOT_EXIST', `Warehouse ${request.warehouse_id} does not exist.`)
    }
    accepted.push(request.statement)
    const statement = begin(request)
    statements.set(statement.id, statement)
    const { waitMs, isCancelledLate } = request
    const ms = isCancelledLate ? waitMs : (waitMs / 1000) * knobs.secondMs
    await Promise.race([statement.ended, sleep(ms, undefined, { ref: false })])
    if (isCancelledLate && isOpen(statement)) end(statement)
    return { body: reply(statement) }
  }

  function begin(request: StatementRequest): Statement {
    const statement: Statement = {
      id: randomUUID(),
      state: 'PENDING',
      columns: [],
      rows: [],
      isTruncated: false,
      cancels: 0,
      ended: Promise.resolve(),
    }
    statement.ended = run(statement, request)
    return statement
  }

  async function run(statement: Statement, request: StatementRequest): Promise<void> {
    try {
      while (knobs.isPending && isOpen(statement)) await sleep(5)
      if (!isOpen(statement)) return
      statement.state = 'RUNNING'
      const { statement: text, parameters, catalog, row_limit: limit = Infinity } = request
      const written = rewriteDescribed(text, parameters)
      refuseRevoked(written)
      const setUp = ["set timezone = 'UTC'", ...(catalog === undefined ? [] : [use(catalog)])]
      statement.running = warehouse.start(written, [], setUp)
      const described = await statement.running.result
      const result = isExplained(text) ? explainCost(text) : described
      const rows = rowsOf(result)
      if (JSON.stringify(rows).length > knobs.inlineBytes) {
        const most = `Inline byte limit exceeded. Statements executed with disposition=INLINE can have a result size of at most ${knobs.inlineBytes} bytes.`
        throw new StatementFailure(most, 'XX000')
      }
      statement.columns = columnsOf(result)
      statement.isTruncated = rows.length > limit
      statement.rows = rows.slice(0, Math.min(rows.length, limit))
      if (isOpen(statement)) statement.state = 'SUCCEEDED'
    } catch (thrown) {
      if (!isOpen(statement)) return
      statement.state = 'FAILED'
      statement.failure = translated(thrown)
    }
  }

  /**
   * DESCRIBE QUERY analyses a query and ends before it is optimized; in DuckDB it has no second word. So it serves for
   * EXPLAIN COST too, whose answer is made up.
   */
  function rewriteDescribed(text: string, parameters: StatementRequest['parameters']): string {
    const query = /^(describe query|explain cost) /i.exec(text)
    return query
      ? `describe ${rewrite(text.slice(query[0].length), parameters, CATALOGS)}`
      : rewrite(text, parameters, CATALOGS)
  }

  function refuseRevoked(text: string): void {
    for (const path of revoked) {
      if (!text.includes(path)) continue
      const message = `Insufficient privileges: User does not have SELECT on Table '${path.replaceAll('"', '')}'.`
      throw sqlError('INSUFFICIENT_PERMISSIONS', message, '42501')
    }
  }

  function cancel(statement: Statement): Answer {
    statement.cancels += 1
    if (!(knobs.losesCancels && statement.cancels === 1) && isOpen(statement)) end(statement)
    return { body: {} }
  }

  function readChunk({ state, rows }: Statement, index: number): Answer {
    if (state !== 'SUCCEEDED') return refusal(400, 'BAD_REQUEST', 'The statement has no result.')
    if (index * knobs.chunkRows >= rows.length)
      return refusal(400, 'INVALID_PARAMETER_VALUE', 'No such chunk.')
    return { body: chunkOf(rows, index) }
  }

  function chunkOf(rows: Statement['rows'], index: number, id = ''): object {
    const [from, to] = [index * knobs.chunkRows, (index + 1) * knobs.chunkRows]
    if (rows.length === 0) return {}
    const next = to < rows.length ? index + 1 : undefined
    return {
      chunk_index: index,
      row_offset: from,
      row_count: Math.min(to, rows.length) - from,
      data_array: rows.slice(from, to),
      ...(next !== undefined && {
        next_chunk_index: next,
        next_chunk_internal_link: `/api/2.0/sql/statements/${id}/result/chunks/${next}?row_offset=${to}`,
      }),
    }
  }

  function reply({ id, state, failure, columns, rows, isTruncated }: Statement): object {
    if (failure) {
      const error = { error_code: 'BAD_REQUEST', message: failure.message }
      return { statement_id: id, status: { state, error, sql_state: failure.state } }
    }
    if (state !== 'SUCCEEDED') return { statement_id: id, status: { state } }
    const chunks = Math.ceil(rows.length / knobs.chunkRows)
    return {
      statement_id: id,
      status: { state },
      manifest: {
        format: 'JSON_ARRAY',
        schema: { column_count: columns.length, columns },
        total_chunk_count: chunks,
        total_row_count: rows.length,
        truncated: isTruncated,
      },
      result: chunkOf(rows, 0, id),
    }
  }

  const service = await startService(t, [HOST], answer, certificate)
  const config = {
    host: HOST,
    http_path: `/sql/1.0/warehouses/${WAREHOUSE}`,
    default_catalog: 'shop',
    access_token: TOKEN,
  }
  return {
    connector: makeDatabricks({ port: service.port }),
    config,
    options: { egress: anyEgress, log: { debug: () => {}, warn: () => {} } },
    service,
    knobs,
    execute: text =>
      warehouse.start(rewrite(text, [], CATALOGS), [], ["set timezone = 'UTC'", use('shop')]).result,
    revoke: path => void revoked.add(path),
    running: () => warehouse.running(),
    statements: () => [...accepted],
  }
}

const anyEgress: ConnectOptions['egress'] = {
  address: async () => '127.0.0.1',
  file: async path => path,
  folder: async path => path,
}

function throttled(request: number): Answer {
  return request % 2 === 0
    ? refusal(
        429,
        'REQUEST_LIMIT_EXCEEDED',
        'Your request was rejected since your organization exceeded the limit.',
      )
    : refusal(503, 'TEMPORARILY_UNAVAILABLE', 'The service is temporarily unavailable.')
}

function isOpen({ state }: Statement): boolean {
  return state === 'PENDING' || state === 'RUNNING'
}

function end(statement: Statement): void {
  statement.state = 'CANCELED'
  statement.running?.interrupt()
}

function use(catalog: string): string {
  if (CATALOGS.includes(catalog)) return `use "${catalog}"."default"`
  throw sqlError('NO_SUCH_CATALOG_EXCEPTION', `Catalog '${catalog}' was not found.`, '42704')
}

function isExplained(text: string): boolean {
  return /^explain cost /i.test(text)
}

/** A plan in the form of Spark's, in which each table has 1,024 B. */
function explainCost(text: string): WarehouseResult {
  const relations = [...text.matchAll(/\b(?:from|join)\s+(`[^`]+`(?:\.`[^`]+`)*)/gi)].map(
    ([, path = '']) =>
      `+- Relation ${path.replaceAll('`', '')}[id#1,label#2] parquet, Statistics(sizeInBytes=1024.0 B)`,
  )
  const plan = [
    '== Optimized Logical Plan ==',
    'Aggregate [max(label#2) AS m#3], Statistics(sizeInBytes=16.0 B, rowCount=1)',
    ...relations,
    '',
    '== Physical Plan ==',
    'AdaptiveSparkPlan isFinalPlan=false',
  ]
  return { columns: [{ name: 'plan', type: 'VARCHAR' }], rows: [[plan.join('\n')]] }
}
