import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/** How PostgreSQL writes values for comparison. Its sessions are in UTC and print dates in ISO style. */
export const comparison: ComparisonDialect = {
  text,
  checksum: text => sql`sum(('x' || substr(md5(${text}), 1, 15))::bit(60)::bigint)`,
  slot: text => sql`('x' || substr(md5(${text}), 1, 3))::bit(12)::int`,
  steps: (value, from, size) =>
    sql`(((${value})::bigint - ${raw(`(${from})`)}::bigint) / ${raw(String(size))}::bigint)`,
  bytes: text => sql`(${text})::text collate "C"`,
  round: (value, digits) => sql`round((${value})::numeric, ${raw(String(digits))})`,
}

function text(value: Sql, family: ValueFamily, { kind, type, base = type }: ColumnInfo): Sql {
  switch (family) {
    case 'number':
      return kind === 'decimal' ? sql`trim_scale(${value})::text` : sql`(${value})::text`
    case 'boolean':
      return kind === 'boolean' ? sql`(${value})::int::text` : sql`(${value})::text`
    case 'timestamp':
      return base.startsWith('timestamptz')
        ? sql`((${value}) at time zone 'UTC')::text`
        : sql`(${value})::text`
    case 'uuid':
      return sql`lower((${value})::text)`
    case 'binary':
      return sql`encode(${value}, 'hex')`
    case 'json':
      return sql`(${value})::jsonb::text`
    case 'text':
    case 'date':
    case 'time':
      return sql`(${value})::text`
  }
}
