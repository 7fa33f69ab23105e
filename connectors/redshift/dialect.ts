import { datePattern } from '../dates.ts'
import { defineDialect, percentileFraction, sampleByNumber } from '../dialect.ts'
import { comparison } from './comparison.ts'
import { redshiftLexicon } from './lexicon.ts'
import { raw, sql, type Sql } from '../sql.ts'
import { volatileFunctions } from './volatile-functions.ts'

/**
 * Redshift's differences to ANSI SQL, as the Amazon Redshift Database Developer Guide has them
 * (https://docs.aws.amazon.com/redshift/latest/dg/c_SQL_reference.html).
 *
 * Identifiers are folded to lower case even in quotes while `enable_case_sensitive_identifier` is off. That is
 * left as the cluster has it: another value than the cluster's breaks tables under row-level security.
 */
export const redshiftDialect = defineDialect({
  lexicon: redshiftLexicon,
  comparison,
  placeholder: position => `$${position}`,
  matches: (value, pattern) => sql`${text(value)} ~ ${pattern}`,
  parsesAsDate: (value, format) => sql`${text(value)} ~ ${datePattern(format)}`,
  // A backslash begins an escape.
  textLiteral: asVarchar => raw(`'${asVarchar.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`),
  percentile,
  // avg of integers is an integer and avg of decimals keeps their scale: both would cut the mean off.
  asNumber: value => sql`cast(${value} as double precision)`,
  asText: text,
  approximateDistinct: value => sql`approximate count(distinct ${value})`,
  sample: (table, { fraction }) => sampleByNumber(table, raw('random()'), fraction),
  // Counts the seconds that begin in between, and gives a BIGINT; extract is documented to give an INTEGER, which ends
  // in 2038. A moment with a zone becomes that of the session, which is UTC.
  epochSeconds: value =>
    sql`datediff(second, cast('1970-01-01 00:00:00' as timestamp), cast(${value} as timestamp))`,
  isFloat32: ({ type }) => type === 'real',
  volatileFunctions,
  // The server allows 1,664 and 32,767.
  limits: { columns: 1600, values: 32_000 },
})

/** With the longest length there is: TEXT is VARCHAR(256) here and would cut a text off. */
function text(value: Sql): Sql {
  return sql`cast(${value} as varchar(65535))`
}

/**
 * A sub-query of its own, because all calls of percentile_cont in one SELECT must sort by the same expression
 * and none may stand beside count(distinct …); max makes it an aggregate.
 */
function percentile(value: Sql, fraction: number, table: Sql): Sql {
  const whole = sql`select percentile_cont(${percentileFraction(fraction)}) within group (order by cast(${value} as double precision)) from ${table}`
  return sql`max((${whole}))`
}
