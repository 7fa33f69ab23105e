import type { ColumnInfo } from '../catalog.ts'
import type { ComparisonDialect, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'

/**
 * How Redshift writes values for comparison, as the Amazon Redshift Database Developer Guide has it
 * (https://docs.aws.amazon.com/redshift/latest/dg/c_SQL_functions.html). Its sessions are in UTC.
 */
export const comparison: ComparisonDialect = {
  text,
  // A sum of BIGINT is a NUMERIC of 38 digits.
  checksum: text => sql`sum(cast(strtol(substring(md5(${text}), 1, 15), 16) as numeric(38, 0)))`,
  slot: (text, digits) => sql`strtol(substring(md5(${text}), 1, ${raw(String(digits))}), 16)`,
  steps: (value, from, size) =>
    sql`((cast(${value} as bigint) - cast(${raw(`(${from})`)} as bigint)) / cast(${raw(String(size))} as bigint))`,
  // It has no test for values that are the same where both are NULL.
  isSame: (one, other) => sql`(${one} = ${other} or (${one} is null and ${other} is null))`,
  bytes: text => sql`collate(${text}, 'case_sensitive')`,
  comparesBytes: ({ properties }) => !/insensitive/i.test(properties?.collation ?? ''),
  round: (value, digits) => sql`round(${value}, ${raw(String(digits))})`,
  wide: value => sql`cast(${value} as numeric(38, 0))`,
  lower: text => sql`lower(${text})`,
  hasExactDecimals: true,
  cutMoment: (value, precision, column) =>
    printedMoment(sql`date_trunc('${raw(precision)}', ${value})`, column),
  // Keys are what the planner believes, and are not enforced.
  enforcesKeys: false,
}

/** With the longest length there is: TEXT is VARCHAR(256) here and would cut a text off. */
function printedText(value: Sql): Sql {
  return sql`cast(${value} as varchar(65535))`
}

function text(value: Sql, family: ValueFamily, column: ColumnInfo): Sql {
  const { kind, type } = column
  switch (family) {
    case 'number':
      if (kind === 'decimal') return withoutTrailingZeros(printedText(value))
      return type === 'real' ? printedText(sql`cast(${value} as double precision)`) : printedText(value)
    case 'boolean':
      return kind === 'boolean'
        ? sql`case when ${value} then '1' when not ${value} then '0' end`
        : withoutTrailingZeros(printedText(value))
    case 'timestamp':
      return printedMoment(value, column)
    case 'date':
      return sql`to_char(${value}, 'YYYY-MM-DD')`
    case 'time':
      return withoutTrailingZeros(printedText(value))
    case 'uuid':
      return sql`lower(${printedText(value)})`
    case 'binary':
      return sql`lower(to_hex(${value}))`
    case 'json':
      return sql`json_serialize(${value})`
    case 'text':
      return printedText(value)
  }
}

function printedMoment(value: Sql, { type }: ColumnInfo): Sql {
  const moment = type.startsWith('timestamptz') ? sql`(${value} at time zone 'UTC')` : value
  return withoutTrailingZeros(sql`to_char(${moment}, 'YYYY-MM-DD HH24:MI:SS.US')`)
}

/** Zeros at the end of a fraction. */
function withoutTrailingZeros(text: Sql): Sql {
  return sql`case when position('.' in ${text}) > 0 then rtrim(rtrim(${text}, '0'), '.') else ${text} end`
}
