/** What a check knows of its table, its column and its rows when it writes its SQL. */
import type { TableInfo } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { raw, sql, type Sql } from '../../connectors/sql.ts'
import type { Check, CheckContext, Filter } from '../check.ts'
import { columnForType } from '../column-values.ts'
import { readFilter, type FilterMode } from './filter.ts'

/** The column that a check reads, if any. */
export function findColumn(
  { dialect }: { dialect: Dialect },
  table: TableInfo,
  { type, column }: Pick<Check, 'type' | 'column'>,
) {
  if (type.column === 'ignored' || column === undefined) return undefined
  const found = table.columns.find(({ name }) => name === column)
  return found && columnForType(type, found, dialect)
}

/**
 * What a check knows of its table when it writes its SQL. A filter must have been found good.
 * @param mode how its filter is applied; defaults to a statement of the rows of that filter
 * @param bucket the condition of the rows of one bucket, where the check is to be about that alone
 */
export function buildCheckContext(
  { dialect }: { dialect: Dialect },
  table: TableInfo,
  check: Omit<Check, 'id'>,
  mode: FilterMode = 'where',
  bucket?: Sql,
): CheckContext {
  const info = findColumn({ dialect }, table, check)
  const column = info ? dialect.quote(info.name) : raw('')
  const from = dialect.table(table)
  const given = check.filter === undefined ? undefined : readFilter(check.filter, { dialect, table })
  const filter = bucket ? withinBucket(given, bucket) : given
  const aggregateFilter = mode === 'aggregates' ? given?.condition : undefined
  return {
    column,
    value: info && aggregateFilter ? sql`case when ${aggregateFilter} then ${column} end` : column,
    info,
    table,
    from: filter && !check.type.filters ? UNFILTERED_TABLE : from,
    rows: filter ? sql`(select * from ${from} where ${filter.condition}) tidemark_rows` : from,
    filter,
    aggregateFilter,
    config: check.config,
    dialect,
    nullIsValid: check.nullIsValid ?? false,
  }
}

function withinBucket(filter: Filter | undefined, bucket: Sql): Filter {
  if (!filter)
    return { condition: bucket, text: { columns: [], references: [], calls: [], isTimeless: true } }
  return { ...filter, condition: sql`${bucket} and ${filter.condition}` }
}

/** Stands for the table where a type that knows nothing of filters would read rows that the check is not about. */
export const UNFILTERED_TABLE = raw('tidemark_unfiltered_table')
