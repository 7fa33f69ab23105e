/** Columns of checks in lists that depend on their kinds, in SQL. */
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
