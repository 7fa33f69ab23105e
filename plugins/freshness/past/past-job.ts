/** Reads the past of schedules that have none: when their tables were updated before they were watched. */
import Joi from 'joi'
import { TEMPORAL_KINDS } from '../../../connectors/catalog.ts'
import type { Connection } from '../../../connectors/connector.ts'
import { CHECK_ERROR_KINDS, ConnectorError } from '../../../connectors/errors.ts'
import { rows, companyOf, type Transaction } from '../../../server/database/database.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { SESSION_WAIT_MS, type Job } from '../../../server/jobs/jobs.ts'
import { runKind, workRun } from '../../../server/jobs/run-job.ts'
import { parseDuration } from '../../../server/settings/durations.ts'
import type { CatalogApi, Source, Table } from '../../catalog/api.ts'
import { zoneOf } from '../../checks/kit.ts'
import type { FreshnessApi } from '../api.ts'
import type { FreshnessDeps } from '../deps.ts'
import { Schedule } from '../models.ts'
import { updatesOf } from '../run/learn.ts'
import { hiddenColumns } from '../schedules/columns.ts'
import { judgePast, type JudgedPast } from './judge-past.ts'
import { pastGrid, readPastUpdates } from './read-updates.ts'
import { storePasts, type StoredPast } from './store-past.ts'

const id = Joi.string().guid().required()

interface PastJobData {
  company_id: string
  source_id: string
}

/** Tables of one job; for more it sends itself again, so that other jobs have their turn. */
const TABLES_PER_JOB = 200
/** Statements start within this many statement timeouts of one job. */
const MAX_TIMEOUTS = 10
const EXPIRE_SECONDS = 7_500

/** One job of a source, one statement a table. */
export const pastJob = runKind<PastJobData>({
  name: 'freshness.past',
  data: { source_id: id },
  expireSeconds: EXPIRE_SECONDS,
})

type PastDeps = Pick<FreshnessDeps, 'catalog' | 'config' | 'db' | 'jobs'>

/** The job that reads the past of the schedules of a source, and checks those that learned from it. */
export function makePastJob(deps: PastDeps, { checkSource }: Pick<FreshnessApi, 'checkSource'>): Job {
  const { catalog, db, jobs } = deps
  const job = workRun(pastJob, {
    async work({ company_id: companyId, source_id: sourceId }, { signal }) {
      const pending = await db.company(companyId, trx => loadPending(catalog, trx, sourceId))
      if (!pending || !pending.source.isActive || pending.schedules.length === 0) return { tables: 0 }
      const pasts = await readPasts(deps, pending, signal)
      const learned = await db.company(companyId, async trx => {
        await catalog.lockSource(trx, sourceId)
        const ids = await storePasts(trx, pasts)
        if (pending.schedules.length === TABLES_PER_JOB || pasts.length < pending.schedules.length)
          await jobs.send(pastJob, { company_id: companyId, source_id: sourceId }, { trx, group: companyId })
        return ids
      })
      if (learned.length > 0)
        await checkSource({ companyId, sourceId, scheduleIds: learned, signal, slotWaitMs: SESSION_WAIT_MS })
      return { tables: pasts.length, learned: learned.length }
    },
    fail: (trx, { source_id: sourceId }, error) => giveUp(catalog, trx, sourceId, error),
    isFinal: error =>
      hasErrorData(error) || (error instanceof ConnectorError && CHECK_ERROR_KINDS.has(error.kind)),
  })
  return job as Job
}

/** A schedule whose past was not read, with what its checks found. */
interface PendingSchedule {
  id: string
  uuid: string
  tableId: string
  checkInterval: string
  column: string | null
  newest: Date
  readAt: Date
  oldest: Date
}

interface PendingSchedules {
  source: Source
  schedules: PendingSchedule[]
  tables: Map<string, Table>
  windowColumns: Map<string, string>
}

/** Schedules with a column whose last check found a value; undefined if the source is gone. */
async function loadPending(
  catalog: CatalogApi,
  trx: Transaction,
  sourceId: string,
): Promise<PendingSchedules | undefined> {
  const schedules = await rows<PendingSchedule>(
    trx,
    `select c.id, c.uuid, c.table_id, c.check_interval, c.settings ->> 'timestampColumn' as "column",
       cast(c.settings ->> 'lastUpdated' as timestamptz) as newest, c.last_checked_at as read_at, u.oldest
     from checks c cross join lateral (
       select min(found.at - make_interval(secs => found.value)) as oldest from (${updatesOf('c')}) found) u
     where c.company_id = :companyId and c.source_id = :sourceId and ${LACKS_PAST} and u.oldest is not null
     order by c.id limit :limit`,
    { companyId: companyOf(trx), sourceId, limit: TABLES_PER_JOB },
  )
  const [first] = schedules
  if (!first) return undefined
  const ids = schedules.map(({ tableId }) => tableId)
  const { source } = await catalog.findAsset(trx, sourceId)
  const tables = await catalog.loadTables(trx, ids)
  const windows = await catalog.automaticWindows(trx, ids)
  return {
    source,
    schedules,
    tables: new Map(tables.map(table => [table.id, table])),
    windowColumns: new Map([...windows].map(([table, { time_column: column }]) => [table, column])),
  }
}

/** Checks that read a column and whose past was not read, in SQL. */
const LACKS_PAST = `c.kind = 'freshness' and c.is_active and c.settings ->> 'pastReadAt' is null
  and c.settings ->> 'timestampColumn' is not null and c.settings ->> 'lastUpdated' is not null`

/** Reads the past of each schedule in one session. Those for which no time is left are missing. */
async function readPasts(
  { catalog, config }: Pick<PastDeps, 'catalog' | 'config'>,
  { source, schedules, tables, windowColumns }: PendingSchedules,
  signal: AbortSignal,
): Promise<StoredPast[]> {
  const timeoutMs = catalog.statementTimeoutMs(source)
  const zone = zoneOf(source, config.timezone)
  return catalog.withConnection(
    source,
    async connection => {
      const until = performance.now() + MAX_TIMEOUTS * timeoutMs
      const pasts: StoredPast[] = []
      for (const schedule of schedules) {
        signal.throwIfAborted()
        if (pasts.length > 0 && performance.now() > until) break
        const table = tables.get(schedule.tableId)
        const windowColumn = windowColumns.get(schedule.tableId) ?? null
        const past = table
          ? await readPast(catalog, connection, {
              source,
              schedule,
              table,
              windowColumn,
              zone,
              timeoutMs,
              signal,
            })
          : { checks: [], note: null }
        pasts.push({ id: schedule.id, uuid: schedule.uuid, column: schedule.column, ...past })
      }
      return pasts
    },
    { purpose: 'freshness', isScheduled: true, timeoutMs, slotWaitMs: SESSION_WAIT_MS, signal },
  )
}

/** Reads and judges one past. An error of the table is its note. @throws ConnectorError of the connection */
async function readPast(
  catalog: CatalogApi,
  connection: Connection,
  of: {
    source: Source
    schedule: PendingSchedule
    table: Table
    windowColumn: string | null
    zone: string
    timeoutMs: number
    signal: AbortSignal
  },
): Promise<JudgedPast> {
  const { source, schedule, table, windowColumn, zone, timeoutMs, signal } = of
  const column = table.columns.find(({ name }) => name === schedule.column)
  const none = (note: string): JudgedPast => ({ checks: [], note })
  if (!column || !TEMPORAL_KINDS.includes(column.kind))
    return none(`${schedule.column} is no date or timestamp, so only checks show when it changed`)
  if (hiddenColumns(catalog, table).has(column.name)) return none(`${column.name} is tagged as personal data`)
  const { readAt: now } = schedule
  const grid = pastGrid(now, parseDuration(schedule.checkInterval) ?? 0)
  const request = { table: catalog.tableInfo(table), column, windowColumn, grid, zone, now }
  const { dialect } = catalog.connectorOf(source)
  try {
    const updates = await readPastUpdates(connection, dialect, request, { timeoutMs, signal })
    return judgePast(updates, grid, { ...schedule, column: column.name, isDay: column.kind === 'date' })
  } catch (error) {
    if (!(error instanceof ConnectorError && CHECK_ERROR_KINDS.has(error.kind))) throw error
    return none(error.message)
  }
}

/** Leaves schedules as they are, with the reason: the past is not tried again. */
async function giveUp(catalog: CatalogApi, trx: Transaction, sourceId: string, error: Error): Promise<void> {
  const pending = await loadPending(catalog, trx, sourceId)
  const ids = pending?.schedules.map(schedule => schedule.id) ?? []
  await Schedule.query(trx).findByIds(ids).patch({ pastReadAt: new Date(), pastNote: error.message })
}
