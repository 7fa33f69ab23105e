import { TEMPORAL_KINDS } from '../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { ProfiledTimes } from '../catalog/api.ts'

/** What the latest profiles found in columns with dates or times, by table; tables without a profile are left out. */
export async function readProfiledTimes(
  trx: Transaction,
  tableIds: readonly string[],
): Promise<Map<string, ProfiledTimes>> {
  if (tableIds.length === 0) return new Map()
  const found = await rows<ProfiledTimes & { tableId: string }>(
    trx,
    `select t.table_id, p.profiled_at, p.columns
     from unnest(cast(:tableIds as uuid[])) t (table_id) cross join lateral (
       select profiled_at, (select coalesce(jsonb_object_agg(c ->> 'name',
           jsonb_build_object('count', c -> 'count', 'nulls', c -> 'nulls', 'max', c -> 'max')), '{}')
         from jsonb_array_elements(columns) c where c ->> 'kind' = any(cast(:kinds as text[]))) as columns
       from profiles where company_id = :companyId and profiles.table_id = t.table_id
       order by profiled_at desc, id desc limit 1) p`,
    { companyId: companyOf(trx), tableIds: [...tableIds], kinds: [...TEMPORAL_KINDS] },
  )
  return new Map(found.map(({ tableId, ...profile }) => [tableId, profile]))
}
