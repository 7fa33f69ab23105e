import { companyOf, type Transaction } from '../../../server/database/database.ts'

/** Tags of a source that are counted by name. */
const MAX_COUNTED_NAMES = 50

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
    { companyId: companyOf(trx), sourceIds: [...sourceIds], names: MAX_COUNTED_NAMES },
  )
}
