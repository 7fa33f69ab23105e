/** The expectations of Great Expectations, one by one. */
import {
  BOUNDS,
  boundsIn,
  columnIn,
  columnsIn,
  ignoredRows,
  isNumber,
  mostlyIn,
  ofAggregate,
  ofColumns,
  ofPair,
  ofValues,
  patternIn,
  scalar,
  setIn,
  type Make,
} from './expectation-kinds.ts'
import { allowFields, Inconvertible } from './import-draft.ts'
import { toPlain } from './python-scalars.ts'
import {
  customSql,
  failsWhen,
  writeLength,
  writeList,
  writeMatch,
  writeName,
  writeScalar,
  type SqlEngine,
} from './sql-text.ts'
import type { Fields } from './values.ts'

function patternsIn(args: Fields, field: string): string[] {
  const patterns = args[field]
  if (
    !Array.isArray(patterns) ||
    patterns.length === 0 ||
    !patterns.every(each => typeof each === 'string' && each !== '')
  )
    throw new Inconvertible(`${field} must be a list of patterns`)
  return patterns as string[]
}

function joinMatches(matches: readonly string[], { match_on: matchOn = 'any' }: Fields): string {
  if (matchOn !== 'any' && matchOn !== 'all') throw new Inconvertible('match_on is neither any nor all')
  return `(${matches.join(matchOn === 'any' ? ' or ' : ' and ')})`
}

const noMatch = (matches: readonly string[]): string => `not (${matches.join(' or ')})`

function writeLike(column: string, pattern: unknown, engine: SqlEngine): string {
  if (typeof pattern !== 'string') throw new Inconvertible('like_pattern must be a text')
  return `${column} like ${writeScalar(pattern, engine)}`
}

/** @param count the number of values of a set that a column has */
const ofDistinctValues =
  (count: (list: string, column: string) => string): Make =>
  (args, { engine, from }) => {
    allowFields(args, 'column', 'value_set')
    // Its collations take texts for equal that the other tool tells apart.
    if (engine === 'mysql') throw new Inconvertible('the distinct texts of MySQL are those of its collation')
    const name = columnIn(args)
    const values = [...new Set(setIn(args).map(String))]
    const value = count(writeList(setIn(args), engine), writeName(name, engine))
    const failed = `value is null or value <> ${values.length}`
    return {
      key: [name],
      body: failsWhen({ value, from }, failed),
    }
  }

/** By type. */
export const EXPECTATIONS: Record<string, Make> = {
  expect_column_values_to_not_be_null(args) {
    allowFields(args, 'column', 'mostly')
    const name = columnIn(args)
    const percent = Number((100 - mostlyIn(args) * 100).toFixed(6))
    return {
      key: [name],
      body: {
        rule_type: 'NOT_NULL',
        column_name: name,
        ...(percent > 0 && { alert_threshold_percent: percent }),
      },
    }
  },
  expect_column_values_to_be_null(args, { engine }) {
    allowFields(args, 'column', 'mostly')
    const name = columnIn(args)
    const percent = Number((100 - mostlyIn(args) * 100).toFixed(6))
    const body = customSql(`${writeName(name, engine)} is null`)
    return { key: [name], body: { ...body, ...(percent > 0 && { alert_threshold_percent: percent }) } }
  },
  expect_column_values_to_be_unique(args) {
    allowFields(args, 'column', 'mostly')
    if (mostlyIn(args) < 1)
      throw new Inconvertible('the share of unique values among those that are not null has no counterpart')
    const name = columnIn(args)
    return { key: [name], body: { rule_type: 'UNIQUE', column_name: name, treat_null_as_valid: true } }
  },
  expect_column_values_to_be_in_set: ofValues(
    ['value_set'],
    (column, args, engine) => `${column} in (${writeList(setIn(args), engine)})`,
    args => ({ rule_type: 'ENUM', rule_config: { allowed_values: setIn(args).map(toPlain) } }),
  ),
  // The distinct values are in a set when all values are.
  expect_column_distinct_values_to_be_in_set(args, options) {
    allowFields(args, 'column', 'value_set')
    return EXPECTATIONS.expect_column_values_to_be_in_set!(args, options)
  },
  expect_column_distinct_values_to_contain_set: ofDistinctValues(
    (list, column) => `count(distinct case when ${column} in (${list}) then ${column} end)`,
  ),
  expect_column_distinct_values_to_equal_set: ofDistinctValues(
    // One less where there is a value beside those of the set.
    (list, column) =>
      `count(distinct case when ${column} in (${list}) then ${column} end) - max(case when ${column} in (${list}) then 0 when ${column} is null then 0 else 1 end)`,
  ),
  expect_column_values_to_not_be_in_set: ofValues(
    ['value_set'],
    (column, args, engine) => `${column} not in (${writeList(setIn(args), engine)})`,
  ),
  expect_column_values_to_be_between: ofValues(BOUNDS, boundsIn, args => {
    const { min_value: min, max_value: max } = args
    if (args.strict_min === true || args.strict_max === true || !isNumber(max)) return null
    // A day as the greatest one is here the start of that day, and in RANGE all of it.
    if (min !== undefined && !isNumber(min)) return null
    return {
      rule_type: 'RANGE',
      rule_config: { ...(min !== undefined && { min: toPlain(min) }), max: toPlain(max) },
    }
  }),
  expect_column_values_to_match_regex: ofValues(
    ['regex'],
    (column, args, engine) => writeMatch(column, patternIn(args), engine),
    args => ({ rule_type: 'REGEX', rule_config: { pattern: patternIn(args) } }),
  ),
  expect_column_values_to_not_match_regex: ofValues(
    ['regex'],
    (column, args, engine) => `not (${writeMatch(column, patternIn(args), engine)})`,
  ),
  expect_column_values_to_match_regex_list: ofValues(['regex_list', 'match_on'], (column, args, engine) =>
    joinMatches(
      patternsIn(args, 'regex_list').map(pattern => writeMatch(column, pattern, engine)),
      args,
    ),
  ),
  expect_column_values_to_not_match_regex_list: ofValues(['regex_list'], (column, args, engine) =>
    noMatch(patternsIn(args, 'regex_list').map(pattern => writeMatch(column, pattern, engine))),
  ),
  expect_column_values_to_match_like_pattern: ofValues(['like_pattern'], (column, args, engine) =>
    writeLike(column, args.like_pattern, engine),
  ),
  expect_column_values_to_not_match_like_pattern: ofValues(['like_pattern'], (column, args, engine) =>
    noMatch([writeLike(column, args.like_pattern, engine)]),
  ),
  expect_column_values_to_match_like_pattern_list: ofValues(
    ['like_pattern_list', 'match_on'],
    (column, args, engine) =>
      joinMatches(
        patternsIn(args, 'like_pattern_list').map(pattern => writeLike(column, pattern, engine)),
        args,
      ),
  ),
  expect_column_values_to_not_match_like_pattern_list: ofValues(
    ['like_pattern_list'],
    (column, args, engine) =>
      noMatch(patternsIn(args, 'like_pattern_list').map(pattern => writeLike(column, pattern, engine))),
  ),
  expect_column_values_to_match_strftime_format(args) {
    allowFields(args, 'column', 'strftime_format')
    const name = columnIn(args)
    const config = { format: columnIn(args, 'strftime_format') }
    return {
      key: [name],
      body: { rule_type: 'DATE_FORMAT', column_name: name, rule_config: config, treat_null_as_valid: true },
    }
  },
  expect_column_value_lengths_to_be_between: ofValues(BOUNDS, (column, args, engine) =>
    boundsIn(writeLength(column, engine), args, engine),
  ),
  expect_column_value_lengths_to_equal: ofValues(
    ['value'],
    (column, args, engine) => `${writeLength(column, engine)} = ${scalar(args.value, engine)}`,
  ),
  expect_column_pair_values_to_be_equal: ofPair((a, b) => `coalesce(${a} = ${b}, false)`),
  expect_column_pair_values_a_to_be_greater_than_b: ofPair(
    (a, b, { or_equal: orEqual }) => `coalesce(${a} ${orEqual === true ? '>=' : '>'} ${b}, true)`,
    'or_equal',
  ),
  expect_column_pair_values_to_be_in_set: ofPair((a, b, { value_pairs_set: pairs }, engine) => {
    if (!Array.isArray(pairs) || pairs.length === 0)
      throw new Inconvertible('value_pairs_set must be a list of pairs')
    const conditions = (pairs as unknown[]).map(pair => {
      if (!Array.isArray(pair) || pair.length !== 2) throw new Inconvertible('a pair has two values')
      return `(${a} = ${scalar(pair[0], engine)} and ${b} = ${scalar(pair[1], engine)})`
    })
    return `coalesce(${conditions.join(' or ')}, true)`
  }, 'value_pairs_set'),
  expect_select_column_values_to_be_unique_within_record: ofColumns(columns => {
    const equal = columns.flatMap((a, index) =>
      columns.slice(index + 1).map(b => `${a} = ${b} or (${a} is null and ${b} is null)`),
    )
    return `coalesce(not (${equal.join(' or ')}), true)`
  }),
  expect_multicolumn_sum_to_equal: ofColumns(
    (columns, { sum_total: total }, engine) =>
      `coalesce(${columns.join(' + ')} = ${scalar(total, engine)}, true)`,
    'sum_total',
  ),
  expect_compound_columns_to_be_unique(args, { engine, from }) {
    allowFields(args, 'column_list', 'ignore_row_if')
    ignoredRows([], args)
    const names = columnsIn(args)
    const columns = names.map(name => writeName(name, engine))
    const list = columns.join(', ')
    // Rows are compared by =, which NULL is never, whatever ignore_row_if says.
    const complete = columns.map(column => `${column} is not null`).join(' and ')
    const text = `select ${list} from ${from} where ${complete} group by ${list} having count(*) > 1`
    return { key: names, body: customSql(text) }
  },
  expect_table_row_count_to_be_between: ofAggregate(() => 'count(*)', 'row_count'),
  expect_table_row_count_to_equal(args, options) {
    allowFields(args, 'value')
    const bounds = { min_value: args.value, max_value: args.value }
    return ofAggregate(() => 'count(*)', 'row_count')(bounds, options)
  },
  expect_column_max_to_be_between: ofAggregate(column => `max(${column})`),
  expect_column_min_to_be_between: ofAggregate(column => `min(${column})`),
  expect_column_mean_to_be_between: ofAggregate(column => `avg(${column})`),
  expect_column_stdev_to_be_between(args, options) {
    if (options.engine === 'sqlite') throw new Inconvertible('SQLite has no standard deviation')
    return ofAggregate(column => `stddev_samp(${column})`)(args, options)
  },
  expect_column_sum_to_be_between: ofAggregate(column => `sum(${column})`, 'sum'),
  expect_column_unique_value_count_to_be_between: ofAggregate(
    column => `count(distinct ${column})`,
    'distinct_count',
  ),
  expect_column_proportion_of_unique_values_to_be_between: ofAggregate(
    column => `1.0 * count(distinct ${column}) / nullif(count(${column}), 0)`,
  ),
}
