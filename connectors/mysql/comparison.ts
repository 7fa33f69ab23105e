import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/** How MySQL and MariaDB write values for comparison. Their sessions are in UTC. */
export const comparison: ComparisonDialect = {
  text,
  checksum: text => sql`sum(cast(conv(substr(md5(${text}), 1, 15), 16, 10) as unsigned))`,
  slot: text => sql`cast(conv(substr(md5(${text}), 1, 3), 16, 10) as unsigned)`,
  steps: (value, from, size) => sql`((${value} - ${raw(`(${from})`)}) div ${raw(String(size))})`,
  // The binary collation of a text ignores blanks at its end; bytes have none.
  bytes: text => sql`cast(convert(${text} using utf8mb4) as binary)`,
  round: (value, digits) => sql`round(${value}, ${raw(String(digits))})`,
}

function text(value: Sql, family: ValueFamily, { kind, type }: ColumnInfo): Sql {
  const printed = sql`(cast(${value} as char character set utf8mb4) collate utf8mb4_bin)`
  switch (family) {
    case 'number':
      return kind === 'decimal' ? withoutTrailingZeros(printed) : printed
    case 'boolean':
      return type === 'bit(1)'
        ? sql`(cast(${value} + 0 as char character set utf8mb4) collate utf8mb4_bin)`
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

/** Zeros at the end of a fraction. */
function withoutTrailingZeros(text: Sql): Sql {
  return sql`(case when locate('.', ${text}) > 0 then trim(trailing '.' from trim(trailing '0' from ${text})) else ${text} end)`
}
