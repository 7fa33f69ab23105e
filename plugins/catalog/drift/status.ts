import { rows, type Transaction } from '../../../server/database/database.ts'
import { newestFirst } from '../../../server/http/page.ts'
import { tableInfo, type Asset } from '../assets/assets.ts'
import { SEVERITY } from './changes.ts'
import { compareTables, type SchemaDifference, type Impact } from './diff.ts'
import { asPartition, storedTablePath } from './drift.ts'
import { SchemaBaseline, Table, type SchemaChange, type Source } from '../models.ts'
import { nextDiscovery, presentChange } from '../assets/present.ts'
import { describeChangeValue } from './value-text.ts'

/** Open changes by impact, and all of some days. */
export interface ChangeCounts {
  recent: number
  open: number
  high: number
  medium: number
  low: number
}

/**
 * Counts the changes of an asset, or of the whole company.
 * @param days how far back `recent` reaches; the others count whatever is open
 */
export async function countChanges(
  trx: Transaction,
  companyId: string,
  asset: Asset | undefined,
  days: number,
): Promise<ChangeCounts> {
  const scope = `company_id = :companyId
    and (cast(:sourceId as uuid) is null or source_id = :sourceId)
    and (cast(:tableId as uuid) is null or table_id = :tableId)`
  const [counts] = await rows<ChangeCounts>(
    trx,
    `select recent, open, high, medium, low from (
       select count(*)::int as recent from schema_changes
       where ${scope} and detected_at >= now() - make_interval(days => :days)) r,
     (select count(*)::int as open, count(*) filter (where impact = 'high')::int as high,
         count(*) filter (where impact = 'medium')::int as medium, count(*) filter (where impact = 'low')::int as low
       from schema_changes where ${scope} and not is_acknowledged) o`,
    { companyId, sourceId: asset?.source.id ?? null, tableId: asset?.table?.id ?? null, days },
  )
  if (!counts) throw new Error('Counting gave no row')
  return counts
}

/** The highest impact among open changes. */
export function worstOf({ high, medium, low }: ChangeCounts): Impact | 'none' {
  if (high > 0) return 'high'
  if (medium > 0) return 'medium'
  return low > 0 ? 'low' : 'none'
}

/** Changes in replies of `sdk/schema`, with the names of their tables. */
export async function presentChanges(trx: Transaction, changes: readonly SchemaChange[]) {
  const tables = await Table.query(trx)
    .whereIn('id', [...new Set(changes.map(({ tableId }) => tableId))])
    .select('id', 'qualifiedName')
  const names = new Map(tables.map(({ id, qualifiedName }) => [id, qualifiedName]))
  return changes.map(change => ({
    ...presentChange(change),
    ...presentValues(change),
    asset_id: change.tableId,
    qualified_name: names.get(change.tableId),
    ...locateChange(change),
    acknowledged_at: change.acknowledgedAt,
    acknowledged_by: change.acknowledgedBy,
  }))
}

/**
 * The two values of a change in replies of `sdk/schema`: as one line each, which clients can show, and as the objects
 * that the change record of `assets/{id}/schema-changes` has.
 */
function presentValues({
  changeType,
  oldValue,
  newValue,
}: Pick<SchemaChange, 'changeType' | 'oldValue' | 'newValue'>) {
  return {
    old_value: describeChangeValue(oldValue, changeType),
    new_value: describeChangeValue(newValue, changeType),
    old_definition: oldValue,
    new_definition: newValue,
  }
}

function locateChange({
  impact,
  objectType,
  objectName,
}: Pick<SchemaChange, 'impact' | 'objectType' | 'objectName'>) {
  return { severity: SEVERITY[impact], column_name: objectType === 'column' ? objectName : null }
}

/** A baseline in replies. */
interface BaselineRecord {
  /** Null for the first discovery, which is a baseline by itself. */
  id: string | null
  /** The source's, or the table's that was accepted on its own. */
  asset_id: string
  captured_at: Date | null
  captured_by: string | null
  description: string | null
  table_count: number | null
  column_count: number | null
}

/** The last baseline of an asset: of a table its own or its source's, whichever is newer. Null before a discovery. */
export async function baselineOf(trx: Transaction, asset: Asset): Promise<BaselineRecord | null> {
  const { source, table } = asset
  const last = await SchemaBaseline.query(trx)
    .where('sourceId', source.id)
    .where(ofAsset => {
      void ofAsset.whereNull('tableId')
      if (table) void ofAsset.orWhere('tableId', table.id)
    })
    .orderBy(newestFirst('capturedAt', 'id'))
    .first()
  return last ? presentBaseline(last) : firstDiscovery(trx, source)
}

export function presentBaseline(baseline: SchemaBaseline): BaselineRecord {
  return {
    id: baseline.id,
    asset_id: baseline.tableId ?? baseline.sourceId,
    captured_at: baseline.capturedAt,
    captured_by: baseline.capturedBy,
    description: baseline.description,
    table_count: baseline.tableCount,
    column_count: baseline.columnCount,
  }
}

async function firstDiscovery(trx: Transaction, source: Source): Promise<BaselineRecord | null> {
  if (source.lastDiscoveryAt === null) return null
  const [first] = await rows<{ completedAt: Date; tableCount: number | null; columnCount: number | null }>(
    trx,
    `select completed_at, (result ->> 'table_count')::int as table_count,
       (result ->> 'column_count')::int as column_count
     from runs where company_id = :companyId and source_id = :sourceId and workflow_name = 'discovery'
       and status = 'completed'
     order by created_at, id limit 1`,
    { companyId: source.companyId, sourceId: source.id },
  )
  return {
    id: null,
    asset_id: source.id,
    captured_at: first?.completedAt ?? null,
    captured_by: null,
    description: 'What the first discovery found',
    table_count: first?.tableCount ?? null,
    column_count: first?.columnCount ?? null,
  }
}

const SCHEDULE_LABELS: Record<string, string> = {
  hourly: 'Every hour',
  every_4_hours: 'Every 4 hours',
  daily: 'Every day',
  weekly: 'Every week',
}

/** When a source is discovered by itself. */
export function monitoringOf(source: Source) {
  const isEnabled = source.isActive && source.discoveryInterval !== 'off'
  return {
    asset_id: source.id,
    monitoring_enabled: isEnabled,
    schedule_type: source.discoveryInterval === 'off' ? null : source.discoveryInterval,
    schedule_label: SCHEDULE_LABELS[source.discoveryInterval] ?? 'Not scheduled',
    next_check_at: isEnabled ? nextDiscovery(source) : null,
    last_check_at: source.lastDiscoveryAt,
  }
}

/** Tables whose differences one reply holds; each brings two definitions. */
const MAX_DRIFTED_TABLES = 100

/** What differs from the baseline now, and of how many tables. */
export async function differencesOf(trx: Transaction, { source, table }: Asset) {
  const { results, total } = await Table.query(trx)
    .where({ sourceId: source.id, ...(table && { id: table.id }) })
    .whereNotNull('baseline')
    // What the patterns no longer name is neither there nor gone.
    .whereRaw(`absence is distinct from 'excluded'`)
    .orderBy('qualifiedName')
    .orderBy('id')
    .range(0, MAX_DRIFTED_TABLES - 1)
  const ids = new Map(results.map(drifted => [storedTablePath(drifted), drifted.id]))
  const before = results.flatMap(drifted => {
    const { baseline } = drifted
    return baseline === null || 'absent' in baseline ? [] : { ...tableInfo(drifted), ...baseline }
  })
  const after = results.filter(({ isActive }) => isActive).map(tableInfo)
  const partitions = await partitionsOf(trx, results)
  const changes = compareTables(before, after).map(change => asPartition(change, partitions.get(change.path)))
  return { tables: total, changes: changes.map(change => presentDifference(change, ids)) }
}

/** The tables of which removed ones became partitions, by path, as their last removals hold them. */
async function partitionsOf(trx: Transaction, tables: readonly Table[]): Promise<Map<string, string>> {
  const removed = tables.filter(({ absence }) => absence === 'removed')
  if (removed.length === 0) return new Map()
  const last = await rows<{ tablePath: string; partitionOf: string | null }>(
    trx,
    `select distinct on (table_id) table_path, new_value ->> 'partition_of' as partition_of
     from schema_changes
     where company_id = ? and table_id = any(?) and change_type = 'table_removed'
     order by table_id, detected_at desc, id desc`,
    [removed[0]?.companyId, removed.map(({ id }) => id)],
  )
  return new Map(
    last.flatMap(({ tablePath, partitionOf }): [string, string][] =>
      partitionOf === null ? [] : [[tablePath, partitionOf]],
    ),
  )
}

/**
 * A difference that is not stored, in replies.
 * @param ids of the tables, by path
 */
export function presentDifference(
  change: SchemaDifference,
  ids: ReadonlyMap<string, string> = new Map<string, string>(),
) {
  return {
    // A table that no discovery has found yet has none.
    asset_id: ids.get(change.path) ?? null,
    table_path: change.path,
    change_type: change.changeType,
    object_name: change.objectName,
    object_type: change.objectType,
    ...presentValues(change),
    impact: change.impact,
    ...locateChange(change),
  }
}
