import { formatName, tablePath, type TablePartitioning } from '../../../connectors/catalog.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { tagsOf } from './assets.ts'
import { maxBytesPerStatement } from '../sources/byte-limit.ts'
import { describeMissingConnector, shownConfig } from '../sources/config.ts'
import type { AssetExtension } from './asset-extensions.ts'
import { proposeWindow } from './table-window.ts'
import { judgeTableHealth, type JudgedFields } from './table-health.ts'
import type { ShownTable } from './table-record.ts'
import type { Connector } from '../../../connectors/connector.ts'
import type { Connectors } from '../deps.ts'
import type { Run, SchemaChange, Source, Table } from '../models.ts'
import { openChangesOfSources, type OpenChanges } from '../drift/open-changes.ts'

/** Representation A, the record of a source. */
export async function presentSource(
  connectors: Connectors,
  trx: Transaction,
  source: Source,
  extensions: readonly AssetExtension[],
) {
  const [record] = await presentSources(connectors, trx, [source], extensions)
  return record
}

/** Representation A of several sources, by as many statements as of one. */
export async function presentSources(
  connectors: Connectors,
  trx: Transaction,
  sources: readonly Source[],
  extensions: readonly AssetExtension[],
) {
  if (sources.length === 0) return []
  const ids = sources.map(({ id }) => id)
  // All at once: they wait for the database together.
  const [open, ...added] = await Promise.all([
    openChangesOfSources(trx, ids),
    ...extensions.flatMap(extension => extension.sourceFields?.(trx, sources) ?? []),
  ])
  return sources.map(source => ({
    ...sourceFields(connectors, source),
    ...schemaStatus(source, open.get(source.id)),
    ...tagStatus(source),
    ...Object.assign({}, ...added.map(map => map.get(source.id))),
  }))
}

function sourceFields(connectors: Connectors, source: Source) {
  const { host, port, database, username, default_catalog, http_path, ...extra } = shownConfig(source)
  return {
    id: source.id,
    qualified_name: formatName([source.name]),
    name: source.name,
    asset_type: 'source',
    source_type: source.sourceType,
    is_active: source.isActive,
    created_at: source.createdAt,
    updated_at: source.updatedAt,
    last_refresh_at: source.lastDiscoveryAt,
    description: source.description,
    ...connectionFields(connectors, source),
    consecutive_failures: source.connectionFailures,
    failing_since: source.failingSince,
    retry_at: source.dialAfter,
    discovery_state: source.discoveryState,
    discovery_interval: source.discoveryInterval,
    next_discovery_at: nextDiscovery(source),
    failed_discoveries: source.failedDiscoveries,
    include_patterns: source.includePatterns,
    exclude_patterns: source.excludePatterns,
    table_count: source.tableCount,
    column_count: source.columnCount,
    schema_count: source.schemaCount,
    catalog_count: source.catalogCount,
    unread_count: source.unreadCount,
    host: host ?? null,
    port: port ?? null,
    database_name: database ?? null,
    username: username ?? null,
    default_catalog: default_catalog ?? null,
    http_path: http_path ?? null,
    ssl_enabled: isEncrypted(connectors, source),
    extra_params: extra,
    freshness_status: 'not_configured',
    freshness_message: 'No table has a freshness schedule: POST /api/v1/sdk/freshness/schedules makes one',
    freshness_summary: '',
    lineage_status: 'none',
    lineage_message: 'No lineage is recorded',
    intelligence_status: 'disabled',
    intelligence_message: 'Not part of this version',
    data_quality_status: 'none',
    data_quality_message: 'No check watches this source',
    health: {
      status: 'unknown',
      headline: 'no check watches it',
      watched: { tables: source.tableCount, freshness: 0, volume: 0 },
    },
    query_access_level: source.queryAccessLevel,
    intelligence_mode: 'off',
    effective_access_level: source.queryAccessLevel,
    max_concurrency: source.maxConcurrency,
    statement_timeout_seconds: source.statementTimeoutSeconds,
    max_bytes_per_statement: maxBytesPerStatement(source),
    freshness_defaults: source.freshnessDefaults,
    // An engine whose extension was taken away has no features, and its sources stay readable.
    features: connectors.has(source.sourceType) ? featuresOf(connectors.get(source.sourceType)) : {},
  }
}

/** How the last connection went. Without its engine none can be made, whatever was known before. */
function connectionFields(connectors: Connectors, source: Source) {
  const { sourceType } = source
  if (!connectors.has(sourceType))
    return {
      connection_status: 'unavailable',
      connection_message: describeMissingConnector(connectors, sourceType),
    }
  return {
    connection_status: source.connectionStatus,
    connection_message: connectionMessage(source),
  }
}

/** What an engine can do, also where it is of some kinds of tables only. */
function featuresOf({ capabilities }: Pick<Connector, 'capabilities'>): Record<string, true> {
  return Object.fromEntries(Object.keys(capabilities).map(name => [name, true as const]))
}

function connectionMessage({ id, connectionStatus, connectionError }: Source): string {
  if (connectionStatus === 'connected') return 'The last connection went through'
  if (connectionStatus === 'failed')
    return connectionError?.message ?? 'The last connection failed: test it to learn why'
  return `Not tried yet: POST /api/v1/sdk/assets/${id}/test-connection`
}

/** When a source is read next by itself: on schedule, after a discovery that failed, or when it is no longer left alone. */
export function nextDiscovery({ isActive, nextRunAt, retryAt, runningSlot, dialAfter }: Source): Date | null {
  if (!isActive) return null
  const times = [nextRunAt, retryAt, runningSlot && dialAfter].filter(at => at !== null).map(Number)
  return times.length === 0 ? null : new Date(Math.min(...times))
}

/** The modes of TLS under which there is no session without it; `prefer` may go either way. */
const ENCRYPTING_MODES = new Set<unknown>(['require', 'verify-ca', 'verify-full'])

/** Whether sessions speak TLS: as the last connection test saw, else as far as the engine or the config promises. */
function isEncrypted(connectors: Connectors, { sourceType, isEncrypted: seen, config }: Source): boolean {
  if (connectors.has(sourceType) && connectors.get(sourceType).isAlwaysEncrypted) return true
  return seen ?? ENCRYPTING_MODES.has(config.sslmode ?? config.ssl)
}

function schemaStatus(source: Source, open: OpenChanges | undefined) {
  const changes = `${open?.count ?? 0} schema ${open?.count === 1 ? 'change is' : 'changes are'} not acknowledged`
  return {
    ...schemaState(source, open !== undefined),
    schema_change_status: open?.worst ?? 'none',
    schema_change_message: open
      ? `${changes}; the worst has ${open.worst} impact: GET /api/v1/assets/${source.id}/schema-changes`
      : 'No schema change is open',
    schema_change_summary: `${open?.count ?? 0} open`,
  }
}

/** How well the catalog is known; what stands in the way comes before what has changed. */
function schemaState(source: Source, isChanged: boolean): { schema_status: string; schema_message: string } {
  const state = (status: string, message: string) => ({ schema_status: status, schema_message: message })
  if (source.connectionError) return state('error', source.connectionError.message)
  if (source.discoveryState === 'failed')
    return state(
      'error',
      `The last discovery failed: POST /api/v1/sdk/assets/${source.id}/discover tries again`,
    )
  if (source.lastDiscoveryAt === null)
    return state('unknown', `Not discovered yet: POST /api/v1/sdk/assets/${source.id}/discover`)
  if (source.unreadCount > 0)
    return state(
      'error',
      `The last discovery could not read ${countOf(source.unreadCount, 'table')}: GET /api/v1/sdk/jobs/{job_id} of it lists them with the reasons`,
    )
  return state(
    isChanged ? 'changed' : 'ok',
    `${countOf(source.tableCount, 'table')} and ${countOf(source.columnCount, 'column')} are known`,
  )
}

function tagStatus(source: Source) {
  const { tagCounts: tagged } = source
  return {
    tags: source.tags,
    tags_status: tagged || source.tags.length > 0 ? 'ready' : 'none',
    tags_message: tagged
      ? `${countOf(tagged.tables, 'table')} and ${countOf(tagged.columns, 'column')} carry tags`
      : 'Nothing carries a tag: POST /api/v1/sdk/tags makes one',
    tags_counts: tagged ?? { tables: 0, columns: 0, by_tag: {} },
    tags_mode: source.autoTagEnabled ? 'auto' : 'manual',
    auto_tag_enabled: source.autoTagEnabled,
  }
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** Representation B, the record of a single table. */
export function presentTable(
  connectors: Connectors,
  source: Pick<Source, 'name' | 'sourceType'>,
  table: ShownTable,
  { extensionFields, withColumns }: { extensionFields: JudgedFields; withColumns: boolean },
) {
  return {
    ...presentListedTable(connectors, source, table, extensionFields),
    partitioning: presentPartitioning(table.partitioning),
    default_window: table.windowSetting,
    proposed_window: table.windowSetting
      ? null
      : proposeWindow({
          columns: table.columns,
          ...(table.partitioning && { partitioning: table.partitioning }),
        }),
    ...(withColumns && {
      columns: table.columns.map(column => ({
        name: column.name,
        data_type: column.type,
        kind: column.kind,
        nullable: column.nullable,
        description: column.comment,
        tags: tagsOf(table, column.name),
      })),
    }),
  }
}

function presentPartitioning(partitioning: TablePartitioning | null) {
  if (!partitioning) return null
  const { columns, clustering, requiresFilter = false } = partitioning
  return {
    columns: columns.map(({ name, method = null }) => ({ name, method })),
    clustering,
    requires_filter: requiresFilter,
  }
}

const UNWATCHED_FRESHNESS = {
  status: 'unknown',
  last_updated: null,
  sla_threshold: null,
  checked_at: null,
  learning: null,
  schedule_id: null,
}
const NO_QUALITY = { status: 'none', passing: 0, learning: 0, failing: 0, error: 0, pending: 0 }

/** The record of a table in lists, without what needs its columns. */
export function presentListedTable(
  connectors: Connectors,
  source: Pick<Source, 'name' | 'sourceType'>,
  table: Omit<ShownTable, 'columns' | 'partitioning' | 'windowSetting'>,
  extensionFields: JudgedFields,
) {
  const { watched: _, ...shown } = extensionFields
  const estimated = table.estimatedRows === null ? null : Number(table.estimatedRows)
  return {
    id: table.id,
    qualified_name: table.qualifiedName,
    asset_type: table.kind,
    source: source.name,
    database: table.catalogName,
    schema: table.schemaName,
    name: table.name,
    table_path: tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name }),
    description: table.description ?? table.comment,
    is_active: table.isActive,
    absence: table.absence,
    read_error: table.readError,
    column_count: table.columnCount,
    estimated_rows: estimated,
    known_rows: estimated === null ? null : { count: estimated, from: 'engine', at: null },
    primary_key: table.constraints.find(({ type }) => type === 'primary_key')?.columns ?? [],
    freshness: UNWATCHED_FRESHNESS,
    quality: NO_QUALITY,
    ...shown,
    health: judgeTableHealth(table, extensionFields, enforcesKeys(connectors, source)),
    tags: table.tags,
    created_at: table.createdAt,
    updated_at: table.updatedAt,
  }
}

/** Whether the engine of a source keeps keys unique; one that no extension provides any more says nothing. */
function enforcesKeys(connectors: Connectors, { sourceType }: Pick<Source, 'sourceType'>): boolean {
  return connectors.has(sourceType) && connectors.get(sourceType).dialect.comparison?.enforcesKeys === true
}

export function presentChange(change: SchemaChange) {
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

export function presentRun(run: Run) {
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
