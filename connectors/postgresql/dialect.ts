import type { ColumnInfo } from '../catalog.ts'
import { datePattern } from '../dates.ts'
import { defineDialect, percentileFraction, sampleByNumber, samplePercentage } from '../dialect.ts'
import { join, raw, sql, type Sql } from '../sql.ts'
import { comparison } from './comparison.ts'
import { volatileFunctions } from './volatile-functions.ts'

/**
 * PostgreSQL's differences to ANSI SQL.
 *
 * Two things to know when writing conditions for it. A bound text has no type of its own: PostgreSQL infers one
 * from what it is compared with, and where there is nothing to infer from (`$1 is null`) it refuses with 42P18;
 * hence the casts below. And NaN, which a float or decimal column may hold, sorts above every number here:
 * `x >= 0` is true for it and `x between 0 and 10` is false, and one NaN makes sum, avg and stddev NaN.
 */
export const postgresqlDialect = defineDialect({
  lexicon: 'postgresql',
  placeholder: position => `$${position}`,
  countIf: condition => sql`count(*) filter (where ${condition})`,
  isNotTrue: condition => sql`(${condition}) is not true`,
  isNull: (value, column) =>
    mayHaveFields(column) ? sql`${value} is not distinct from null` : sql`${value} is null`,
  isNotNull: (value, column) =>
    mayHaveFields(column) ? sql`${value} is distinct from null` : sql`${value} is not null`,
  // Few values are NULL in most columns, and a filter that skips a row costs less than counting it.
  countNonNull: (value, column) =>
    mayHaveFields(column) ? sql`count(${value})` : sql`count(*) - count(*) filter (where ${value} is null)`,
  isNumber: (value, column) => (column?.kind === 'integer' ? null : sql`${value} < 'NaN'`),
  matches,
  // Not to_date or make_date: the one throws or rolls over on 2024-02-31, depending on the version, the other throws.
  parsesAsDate: (value, format) => sql`(${value})::text collate "default" ~ ${datePattern(format)}::text`,
  percentile: (value, fraction) =>
    percentileCont(value, percentileFraction(fraction), raw('double precision')),
  // Each aggregate of its own reads what was sorted from its start, which for many rows is on the disk.
  percentiles: {
    select: (value, fractions) =>
      percentileCont(
        value,
        sql`array[${join(fractions.map(percentileFraction))}]`,
        raw('double precision[]'),
      ),
    subscript: index => raw(`[${index + 1}]`),
  },
  // A hash of the values in a sub-query, which parallel workers share, in place of a sort that has none.
  countDistinctSorts: true,
  sortingIsSerial: true,
  hasGroupingSets: true,
  // What the catalog says of a column that was discovered by an older version, it said of its kind alone.
  isComparable: ({ kind, type, base = type, isIncomparable }) =>
    !isIncomparable && !(kind === 'json' && base === 'json'),
  // The sum of 32-bit floats would be one itself.
  sum: (value, column) =>
    column && postgresqlDialect.isFloat32(column)
      ? sql`sum((${value})::double precision)`
      : sql`sum(${value})`,
  // Computed with doubles: with decimals it takes four times as long, and sums of squares are rounded all the same.
  standardDeviation: value => sql`stddev_samp((${value})::double precision)`,
  asText: value => sql`(${value})::text`,
  // The same blocks each time, so that all parts of a statement see the same rows. Views have no blocks.
  sample: (table, { fraction, kind }) =>
    kind === 'table' || kind === 'materialized_view'
      ? sql`${table} tablesample system (${samplePercentage(fraction)}) repeatable (1)`
      : sampleByNumber(table, raw('random()'), fraction),
  // extract gives a numeric and takes twice as long. The double of date_part is exact to the microsecond until 2242.
  epochSeconds: value =>
    sql`case when isfinite(${value}) then floor(date_part('epoch', ${value}))::bigint end`,
  isFloat32: ({ type, base = type }) => base === 'real',
  volatileFunctions,
  comparison,
  // The server allows 1,664 and 65,535.
  limits: { columns: 1600, values: 32_000 },
})

/** Whether a column may be of a composite type: its values `is null` when all fields are, `is not null` when none is. */
function mayHaveFields(column: ColumnInfo | undefined): boolean {
  return column === undefined || column.kind === 'other'
}

function percentileCont(value: Sql, fractions: Sql, type: Sql): Sql {
  return sql`percentile_cont(${fractions}::${type}) within group (order by (${value})::double precision)`
}

/** A type of texts that are compared without regard to case, in whatever schema it was installed. */
const CITEXT = /(^|\.)citext$/

/**
 * As text, because an enum or json has no `~`, and citext's own is only found where the search path has its schema. By
 * the column's collation, unless that is a nondeterministic one, which has no regular expressions.
 */
function matches(value: Sql, pattern: string, column?: ColumnInfo): Sql {
  const ignoresCase = column !== undefined && CITEXT.test(column.base ?? column.type)
  const collation = column?.nondeterministicCollation === undefined ? raw('') : raw(' collate "default"')
  return sql`(${value})::text${collation} ${raw(ignoresCase ? '~*' : '~')} ${pattern}::text`
}
