import type { Server } from '@hapi/hapi'
import { formatName, tablePath } from '../../connectors/catalog.ts'
import { rows, type Transaction } from '../../server/database.ts'
import type { Run, SchemaChange, Source, Table } from './models.ts'
import { tableInfo, tagsOf } from './assets.ts'

/** What other features know of assets, merged into their records. */
export interface AssetFacts {
  /** Fields of representation A, for one source. */
  source?(trx: Transaction, source: Source): Promise<object>
  /** Fields of representation B, by table id. */
  tables?(trx: Transaction, tableIds: readonly string[]): Promise<Map<string, object>>
}

interface Counts {
  tableCount: number
  columnCount: number
  schemaCount: number
  catalogCount: number
  tagged: number
  openChanges: number
  worst: number | null
}

const IMPACT_NAMES = ['low', 'medium', 'high'] as const

/** Representation A, the record of a source. */
export async function presentSource(
  server: Server,
  trx: Transaction,
  source: Source,
  facts: readonly AssetFacts[],
): Promise<object> {
  const counts = await countsOf(trx, source)
  const worst = counts.worst === null ? 'none' : (IMPACT_NAMES[counts.worst] ?? 'none')
  const { host, port, database, username, sslmode, default_catalog, http_path, ...extra } = source.config
  const known: object[] = []
  for (const { source: of } of facts) known.push((await of?.(trx, source)) ?? {})
  return {
    id: source.id,
    name: source.name,
    asset_type: 'source',
    source_type: source.sourceType,
    is_active: source.isActive,
    created_at: source.createdAt,
    updated_at: source.updatedAt,
    last_refresh_at: source.lastDiscoveryAt,
    description: source.description,
    connection_status: source.connectionStatus,
    discovery_state: source.discoveryState,
    discovery_interval: source.discoveryInterval,
    table_count: counts.tableCount,
    column_count: counts.columnCount,
    schema_count: counts.schemaCount,
    catalog_count: counts.catalogCount,
    host: host ?? null,
    port: port ?? null,
    database_name: database ?? null,
    username: username ?? null,
    default_catalog: default_catalog ?? null,
    http_path: http_path ?? null,
    ssl_enabled: sslmode !== undefined && sslmode !== 'disable',
    extra_params: { ...extra, ...(sslmode === undefined ? {} : { sslmode }) },
    ...schemaStatus(source, counts, worst),
    freshness_status: 'not_configured',
    freshness_message: 'No table has a freshness schedule: POST /api/v1/sdk/freshness/schedules makes one',
    freshness_summary: '',
    lineage_status: 'none',
    lineage_message: 'No lineage is recorded',
    tags_status: counts.tagged > 0 ? 'ready' : 'none',
    tags_message: counts.tagged > 0 ? `${counts.tagged} tables carry tags` : 'No table carries a tag',
    tags_counts: { tables: counts.tagged },
    intelligence_status: 'disabled',
    intelligence_message: 'Not part of this version',
    data_quality_status: 'none',
    data_quality_message: 'No rule, metric or referential check watches this source',
    query_access_level: source.queryAccessLevel,
    tags_mode: 'manual',
    intelligence_mode: 'off',
    effective_access_level: source.queryAccessLevel,
    max_concurrency: source.maxConcurrency,
    statement_timeout_seconds: source.statementTimeoutSeconds,
    auto_tag_enabled: false,
    // An engine whose extension was taken away has no features, and its sources stay readable.
    features: server.connectors.has(source.sourceType)
      ? { ...server.connectors.get(source.sourceType).capabilities }
      : {},
    ...Object.assign({}, ...known),
  }
}

function schemaStatus(source: Source, counts: Counts, worst: string): object {
  const failed = source.connectionError
  const changed = counts.openChanges > 0
  return {
    schema_status: failed
      ? 'error'
      : source.lastDiscoveryAt === null
        ? 'unknown'
        : changed
          ? 'changed'
          : 'ok',
    schema_message:
      failed?.message ??
      (source.lastDiscoveryAt === null
        ? 'Not discovered yet: POST /api/v1/sdk/assets/{id}/discover'
        : `${counts.tableCount} tables and ${counts.columnCount} columns are known`),
    schema_change_status: changed ? worst : 'none',
    schema_change_message: changed
      ? `${counts.openChanges} schema changes are not acknowledged; the worst has ${worst} impact`
      : 'No schema change is open',
    schema_change_summary: `${counts.openChanges} open`,
  }
}

async function countsOf(trx: Transaction, source: Source): Promise<Counts> {
  const [counts] = await rows<Counts>(
    trx,
    `select t.*, c.* from (
       select count(*)::int as table_count, coalesce(sum(jsonb_array_length(columns)), 0)::int as column_count,
         count(distinct (catalog_name, schema_name))::int as schema_count,
         count(distinct catalog_name)::int as catalog_count,
         count(*) filter (where tags <> '{}' or column_tags <> '{}')::int as tagged
       from tables where company_id = :companyId and source_id = :sourceId and is_active) t,
     (select count(*)::int as open_changes,
         max(case impact when 'high' then 2 when 'medium' then 1 else 0 end) as worst
       from schema_changes where company_id = :companyId and source_id = :sourceId and not is_acknowledged) c`,
    { companyId: source.companyId, sourceId: source.id },
  )
  if (!counts) throw new Error('Counting gave no row')
  return counts
}

/** Representation B, the record of a table; without `columns` in lists. */
export function presentTable(source: Source, table: Table, facts: object, withColumns: boolean): object {
  return {
    id: table.id,
    qualified_name: table.qualifiedName,
    asset_type: table.kind,
    source: source.name,
    database: table.catalogName,
    schema: table.schemaName,
    name: table.name,
    table_path: tablePath(tableInfo(table)),
    description: table.description ?? table.comment,
    is_active: table.isActive,
    freshness: { status: 'unknown', last_updated: null, sla_threshold: null, checked_at: null },
    ...facts,
    ...(withColumns && {
      columns: table.columns.map(column => ({
        name: column.name,
        data_type: column.type,
        nullable: column.nullable,
        description: column.comment,
        tags: tagsOf(table, column.name),
      })),
    }),
    tags: table.tags,
    created_at: table.createdAt,
    updated_at: table.updatedAt,
  }
}

/** What features know of some tables, merged by table. */
export async function factsOf(
  trx: Transaction,
  facts: readonly AssetFacts[],
  tableIds: readonly string[],
): Promise<Map<string, object>> {
  const known: ReadonlyMap<string, object>[] = []
  for (const { tables } of facts) known.push((await tables?.(trx, tableIds)) ?? new Map())
  return new Map(tableIds.map(id => [id, Object.assign({}, ...known.map(map => map.get(id)))]))
}

export function presentChange(change: SchemaChange): object {
  return {
    id: change.id,
    change_type: change.changeType,
    object_name: change.objectName,
    object_type: change.objectType,
    old_value: change.oldValue,
    new_value: change.newValue,
    detected_at: change.detectedAt,
    discovery_id: change.discoveryId,
    table_path: change.tablePath,
    impact: change.impact,
    acknowledged: change.isAcknowledged,
  }
}

export function presentRun(run: Run): object {
  return {
    job_id: run.id,
    status: run.status,
    workflow_name: run.workflowName,
    asset_id: run.assetId,
    progress: run.progress,
    result: run.result,
    error: run.error,
    created_at: run.createdAt,
    completed_at: run.completedAt,
  }
}

/** The qualified name of an asset of either level. */
export function qualifiedName(asset: { source: Source; table?: Table }): string {
  return asset.table?.qualifiedName ?? formatName([asset.source.name])
}
