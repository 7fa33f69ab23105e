import { ConnectorError } from '../../../connectors/errors.ts'
import type { Database } from '../../../server/database/database.ts'
import { parseDuration } from '../../../server/settings/durations.ts'
import type { Source } from '../../catalog/api.ts'
import { zoneOf } from '../../checks/kit.ts'
import type { SourceCheckResult, SourceCheckRequest } from '../api.ts'
import type { FreshnessDeps } from '../deps.ts'
import { judgeAge, knownThreshold } from './judge.ts'
import { learnThresholds } from './learn.ts'
import type { TableReading } from './measure.ts'
import { readMoment } from './moments.ts'
import { readSource } from './read.ts'
import { recordObservations, type JudgedObservation, type Observation, type RecordDeps } from './record.ts'
import { loadWatched, planReading, type PlannedReading, type WatchedTable } from './watched.ts'

const TABLES_PER_TRANSACTION = 5_000

type CheckSourceDeps = FreshnessDeps & RecordDeps

/**
 * Checks tables of one source, as `server.plugins.freshness.checkSource` does: reads the newest timestamps in as few
 * statements as possible, judges and stores them, some thousand tables per transaction.
 */
export async function checkSource(
  deps: CheckSourceDeps,
  request: SourceCheckRequest,
): Promise<SourceCheckResult> {
  const { db, catalog } = deps
  let total: SourceCheckResult = { measured: 0, fresh: 0, stale: 0, unknown: 0, failed: [], statements: 0 }
  let failure: ConnectorError | null = null
  for (let after: string | null = null; ;) {
    const part: WatchedBatch = await db.company(request.companyId, trx =>
      loadWatched(catalog, trx, request, { after, limit: TABLES_PER_TRANSACTION }),
    )
    // A replay of the past deactivates the source first, so that no sweep interferes.
    if (!part.source.isActive && request.at === undefined) throw catalog.sourceInactive(part.source)
    const last: WatchedTable | undefined = part.watched.at(-1)
    if (!last) return total
    const checked = await checkBatch(deps, request, part, failure)
    total = addResults(total, checked)
    failure = checked.failure
    if (part.watched.length < TABLES_PER_TRANSACTION) return total
    after = last.id
  }
}

type WatchedBatch = Awaited<ReturnType<typeof loadWatched>>

async function checkBatch(
  deps: CheckSourceDeps,
  { companyId, sourceId, at, signal, slotWaitMs, claimed }: SourceCheckRequest,
  { source, watched, now }: WatchedBatch,
  failure: ConnectorError | null,
): Promise<SourceCheckResult & { failure: ConnectorError | null }> {
  const loadedAt = performance.now()
  const planned: PlannedReading[] = []
  for (const each of watched) planned.push(await planReading(deps, source, each))
  const read = await readSource(deps, source, planned, {
    now: at ?? now,
    failure,
    isScheduled: claimed !== undefined,
    signal,
    slotWaitMs,
  })
  const clock = (reading: TableReading) =>
    // An unchanged table was found unchanged at `now`.
    at ?? ('isUnchanged' in reading ? now : new Date(now.getTime() + reading.at - loadedAt))
  const seen = planned.map(item => {
    const refused: TableReading | undefined = item.refusal && { error: item.refusal, at: performance.now() }
    const reading = refused ?? read.readings.get(item.watched.id)
    if (!reading) throw new Error(`There is no reading of ${item.watched.qualifiedName}`)
    return observe(deps, source, item, reading, clock(reading))
  })
  const findings = await judgeAll(deps.db, companyId, seen)
  await deps.db.company(companyId, async trx => {
    await recordObservations(deps, trx, sourceId, findings, { isReplay: at !== undefined })
    if (read.isConnected || read.failure) await deps.catalog.recordConnectionStatus(trx, source, read.failure)
  })
  return { ...resultOf(findings, read.statements), failure: read.failure }
}

function addResults(a: SourceCheckResult, b: SourceCheckResult): SourceCheckResult {
  return {
    measured: a.measured + b.measured,
    fresh: a.fresh + b.fresh,
    stale: a.stale + b.stale,
    unknown: a.unknown + b.unknown,
    failed: [...a.failed, ...b.failed],
    statements: a.statements + b.statements,
  }
}

const EXPRESSION = 'freshness_expression'

/** Turns a reading into an observation of the table. */
export function observe(
  deps: Pick<FreshnessDeps, 'catalog' | 'config'>,
  source: Source,
  { watched, column, expression }: PlannedReading,
  reading: TableReading,
  checkedAt: Date,
): Observation {
  const { modifiedAt } = watched
  const zone = zoneOf(source, deps.config.timezone)
  const common = {
    watched,
    timestampColumn: column?.name ?? watched.timestampColumn,
    checkedAt,
    modifiedAt,
    isSlow: watched.isSlow ?? false,
    zone,
    isDay: column?.kind === 'date',
  }
  const failed = (error: ConnectorError): Observation => ({
    ...common,
    // The statement may have failed before this table.
    isSlow: common.isSlow || 'isSlow' in reading,
    error,
    lastUpdated: null,
    isUpdate: false,
  })
  if ('error' in reading) return failed(reading.error)
  if ('isUnchanged' in reading)
    return { ...common, error: null, lastUpdated: watched.lastUpdated, isUpdate: false }
  const { dialect } = deps.catalog.connectorOf(source)
  const lastUpdated = readMoment(reading.value, {
    // Engines do not report whether the result of an expression has a time zone.
    zone: expression ? 'utc' : zone,
    now: checkedAt,
    isMoment: !column || dialect.isInstant(column),
  })
  if (lastUpdated === undefined) {
    const [what, field] = expression ? [EXPRESSION, EXPRESSION] : [column?.name, 'freshness_column']
    const message = `The newest value of ${what ?? 'the table'} is not a date or time: choose another ${field}.`
    return failed(new ConnectorError({ kind: 'invalid-query', engine: source.sourceType, message }))
  }
  return {
    ...common,
    modifiedAt: reading.modifiedAt ?? null,
    isSlow: reading.isSlow ?? false,
    error: null,
    lastUpdated,
    isUpdate: isNewUpdate(lastUpdated, watched, checkedAt),
  }
}

/** Whether the newest timestamp is later than any before. A future one counts once, as of the check that saw it. */
function isNewUpdate(lastUpdated: Date | null, watched: WatchedTable, checkedAt: Date): boolean {
  if (!lastUpdated || lastUpdated.getTime() === watched.lastUpdated?.getTime()) return false
  return !watched.lastUpdate || earlier(lastUpdated, checkedAt) > watched.lastUpdate
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b
}

/** Judges observations. A learned threshold changes only with an update, so it is learned again only then. */
async function judgeAll(db: Database, companyId: string, seen: readonly Observation[]) {
  const learners = seen.filter(
    ({ watched, error, isUpdate }) =>
      watched.monitoringMode === 'auto_learn' && !error && (isUpdate || watched.learnedSlaSeconds === null),
  )
  const learned = await learnThresholds(
    db,
    companyId,
    learners.map(({ watched, isUpdate, lastUpdated, checkedAt, isDay }) => ({
      id: watched.id,
      // An update with a future timestamp existed when it was seen.
      newUpdate: isUpdate && lastUpdated ? earlier(lastUpdated, checkedAt) : null,
      newAgeSeconds: lastUpdated ? Math.max(0, (checkedAt.getTime() - lastUpdated.getTime()) / 1000) : 0,
      intervalSeconds: parseDuration(watched.checkInterval) ?? 0,
      isDay,
    })),
  )
  return seen.map(item => {
    const { watched, error, lastUpdated, checkedAt } = item
    const { updates, ...threshold } = learned.get(watched.id) ?? {
      updates: watched.updatesSeen,
      ...knownThreshold(watched, lastUpdated),
    }
    const judgement = error ? null : judgeAge(lastUpdated, checkedAt, threshold)
    return { ...item, updatesSeen: updates, judgement }
  })
}

function resultOf(findings: readonly JudgedObservation[], statements: number): SourceCheckResult {
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
