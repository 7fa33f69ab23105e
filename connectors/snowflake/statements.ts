import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOfTheWay, RestFailure } from '../rest/errors.ts'
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

/** What is told of a result before it is read. */
interface Told {
  rowType: WireColumn[]
  /** Absent counts are not checked. */
  partitionInfo: { rowCount?: number }[]
}

/** The part of a reply that is read. `resultSetMetaData` comes with the first part of a result only. */
interface Reply {
  statementHandle: string
  resultSetMetaData?: Told
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
  /** What is told of the results that are being read, by statement. */
  const results = new Map<string, Told>()
  const { warehouse, database, schema, role } = config

  function progress(status: number, body: unknown): Progress {
    const { statementHandle: id, resultSetMetaData: told, data = [] } = body as Reply
    if (status === 202 || !told) return { id }
    results.set(id, told)
    return { id, first: readPart(id, 0, data) }
  }

  function readPart(id: string, part: number, data: readonly WireRow[]): Page {
    const { rowType, partitionInfo: parts } = results.get(id) ?? { rowType: [], partitionInfo: [] }
    const expected = parts[part]?.rowCount ?? data.length
    const isLast = part + 1 >= parts.length
    if (isLast || data.length !== expected) results.delete(id)
    if (data.length !== expected) throw new RestFailure(200, { code: 'INCOMPLETE' })
    return { rows: readRows(rowType, data), ...(!isLast && { next: String(part + 1) }) }
  }

  async function poll(id: string, signal?: AbortSignal): Promise<Progress> {
    const { status, body } = await http.send({ method: 'GET', path: pathOf(id), isRepeatable: true, signal })
    return progress(status, body)
  }

  /** Many a statement, of the catalog above all, has ended on the way. What cannot be asked runs on, under its id. */
  async function askAtOnce(started: Progress): Promise<Progress> {
    if (started.first) return started
    try {
      return await poll(started.id)
    } catch (error) {
      if (isOfTheWay(error)) return started
      throw error
    }
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
          ...(maxRows !== undefined && { ROWS_PER_RESULTSET: String(Math.max(1, maxRows)) }),
        },
      }
      // Of a result that was read no further than it had to be.
      results.clear()
      const requestId = randomUUID()
      for (const pause of [...RETRY_PAUSES_MS, null]) {
        const isFirst = pause === RETRY_PAUSES_MS[0]
        // Told that it is the same request, Snowflake runs it once, even when the first one arrived after all.
        const query = { requestId, async: true, ...(!isFirst && { retry: true }) }
        try {
          const reply = await http.send({ method: 'POST', path: PATH, query, body, isRepeatable: false })
          return await askAtOnce(progress(reply.status, reply.body))
        } catch (error) {
          if (pause === null || !isPassing(error)) throw error
          await sleep(pause)
        }
      }
      throw new TypeError('The last attempt returns or throws.')
    },
    poll,
    async page(id, next, signal) {
      const query = { partition: next }
      const { body } = await http.send({
        method: 'GET',
        path: pathOf(id),
        query,
        isRepeatable: true,
        signal,
      })
      return readPart(id, Number(next), (body as Reply).data ?? [])
    },
    async cancel(id) {
      results.delete(id)
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
