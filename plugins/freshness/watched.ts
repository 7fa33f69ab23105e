import type { Server } from '@hapi/hapi'
import { ConnectorError } from '../../connectors/errors.ts'
import type { CustomSql } from '../../checks/sql/custom-sql.ts'
import { rows, type Transaction } from '../../server/database/database.ts'
import type { CheckRequest } from './api.ts'
import { detectColumn, hiddenColumns, type KnownColumn } from './columns.ts'
import { readExpression } from './expression.ts'
import type { MonitoredTable } from './models.ts'

/** A schedule as a check needs it. */
export interface Watched extends Pick<
  MonitoredTable,
  | 'id'
  | 'tableId'
  | 'timestampColumn'
  | 'expression'
  | 'usesLastModified'
  | 'monitoringMode'
  | 'slaThreshold'
  | 'learnedSlaSeconds'
  | 'expectedNext'
  | 'alertSeverity'
  | 'slaStatus'
  | 'lastError'
  | 'lastUpdated'
  | 'modifiedAt'
  | 'readZone'
  | 'isSlow'
  | 'isActive'
  | 'runningSlot'
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
  columns: KnownColumn[] | null
  /** The last update seen. */
  lastUpdate: Date | null
}

/** A watched table with the column or expression that its freshness is read from, or why it cannot be read. */
export interface Planned {
  watched: Watched
  column: KnownColumn | undefined
  expression: CustomSql | undefined
  refusal: ConnectorError | undefined
}

export type Source = Awaited<ReturnType<Server['plugins']['catalog']['findAsset']>>['source']

/** The times between which what a sweep has claimed for one job was due. */
export interface Slots {
  from: string
  to: string
}

/**
 * Some of the schedules that a check is of, with their tables, by their ids.
 * @param request `claimed` takes what a sweep has claimed for one job and is not recorded yet
 * @param page those after an id, so many
 */
export async function loadWatched(
  server: Server,
  trx: Transaction,
  { companyId, sourceId, scheduleIds, claimed }: CheckRequest & { claimed?: Slots },
  { after, limit }: { after: string | null; limit: number },
): Promise<{ source: Source; watched: Watched[]; now: Date }> {
  const { source } = await server.plugins.catalog.findAsset(trx, sourceId)
  const which = scheduleIds
    ? 'and f.id = any(cast(:ids as uuid[]))'
    : `and f.is_active${claimed ? ' and f.running_slot between :from and :to' : ''}`
  const watched = await rows<Watched>(
    trx,
    `select f.id, f.table_id, f.timestamp_column, f.expression, f.uses_last_modified, f.monitoring_mode, f.sla_threshold,
       f.learned_sla_seconds, f.expected_next, f.alert_severity, f.sla_status, f.last_error, f.last_updated,
       f.modified_at, f.read_zone, f.is_slow, f.is_active, f.running_slot,
       t.catalog_name, t.schema_name, t.name as table_name, t.qualified_name, t.kind, t.tags, t.column_tags,
       s.tags as source_tags, t.is_active as is_known,
       case when f.uses_last_modified then null
         when f.timestamp_column is null then t.columns else
         (select jsonb_agg(c) from jsonb_array_elements(t.columns) c where c ->> 'name' = f.timestamp_column)
       end as columns,
       (select least(c.last_updated, c.checked_at) from freshness_checks c
         where c.company_id = f.company_id and c.schedule_id = f.id and c.is_update
         order by c.checked_at desc, c.id desc limit 1) as last_update
     from freshness_schedules f join tables t on t.id = f.table_id join sources s on s.id = f.source_id
     where f.company_id = :companyId and f.source_id = :sourceId ${which}
       ${after === null ? '' : 'and f.id > :after'}
     order by f.id limit :limit`,
    { companyId, sourceId, ids: scheduleIds ?? [], ...claimed, after, limit },
  )
  const [clock] = await rows<{ now: Date }>(trx, 'select clock_timestamp() as now')
  return { source, watched, now: clock?.now ?? new Date() }
}

/** Settles against the catalog what can be known without asking the database. */
export async function plan(server: Server, source: Source, watched: Watched): Promise<Planned> {
  const columns = watched.columns ?? []
  const hidden = hiddenColumns(server, { columns, columnTags: watched.columnTags })
  // A source whose engine is not loaded any more is refused when it is dialled.
  const connector = server.connectors.has(source.sourceType)
    ? server.connectors.get(source.sourceType)
    : undefined
  const reading =
    watched.expression === null || !connector
      ? undefined
      : await readExpression(watched.expression, {
          dialect: connector.dialect,
          table: watched.tableName,
          columns,
          hidden,
        })
  const column =
    reading || watched.usesLastModified
      ? undefined
      : watched.timestampColumn === null
        ? detectColumn(columns, hidden, source.freshnessDefaults?.freshness_columns)
        : columns[0]
  const refusal =
    reading && 'error' in reading
      ? { kind: 'invalid-query' as const, message: reading.error }
      : connector && refusalOf(source, watched, column, hidden)
  return {
    watched,
    column,
    expression: reading && !('error' in reading) ? reading : undefined,
    refusal: refusal && new ConnectorError({ ...refusal, engine: source.sourceType }),
  }
}

/** Why a table cannot be read, as far as the catalog tells. */
function refusalOf(
  source: Source,
  watched: Watched,
  column: KnownColumn | undefined,
  hidden: ReadonlySet<string>,
): { kind: 'missing-object' | 'permission'; message: string } | undefined {
  if (!watched.isKnown) {
    const message =
      'The table was no longer there at the last discovery: discover again, or delete the schedule.'
    return { kind: 'missing-object', message }
  }
  if (watched.timestampColumn !== null && !column) {
    const message = `The table has no column ${watched.timestampColumn} any more: choose another freshness_column.`
    return { kind: 'missing-object', message }
  }
  if (column && hidden.has(column.name)) {
    const message = `${column.name} is tagged as personal data, and its newest value would be shown: choose another freshness_column, or take the tag off.`
    return { kind: 'permission', message }
  }
  if ((column || watched.expression !== null) && source.queryAccessLevel === 'schema_only') {
    const what = column?.name ?? 'value'
    const message = `The query_access_level of ${source.name} is schema_only: the newest ${what} needs aggregates or full.`
    return { kind: 'permission', message }
  }
  return undefined
}
