import type { Server } from '@hapi/hapi'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Checked, CheckRequest } from './api.ts'
import { judge, knownThreshold } from './judge.ts'
import { learnThresholds } from './learn.ts'
import type { Reading } from './measure.ts'
import { readMoment } from './moments.ts'
import { read, zoneOf } from './read.ts'
import { record, type Finding, type Seen } from './record.ts'
import { loadWatched, plan, type Planned, type Slots, type Source, type Watched } from './watched.ts'

/** Tables that are read, held in memory and recorded at once. */
const PART = 5_000

/**
 * Checks tables of one source: reads the newest timestamps in as few statements as it can, judges them, and
 * records them, some thousand tables in a transaction.
 * @param request `claimed` takes what a sweep has claimed for one job and is not recorded yet
 * @throws 404 `ASSET_NOT_FOUND` when the source was removed
 */
export async function checkSource(
  server: Server,
  request: CheckRequest & { claimed?: Slots },
): Promise<Checked> {
  let total: Checked = { measured: 0, fresh: 0, stale: 0, unknown: 0, failed: [], statements: 0 }
  let failure: ConnectorError | null = null
  for (let after: string | null = null; ;) {
    const part: Part = await server.db.company(request.companyId, trx =>
      loadWatched(server, trx, request, { after, limit: PART }),
    )
    // Whoever replays the past switches the source off, so that no sweep mixes in.
    if (!part.source.isActive && request.at === undefined)
      throw server.plugins.catalog.switchedOff(part.source)
    const last: Watched | undefined = part.watched.at(-1)
    if (!last) return total
    const checked = await checkPart(server, request, part, failure)
    total = sum(total, checked)
    failure = checked.failure
    if (part.watched.length < PART) return total
    after = last.id
  }
}

type Part = Awaited<ReturnType<typeof loadWatched>>

async function checkPart(
  server: Server,
  { companyId, sourceId, at, signal, claimed }: CheckRequest & { claimed?: Slots },
  { source, watched, now }: Part,
  failure: ConnectorError | null,
): Promise<Checked & { failure: ConnectorError | null }> {
  const loadedAt = performance.now()
  const planned: Planned[] = []
  for (const each of watched) planned.push(await plan(server, source, each))
  const found = await read(server, source, planned, {
    now: at ?? now,
    failure,
    isScheduled: claimed !== undefined,
    signal,
  })
  const clock = (reading: Reading) =>
    // What did not change was found to need no reading as of `now`.
    at ?? ('isUnchanged' in reading ? now : new Date(now.getTime() + reading.at - loadedAt))
  const seen = planned.map(item => {
    const refused: Reading | undefined = item.refusal && { error: item.refusal, at: performance.now() }
    const reading = refused ?? found.readings.get(item.watched.id)
    if (!reading) throw new Error(`Nothing was read of ${item.watched.qualifiedName}`)
    return look(server, source, item, reading, clock(reading))
  })
  const findings = await judgeAll(server, companyId, seen)
  await server.db.company(companyId, async trx => {
    await record(server, trx, sourceId, findings, { isReplay: at !== undefined })
    if (found.isConnected || found.failure)
      await server.plugins.catalog.noteConnection(trx, source, found.failure)
  })
  return { ...summarize(findings, found.statements), failure: found.failure }
}

function sum(a: Checked, b: Checked): Checked {
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

/** What one reading shows of a table. */
function look(
  server: Server,
  source: Source,
  { watched, column, expression }: Planned,
  reading: Reading,
  checkedAt: Date,
): Seen {
  const { modifiedAt, isSlow } = watched
  const zone = zoneOf(server, source)
  const known = {
    watched,
    timestampColumn: column?.name ?? watched.timestampColumn,
    checkedAt,
    modifiedAt,
    isSlow,
    zone,
  }
  const failed = (error: ConnectorError): Seen => ({
    ...known,
    // It may have failed before its turn.
    isSlow: isSlow || 'isSlow' in reading,
    error,
    lastUpdated: null,
    isUpdate: false,
  })
  if ('error' in reading) return failed(reading.error)
  if ('isUnchanged' in reading)
    return { ...known, error: null, lastUpdated: watched.lastUpdated, isUpdate: false }
  const { dialect } = server.plugins.catalog.connectorOf(source)
  const lastUpdated = readMoment(reading.value, {
    // Of an expression nobody knows whether its type names a zone.
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
    ...known,
    modifiedAt: reading.modifiedAt ?? null,
    isSlow: reading.isSlow ?? false,
    error: null,
    lastUpdated,
    isUpdate: isNewMaximum(lastUpdated, watched, checkedAt),
  }
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
