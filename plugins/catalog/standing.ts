import { companyOf, rows, type Transaction } from '../../server/database.ts'
import type { Impact } from './diff.ts'

/** How many schema changes nobody has acknowledged, and the worst impact among them. */
export interface OpenChanges {
  count: number
  worst: Impact
}

interface OpenRow {
  id: string
  count: number
  worst: number
}

const IMPACTS_BY_RANK: readonly Impact[] = ['low', 'medium', 'high']
const RANK = `max(case impact when 'high' then 2 when 'medium' then 1 else 0 end)`

/** Open changes of some sources; those without any are left out. */
export async function openChangesOf(
  trx: Transaction,
  sourceIds: readonly string[],
): Promise<Map<string, OpenChanges>> {
  return byId(
    await rows<OpenRow>(
      trx,
      `select source_id as id, count(*)::int as count, ${RANK} as worst from schema_changes
       where company_id = ? and source_id = any(?) and not is_acknowledged group by 1`,
      [companyOf(trx), [...sourceIds]],
    ),
  )
}

/** Open changes of some tables; those without any are left out. */
export async function openChangesOfTables(
  trx: Transaction,
  tableIds: readonly string[],
): Promise<Map<string, OpenChanges>> {
  // By way of their sources, which the index of open changes starts with.
  return byId(
    await rows<OpenRow>(
      trx,
      `select t.id, count(*)::int as count, ${RANK} as worst
       from tables t join schema_changes c on c.company_id = t.company_id and c.source_id = t.source_id
         and c.table_id = t.id and not c.is_acknowledged
       where t.company_id = ? and t.id = any(?) group by 1`,
      [companyOf(trx), [...tableIds]],
    ),
  )
}

function byId(found: readonly OpenRow[]): Map<string, OpenChanges> {
  return new Map(found.map(({ id, count, worst }) => [id, { count, worst: IMPACTS_BY_RANK[worst] ?? 'low' }]))
}

/** What of a source is tagged. */
export interface TagCounts {
  /** Tables in use that carry a tag, or a column of which does. */
  tables: number
  /** Columns that carry a tag. */
  columns: number
  /** What carries each of the commonest tags, the source itself included. */
  by_tag: Record<string, number>
}

/** Tags of a source that are counted by name. */
const NAMES = 50

/** Counts the tags of some sources; those that carry none are left out. */
export async function tagCountsOf(
  trx: Transaction,
  sourceIds: readonly string[],
): Promise<Map<string, TagCounts>> {
  const found = await rows<{
    id: string
    tables: number
    columns: number
    names: string[]
    counts: number[]
  }>(
    trx,
    `with tagged as not materialized (
       select source_id, name, table_id, column_name from tags
       where company_id = :companyId and source_id = any(:sourceIds) and not is_refused
         -- Tables that are gone keep their tags for when they come back.
         and (table_id is null or table_id not in (
           select id from tables where company_id = :companyId and source_id = any(:sourceIds) and not is_active))),
     named as (
       select source_id, name, count(*)::int as count,
         row_number() over (partition by source_id order by count(*) desc, name) as place
       from tagged group by 1, 2),
     commonest as (
       select source_id, array_agg(name order by place) as names, array_agg(count order by place) as counts
       from named where place <= :names group by 1),
     carriers as (
       select source_id, count(table_id)::int as tables, sum(columns)::int as columns
       from (select source_id, table_id, count(distinct column_name) as columns from tagged group by 1, 2) each_table
       group by 1)
     select source_id as id, tables, columns, names, counts from carriers join commonest using (source_id)`,
    { companyId: companyOf(trx), sourceIds: [...sourceIds], names: NAMES },
  )
  return new Map(
    found.map(({ id, tables, columns, names, counts }) => [
      id,
      // A tag may be called `__proto__`.
      { tables, columns, by_tag: Object.fromEntries(names.map((name, i) => [name, counts[i] ?? 0])) },
    ]),
  )
}
