import type { Server } from '@hapi/hapi'
import type { ColumnInfo } from '../../connectors/catalog.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { rows, type Transaction } from '../../server/database.ts'
import { hasErrorData } from '../../server/errors.ts'
import type { Checked, CheckRequest } from './api.ts'
import { detectColumn, hiddenColumns } from './columns.ts'
import { parseDuration } from './durations.ts'
import { judge, namedThreshold, type Threshold } from './judge.ts'
import { learnThresholds } from './learn.ts'
import { measure, type Measured, type Reading } from './measure.ts'
import { readMoment } from './moments.ts'
import { refOf, type MonitoredTable } from './models.ts'
import { record, type Finding, type Seen } from './record.ts'

/** A schedule as a check needs it. */
export interface Watched extends Pick<
  MonitoredTable,
  | 'id'
  | 'tableId'
  | 'timestampColumn'
  | 'monitoringMode'
  | 'slaThreshold'
  | 'learnedSlaSeconds'
  | 'expectedNext'
  | 'alertSeverity'
  | 'lastUpdated'
> {
  catalogName: string
  schemaName: string
  tableName: string
  qualifiedName: string
  kind: string
  tags: string[]
  columnTags: Record<string, string[]>
  /** Of the source itself. */
  sourceTags: string[]
  isKnown: boolean
  /** The timestamp column; all columns while none is chosen. */
  columns: ColumnInfo[] | null
  /** The last update seen. */
  lastUpdate: Date | null
}

/** A watched table with the column that its freshness is read from, or why it cannot be read. */
interface Planned {
  watched: Watched
  column: ColumnInfo | undefined
  refusal: ConnectorError | undefined
}

type Source = Awaited<ReturnType<Server['plugins']['catalog']['findAsset']>>['source']

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
  const { source, watched, now } = await server.db.company(companyId, trx => load(server, trx, request))
  const loadedAt = performance.now()
  if (watched.length === 0) return { measured: 0, fresh: 0, stale: 0, unknown: 0, failed: [], statements: 0 }
  const planned = watched.map(plan(server, source))
  const { measured, isConnected } = await read(server, source, planned)
  const zone = typeof source.config.timezone === 'string' ? source.config.timezone : server.config.timezone
  const clock = (reading: Reading) => at ?? new Date(now.getTime() + reading.at - loadedAt)
  const seen = planned.map(item => {
    const refused: Reading | undefined = item.refusal && { error: item.refusal, at: performance.now() }
    const reading = refused ?? measured.readings.get(item.watched.id)
    if (!reading) throw new Error(`Nothing was read of ${item.watched.qualifiedName}`)
    return look(item, reading, clock(reading), zone, source)
  })
  const findings = await judgeAll(server, companyId, seen)
  await server.db.company(companyId, async trx => {
    await record(server, trx, sourceId, findings)
    if (isConnected || measured.failure)
      await server.plugins.catalog.noteConnection(trx, source, measured.failure)
  })
  return summarize(findings, measured.statements)
}

async function load(
  server: Server,
  trx: Transaction,
  { companyId, sourceId, scheduleIds, onlyClaimed }: CheckRequest & { onlyClaimed?: true },
): Promise<{ source: Source; watched: Watched[]; now: Date }> {
  const { source } = await server.plugins.catalog.findAsset(trx, sourceId)
  const which = scheduleIds
    ? 'and f.id = any(cast(:ids as uuid[]))'
    : `and f.is_active${onlyClaimed ? ' and f.claimed_at is not null' : ''}`
  const watched = await rows<Watched>(
    trx,
    `select f.id, f.table_id, f.timestamp_column, f.monitoring_mode, f.sla_threshold, f.learned_sla_seconds,
       f.expected_next, f.alert_severity, f.last_updated,
       t.catalog_name, t.schema_name, t.name as table_name, t.qualified_name, t.kind, t.tags, t.column_tags,
       s.tags as source_tags, t.is_active as is_known,
       case when f.timestamp_column is null then t.columns else
         (select jsonb_agg(c) from jsonb_array_elements(t.columns) c where c ->> 'name' = f.timestamp_column)
       end as columns,
       (select least(c.last_updated, c.checked_at) from freshness_checks c
         where c.company_id = f.company_id and c.schedule_id = f.id and c.is_update
         order by c.checked_at desc, c.id desc limit 1) as last_update
     from freshness_schedules f join tables t on t.id = f.table_id join sources s on s.id = f.source_id
     where f.company_id = :companyId and f.source_id = :sourceId ${which}
     order by t.qualified_name`,
    { companyId, sourceId, ids: scheduleIds ?? [] },
  )
  const [clock] = await rows<{ now: Date }>(trx, 'select clock_timestamp() as now')
  return { source, watched, now: clock?.now ?? new Date() }
}

/** Settles against the catalog what can be known without asking the database. */
function plan(server: Server, source: Source): (watched: Watched) => Planned {
  const gone = (message: string) =>
    new ConnectorError({ kind: 'missing-object', engine: source.sourceType, message })
  return watched => {
    const columns = watched.columns ?? []
    const hidden = hiddenColumns(server, { columns, columnTags: watched.columnTags })
    const column = watched.timestampColumn === null ? detectColumn(columns, hidden) : columns[0]
    const refusal = !watched.isKnown
      ? gone('The table was no longer there at the last discovery: discover again, or delete the schedule.')
      : watched.timestampColumn !== null && !column
        ? gone(
            `The table has no column ${watched.timestampColumn} any more: choose another freshness_column.`,
          )
        : column && hidden.has(column.name)
          ? new ConnectorError({
              kind: 'permission',
              engine: source.sourceType,
              message: `${column.name} is tagged as personal data, and its newest value would be shown: choose another freshness_column, or take the tag off.`,
            })
          : column && source.queryAccessLevel === 'schema_only'
            ? new ConnectorError({
                kind: 'permission',
                engine: source.sourceType,
                message: `The query_access_level of ${source.name} is schema_only: the newest ${column.name} needs aggregates or full.`,
              })
            : undefined
    return { watched, column, refusal }
  }
}

async function read(
  server: Server,
  source: Source,
  planned: readonly Planned[],
): Promise<{ measured: Measured; isConnected: boolean }> {
  const targets = planned
    .filter(({ refusal }) => !refusal)
    .map(({ watched, column }) => ({ id: watched.id, table: refOf(watched), column: column?.name ?? null }))
  if (targets.length === 0)
    return { measured: { readings: new Map(), statements: 0, failure: null }, isConnected: false }
  const { catalog } = server.plugins
  const timeoutMs = catalog.statementTimeoutMs(source)
  try {
    const measured = await catalog.withConnection(
      source,
      connection => measure(connection, catalog.connectorOf(source).dialect, targets, { timeoutMs }),
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

/** A fault of ours, such as an engine whose extension is not loaded any more, is an error of every table too. */
function unexpected(server: Server, source: Source, cause: unknown): ConnectorError {
  server.pino.error({ err: cause, source_id: source.id }, 'freshness check failed')
  const message = 'Something unexpected went wrong while reading the source; the log has more.'
  return new ConnectorError({ kind: 'other', engine: source.sourceType, message, cause })
}

/** What one reading shows of a table. */
function look(
  { watched, column }: Planned,
  reading: Reading,
  checkedAt: Date,
  zone: string,
  source: Source,
): Seen {
  const known = { watched, timestampColumn: column?.name ?? watched.timestampColumn, checkedAt }
  const failed = (error: ConnectorError): Seen => ({ ...known, error, lastUpdated: null, isUpdate: false })
  if ('error' in reading) return failed(reading.error)
  const lastUpdated = readMoment(reading.value, column ? zone : 'utc', column?.type)
  if (lastUpdated === undefined) {
    const message = `The newest value of ${column?.name ?? 'the table'} is not a date or time: choose another freshness_column.`
    return failed(new ConnectorError({ kind: 'invalid-query', engine: source.sourceType, message }))
  }
  return { ...known, error: null, lastUpdated, isUpdate: isNewMaximum(lastUpdated, watched, checkedAt) }
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
