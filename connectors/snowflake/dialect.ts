import { datePattern } from '../dates.ts'
import { defineDialect, percentileFraction, samplePercentage } from '../dialect.ts'
import { comparison } from './comparison.ts'
import { snowflakeLexicon } from './lexicon.ts'
import { raw, sql } from '../sql.ts'

/** What may stand before and after a match. A dot would leave out line breaks. */
const ANYTHING = '(.|\n)*'

/**
 * Snowflake's differences to ANSI SQL.
 *
 * Names without quotes are folded to upper case, so that everything here is quoted as the catalog prints it. NaN
 * equals itself and is above every number, as on PostgreSQL
 * (https://docs.snowflake.com/en/sql-reference/data-types-numeric). Rows are counted the ANSI way: COUNT_IF is
 * documented to be NULL, not 0, where no row satisfies its condition.
 */
export const snowflakeDialect = defineDialect({
  lexicon: snowflakeLexicon,
  comparison,
  table: ({ catalog, schema, name }) => sql`${quoted(catalog)}.${quoted(schema)}.${quoted(name)}`,
  // REGEXP_LIKE matches the whole text. REGEXP_INSTR searches, but what it says of an empty match is not documented.
  matches: (value, pattern) => sql`regexp_like(${value}, ${`${ANYTHING}(${pattern})${ANYTHING}`})`,
  parsesAsDate: (value, format) => sql`regexp_like(${value}, ${datePattern(format)})`,
  // A backslash begins an escape.
  textLiteral: text => raw(`'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`),
  // The percentile of a NUMBER would be a NUMBER too, with few decimals.
  percentile: (value, fraction) =>
    sql`percentile_cont(${percentileFraction(fraction)}) within group (order by (${value})::double)`,
  // AVG of a NUMBER keeps six decimals more than it has, and SUM of large ones overflows its 38 digits.
  asNumber: value => sql`(${value})::double`,
  asText: value => sql`(${value})::varchar`,
  textLength: text => sql`length(${text})`,
  approximateDistinct: value => sql`approx_count_distinct(${value})`,
  // Views have no blocks.
  sample: (table, { fraction, kind, byRow }) =>
    sql`${table} sample ${raw(kind === 'table' && !byRow ? 'system' : 'bernoulli')} (${samplePercentage(fraction)})`,
  // DATEDIFF counts the seconds that begin in between. What has no zone is in that of the session, which is UTC.
  epochSeconds: value =>
    sql`datediff(second, '1970-01-01 00:00:00'::timestamp_ntz, convert_timezone('UTC', ${value})::timestamp_ntz)`,
  // TIMESTAMP is TIMESTAMP_NTZ unless the account has it otherwise, and the catalog prints which it is.
  isInstant: ({ type }) => /^timestamp_(tz|ltz)\b/.test(type),
  // IN takes 16,384 values; statements with their values should stay below 1 MB to be kept in the query history.
  limits: { columns: 1000, values: 5000 },
})

function quoted(identifier: string) {
  return snowflakeDialect.quote(identifier)
}
