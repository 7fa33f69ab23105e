import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/**
 * How Snowflake writes values for comparison (https://docs.snowflake.com/en/sql-reference/functions/md5 and
 * the pages of to_number, to_varchar and date_trunc). Its sessions are in UTC.
 */
export const comparison: ComparisonDialect = {
  text,
  // NUMBER has 38 digits: the sum of a million million numbers of 60 bits.
  checksum: text => sql`sum(to_number(substr(md5(${text}), 1, 15), 'XXXXXXXXXXXXXXX')::number(38, 0))`,
  slot: (text, digits) =>
    sql`to_number(substr(md5(${text}), 1, ${raw(String(digits))}), '${raw('X'.repeat(digits))}')`,
  steps: (value, from, size) => sql`floor((${value} - ${raw(`(${from})`)}) / ${raw(String(size))})`,
  isSame: (one, other) => sql`${one} is not distinct from ${other}`,
  bytes: text => sql`collate(${text}, '')`,
  comparesBytes: ({ properties }) => properties?.collation === undefined,
  round: (value, digits) => sql`round(${value}, ${raw(String(digits))})`,
  wide: value => value,
  lower: text => sql`lower(${text})`,
  hasExactDecimals: true,
  cutMoment: (value, precision, column) =>
    withoutTrailingZeros(printedMoment(sql`date_trunc('${raw(precision)}', ${inUtc(value, column)})`)),
  // Constraints other than NOT NULL are not enforced.
  enforcesKeys: false,
}

function text(value: Sql, family: ValueFamily, column: ColumnInfo): Sql {
  switch (family) {
    case 'number':
      return column.kind === 'decimal'
        ? withoutTrailingZeros(sql`to_varchar(${value})`)
        : sql`lower(to_varchar(${value}))`
    case 'boolean':
      return column.kind === 'boolean'
        ? sql`to_varchar(iff(${value}, 1, iff(not ${value}, 0, null)))`
        : withoutTrailingZeros(sql`to_varchar(${value})`)
    case 'timestamp':
      return withoutTrailingZeros(printedMoment(inUtc(value, column)))
    case 'time':
      return withoutTrailingZeros(sql`to_varchar(${value}, 'HH24:MI:SS.FF9')`)
    case 'date':
      return sql`to_varchar(${value}, 'YYYY-MM-DD')`
    case 'uuid':
      return sql`lower(to_varchar(${value}))`
    case 'binary':
      return sql`lower(hex_encode(${value}))`
    case 'json':
      return sql`to_json(${value})`
    case 'text':
      return sql`to_varchar(${value})`
  }
}

function inUtc(value: Sql, { type }: ColumnInfo): Sql {
  return /^timestamp_(tz|ltz)\b/.test(type) ? sql`convert_timezone('UTC', ${value})::timestamp_ntz` : value
}

function printedMoment(moment: Sql): Sql {
  return sql`to_varchar(${moment}, 'YYYY-MM-DD HH24:MI:SS.FF9')`
}

/** Zeros at the end of a fraction. */
function withoutTrailingZeros(text: Sql): Sql {
  return sql`iff(contains(${text}, '.'), rtrim(rtrim(${text}, '0'), '.'), ${text})`
}
