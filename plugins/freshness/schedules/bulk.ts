import { tablePath, TEMPORAL_KINDS, type TableRef } from '../../../connectors/catalog.ts'
import { filterWithPauses } from '../../../server/filter-with-pauses.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { invalidField } from '../../../server/http/errors.ts'
import type { Connector } from '../../../connectors/connector.ts'
import { parseDuration } from '../../../server/settings/durations.ts'
import type { CatalogApi, ProfiledTimes, Source, Table } from '../../catalog/api.ts'
import { countStatements } from '../run/measure.ts'
import { detectColumn, describeNoColumn, hiddenColumns, type TypedColumn } from './columns.ts'
import type { BulkScheduleResult, DetectedSignal, MissingSchedulesRequest, TableSignal } from '../api.ts'
import { resolveTerms, storeSchedules, type NewSchedule, type ScheduleFields } from './schedules.ts'
import { hasModificationTime } from './signals.ts'

/** The body of `POST /sdk/freshness/schedules/bulk`, validated. */
export type BulkScheduleRequest = MissingSchedulesRequest & ScheduleFields

const DAY_SECONDS = 86_400
const TABLES_PER_STATEMENT = 4_000
const MAX_NAMED_TABLES = 100

/**
 * Creates the missing schedules of a source's tables, each with the signal that a single schedule would get: the first
 * timestamp column, else the engine's modification time. All are due at once and stay in step: tables of a source that
 * are due together share statements, so spreading them over the interval would send more. Idempotent.
 */
export async function createSchedules(
  catalog: CatalogApi,
  trx: Transaction,
  body: BulkScheduleRequest,
): Promise<BulkScheduleResult> {
  const source = await sourceOf(catalog, trx, body.asset_id)
  const terms = resolveTerms(source, body)
  const isMatch = catalog.patternMatcher(body)
  const reply: BulkScheduleResult = {
    created: 0,
    existing: 0,
    without_signal: 0,
    matched: 0,
    tables_without_signal: [],
    reasons_without_signal: [],
    signals: { column: 0, last_modified: 0 },
    statements_per_day: 0,
    dry_run: body.dry_run,
  }
  /** Paths, and sentences with the reason. */
  const unsignalled: [path: string, reason: string][] = []
  const tables = await activeTables(trx, source, body.table_ids)
  for (let from = 0; from < tables.length; from += TABLES_PER_STATEMENT) {
    const matching = await filterWithPauses(tables.slice(from, from + TABLES_PER_STATEMENT), isMatch)
    const unscheduled = await unscheduledTables(trx, source, matching)
    const profiles = await profilesOf(catalog, trx, unscheduled)
    const planned = unscheduled.map(table =>
      planSchedule(catalog, source, table, {
        profile: profiles.get(table.id),
        given: body.columns?.get(table.id),
      }),
    )
    const withoutSignal = planned.filter(({ signal }) => signal === null)
    const wanted = body.only_with_signal ? planned.filter(({ signal }) => signal !== null) : planned
    const created = body.dry_run
      ? wanted
      : await storeSchedules(trx, source, wanted, { ...terms, isActive: body.is_active })
    reply.matched += matching.length
    reply.existing += matching.length - planned.length + wanted.length - created.length
    reply.created += created.length
    reply.without_signal += withoutSignal.length
    for (const { signal } of created) if (signal) reply.signals[signal]++
    withoutSignal.forEach(({ path, noSignal }) => unsignalled.push([path, `${path}: ${noSignal}`]))
  }
  const { connectorOf } = catalog
  const statements = statementsPerCheck(connectorOf(source), reply.signals)
  reply.statements_per_day = Math.ceil(
    (statements * DAY_SECONDS) / (parseDuration(terms.checkInterval) ?? DAY_SECONDS),
  )
  // Tables are read in descending order of names.
  const named = unsignalled.reverse().slice(0, MAX_NAMED_TABLES)
  reply.tables_without_signal = named.map(([path]) => path)
  reply.reasons_without_signal = named.map(([, reason]) => reason)
  return reply
}

/** The signals that schedules of tables of a source would get, by table. */
export async function findSignals(
  catalog: CatalogApi,
  trx: Transaction,
  source: Source,
  tableIds: readonly string[],
): Promise<Map<string, TableSignal>> {
  const tables = await readSchedulable(trx, source, tableIds)
  const profiles = await profilesOf(catalog, trx, tables)
  return new Map(
    tables.map(table => {
      const profile = profiles.get(table.id)
      const { signal, timestampColumn: column } = planSchedule(catalog, source, table, { profile })
      return [table.id, { signal, column, isScheduled: table.isScheduled }]
    }),
  )
}

/** Statements of one check of tables that are due together: those for columns, and one for modification times. */
function statementsPerCheck(
  { dialect, capabilities }: Connector,
  { column, last_modified: modified }: BulkScheduleResult['signals'],
): number {
  const hasTimes = capabilities.lastModified !== undefined && column + modified > 0
  return countStatements(column, dialect) + (hasTimes ? 1 : 0)
}

async function sourceOf(catalog: CatalogApi, trx: Transaction, assetId: string): Promise<Source> {
  const { source, table } = await catalog.findAsset(trx, assetId)
  if (table)
    throw invalidField(
      'asset_id',
      'is a table, but must be a source: use POST /api/v1/sdk/freshness/schedules for one table',
    )
  if (source.lastDiscoveryAt) return source
  throw invalidField(
    'asset_id',
    `is a source that was not discovered yet: POST /api/v1/sdk/assets/${source.id}/discover`,
  )
}

/** In descending order of names: lists start with the newest schedule, which is then the first name. */
function activeTables(
  trx: Transaction,
  { id }: Source,
  tableIds?: ReadonlySet<string>,
): Promise<(TableRef & { id: string })[]> {
  return rows(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name from tables
     where company_id = :companyId and source_id = :sourceId and is_active
       ${tableIds ? 'and id = any(cast(:ids as uuid[]))' : ''} order by qualified_name desc, id desc`,
    { companyId: companyOf(trx), sourceId: id, ids: [...(tableIds ?? [])] },
  )
}

interface SchedulableTable extends TableRef {
  id: string
  isScheduled: boolean
  kind: Parameters<typeof hasModificationTime>[2]['kind']
  columns: TypedColumn[]
  columnTags: Record<string, string[]>
  personalFromUpstream: Table['personalFromUpstream']
}

/** Tables of `some` that have no schedule, in the same order. */
function unscheduledTables(
  trx: Transaction,
  source: Source,
  some: readonly { id: string }[],
): Promise<SchedulableTable[]> {
  const ids = some.map(({ id }) => id)
  return readSchedulable(trx, source, ids, 'and not is_scheduled')
}

function readSchedulable(
  trx: Transaction,
  { id }: Source,
  ids: readonly string[],
  condition = '',
): Promise<SchedulableTable[]> {
  return rows(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name, kind, columns, column_tags,
       personal_from_upstream, is_scheduled
     from tables t cross join lateral (select t.id in (
       select f.table_id from checks f
       where f.company_id = :companyId and f.kind = 'freshness' and f.table_id = any(cast(:ids as uuid[]))) as is_scheduled) s
     where company_id = :companyId and source_id = :sourceId and id = any(cast(:ids as uuid[])) ${condition}
     order by qualified_name desc, id desc`,
    { companyId: companyOf(trx), sourceId: id, ids },
  )
}

interface PlannedSchedule extends NewSchedule {
  path: string
  /** Null without any signal. */
  signal: DetectedSignal | null
  /** Why there is none. */
  noSignal: string | null
}

/** The profiles of tables with a column that could be chosen by one. */
function profilesOf(catalog: CatalogApi, trx: Transaction, tables: readonly SchedulableTable[]) {
  const timed = tables.filter(({ columns }) => columns.some(({ kind }) => TEMPORAL_KINDS.includes(kind)))
  return catalog.readProfiledTimes(
    trx,
    timed.map(({ id }) => id),
  )
}

/** @param known the profile, and a column that shows updates where nothing else does */
function planSchedule(
  catalog: CatalogApi,
  source: Source,
  table: SchedulableTable,
  { profile, given }: { profile: ProfiledTimes | undefined; given?: string | undefined },
): PlannedSchedule {
  // With schema_only, no column may be read.
  const isReadable = source.queryAccessLevel !== 'schema_only'
  const { columns } = table
  const hidden = hiddenColumns(catalog, table)
  const isTimed = hasModificationTime(catalog, source, table)
  const isNeeded = ({ name }: TypedColumn) => name === given && !isTimed && !hidden.has(name)
  const preferred = source.freshnessDefaults?.freshness_columns
  const choice = { hidden, profile, ...(preferred && { preferred }) }
  const column = isReadable ? (detectColumn(columns, choice) ?? columns.find(isNeeded)) : undefined
  const signal = column ? 'column' : isTimed ? 'last_modified' : null
  return {
    tableId: table.id,
    path: tablePath(table),
    signal,
    noSignal:
      signal !== null
        ? null
        : isReadable
          ? describeNoColumn(columns, choice)
          : 'its rows may not be read, and the engine does not report when it changed',
    timestampColumn: column?.name ?? null,
    expression: null,
    // Otherwise a check would choose the column, which it may not read.
    usesLastModified: isTimed && !isReadable,
  }
}
