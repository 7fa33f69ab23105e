import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Impact } from './diff.ts'
import type { TableFields } from '../assets/asset-extensions.ts'

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

/** What reads the open changes of some tables, and tells the worst impact of each. */
export function openChangesOfTables(companyId: string, tableIds: readonly string[]): TableFields<OpenRow> {
  return {
    reading: {
      name: 'open changes',
      // By way of their sources, which the index of open changes starts with.
      text: `select t.id, cast(count(*) as int) as count, ${RANK} as worst
        from tables t join schema_changes c on c.company_id = t.company_id and c.source_id = t.source_id
          and c.table_id = t.id and not c.is_acknowledged
        where t.company_id = :company_id and t.id = any(cast(:ids as uuid[])) group by 1`,
      bindings: { company_id: companyId, ids: [...tableIds] },
    },
    fieldsByTable: found =>
      new Map([...byId(found)].map(([id, { worst }]) => [id, { schema_change_status: worst }])),
  }
}

function byId(found: readonly OpenRow[]): Map<string, OpenChanges> {
  return new Map(found.map(({ id, count, worst }) => [id, { count, worst: IMPACTS_BY_RANK[worst] ?? 'low' }]))
}

/** Tags of a source that are counted by name. */
const NAMES = 50

/** Counts the tags of some sources, once for all who will ask; who changes tags, or which tables are in use, calls it. */
export async function countTags(trx: Transaction, sourceIds: readonly string[]): Promise<void> {
  await trx.raw(
    `with tagged as not materialized (
       select source_id, name, table_id, column_name from tags
       where company_id = :companyId and source_id = any(:sourceIds) and not is_refused
         -- Tables that are gone keep their tags for when they come back.
         and (table_id is null or table_id not in (
           select id from tables where company_id = :companyId and source_id = any(:sourceIds) and not is_active))),
     named as (
       select source_id, name, count(*) as count,
         row_number() over (partition by source_id order by count(*) desc, name) as place
       from tagged group by 1, 2),
     commonest as (
       select source_id, jsonb_object_agg(name, count) as by_tag from named where place <= :names group by 1),
     carriers as (
       select source_id, count(table_id) as tables, sum(columns) as columns
       from (select source_id, table_id, count(distinct column_name) as columns from tagged group by 1, 2) each_table
       group by 1)
     update sources s set tag_counts = (
       select jsonb_build_object('tables', tables, 'columns', columns, 'by_tag', by_tag)
       from carriers join commonest using (source_id) where source_id = s.id)
     where s.company_id = :companyId and s.id = any(:sourceIds)`,
    { companyId: companyOf(trx), sourceIds: [...sourceIds], names: NAMES },
  )
}
