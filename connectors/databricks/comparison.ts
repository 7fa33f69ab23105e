import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/** How Databricks writes values for comparison (https://docs.databricks.com/sql/language-manual/sql-ref-functions-builtin). */
export const comparison: ComparisonDialect = {
  text,
  // A sum of BIGINT would overflow.
  checksum: text => sql`sum(cast(${hashed(text, 15)} as decimal(28, 0)))`,
  slot: (text, digits) => sql`cast(${hashed(text, digits)} as int)`,
  steps: (value, from, size) => sql`((${value} - ${raw(`(${from})`)}) div ${raw(String(size))})`,
  isSame: (one, other) => sql`${one} <=> ${other}`,
  bytes: text => sql`collate(${text}, 'UTF8_BINARY')`,
  comparesBytes: ({ properties }) => /^(utf8_binary)?$/i.test(properties?.collation ?? ''),
  round: (value, digits) => sql`round(${value}, ${raw(String(digits))})`,
  wide: value => sql`cast(${value} as decimal(38, 0))`,
  lower: text => sql`lower(${text})`,
  hasExactDecimals: true,
  cutMoment: (value, precision, column) =>
    printedMoment(sql`date_trunc('${raw(precision)}', ${value})`, column),
  // Primary keys are informational.
  enforcesKeys: false,
}

/** The first hexadecimal digits of a text's MD5 as the text of a number. */
function hashed(text: Sql, digits: number): Sql {
  return sql`conv(substr(md5(${text}), 1, ${raw(String(digits))}), 16, 10)`
}

function text(value: Sql, family: ValueFamily, column: ColumnInfo): Sql {
  const { kind, type } = column
  const printed = sql`cast(${value} as string)`
  switch (family) {
    case 'number':
      if (kind === 'decimal') return withoutTrailingZeros(printed)
      return type === 'float' ? sql`lower(cast(cast(${value} as double) as string))` : sql`lower(${printed})`
    case 'boolean':
      return kind === 'boolean' ? sql`cast(cast(${value} as int) as string)` : withoutTrailingZeros(printed)
    case 'timestamp':
      return printedMoment(value, column)
    case 'date':
      return printed
    case 'time':
      return withoutTrailingZeros(printed)
    case 'uuid':
      return sql`lower(${printed})`
    case 'binary':
      return sql`lower(hex(${value}))`
    case 'json':
      return sql`to_json(${value})`
    case 'text':
      return printed
  }
}

/** A TIMESTAMP is printed in the warehouse's zone, which may not be UTC. */
function printedMoment(value: Sql, { type }: ColumnInfo): Sql {
  const moment = type === 'timestamp' ? sql`convert_timezone('UTC', cast(${value} as timestamp_ntz))` : value
  return withoutTrailingZeros(sql`date_format(${moment}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')`)
}

/** Zeros at the end of a fraction. */
function withoutTrailingZeros(text: Sql): Sql {
  return sql`if(contains(${text}, '.'), rtrim('.', rtrim('0', ${text})), ${text})`
}
