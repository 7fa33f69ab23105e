import { randomUUID } from 'node:crypto'
import { isTransportFailure, RestFailure } from '../rest/errors.ts'
import { REPEATABLE, type RestClient, type RetryPolicy } from '../rest/http.ts'
import type { RowPage, StatementApi, StatementProgress } from '../rest/statements.ts'
import type { StatementLimits } from '../session.ts'
import type { SnowflakeConfig } from './config.ts'
import { bindValues, readRows, type SnowflakeColumn, type SnowflakeRow } from './values.ts'

/** A statement with its values in the order of the placeholders. */
export interface SnowflakeStatement {
  text: string
  values: readonly unknown[]
}

interface SnowflakeResultMetadata {
  rowType: SnowflakeColumn[]
  /** Absent counts are not checked. */
  partitionInfo: { rowCount?: number }[]
}

/** The part of a reply that is read. `resultSetMetaData` comes with the first part of a result only. */
interface SnowflakeReply {
  statementHandle: string
  resultSetMetaData?: SnowflakeResultMetadata
  data?: SnowflakeRow[]
}

const STATEMENTS_PATH = '/api/v2/statements'

/**
 * Session parameters of every statement, since there is no session: how texts are made of values that SQL casts,
 * whatever the account prefers, and that a second statement is refused.
 */
const SESSION_PARAMETERS = {
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
const RETRY: RetryPolicy = { ...REPEATABLE, pausesMs: [250, 1000, 3000] }

/** Statements by the SQL API, version 2 (https://docs.snowflake.com/en/developer-guide/sql-api/reference). */
export function makeSnowflakeApi(
  http: RestClient,
  config: SnowflakeConfig,
): StatementApi<SnowflakeStatement> {
  /** By statement, until its last part is read. */
  const results = new Map<string, SnowflakeResultMetadata>()
  const { warehouse, database, schema, role } = config

  function readProgress(status: number, body: unknown): StatementProgress {
    const { statementHandle: id, resultSetMetaData: metadata, data = [] } = body as SnowflakeReply
    if (status === 202 || !metadata) return { id }
    results.set(id, metadata)
    return { id, first: readPart(id, 0, data) }
  }

  function readPart(id: string, part: number, data: readonly SnowflakeRow[]): RowPage {
    const { rowType, partitionInfo: parts } = results.get(id) ?? { rowType: [], partitionInfo: [] }
    const expected = parts[part]?.rowCount ?? data.length
    const isLast = part + 1 >= parts.length
    if (isLast || data.length !== expected) results.delete(id)
    if (data.length !== expected) throw new RestFailure(200, { code: 'INCOMPLETE' })
    return { rows: readRows(rowType, data), ...(!isLast && { next: String(part + 1) }) }
  }

  async function poll(id: string, signal?: AbortSignal): Promise<StatementProgress> {
    const { status, body } = await http.get(statementPath(id), { signal })
    return readProgress(status, body)
  }

  /** Many a statement, of the catalog above all, has ended on the way. What cannot be asked runs on, under its id. */
  async function pollOnce(started: StatementProgress): Promise<StatementProgress> {
    if (started.first) return started
    try {
      return await poll(started.id)
    } catch (error) {
      if (isTransportFailure(error)) return started
      throw error
    }
  }

  return {
    async start({ text, values }, { timeoutMs, maxRows }: StatementLimits) {
      const body = {
        statement: text,
        // Never 0, which is a week.
        timeout: Math.max(1, Math.ceil(timeoutMs / 1000)),
        warehouse,
        database,
        ...(schema !== undefined && { schema }),
        ...(role !== undefined && { role }),
        ...(values.length > 0 && { bindings: bindValues(values) }),
        parameters: {
          ...SESSION_PARAMETERS,
          ...(maxRows !== undefined && { ROWS_PER_RESULTSET: String(Math.max(1, maxRows)) }),
        },
      }
      // A result that was not read to its end stays behind.
      results.clear()
      const query = { requestId: randomUUID(), async: true }
      const reply = await http.send({
        method: 'POST',
        path: STATEMENTS_PATH,
        query,
        body,
        retry: RETRY,
        // Snowflake runs the request once then, even when the first one arrived after all.
        againWith: () => ({ query: { ...query, retry: true } }),
      })
      return pollOnce(readProgress(reply.status, reply.body))
    },
    poll,
    async page(id, next, signal) {
      const { body } = await http.get(statementPath(id), { query: { partition: next }, signal })
      return readPart(id, Number(next), (body as SnowflakeReply).data ?? [])
    },
    async cancel(id) {
      results.delete(id)
      await http.send({ method: 'POST', path: `${statementPath(id)}/cancel`, retry: REPEATABLE })
    },
  }
}

function statementPath(handle: string): string {
  return `${STATEMENTS_PATH}/${encodeURIComponent(handle)}`
}
