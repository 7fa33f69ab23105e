/** The bytes that a statement of a source may read, as `max_bytes_per_statement` of the source limits them. */
import { withoutUserSql, type Sql } from '../../../connectors/sql.ts'
import type { Connection, Connector, CostEstimate, QueryOptions } from '../../../connectors/connector.ts'
import { ConnectorError, OVER_BYTE_LIMIT } from '../../../connectors/errors.ts'
import { invalidField } from '../../../server/http/errors.ts'
import { formatBytes } from '../../../server/bytes.ts'
import type { Source } from '../models.ts'

/** Errors of an estimate that the statement itself raises, and says better. */
const STATEMENT_ERROR_KINDS: ReadonlySet<string> = new Set(['invalid-query', 'missing-object', 'permission'])

/** Bytes that a statement of a source may read at most; null for no limit. */
export function maxBytesPerStatement({ maxBytesPerStatement: limit }: Source): number | null {
  return limit === null ? null : Number(limit)
}

/** @throws 400 `VALIDATION_ERROR` for a limit at an engine that neither estimates bytes nor limits them itself */
export function requireByteLimit(
  { label, capabilities }: Pick<Connector, 'label' | 'capabilities'>,
  { max_bytes_per_statement: limit }: { max_bytes_per_statement?: number | null },
): void {
  if (limit == null || capabilities.byteLimit || capabilities.costEstimates) return
  throw invalidField(
    'max_bytes_per_statement',
    `cannot be kept: ${label} does not estimate what it would read`,
  )
}

/**
 * A session that runs no statement which would read more bytes than its source allows. Each is estimated first, without
 * SQL of users where the engine would plan it; one of which the engine does not know the bytes runs.
 * Every feature gets its sessions through here, so that none can read past the limit.
 */
export function limitBytes(
  connection: Connection,
  { engine, maxBytes }: { engine: string; maxBytes: number },
): Connection {
  const { estimateCost: estimateOnEngine } = connection
  if (!estimateOnEngine) return connection
  const estimates = new Map<string, Promise<CostEstimate>>()

  /** Equal statements are estimated once: a dry run asks before it measures. */
  function estimateCost(statement: Sql, options: Omit<QueryOptions, 'maxRows'>): Promise<CostEstimate> {
    const { key } = withoutUserSql(statement)
    const estimate = estimates.get(key) ?? estimateOnEngine!(statement, options)
    estimates.set(key, estimate)
    return estimate
  }

  async function bytesOf(statement: Sql, options: QueryOptions): Promise<number | null> {
    try {
      const { timeoutMs, signal } = options
      return (await estimateCost(statement, { timeoutMs, signal })).bytes
    } catch (error) {
      if (error instanceof ConnectorError && STATEMENT_ERROR_KINDS.has(error.kind)) return null
      throw error
    }
  }

  return {
    ...connection,
    estimateCost,
    async query(statement, options) {
      const bytes = await bytesOf(statement, options)
      if (bytes !== null && bytes > maxBytes) throw overLimitError(engine, bytes, maxBytes)
      return connection.query(statement, options)
    },
  }
}

function overLimitError(engine: string, bytes: number, maxBytes: number): ConnectorError {
  const [found, allowed] = [formatBytes(bytes), formatBytes(maxBytes)]
  const message = `The statement would read about ${found}, and max_bytes_per_statement of the source allows ${allowed}; it was not run: read less of the table with a window, or raise the limit.`
  return new ConnectorError({ kind: 'invalid-query', code: OVER_BYTE_LIMIT, engine, message })
}
