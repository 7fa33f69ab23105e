import { setTimeout as sleep } from 'node:timers/promises'
import { timeoutError, unsendableError } from '../errors.ts'
import { RestFailure } from '../rest/errors.ts'
import { REPEATABLE, type RestClient, type RetryPolicy } from '../rest/http.ts'
import type { RowPage, StatementApi, StatementProgress } from '../rest/statements.ts'
import type { StatementLimits } from '../session.ts'
import { warehouseId, type DatabricksConfig } from './config.ts'
import type { Sql } from '../sql.ts'
import { databricksDialect, type DatabricksParameter } from './dialect.ts'
import { toStatementFailure, type StatementStatus } from './errors.ts'
import { readRows, type DatabricksColumn, type DatabricksRow } from './values.ts'

/** A statement with its named parameters. */
export interface DatabricksStatement {
  text: string
  values: readonly DatabricksParameter[]
}

/**
 * A statement as the service takes it.
 * @throws ConnectorError of kind `invalid-query` for a value that cannot be bound
 */
export function prepareStatement(engine: string, statement: Sql): DatabricksStatement {
  try {
    return databricksDialect.render(statement) as { text: string; values: DatabricksParameter[] }
  } catch (cause) {
    throw unsendableError(engine, cause)
  }
}

interface DatabricksChunk {
  data_array?: DatabricksRow[]
  next_chunk_index?: number
}

interface DatabricksReply {
  statement_id: string
  status: StatementStatus
  manifest?: { schema?: { columns?: DatabricksColumn[] }; total_row_count?: number; truncated?: boolean }
  result?: DatabricksChunk
}

interface ResultProgress {
  columns: DatabricksColumn[]
  /** Rows that were announced and have not come yet. */
  left: number
}

const STATEMENTS_PATH = '/api/2.0/sql/statements'

/**
 * How long a reply waits for the end of a statement: the least that the API takes beside not waiting at all,
 * which would cost every statement a second request. A caller who gives up waits as long for the id.
 */
const WAIT_SECONDS = 5

/** Pauses before a busy service is handed a statement again, in ms; 429 and 503 say that it was not taken. */
/** A statement that was not accepted is handed over again; any other may run. */
const UNTIL_ACCEPTED: RetryPolicy = {
  pausesMs: [250, 1000, 3000],
  isTransient: failure => failure instanceof RestFailure && [429, 503].includes(failure.status),
}

/** Pauses before looking whether a cancelled statement has ended, in ms: a cancel may be lost. */
const CANCEL_PAUSES_MS: readonly number[] = [100, 500, 1500]
const RUNNING_STATES: readonly string[] = ['PENDING', 'RUNNING']

/** Statements of one session, which runs them one by one. */
export interface DatabricksApi extends StatementApi<DatabricksStatement> {
  /** Whether the last statement has not begun: the warehouse has still to start, or others are before it. */
  isWaiting(): boolean
}

/**
 * Statements by the Statement Execution API (https://docs.databricks.com/api/workspace/statementexecution).
 *
 * It has no sessions and no time limit of a single statement, except that a reply may wait and cancel then,
 * within 5 to 50 seconds. So a statement of up to 5 seconds is ended by Databricks; one of more is polled and
 * cancelled from here. When this process dies, such a statement runs on to its own end, to the warehouse's
 * STATEMENT_TIMEOUT (two days unless an administrator has set less), or until Databricks gives up a statement
 * that is not polled, which it may after 15 minutes.
 */
export function makeDatabricksApi(engine: string, http: RestClient, config: DatabricksConfig): DatabricksApi {
  /** The result that is being read, by its statement. */
  const results = new Map<string, ResultProgress>()
  let isWaiting = false

  function readProgress(body: unknown, { maxRows = Infinity }: Partial<StatementLimits>): StatementProgress {
    const { statement_id: id, status, manifest = {}, result = {} } = body as DatabricksReply
    isWaiting = status.state === 'PENDING'
    if (RUNNING_STATES.includes(status.state)) return { id }
    if (status.state === 'FAILED') throw toStatementFailure(status)
    if (status.state !== 'SUCCEEDED') throw new RestFailure(200, { code: status.state })
    const { schema: { columns = [] } = {}, total_row_count: expected = 0 } = manifest
    // Cut at the limit that was asked for it is whole; cut at any other it would be half a measure.
    if (manifest.truncated && expected < maxRows) throw new RestFailure(200, { code: 'INCOMPLETE' })
    results.set(id, { columns, left: Math.min(expected, maxRows) })
    return { id, first: readPage(id, result) }
  }

  function readPage(id: string, { data_array: rows = [], next_chunk_index: next }: DatabricksChunk): RowPage {
    const { columns, left } = results.get(id) ?? { columns: [], left: Infinity }
    results.set(id, { columns, left: left - rows.length })
    if (next === undefined && left > rows.length) throw new RestFailure(200, { code: 'INCOMPLETE' })
    return { rows: readRows(columns, rows), ...(next !== undefined && { next: String(next) }) }
  }

  async function submit(body: object): Promise<unknown> {
    const request = { method: 'POST', path: STATEMENTS_PATH, body, retry: UNTIL_ACCEPTED } as const
    return (await http.send(request)).body
  }

  let limits: Partial<StatementLimits> = {}
  return {
    isWaiting: () => isWaiting,
    async start({ text, values }, given) {
      limits = given
      results.clear()
      isWaiting = false
      const isBrief = given.timeoutMs <= WAIT_SECONDS * 1000
      const reply = await submit({
        warehouse_id: warehouseId(config),
        statement: text,
        ...(config.default_catalog !== undefined && { catalog: config.default_catalog }),
        ...(values.length > 0 && { parameters: values }),
        ...(given.maxRows !== undefined && { row_limit: Math.max(1, given.maxRows) }),
        disposition: 'INLINE',
        format: 'JSON_ARRAY',
        wait_timeout: `${WAIT_SECONDS}s`,
        on_wait_timeout: isBrief ? 'CANCEL' : 'CONTINUE',
      })
      if (isBrief && (reply as DatabricksReply).status.state === 'CANCELED')
        throw timeoutError(engine, 'TIMEOUT')
      return readProgress(reply, limits)
    },
    async poll(id, signal) {
      return readProgress((await http.get(statementPath(id), { signal })).body, limits)
    },
    async page(id, next, signal) {
      const path = `${statementPath(id)}/result/chunks/${encodeURIComponent(next)}`
      return readPage(id, (await http.get(path, { signal })).body as DatabricksChunk)
    },
    async cancel(id) {
      const path = statementPath(id)
      for (const pause of CANCEL_PAUSES_MS) {
        await http.send({ method: 'POST', path: `${path}/cancel`, body: {}, retry: REPEATABLE })
        await sleep(pause)
        const { status } = (await http.get(path)).body as DatabricksReply
        if (!RUNNING_STATES.includes(status.state)) return
      }
    },
  }
}

function statementPath(id: string): string {
  return `${STATEMENTS_PATH}/${encodeURIComponent(id)}`
}
