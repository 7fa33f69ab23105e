import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/** How BigQuery writes values for comparison (https://cloud.google.com/bigquery/docs/reference/standard-sql). */
export const comparison: ComparisonDialect = {
  text,
  // A sum of INT64 would overflow.
  checksum: text => sql`sum(cast(${hashed(text, 15)} as bignumeric))`,
  slot: hashed,
  steps: (value, from, size) => sql`div(${value} - ${raw(`(${from})`)}, ${raw(String(size))})`,
  isSame: (one, other) => sql`${one} is not distinct from ${other}`,
  bytes: text => sql`collate(${text}, '')`,
  comparesBytes: ({ properties }) => properties?.collation === undefined,
  round: (value, digits) => sql`round(${value}, ${raw(String(digits))})`,
  wide: value => sql`cast(${value} as bignumeric)`,
  lower: text => sql`lower(${text})`,
  hasExactDecimals: true,
  cutMoment: (value, precision, column) =>
    printedMoment(sql`${raw(column.type)}_trunc(${value}, ${raw(precision)})`),
  // Keys are declared NOT ENFORCED.
  enforcesKeys: false,
}

/** The first hexadecimal digits of a text's MD5 as an INT64. */
function hashed(text: Sql, digits: number): Sql {
  return sql`cast(concat('0x', substr(to_hex(md5(${text})), 1, ${raw(String(digits))})) as int64)`
}

function text(value: Sql, family: ValueFamily, { kind }: ColumnInfo): Sql {
  switch (family) {
    // Decimals are printed without zeros at the end.
    case 'number':
      return sql`lower(cast(${value} as string))`
    case 'boolean':
      return kind === 'boolean' ? sql`cast(cast(${value} as int64) as string)` : sql`cast(${value} as string)`
    case 'timestamp':
      return printedMoment(value)
    case 'date':
      return sql`format_date('%Y-%m-%d', ${value})`
    case 'time':
      return withoutTrailingZeros(sql`format_time('%H:%M:%E6S', ${value})`)
    case 'uuid':
      return sql`lower(${value})`
    case 'binary':
      return sql`to_hex(${value})`
    case 'json':
      return sql`to_json_string(${value})`
    case 'text':
      return value
  }
}

/** Years have four digits, and moments of both types no zone but UTC. */
function printedMoment(value: Sql): Sql {
  return withoutTrailingZeros(sql`format_datetime('%E4Y-%m-%d %H:%M:%E6S', cast(${value} as datetime))`)
}

/** Zeros at the end of a fraction. */
function withoutTrailingZeros(text: Sql): Sql {
  return sql`rtrim(rtrim(${text}, '0'), '.')`
}
