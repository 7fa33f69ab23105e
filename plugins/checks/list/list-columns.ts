/** Columns of checks in lists that depend on their kinds, in SQL. */
import { MAX_SQL_CHARS } from '../alerts.ts'
import type { CheckKind } from '../kind.ts'

type Kinds = ReadonlyMap<string, Pick<CheckKind, 'name' | 'idPrefix' | 'alert'>>

/** The public id of a check. */
export function publicIdText(kinds: Kinds): string {
  return byKind(kinds, ({ idPrefix }) => `'${idPrefix}' || uuid`)
}

/** The kind of the alerts that a check raises; their cause is its public id. */
export function alertKindText(kinds: Kinds): string {
  return byKind(kinds, ({ alert }) => `'${alert.name}'`)
}

/** A text of SQL as names show it, as `shortenSql` writes it. */
const shortened = (text: string) =>
  `regexp_replace(btrim(regexp_replace(${text}, '\\s+', ' ', 'g')), '^(.{${MAX_SQL_CHARS}}).+$', '\\1…')`

/** What a check `c` without a name is called: `mean of total`, as alerts call it. */
export const NAME_OF_METRIC = `case when c.config ->> 'sql_expression' is null
    then concat_ws(' of ', c.type, c.column_name)
    else c.type || ' (' || ${shortened(`(c.config ->> 'sql_expression')`)} || ')' end`

/** Its name beside those of other tables `t`: `mean of total on orders per day where country = 'DE'`. */
export const NAME_OF_METRIC_ON_TABLE = `${NAME_OF_METRIC} || ' on ' || t.name
  || case when c.window_size is null then '' when c.window_size = '1h' then ' per hour' when c.window_size = '1d' then ' per day'
       when c.window_size in ('1w', '7d') then ' per week' else ' per ' || c.window_size end
  || case when c.filter is null then '' else ' where ' || ${shortened('c.filter')} end`

/** The condition in SQL that a check `row` is one of those that the API lists, counts and runs together. */
export function isOfKinds(kinds: ReadonlyMap<string, unknown>, row = 'checks'): string {
  return kinds.size === 0
    ? 'false'
    : `${row}.kind in (${[...kinds.keys()].map(kind => `'${kind}'`).join(', ')})`
}

function byKind(kinds: Kinds, textOf: (kind: Pick<CheckKind, 'idPrefix' | 'alert'>) => string): string {
  if (kinds.size === 0) return `''`
  return `case kind ${[...kinds.values()].map(kind => `when '${kind.name}' then ${textOf(kind)}`).join(' ')} end`
}

/**
 * The results of the check `c`, newest first. One by groups has a series for each group, hence none of its own; it is learning
 * while all groups of its last result are.
 */
export const RESULTS_OF_CHECK = `
  select r.id, r.at, r.value, r.status, r.low, r.high,
    r.is_learning and (c.group_by_columns = '{}' or not exists (
      select from check_results o where o.company_id = r.company_id and o.check_id = r.check_id
        and o.at = r.at and not o.is_learning)) as is_learning
  from check_results r where r.company_id = c.company_id and r.check_id = c.id
  order by r.at desc, r.id desc`
