import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/** How PostgreSQL writes values for comparison. Its sessions are in UTC and print dates in ISO style. */
export const comparison: ComparisonDialect = {
  text,
  checksum: text => sql`sum(('x' || substr(md5(${text}), 1, 15))::bit(60)::bigint)`,
  slot: (text, digits) =>
    sql`('x' || substr(md5(${text}), 1, ${raw(String(digits))}))::bit(${raw(String(digits * 4))})::int`,
  steps: (value, from, size) =>
    sql`(((${value})::bigint - ${raw(`(${from})`)}::bigint) / ${raw(String(size))}::bigint)`,
  isSame: (one, other) => sql`${one} is not distinct from ${other}`,
  bytes: text => sql`(${text})::text collate "C"`,
  comparesBytes: ({ type, base = type, nondeterministicCollation }) =>
    base !== 'citext' && nondeterministicCollation === undefined,
  round: (value, digits) => sql`round((${value})::numeric, ${raw(String(digits))})`,
  wide: value => sql`(${value})::numeric`,
  lower: text => sql`lower(${text})`,
  hasExactDecimals: true,
  cutMoment: (value, precision, column) =>
    sql`date_trunc('${raw(precision)}', ${inUtc(value, column)})::text`,
  enforcesKeys: true,
}

function inUtc(value: Sql, { type, base = type }: ColumnInfo): Sql {
  return base.startsWith('timestamptz') ? sql`((${value}) at time zone 'UTC')` : sql`(${value})`
}

function text(value: Sql, family: ValueFamily, column: ColumnInfo): Sql {
  const { kind, type, base = type } = column
  switch (family) {
    case 'number':
    case 'boolean':
      if (kind === 'decimal') return sql`trim_scale(${value})::text`
      // The double of a 32-bit float, since engines do not print the shorter digits of one alike.
      if (base === 'real') return sql`(${value})::float8::text`
      return kind === 'boolean' ? sql`(${value})::int::text` : sql`(${value})::text`
    case 'timestamp':
      return sql`${inUtc(value, column)}::text`
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
