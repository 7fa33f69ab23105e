import { companyOf, rows } from '../../../server/database/database.ts'
import type { LastPass, Unwatched, WatchLookup } from '../../alerts/api.ts'
import { TABLE_PART } from '../watched-parts.ts'

const MAX_EXAMPLES = 5

/**
 * Counts the tables whose freshness, volume or keys no active check watches.
 * @param enforcingTypes the types of sources that reject rows which repeat a key
 */
export function makeWatchLookup(enforcingTypes: () => string[]): WatchLookup {
  return {
    async readUnwatched(trx, owned) {
      const [found] = await rows<Unwatched>(trx, unwatchedQuery(owned?.text), {
        ...owned?.bindings,
        companyId: companyOf(trx),
        enforcing: enforcingTypes(),
      })
      return found ?? { tables: 0, withoutFreshness: 0, withoutVolume: 0, withoutKeys: 0, examples: [] }
    },
    async readLastPass(trx, { checkId, tableId, series, before }) {
      // Kinds put different words before the UUID.
      const [uuid] = /[0-9a-f-]{36}$/.exec(checkId) ?? []
      if (uuid === undefined) return undefined
      const [found] = await rows<LastPass>(trx, LAST_PASS, {
        companyId: companyOf(trx),
        ...{ uuid, tableId, series: JSON.stringify(series), before },
      })
      return found
    },
  }
}

const LAST_PASS = `
  select passed.at, passed.value
    from checks c
    left join lateral (
      select r.at, r.value from check_results r
       where r.company_id = :companyId and r.check_id = c.id and r.status = 'pass'
         and r.series = cast(:series as jsonb) and r.at < :before
       order by r.at desc, r.id desc limit 1) passed on true
   where c.company_id = :companyId and c.uuid = cast(:uuid as uuid) and c.table_id = :tableId`

/** @param owned a SELECT of `asset_id`; undefined for all tables */
const unwatchedQuery = (owned: string | undefined) => `
  with watched as (
    select table_id, bool_or(part = 'freshness') as freshness, bool_or(part = 'volume') as volume,
           array_agg(column_name) filter (where part = 'unique') as uniques
      from (select table_id, column_name, ${TABLE_PART} as part from checks
             where company_id = :companyId and is_active) c
     group by table_id),
  judged as (
    select t.id, t.qualified_name, w.table_id is null as is_unwatched,
           w.freshness is not true as no_freshness, w.volume is not true as no_volume,
           key.column_name is not null and not (s.source_type = any(cast(:enforcing as text[])) and t.kind = 'table')
             and (key.column_name = any(w.uniques)) is not true as no_keys
      from tables t
      join sources s on s.company_id = :companyId and s.id = t.source_id and s.is_active
      left join watched w on w.table_id = t.id
      left join lateral (
        select c #>> '{columns,0}' as column_name from jsonb_array_elements(t.constraints) c
         where c ->> 'type' = 'primary_key' and jsonb_array_length(c -> 'columns') = 1 limit 1) key on true
     where t.company_id = :companyId and t.is_active
       ${owned === undefined ? '' : `and t.id in (select asset_id from (${owned}) owned)`})
  select count(*)::int as tables, count(*) filter (where no_freshness)::int as without_freshness,
         count(*) filter (where no_volume)::int as without_volume, count(*) filter (where no_keys)::int as without_keys,
         coalesce((
           select jsonb_agg(jsonb_build_object('id', e.id, 'qualifiedName', e.qualified_name) order by e.qualified_name, e.id)
             from (select id, qualified_name from judged where is_unwatched
                    order by qualified_name, id limit ${MAX_EXAMPLES}) e), '[]') as examples
    from judged`
