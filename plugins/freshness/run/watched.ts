import type { ModelObject } from 'objection'
import { ConnectorError } from '../../../connectors/errors.ts'
import type { CustomSql } from '../../../checks/sql/custom-sql.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import type { CatalogApi, Source, Table } from '../../catalog/api.ts'
import type { SourceCheckRequest } from '../api.ts'
import type { FreshnessDeps } from '../deps.ts'
import { detectColumn, hiddenColumns, type TypedColumn } from '../schedules/columns.ts'
import { parseExpression } from '../schedules/expression.ts'
import type { Schedule } from '../models.ts'

/** A table with its schedule, as a check reads it. */
export interface WatchedTable extends Omit<
  ModelObject<Schedule>,
  | 'companyId'
  | 'sourceId'
  | 'checkInterval'
  | 'status'
  | 'lastCheckAt'
  | 'nextRunAt'
  | 'createdAt'
  | 'updatedAt'
> {
  catalogName: string
  schemaName: string
  tableName: string
  qualifiedName: string
  kind: string
  tags: string[]
  columnTags: Record<string, string[]>
  personalFromUpstream: Table['personalFromUpstream']
  /** Tags of the source. */
  sourceTags: string[]
  isKnown: boolean
  /** The timestamp column; all columns if none is chosen. */
  columns: TypedColumn[] | null
  /** Time of the last update seen. */
  lastUpdate: Date | null
}

/** A watched table with the column or expression to read, or the reason it cannot be read. */
export interface PlannedReading {
  watched: WatchedTable
  column: TypedColumn | undefined
  expression: CustomSql | undefined
  refusal: ConnectorError | undefined
}

/** Loads a page of the schedules of a check with their tables, ordered by id. */
export async function loadWatched(
  catalog: CatalogApi,
  trx: Transaction,
  { companyId, sourceId, scheduleIds, claimed }: SourceCheckRequest,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ source: Source; watched: WatchedTable[]; now: Date }> {
  const { source } = await catalog.findAsset(trx, sourceId)
  const which = scheduleIds
    ? 'and f.id = any(cast(:ids as uuid[]))'
    : `and f.is_active${claimed ? ' and f.running_slot between :from and :to' : ''}`
  const watched = await rows<WatchedTable>(
    trx,
    `select f.id, f.table_id, f.timestamp_column, f.expression, f.uses_last_modified, f.monitoring_mode, f.sla_threshold,
       f.learned_sla_seconds, f.expected_next, f.alert_severity, f.sla_status, f.last_error, f.last_updated,
       f.modified_at, f.read_zone, f.is_slow, f.is_active, f.running_slot,
       t.catalog_name, t.schema_name, t.name as table_name, t.qualified_name, t.kind, t.tags, t.column_tags, t.personal_from_upstream,
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

/** Plans the reading from the catalog, without querying the source. */
export async function planReading(
  { catalog, connectors }: Pick<FreshnessDeps, 'catalog' | 'connectors'>,
  source: Source,
  watched: WatchedTable,
): Promise<PlannedReading> {
  const columns = watched.columns ?? []
  const hidden = hiddenColumns(catalog, { ...watched, columns })
  // A source whose engine is no longer loaded fails when it is connected.
  const connector = connectors.has(source.sourceType) ? connectors.get(source.sourceType) : undefined
  const reading =
    watched.expression === null || !connector
      ? undefined
      : await parseExpression(watched.expression, {
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
      : connector && unreadableReason(source, watched, column, hidden)
  return {
    watched,
    column,
    expression: reading && !('error' in reading) ? reading : undefined,
    refusal: refusal && new ConnectorError({ ...refusal, engine: source.sourceType }),
  }
}

/** Why a table cannot be read, judging by the catalog. */
function unreadableReason(
  source: Source,
  watched: WatchedTable,
  column: TypedColumn | undefined,
  hidden: ReadonlySet<string>,
): { kind: 'missing-object' | 'permission'; message: string } | undefined {
  if (!watched.isKnown) {
    const message = 'The last discovery did not find the table: discover again, or delete the schedule.'
    return { kind: 'missing-object', message }
  }
  if (watched.timestampColumn !== null && !column) {
    const message = `The table no longer has a column ${watched.timestampColumn}: choose another freshness_column.`
    return { kind: 'missing-object', message }
  }
  if (column && hidden.has(column.name)) {
    const message = `${column.name} is tagged as personal data, and its newest value would be shown: choose another freshness_column, or remove the tag.`
    return { kind: 'permission', message }
  }
  if ((column || watched.expression !== null) && source.queryAccessLevel === 'schema_only') {
    const what = column?.name ?? 'value'
    const message = `The query_access_level of ${source.name} is schema_only: reading the newest ${what} needs aggregates or full.`
    return { kind: 'permission', message }
  }
  return undefined
}
