import { ConnectorError } from '../../../connectors/errors.ts'
import type { TableKind } from '../../../connectors/catalog.ts'
import type { CustomSql } from '../../../checks/sql/custom-sql.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import type { CatalogApi, Source, Table } from '../../catalog/api.ts'
import type { SourceCheckRequest } from '../api.ts'
import type { FreshnessDeps } from '../deps.ts'
import { detectColumn, hiddenColumns, type TypedColumn } from '../schedules/columns.ts'
import { parseExpression } from '../schedules/expression.ts'
import type { TableNames } from '../../checks/kit.ts'
import { withSettings, type Schedule, type ScheduleSettings } from '../models.ts'
import { updatesOf } from './learn.ts'

/** A table with its schedule, as a check reads it. */
export interface WatchedTable
  extends
    ScheduleSettings,
    Pick<Schedule, 'id' | 'uuid' | 'tableId' | 'isActive' | 'status' | 'runningSlot' | 'checkInterval'>,
    Pick<TableNames, 'catalogName' | 'schemaName' | 'ofTable' | 'qualifiedName' | 'isTableActive'> {
  tableKind: TableKind
  tags: string[]
  columnTags: Record<string, string[]>
  personalFromUpstream: Table['personalFromUpstream']
  /** Tags of the source. */
  sourceTags: string[]
  /** The timestamp column; all columns if none is chosen. */
  columns: TypedColumn[] | null
  /** Time of the last update seen. */
  lastUpdate: Date | null
}

type WatchedRow = Omit<WatchedTable, keyof ScheduleSettings> & { settings: object }

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
    ? 'and c.uuid = any(cast(:ids as uuid[]))'
    : `and c.is_active${claimed ? ' and c.running_slot between :from and :to' : ''}`
  const found = await rows<WatchedRow>(
    trx,
    `select c.id, c.uuid, c.table_id, c.is_active, c.status, c.running_slot, c.check_interval, c.settings,
       t.catalog_name, t.schema_name, t.name as of_table, t.qualified_name, t.is_active as is_table_active,
       t.kind as table_kind, t.tags, t.column_tags, t.personal_from_upstream, s.tags as source_tags,
       case when cast(c.settings ->> 'usesLastModified' as boolean) then null
         when c.settings ->> 'timestampColumn' is null then t.columns else
         (select jsonb_agg(one) from jsonb_array_elements(t.columns) one
           where one ->> 'name' = c.settings ->> 'timestampColumn')
       end as columns,
       (select u.at - make_interval(secs => u.value) from (${updatesOf('c')} limit 1) u) as last_update
     from checks c join tables t on t.id = c.table_id join sources s on s.id = c.source_id
     where c.company_id = :companyId and c.source_id = :sourceId and c.kind = 'freshness' ${which}
       ${after === null ? '' : 'and c.id > :after'}
     order by c.id limit :limit`,
    { companyId, sourceId, ids: scheduleIds ?? [], ...claimed, after, limit },
  )
  const watched = withSettings(found)
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
  const preferred = source.freshnessDefaults?.freshness_columns
  // A source whose engine is no longer loaded fails when it is connected.
  const connector = connectors.has(source.sourceType) ? connectors.get(source.sourceType) : undefined
  const reading =
    watched.expression === null || !connector
      ? undefined
      : await parseExpression(watched.expression, {
          dialect: connector.dialect,
          table: watched.ofTable,
          columns,
          hidden,
        })
  const column =
    reading || watched.usesLastModified
      ? undefined
      : watched.timestampColumn === null
        ? detectColumn(columns, { hidden, ...(preferred && { preferred }) })
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
  if (!watched.isTableActive) {
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
