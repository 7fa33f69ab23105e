import type { Server } from '@hapi/hapi'
import { ConnectorError } from '../../connectors/errors.ts'
import { parseDuration } from '../../server/durations.ts'
import { hasErrorData } from '../../server/errors.ts'
import type { Checked, CheckRequest } from './api.ts'
import { judge, namedThreshold, type Threshold } from './judge.ts'
import { learnThresholds } from './learn.ts'
import { measure, type Measured, type Reading } from './measure.ts'
import { refOf } from './models.ts'
import { readMoment } from './moments.ts'
import { record, type Finding, type Seen } from './record.ts'
import { loadWatched, plan, type Planned, type Source, type Watched } from './watched.ts'

/**
 * Checks tables of one source: reads the newest timestamps in as few statements as it can, judges them, and
 * records all in one transaction.
 * @param request `onlyClaimed` takes the schedules that the sweep has claimed
 */
export async function checkSource(
  server: Server,
  request: CheckRequest & { onlyClaimed?: true },
): Promise<Checked> {
  const { companyId, sourceId, at } = request
  const { source, watched, now } = await server.db.company(companyId, trx =>
    loadWatched(server, trx, request),
  )
  const loadedAt = performance.now()
  if (watched.length === 0) return { measured: 0, fresh: 0, stale: 0, unknown: 0, failed: [], statements: 0 }
  const planned = watched.map(plan(server, source))
  const { measured, isConnected } = await read(server, source, planned, at ?? now)
  const clock = (reading: Reading) =>
    // What did not change was found to need no reading as of `now`.
    at ?? ('isUnchanged' in reading ? now : new Date(now.getTime() + reading.at - loadedAt))
  const seen = planned.map(item => {
    const refused: Reading | undefined = item.refusal && { error: item.refusal, at: performance.now() }
    const reading = refused ?? measured.readings.get(item.watched.id)
    if (!reading) throw new Error(`Nothing was read of ${item.watched.qualifiedName}`)
    return look(server, source, item, reading, clock(reading))
  })
  const findings = await judgeAll(server, companyId, seen)
  await server.db.company(companyId, async trx => {
    await record(server, trx, sourceId, findings, { isReplay: at !== undefined })
    if (isConnected || measured.failure)
      await server.plugins.catalog.noteConnection(trx, source, measured.failure)
  })
  return summarize(findings, measured.statements)
}

async function read(
  server: Server,
  source: Source,
  planned: readonly Planned[],
  now: Date,
): Promise<{ measured: Measured; isConnected: boolean }> {
  const targets = planned
    .filter(({ refusal }) => !refusal)
    .map(({ watched, column }) => ({
      id: watched.id,
      table: refOf(watched),
      column: column?.name ?? null,
      isStored: watched.kind === 'table',
      isSlow: watched.isSlow,
      unchanged: (staysAsIs(watched, now) && watched.modifiedAt) || undefined,
    }))
  if (targets.length === 0)
    return { measured: { readings: new Map(), statements: 0, failure: null }, isConnected: false }
  const { catalog } = server.plugins
  const timeoutMs = catalog.statementTimeoutMs(source)
  const options = { engine: source.sourceType, timeoutMs }
  try {
    const measured = await catalog.withConnection(
      source,
      connection => measure(connection, catalog.connectorOf(source).dialect, targets, options),
      { timeoutMs },
    )
    return { measured, isConnected: true }
  } catch (thrown) {
    // All sessions of the source are in use, which says nothing of its tables.
    if (hasErrorData(thrown)) throw thrown
    const error = thrown instanceof ConnectorError ? thrown : unexpected(server, source, thrown)
    const reading: Reading = { error, at: performance.now() }
    const readings = new Map(targets.map(({ id }) => [id, reading]))
    return { measured: { readings, statements: 0, failure: error }, isConnected: false }
  }
}

/**
 * Whether a table that did not change would be judged as it was. A verdict that is to change is read for, since some
 * engines tell of a change only minutes after it.
 */
function staysAsIs(watched: Watched, now: Date): boolean {
  const { lastUpdated, lastError, slaStatus } = watched
  return (
    lastError === null &&
    judge(lastUpdated, now, knownThreshold(watched, lastUpdated)).slaStatus === slaStatus
  )
}

/** A fault of ours, such as an engine whose extension is not loaded any more, is an error of every table too. */
function unexpected(server: Server, source: Source, cause: unknown): ConnectorError {
  server.pino.error({ err: cause, source_id: source.id }, 'freshness check failed')
  const message = 'Something unexpected went wrong while reading the source; the log has more.'
  return new ConnectorError({ kind: 'other', engine: source.sourceType, message, cause })
}

/** What one reading shows of a table. */
function look(
  server: Server,
  source: Source,
  { watched, column }: Planned,
  reading: Reading,
  checkedAt: Date,
): Seen {
  const { modifiedAt, isSlow } = watched
  const known = {
    watched,
    timestampColumn: column?.name ?? watched.timestampColumn,
    checkedAt,
    modifiedAt,
    isSlow,
  }
  const failed = (error: ConnectorError): Seen => ({
    ...known,
    isSlow: 'isSlow' in reading,
    error,
    lastUpdated: null,
    isUpdate: false,
  })
  if ('error' in reading) return failed(reading.error)
  if ('isUnchanged' in reading)
    return { ...known, error: null, lastUpdated: watched.lastUpdated, isUpdate: false }
  const lastUpdated = readMoment(reading.value, {
    zone: zoneOf(server, source),
    now: checkedAt,
    isMoment: !column || server.plugins.catalog.connectorOf(source).dialect.isMoment(column.type),
  })
  if (lastUpdated === undefined) {
    const message = `The newest value of ${column?.name ?? 'the table'} is not a date or time: choose another freshness_column.`
    return failed(new ConnectorError({ kind: 'invalid-query', engine: source.sourceType, message }))
  }
  return {
    ...known,
    modifiedAt: reading.modifiedAt ?? null,
    isSlow: reading.isSlow ?? false,
    error: null,
    lastUpdated,
    isUpdate: isNewMaximum(lastUpdated, watched, checkedAt),
  }
}

/** The zone in which timestamps without one were written. */
function zoneOf(server: Server, { config }: Source): string {
  return typeof config.timezone === 'string' ? config.timezone : server.config.timezone
}

/** A newest timestamp later than any before; one from the future counts once, as of the check that saw it. */
function isNewMaximum(lastUpdated: Date | null, watched: Watched, checkedAt: Date): boolean {
  if (!lastUpdated || lastUpdated.getTime() === watched.lastUpdated?.getTime()) return false
  return !watched.lastUpdate || earlier(lastUpdated, checkedAt) > watched.lastUpdate
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b
}

/** Judges what was seen. A learned threshold changes with an update only, so that is when it is learned anew. */
async function judgeAll(server: Server, companyId: string, seen: readonly Seen[]): Promise<Finding[]> {
  const learners = seen.filter(
    ({ watched, error, isUpdate }) =>
      watched.monitoringMode === 'auto_learn' && !error && (isUpdate || watched.learnedSlaSeconds === null),
  )
  const learned = await learnThresholds(
    server,
    companyId,
    learners.map(({ watched, isUpdate, lastUpdated, checkedAt }) => ({
      id: watched.id,
      // An update said to come from the future was there by the time it was seen.
      newUpdate: isUpdate && lastUpdated ? earlier(lastUpdated, checkedAt) : null,
    })),
  )
  return seen.map(item => {
    const { watched, error, lastUpdated, checkedAt } = item
    const threshold = learned.get(watched.id) ?? knownThreshold(watched, lastUpdated)
    return { ...item, judgement: error ? null : judge(lastUpdated, checkedAt, threshold) }
  })
}

function knownThreshold(watched: Watched, lastUpdated: Date | null): Threshold {
  if (watched.monitoringMode === 'auto_learn') {
    return { slaSeconds: watched.learnedSlaSeconds, expectedNext: watched.expectedNext }
  }
  return namedThreshold(parseDuration(watched.slaThreshold ?? '') ?? 0, lastUpdated)
}

function summarize(findings: readonly Finding[], statements: number): Checked {
  const count = (status: string) =>
    findings.filter(({ judgement }) => (judgement?.status ?? 'unknown') === status).length
  const failed = findings.flatMap(({ watched, error }) =>
    error ? [{ asset: watched.qualifiedName, error }] : [],
  )
  return {
    measured: findings.length - failed.length,
    fresh: count('fresh'),
    stale: count('stale'),
    unknown: count('unknown'),
    failed,
    statements,
  }
}
