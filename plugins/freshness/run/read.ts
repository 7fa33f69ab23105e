import type { CustomSql } from '../../../checks/sql/custom-sql.ts'
import { renderCustomSql } from '../../../checks/sql/render.ts'
import type { Connection } from '../../../connectors/connector.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { raw } from '../../../connectors/sql.ts'
import { hasCode, hasErrorData } from '../../../server/http/errors.ts'
import type { Source } from '../../catalog/api.ts'
import { zoneOf } from '../../checks/kit.ts'
import type { SourceCheckRequest } from '../api.ts'
import type { FreshnessDeps } from '../deps.ts'
import { findVolatileExpressions } from '../schedules/expression.ts'
import { hasModificationTime } from '../schedules/signals.ts'
import { alertSeverityOf, judgeAge, knownThreshold } from './judge.ts'
import { readNewest, type MeasureResult, type TableReading, type MeasureTarget } from './measure.ts'
import { slaStatusOf, tableRefOf } from '../models.ts'
import type { PlannedReading, WatchedTable } from './watched.ts'

/** The readings of a source's tables. */
export interface SourceReadings extends MeasureResult {
  /** Whether a session was opened; false if there was nothing to read. */
  isConnected: boolean
}

/**
 * Reads the readable tables in one session. If the source cannot be reached, each table has that error.
 * @param failure the error of an attempt just before; the source is not tried again
 * @throws 503 `UNAVAILABLE` while all sessions of the source are in use
 */
export async function readSource(
  deps: Pick<FreshnessDeps, 'catalog' | 'config' | 'pino'>,
  source: Source,
  planned: readonly PlannedReading[],
  {
    now,
    failure,
    isScheduled,
    ...waiting
  }: { now: Date; failure: ConnectorError | null; isScheduled: boolean } & Pick<
    SourceCheckRequest,
    'signal' | 'slotWaitMs'
  >,
): Promise<SourceReadings> {
  const { catalog } = deps
  const readable = planned.filter(({ refusal }) => !refusal)
  const none = (error: ConnectorError | null): SourceReadings => ({
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
    const zone = zoneOf(source, deps.config.timezone)
    const targets = readable.map(item => ({
      ...targetOf(dialect, item, now, zone),
      isStored: hasModificationTime(catalog, source, { kind: item.watched.tableKind }),
    }))
    const measured = await catalog.withConnection(
      source,
      async connection => {
        const refused = await refuseExpressions(connection, dialect, readable, source.sourceType)
        const allowed = targets.filter(({ id }) => !refused.has(id))
        const { readings, ...more } = await readNewest(connection, dialect, allowed, options)
        return { ...more, readings: new Map([...readings, ...refused]) }
      },
      { purpose: 'freshness', isScheduled, timeoutMs, ...waiting },
    )
    waiting.signal?.throwIfAborted()
    return { ...measured, isConnected: true }
  } catch (thrown) {
    // An aborted check says nothing about its source.
    waiting.signal?.throwIfAborted()
    // All sessions are in use, which says nothing about the tables.
    if (hasErrorData(thrown) && !hasCode(thrown, 'CONFLICT')) throw thrown
    return none(thrown instanceof ConnectorError ? thrown : otherError(deps, source, thrown))
  }
}

function targetOf(
  dialect: Dialect,
  { watched, column, expression }: PlannedReading,
  now: Date,
  zone: string,
): Omit<MeasureTarget, 'isStored'> {
  const value = expression
    ? renderCustomSql(expression, dialect, raw('null'))
    : column
      ? dialect.quote(column.name)
      : null
  return {
    id: watched.id,
    table: tableRefOf(watched),
    value,
    isSlow: watched.isSlow ?? false,
    unchanged: (watched.readZone === zone && keepsVerdict(watched, now) && watched.modifiedAt) || undefined,
  }
}

/** Error readings of expressions that the engine must not run. */
async function refuseExpressions(
  connection: Connection,
  dialect: Dialect,
  planned: readonly PlannedReading[],
  engine: string,
): Promise<Map<string, TableReading>> {
  const expressions = planned.flatMap(({ watched, expression }): [string, CustomSql][] =>
    expression ? [[watched.id, expression]] : [],
  )
  const refused = await findVolatileExpressions(connection, dialect, new Map(expressions))
  return new Map(
    [...refused].map(([id, message]) => [
      id,
      { error: new ConnectorError({ kind: 'invalid-query', engine, message }), at: performance.now() },
    ]),
  )
}

/**
 * Whether the verdict on a table stays the same if the table did not change. Some engines report changes minutes late, so
 * the column is read whenever the verdict would change, and modification times are not trusted while they are older than
 * the newest value. Otherwise thresholds would be learned from skipped readings.
 */
function keepsVerdict(watched: WatchedTable, now: Date): boolean {
  const { lastUpdated, modifiedAt, status, alertSeverity } = watched
  if (status === 'error' || !lastUpdated || !modifiedAt || lastUpdated > modifiedAt) return false
  const judgement = judgeAge(lastUpdated, now, knownThreshold(watched, lastUpdated))
  // A learned threshold can warn without a change of the status.
  return (
    judgement.slaStatus === slaStatusOf(status) && alertSeverityOf(judgement, watched, now) === alertSeverity
  )
}

/** An engine that no extension provides any more, or an internal error, is the error of every table. */
function otherError(
  { pino }: Pick<FreshnessDeps, 'pino'>,
  { id, sourceType: engine }: Source,
  cause: unknown,
): ConnectorError {
  if (hasErrorData(cause))
    return new ConnectorError({ kind: 'driver-missing', engine, message: cause.message })
  pino.error({ err: cause, source_id: id }, 'freshness check failed')
  const message = 'An unexpected error occurred while reading the source; see the log.'
  return new ConnectorError({ kind: 'other', engine, message, cause })
}
