import type { AssetExtension } from '../catalog/api.ts'

interface CountedRows {
  tableId: string
  count: number
  from: 'row_count' | 'profile'
  at: Date
}

/** The newest number of rows of tables whose engine estimates none: of a row count of all rows, or of a profile. */
export const knownRowsExtension: AssetExtension = {
  tableFields: (companyId, tableIds) => ({
    reading: {
      name: 'known rows',
      text: `select t.id as table_id, counted.*
        from tables t cross join lateral (
          select * from (
            select r.value as count, 'row_count' as "from", r.at from checks c cross join lateral (
              select value, at from check_results r
              where r.company_id = :company_id and r.check_id = c.id and r.value is not null
              order by r.at desc, r.id desc limit 1) r
            where c.company_id = :company_id and c.table_id = t.id and c.kind = 'metric' and c.type = 'row_count'
              and c.filter is null and c.window_size is null
            union all
            (select row_count, 'profile', profiled_at from profiles p
              where p.company_id = :company_id and p.table_id = t.id order by profiled_at desc, id desc limit 1)) found
          order by at desc limit 1) counted
        where t.company_id = :company_id and t.id = any(cast(:ids as uuid[])) and t.estimated_rows is null`,
      bindings: { company_id: companyId, ids: [...tableIds] },
    },
    fieldsByTable: (found: readonly CountedRows[]) =>
      new Map(
        found.map(({ tableId, count, from, at }) => [
          tableId,
          { known_rows: { count: Math.round(count), from, at } },
        ]),
      ),
  }),
}
