import { datePattern } from '../dates.ts'
import {
  defineDialect,
  percentileFraction,
  sampleByNumber,
  samplePercentage,
  substring,
  type Dialect,
} from '../dialect.ts'
import { raw, sql } from '../sql.ts'
import { comparison } from './comparison.ts'
import { duckdbLexicon } from './lexicon.ts'

/** DuckDB's differences to ANSI SQL (https://duckdb.org/docs/stable/sql/functions/overview). */
export const duckdbDialect: Dialect = defineDialect({
  lexicon: duckdbLexicon,
  comparison,
  // With its catalog: where a schema has the name of the database, the two would be taken for each other.
  table({ catalog, schema, name }) {
    const { quote } = duckdbDialect
    return sql`${quote(catalog)}.${quote(schema)}.${quote(name)}`
  },
  matches: (value, pattern) => sql`regexp_matches(${duckdbDialect.asText(value)}, ${pattern})`,
  // Its own strptime takes 2024-1-5, blanks and the year 0.
  parsesAsDate: (value, format) => duckdbDialect.matches(value, datePattern(format)),
  percentile: (value, fraction) =>
    sql`quantile_cont(${duckdbDialect.asNumber(value)}, ${percentileFraction(fraction)})`,
  percentiles: {
    select: (value, fractions) =>
      sql`quantile_cont(${duckdbDialect.asNumber(value)}, [${raw(fractions.map(each => percentileFraction(each).strings[0]).join(', '))}])`,
    subscript: index => raw(`[${index + 1}]`),
  },
  hasGroupingSets: true,
  countIf: condition => sql`count(*) filter (where ${condition})`,
  countDistinctIf: (value, condition) => sql`count(distinct ${value}) filter (where ${condition})`,
  isNotTrue: condition => sql`(${condition}) is not true`,
  asNumber: value => sql`cast(${value} as double)`,
  // NaN equals itself and sorts above all numbers.
  isNumber: (value, column) =>
    column?.kind === 'integer' || column?.kind === 'decimal'
      ? sql`${value} is not null`
      : sql`not isnan(cast(${value} as double))`,
  // The exact sum of integers and decimals is divided.
  mean: value => sql`avg(${value})`,
  // With an infinity among the values DuckDB gives an error.
  standardDeviation: value => {
    const number = duckdbDialect.asNumber(value)
    return sql`case when count(*) filter (where not isfinite(${number})) > 0 then 'nan'::double
      else stddev_samp(${number}) filter (where isfinite(${number})) end`
  },
  asText: value => sql`cast(${value} as varchar)`,
  textLength: text => sql`length(${text})`,
  cutValue({ name, kind, type }, length) {
    const value = duckdbDialect.quote(name)
    if (kind === 'json' || kind === 'other') return null
    if (kind === 'binary') return type === 'bit' ? value : sql`${value}[1:${raw(String(length))}]`
    return kind === 'text' && type === 'varchar' ? substring(value, length) : value
  },
  approximateDistinct: value => sql`approx_count_distinct(${value})`,
  sample: (table, { fraction, byRow }) =>
    byRow
      ? sampleByNumber(table, raw('random()'), fraction)
      : sql`(select * from ${table} using sample ${samplePercentage(fraction)} percent (system)) tidemark_sample`,
  epochSeconds: value => sql`cast(floor(epoch(${value})) as bigint)`,
  isFloat32: ({ type }) => type === 'float',
  limits: { columns: 1000, values: 10_000 },
})
