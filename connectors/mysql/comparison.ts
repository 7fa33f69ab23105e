import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/** How MySQL and MariaDB write values for comparison. Their sessions are in UTC. */
export const comparison: ComparisonDialect = {
  text,
  checksum: text => sql`sum(cast(conv(substr(md5(${text}), 1, 15), 16, 10) as unsigned))`,
  slot: (text, digits) =>
    sql`cast(conv(substr(md5(${text}), 1, ${raw(String(digits))}), 16, 10) as unsigned)`,
  steps: (value, from, size) => sql`((${value} - ${raw(`(${from})`)}) div ${raw(String(size))})`,
  isSame: (one, other) => sql`${one} <=> ${other}`,
  // The binary collation of a text ignores blanks at its end; bytes have none.
  bytes: text => sql`cast(convert(${text} using utf8mb4) as binary)`,
  // Most collations ignore case, and most of the others blanks at the end.
  comparesBytes: ({ properties }) => /_nopad_bin$|^utf8mb4_0900_bin$/.test(properties?.collation ?? ''),
  round,
  wide: value => sql`cast(${value} as decimal(20))`,
  lower: text => sql`lower(${text})`,
  hasExactDecimals: true,
  cutMoment: (value, precision, column) =>
    withoutTrailingZeros(
      sql`substr(${text(value, 'timestamp', column)}, 1, ${raw(String(LENGTHS[precision]))})`,
    ),
  enforcesKeys: true,
}

/** Lengths of texts such as 2024-12-31 23:59:59.123456: no year has five digits. */
const LENGTHS = { second: 19, millisecond: 23, microsecond: 26 } as const

/** A double is rounded by the digits that it is printed with: 0.285 to 0.29, though its binary value is below it. */
function round(value: Sql, digits: number, { kind }: ColumnInfo): Sql {
  const places = raw(String(digits))
  if (kind !== 'float') return sql`round(${value}, ${places})`
  return sql`(case when abs(${value}) < 1e30 then round(cast(${value} as decimal(65, 30)), ${places}) else ${value} end)`
}

function text(value: Sql, family: ValueFamily, { kind, type }: ColumnInfo): Sql {
  const printed = sql`(cast(${value} as char character set utf8mb4) collate utf8mb4_bin)`
  switch (family) {
    case 'number':
    case 'boolean':
      if (kind === 'decimal') return withoutTrailingZeros(printed)
      // A 32-bit float would be printed with six digits, a bit as a byte.
      if (type === 'bit(1)')
        return sql`(cast(${value} + 0 as char character set utf8mb4) collate utf8mb4_bin)`
      return /^float\b/.test(type)
        ? sql`(cast(${value} + 0e0 as char character set utf8mb4) collate utf8mb4_bin)`
        : printed
    case 'timestamp':
    case 'time':
      return withoutTrailingZeros(printed)
    case 'uuid':
      return sql`lower(${printed})`
    case 'binary':
      return sql`lower(hex(${value}))`
    case 'text':
    case 'date':
    case 'json':
      return printed
  }
}

/** Zeros at the end of a fraction; those of an exponent, as in 1.5e20, are none. */
function withoutTrailingZeros(text: Sql): Sql {
  return sql`(case when locate('.', ${text}) > 0 and locate('e', ${text}) = 0 then trim(trailing '.' from trim(trailing '0' from ${text})) else ${text} end)`
}
