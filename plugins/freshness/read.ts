import type { Server } from '@hapi/hapi'
import type { CustomSql } from '../../checks/sql/custom-sql.ts'
import { written } from '../../checks/sql/render.ts'
import type { Connection } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { hasErrorData } from '../../server/http/errors.ts'
import { refusedExpressions } from './expression.ts'
import { alertOf, judge, knownThreshold } from './judge.ts'
import { measure, type Measured, type Reading, type Target } from './measure.ts'
import { refOf } from './models.ts'
import type { Planned, Source, Watched } from './watched.ts'

/** What was read of a source's tables. */
export interface Read extends Measured {
  /** Whether a session was opened; not when there was nothing to read. */
  isConnected: boolean
}

/**
 * Reads the tables that can be read, in one session. A source that cannot be reached is the error of each.
 * @param failure why it could not be reached just before: it is not tried again
 * @throws 503 `UNAVAILABLE` while all sessions of the source are in use
 */
export async function read(
  server: Server,
  source: Source,
  planned: readonly Planned[],
  {
    now,
    failure,
    isScheduled,
    signal,
  }: { now: Date; failure: ConnectorError | null; isScheduled: boolean; signal?: AbortSignal },
): Promise<Read> {
  const { catalog } = server.plugins
  const readable = planned.filter(({ refusal }) => !refusal)
  const none = (error: ConnectorError | null): Read => ({
    readings: new Map(
      error ? readable.map(({ watched }) => [watched.id, { error, at: performance.now() }]) : [],
    ),
    statements: 0,
    failure: error,
    isConnected: false,
  })
  if (readable.length === 0 || failure) return none(failure)
  const timeoutMs = catalog.statementTimeoutMs(source)
  const options = { engine: source.sourceType, timeoutMs }
  try {
    const { dialect } = catalog.connectorOf(source)
    const zone = zoneOf(server, source)
    const targets = readable.map(item => targetOf(dialect, item, now, zone))
    const measured = await catalog.withConnection(
      source,
      async connection => {
        const refused = await refuseExpressions(connection, dialect, readable, source.sourceType)
        const allowed = targets.filter(({ id }) => !refused.has(id))
        const { readings, ...more } = await measure(connection, dialect, allowed, options)
        return { ...more, readings: new Map([...readings, ...refused]) }
      },
      { purpose: 'freshness', isScheduled, timeoutMs, signal },
    )
    signal?.throwIfAborted()
    return { ...measured, isConnected: true }
  } catch (thrown) {
    // One that was called off has no news of its source.
    signal?.throwIfAborted()
    // All sessions of the source are in use, which says nothing of its tables.
    if (hasErrorData(thrown)) throw thrown
    return none(thrown instanceof ConnectorError ? thrown : unexpected(server, source, thrown))
  }
}

function targetOf(
  dialect: Dialect,
  { watched, column, expression }: Planned,
  now: Date,
  zone: string,
): Target {
  const value = expression ? written(expression, dialect) : column ? dialect.quote(column.name) : null
  return {
    id: watched.id,
    table: refOf(watched),
    value,
    isStored: watched.kind === 'table',
    isSlow: watched.isSlow,
    isOwnSql: expression !== undefined,
    unchanged: (watched.readZone === zone && staysAsIs(watched, now) && watched.modifiedAt) || undefined,
  }
}

/** The readings of expressions that the engine should not run. */
async function refuseExpressions(
  connection: Connection,
  dialect: Dialect,
  planned: readonly Planned[],
  engine: string,
): Promise<Map<string, Reading>> {
  const expressions = planned.flatMap(({ watched, expression }): [string, CustomSql][] =>
    expression ? [[watched.id, expression]] : [],
  )
  const refused = await refusedExpressions(connection, dialect, new Map(expressions))
  return new Map(
    [...refused].map(([id, message]) => [
      id,
      { error: new ConnectorError({ kind: 'invalid-query', engine, message }), at: performance.now() },
    ]),
  )
}

/**
 * Whether a table that did not change would be judged as it was. Some engines tell of a change only minutes after it:
 * so a verdict that is to change is read for, and where a value was newer than the change that was told, it is not
 * trusted again before a change is told. Else what is learned would be learned from what was spared.
 */
function staysAsIs(watched: Watched, now: Date): boolean {
  const { lastUpdated, lastError, modifiedAt, slaStatus, alertSeverity } = watched
  if (lastError !== null || !lastUpdated || !modifiedAt || lastUpdated > modifiedAt) return false
  const judgement = judge(lastUpdated, now, knownThreshold(watched, lastUpdated))
  // A learned deadline warns without another verdict.
  return judgement.slaStatus === slaStatus && alertOf(judgement, watched, now) === alertSeverity
}

/** A fault of ours, such as an engine whose extension is not loaded any more, is an error of every table too. */
function unexpected(server: Server, source: Source, cause: unknown): ConnectorError {
  server.pino.error({ err: cause, source_id: source.id }, 'freshness check failed')
  const message = 'Something unexpected went wrong while reading the source; the log has more.'
  return new ConnectorError({ kind: 'other', engine: source.sourceType, message, cause })
}

/** The zone in which timestamps without one were written. */
export function zoneOf(server: Server, { config }: Source): string {
  return typeof config.timezone === 'string' ? config.timezone : server.config.timezone
}
