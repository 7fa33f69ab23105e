import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { RestFailure } from '../rest/errors.ts'
import type { Http } from '../rest/http.ts'
import type { Page, Progress, StatementApi } from '../rest/statements.ts'
import type { Limits } from '../session.ts'
import type { SnowflakeConfig } from './config.ts'
import { bindings, readRows, type WireColumn, type WireRow } from './values.ts'

/** A statement with its values in the order of the placeholders. */
export interface Statement {
  text: string
  values: readonly unknown[]
}

/** The part of a reply that is read. `resultSetMetaData` comes with the first part of a result only. */
interface Reply {
  statementHandle: string
  resultSetMetaData?: { rowType: WireColumn[]; partitionInfo: unknown[] }
  data?: WireRow[]
}

const PATH = '/api/v2/statements'

/**
 * Session parameters of every statement, since there is no session: how texts are made of values that SQL casts,
 * whatever the account prefers, and that a second statement is refused.
 */
const PARAMETERS = {
  TIMEZONE: 'UTC',
  QUERY_TAG: 'tidemark',
  MULTI_STATEMENT_COUNT: '1',
  BINARY_OUTPUT_FORMAT: 'HEX',
  DATE_OUTPUT_FORMAT: 'YYYY-MM-DD',
  TIME_OUTPUT_FORMAT: 'HH24:MI:SS.FF',
  TIMESTAMP_NTZ_OUTPUT_FORMAT: 'YYYY-MM-DD HH24:MI:SS.FF3',
  TIMESTAMP_LTZ_OUTPUT_FORMAT: 'YYYY-MM-DD HH24:MI:SS.FF3 TZHTZM',
  TIMESTAMP_TZ_OUTPUT_FORMAT: 'YYYY-MM-DD HH24:MI:SS.FF3 TZHTZM',
}

/** Pauses before a busy service is handed a statement again, in milliseconds. */
const RETRY_PAUSES_MS: readonly number[] = [250, 1000, 3000]
const BUSY_STATUSES: readonly number[] = [429, 502, 503, 504]
const CUT_CODES: readonly string[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']

/** Statements by the SQL API, version 2 (https://docs.snowflake.com/en/developer-guide/sql-api/reference). */
export function statementApi(http: Http, config: SnowflakeConfig): StatementApi<Statement> {
  /** The columns of the results that are being read, by statement. */
  const columns = new Map<string, WireColumn[]>()
  const { warehouse, database, schema, role } = config

  function progress(status: number, body: unknown): Progress {
    const { statementHandle: id, resultSetMetaData: told, data = [] } = body as Reply
    if (status === 202 || !told) return { id }
    const parts = told.partitionInfo.length
    if (parts > 1) columns.set(id, told.rowType)
    const first: Page = { rows: readRows(told.rowType, data), ...(parts > 1 && { next: `1/${parts}` }) }
    return { id, first }
  }

  async function poll(id: string, signal?: AbortSignal): Promise<Progress> {
    const { status, body } = await http.send({ method: 'GET', path: pathOf(id), isRepeatable: true, signal })
    return progress(status, body)
  }

  return {
    async start({ text, values }, { timeoutMs, maxRows }: Limits) {
      const body = {
        statement: text,
        // Never 0, which is a week.
        timeout: Math.max(1, Math.ceil(timeoutMs / 1000)),
        warehouse,
        database,
        ...(schema !== undefined && { schema }),
        ...(role !== undefined && { role }),
        ...(values.length > 0 && { bindings: bindings(values) }),
        parameters: {
          ...PARAMETERS,
          ...(maxRows !== undefined && { ROWS_PER_RESULTSET: String(maxRows) }),
        },
      }
      const requestId = randomUUID()
      for (const pause of [...RETRY_PAUSES_MS, null]) {
        const isFirst = pause === RETRY_PAUSES_MS[0]
        // Told that it is the same request, Snowflake runs it once, even when the first one arrived after all.
        const query = { requestId, async: true, ...(!isFirst && { retry: true }) }
        try {
          const reply = await http.send({ method: 'POST', path: PATH, query, body, isRepeatable: false })
          const { id, first } = progress(reply.status, reply.body)
          // Asked at once: many a statement, of the catalog above all, has ended on the way.
          return first ? { id, first } : await poll(id)
        } catch (error) {
          if (pause === null || !isPassing(error)) throw error
          await sleep(pause)
        }
      }
      throw new TypeError('The last attempt returns or throws.')
    },
    async poll(id, signal) {
      const { status, body } = await http.send({
        method: 'GET',
        path: pathOf(id),
        isRepeatable: true,
        signal,
      })
      return progress(status, body)
    },
    async page(id, next, signal) {
      const [part = 0, parts = 0] = next.split('/').map(Number)
      const query = { partition: part }
      const { body } = await http.send({
        method: 'GET',
        path: pathOf(id),
        query,
        isRepeatable: true,
        signal,
      })
      const rows = readRows(columns.get(id) ?? [], (body as Reply).data ?? [])
      const isLast = part + 1 >= parts
      if (isLast) columns.delete(id)
      return { rows, ...(!isLast && { next: `${part + 1}/${parts}` }) }
    },
    async cancel(id) {
      columns.delete(id)
      await http.send({ method: 'POST', path: `${pathOf(id)}/cancel`, isRepeatable: true })
    },
  }
}

function pathOf(handle: string): string {
  return `${PATH}/${encodeURIComponent(handle)}`
}

/** Whether a request may do better a moment later. */
function isPassing(error: unknown): boolean {
  if (error instanceof RestFailure) return BUSY_STATUSES.includes(error.status)
  return CUT_CODES.includes(String((error as { code?: unknown }).code))
}
