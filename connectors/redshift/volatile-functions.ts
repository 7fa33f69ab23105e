import type { SqlReference } from '../dialect.ts'
import { join, sql, type Sql } from '../sql.ts'

/**
 * The users' own functions that are VOLATILE in pg_proc, by name in whatever schema can be found without writing one,
 * or in the one written. Redshift's own are left out: the guide does not say how pg_proc marks them, and a wrong
 * mark would forbid getdate(). Operators, casts and domains cannot be made there
 * (https://docs.aws.amazon.com/redshift/latest/dg/c_unsupported-postgresql-features.html). Names are folded.
 */
export function volatileFunctions(calls: readonly SqlReference[]): Sql {
  const named = calls
    .filter(({ kind }) => kind === 'function' || kind === 'field' || kind === 'column')
    .map(({ kind, schema, name }) => {
      const isMeant = sql`lower(p.proname) = ${name.toLowerCase()}`
      if (kind !== 'function') return sql`(${isMeant} and p.pronargs = 1)`
      return schema === undefined
        ? sql`(${isMeant} and pg_function_is_visible(p.oid))`
        : sql`(${isMeant} and lower(n.nspname) = ${schema.toLowerCase()})`
    })
  return sql`
select distinct n.nspname || '.' || p.proname as name, '' as used
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where p.provolatile = 'v' and n.nspname <> 'pg_catalog' and (${named.length > 0 ? join(named, ' or ') : sql`1 = 0`})
order by 1
limit 10`
}
