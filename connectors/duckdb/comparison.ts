import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/** How DuckDB writes values for comparison. */
export const comparison: ComparisonDialect = {
  text,
  checksum: text => sql`sum(${hashed(text, 15)})`,
  slot: (text, digits) => sql`cast(${hashed(text, digits)} as integer)`,
  steps: (value, from, size) =>
    sql`((cast(${value} as hugeint) - ${raw(`(${from})`)}) // ${raw(String(size))})`,
  isSame: (one, other) => sql`${one} is not distinct from ${other}`,
  bytes: text => sql`${text} collate c`,
  // The catalog does not list collations.
  comparesBytes: () => true,
  round: (value, digits) => sql`round(${value}, ${raw(String(digits))})`,
  wide: value => sql`cast(${value} as hugeint)`,
  lower: text => sql`lower(${text})`,
  hasExactDecimals: true,
  cutMoment: (value, precision, column) =>
    printedMoment(sql`date_trunc('${raw(precision)}', ${value})`, column),
  enforcesKeys: true,
}

/** The first hexadecimal digits of a text's MD5 as a number. */
function hashed(text: Sql, digits: number): Sql {
  return sql`cast('0x' || substr(md5(${text}), 1, ${raw(String(digits))}) as bigint)`
}

function text(value: Sql, family: ValueFamily, column: ColumnInfo): Sql {
  const printed = sql`cast(${value} as varchar)`
  switch (family) {
    case 'number':
      return column.kind === 'float' ? printedFloat(value) : withoutTrailingZeros(printed)
    case 'boolean':
      return column.kind === 'boolean'
        ? sql`cast(cast(${value} as integer) as varchar)`
        : withoutTrailingZeros(printed)
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
    case 'text':
      return printed
  }
}

/** DuckDB prints the shortest digits, and a whole number with `.0`. */
function printedFloat(value: Sql): Sql {
  const printed = sql`cast(${value} as varchar)`
  return sql`lower(case when ends_with(${printed}, '.0') then left(${printed}, -2) else ${printed} end)`
}

/** A moment with a zone is printed in that of the session, which is UTC. */
function printedMoment(value: Sql, { type }: ColumnInfo): Sql {
  const moment = type === 'timestamp with time zone' ? sql`(${value} at time zone 'UTC')` : value
  return withoutTrailingZeros(sql`cast(${moment} as varchar)`)
}

/** Zeros at the end of a fraction. */
function withoutTrailingZeros(text: Sql): Sql {
  return sql`case when contains(${text}, '.') then rtrim(rtrim(${text}, '0'), '.') else ${text} end`
}
