import { datePattern } from '../dates.ts'
import { defineDialect, percentileFraction, sampleByNumber, samplePercentage } from '../dialect.ts'
import { comparison } from './comparison.ts'
import { bigqueryLexicon } from './lexicon.ts'
import { raw, sql, type Sql } from '../sql.ts'
import { toParameter, type BigqueryParameter } from './values.ts'

/**
 * GoogleSQL's differences to ANSI SQL (https://cloud.google.com/bigquery/docs/reference/standard-sql).
 *
 * Things to know when writing conditions for it. Types are strict: a text is no number, and only literals and
 * parameters that are texts become dates and times. NaN equals nothing, not itself either, and is neither above nor
 * below any number, while `<>` is true of it. A literal with a point is a FLOAT64, one beyond 64 bits an error.
 * Expressions are RE2's, where `$` is the end of the text and nothing else.
 */
export const bigqueryDialect = defineDialect({
  lexicon: bigqueryLexicon,
  comparison,
  quote,
  table: ({ catalog, schema, name }) => sql`${quote(catalog)}.${quote(schema)}.${quote(name)}`,
  countIf: condition => sql`countif(${condition})`,
  matches: (value, pattern) => sql`regexp_contains(${value}, ${pattern})`,
  parsesAsDate: (value, format) => sql`regexp_contains(${value}, ${datePattern(format)})`,
  // A backslash begins an escape, two quotes in a row end one text and begin the next, and lines do not break.
  textLiteral: text =>
    raw(`'${text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`),
  percentile,
  // A sum of integers is an INT64, which large ones overflow.
  sum: (value, column) =>
    column?.kind === 'integer' ? sql`sum(cast(${value} as bignumeric))` : sql`sum(${value})`,
  // Not a cast, which JSON, arrays and structures do not have; of NULL, FORMAT makes a text.
  asText: value => sql`if(${value} is null, null, format('%t', ${value}))`,
  approximateDistinct: value => sql`approx_count_distinct(${value})`,
  // Views have no blocks.
  sample: (table, { fraction, kind, byRow }) =>
    kind === 'table' && !byRow
      ? sql`${table} tablesample system (${samplePercentage(fraction)} percent)`
      : sampleByNumber(table, raw('rand()'), fraction),
  // What has no zone is in that of the query, which is UTC.
  epochSeconds: value => sql`unix_seconds(cast(${value} as timestamp))`,
  // A DATETIME has no zone.
  isInstant: ({ type }) => /^timestamp\b/.test(type),
  numberLiteral: numberLiteral,
  render,
  // BigQuery takes 10,000 of both, and 1 MB of text.
  limits: { columns: 1000, values: 10_000 },
})

function quote(identifier: string): Sql {
  const escaped = identifier
    .replaceAll('\\', '\\\\')
    .replaceAll('`', '\\`')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
  return raw(`\`${escaped}\``)
}

/**
 * BigQuery has it as a window function alone, so that it stands in a sub-query of the whole table; max makes it
 * an aggregate.
 */
function percentile(value: Sql, fraction: number, table: Sql): Sql {
  const whole = sql`select percentile_cont(cast(${value} as float64), ${percentileFraction(fraction)}) over () from ${table} limit 1`
  return sql`max((${whole}))`
}

const INT64 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n }

/** BIGNUMERIC takes 38 digits on each side of the point. */
const BIGNUMERIC_TEXT = /^-?(\d{1,38})(?:\.(\d{1,38}))?$/

/** An exact number where there is one: 64 bits without a point, BIGNUMERIC up to 38 digits on each side of it. */
function numberLiteral(text: string): Sql {
  if (/^-?\d+$/.test(text)) {
    const value = BigInt(text)
    if (value >= INT64.least && value <= INT64.greatest) return raw(text)
  }
  if (BIGNUMERIC_TEXT.test(text)) return raw(`bignumeric '${text}'`)
  return raw(`cast('${text}' as float64)`)
}

/** Values by position; NULL is written out, because a parameter would give it a type. */
function render(statement: Sql): { text: string; values: BigqueryParameter[] } {
  const parameters = statement.values.map(toParameter)
  const { text } = statement.render(position => (parameters[position - 1] ? '?' : 'null'))
  return { text, values: parameters.filter(parameter => parameter !== null) }
}
