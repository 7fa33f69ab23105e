import { setImmediate } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { v7 } from 'uuid'
import { tablePath, type TableRef } from '../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { invalidField } from '../../server/http/errors.ts'
import { detectColumn, hiddenColumns, type KnownColumn } from './columns.ts'
import type { Signal } from './models.ts'
import { termsOf, type ScheduleFields } from './schedules.ts'
import { tellsModified } from './signals.ts'

/** The body of `POST /sdk/freshness/schedules/bulk`, validated. */
export interface NewSchedules extends ScheduleFields {
  asset_id: string
  include_patterns?: string[]
  exclude_patterns?: string[]
  only_with_signal: boolean
  dry_run: boolean
  is_active: boolean
}

/** What was made, or of a dry run would be. `matched` tables are those `created`, `existing` and left out. */
export interface Created {
  created: number
  /** Tables that had a schedule before. */
  existing: number
  /** Tables of which nothing tells when they were updated; left out unless asked for all the same. */
  without_signal: number
  /** Tables in use that the patterns name. */
  matched: number
  /** The first of those without a signal, by path. */
  tables_without_signal: string[]
  /** What the created ones are read from. */
  signals: Record<Detected, number>
  dry_run: boolean
}

/** What is found without being asked for. */
type Detected = Exclude<Signal, 'expression'>

type Source = Awaited<ReturnType<Server['plugins']['catalog']['findAsset']>>['source']

/** Tables that are read, and schedules that are made, by one statement. */
const PART = 4_000
/** Tables that are matched in one go. */
const TURN = 50
/** Tables that a reply names. */
const NAMED = 100

/**
 * Makes the schedules that the tables of a source lack, each with the signal that a schedule made alone would get:
 * the first column that tells, else the engine's time of the last change. All are due at once, and stay together: what
 * is due at a source at the same time is read by the same few statements, so that spreading them over the interval
 * would send more of them. Asked twice, the second makes nothing.
 */
export async function createSchedules(
  server: Server,
  trx: Transaction,
  body: NewSchedules,
): Promise<Created> {
  const source = await sourceOf(server, trx, body.asset_id)
  const terms = termsOf(source, body)
  const isMatch = server.plugins.catalog.matcherOf(body)
  const reply: Created = {
    ...{ created: 0, existing: 0, without_signal: 0, matched: 0, tables_without_signal: [] },
    signals: { column: 0, last_modified: 0 },
    dry_run: body.dry_run,
  }
  const tables = await tablesInUse(trx, source)
  for (let from = 0; from < tables.length; from += PART) {
    const matching = await filterInTurns(tables.slice(from, from + PART), isMatch)
    const planned = (await bareTables(trx, source, matching)).map(table => plan(server, source, table))
    const untold = planned.filter(({ signal }) => signal === null)
    const wanted = body.only_with_signal ? planned.filter(({ signal }) => signal !== null) : planned
    const made = body.dry_run
      ? wanted
      : await insert(trx, source, wanted, { ...terms, isActive: body.is_active })
    reply.matched += matching.length
    reply.existing += matching.length - planned.length + wanted.length - made.length
    reply.created += made.length
    reply.without_signal += untold.length
    for (const { signal } of made) if (signal) reply.signals[signal]++
    reply.tables_without_signal.push(...untold.map(({ path }) => path))
  }
  // Read from the last name to the first.
  reply.tables_without_signal = reply.tables_without_signal.reverse().slice(0, NAMED)
  return reply
}

/** Patterns are matched without waiting for anything, and others are waiting: hundreds of long ones take milliseconds a table. */
async function filterInTurns<Item>(
  items: readonly Item[],
  isWanted: (item: Item) => boolean,
): Promise<Item[]> {
  const wanted: Item[] = []
  for (const [index, item] of items.entries()) {
    if (index % TURN === 0) await setImmediate()
    if (isWanted(item)) wanted.push(item)
  }
  return wanted
}

async function sourceOf(server: Server, trx: Transaction, assetId: string): Promise<Source> {
  const { source, table } = await server.plugins.catalog.findAsset(trx, assetId)
  if (table)
    throw invalidField(
      'asset_id',
      'names a table, and a source is needed: POST /api/v1/sdk/freshness/schedules',
    )
  if (source.lastDiscoveryAt) return source
  throw invalidField(
    'asset_id',
    `names a source whose tables are not known yet: POST /api/v1/sdk/assets/${source.id}/discover`,
  )
}

/** The last name first: lists begin with what was made last, and so with the first name. */
function tablesInUse(trx: Transaction, { id }: Source): Promise<(TableRef & { id: string })[]> {
  return rows(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name from tables
     where company_id = ? and source_id = ? and is_active order by qualified_name desc, id desc`,
    [companyOf(trx), id],
  )
}

/** A table without a schedule, as far as signals go. */
interface BareTable extends TableRef {
  id: string
  kind: Parameters<typeof tellsModified>[2]['kind']
  columns: KnownColumn[]
  columnTags: Record<string, string[]>
}

/** Those of some tables that have no schedule, in their order. */
function bareTables(trx: Transaction, { id }: Source, some: readonly { id: string }[]): Promise<BareTable[]> {
  return rows(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name, kind, columns, column_tags from tables t
     where company_id = :companyId and source_id = :sourceId and id = any(cast(:ids as uuid[]))
       and not exists (select from freshness_schedules f where f.company_id = :companyId and f.table_id = t.id)
     order by qualified_name desc, id desc`,
    { companyId: companyOf(trx), sourceId: id, ids: some.map(table => table.id) },
  )
}

/** A schedule to be made. */
interface Plan {
  tableId: string
  path: string
  /** Null when nothing tells. */
  signal: Detected | null
  timestampColumn: string | null
  usesLastModified: boolean
}

function plan(server: Server, source: Source, table: BareTable): Plan {
  // Of a source whose rows may not be read at all, no column tells anything.
  const isReadable = source.queryAccessLevel !== 'schema_only'
  const { columns } = table
  const column = isReadable
    ? detectColumn(columns, hiddenColumns(server, table), source.freshnessDefaults?.freshness_columns)
    : undefined
  const isTold = tellsModified(server, source, table)
  return {
    tableId: table.id,
    path: tablePath(table),
    signal: column ? 'column' : isTold ? 'last_modified' : null,
    timestampColumn: column?.name ?? null,
    // Else a check would go by the column that may not be read.
    usesLastModified: isTold && !isReadable,
  }
}

/** @returns those that were made: not those that another made meanwhile */
async function insert(
  trx: Transaction,
  source: Source,
  plans: readonly Plan[],
  terms: ReturnType<typeof termsOf> & { isActive: boolean },
): Promise<Plan[]> {
  if (plans.length === 0) return []
  const records = plans.map(({ tableId, timestampColumn, usesLastModified }) => ({
    id: v7(),
    table_id: tableId,
    timestamp_column: timestampColumn,
    uses_last_modified: usesLastModified,
  }))
  const made = await rows<{ tableId: string }>(
    trx,
    `insert into freshness_schedules
       (id, company_id, source_id, table_id, timestamp_column, uses_last_modified, monitoring_mode, sla_threshold,
        check_interval, is_active)
     select r.id, :companyId, :sourceId, r.table_id, r.timestamp_column, r.uses_last_modified, :mode,
       cast(:slaThreshold as text), :checkInterval, cast(:isActive as boolean)
     from jsonb_to_recordset(cast(:records as jsonb)) as r(id uuid, table_id uuid, timestamp_column text,
       uses_last_modified boolean)
     on conflict (table_id) do nothing returning table_id`,
    {
      companyId: companyOf(trx),
      sourceId: source.id,
      ...terms,
      slaThreshold: terms.slaThreshold ?? null,
      records: JSON.stringify(records),
    },
  )
  const ids = new Set(made.map(({ tableId }) => tableId))
  return plans.filter(({ tableId }) => ids.has(tableId))
}
