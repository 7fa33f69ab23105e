/** The expectations of Great Expectations, one by one. */
import { allowFields, Inconvertible } from './import-draft.ts'
import { PythonNumber, toPlain } from './python-scalars.ts'
import {
  customSql,
  isScalar,
  selectWhenFailed,
  writeLength,
  writeList,
  writeMatch,
  writeName,
  writeScalar,
  writeTable,
  type Scalar,
  type SqlEngine,
} from './sql-text.ts'
import type { Fields } from './values.ts'

/** The table of a suite, and the engine whose SQL its checks are written in. */
export interface SuiteOptions {
  engine: SqlEngine
  table: string
}

/** What an expectation becomes: a rule, and what its key is made of. */
export interface ConvertedExpectation {
  key: string[]
  body: Fields
  note?: string
}
type Make = (args: Fields, options: SuiteOptions) => ConvertedExpectation

function columnIn(args: Fields, field = 'column'): string {
  const name = args[field]
  if (typeof name !== 'string') throw new Inconvertible(`${field} must be the name of a column`)
  return name
}

function patternIn({ regex }: Fields): string {
  if (typeof regex !== 'string') throw new Inconvertible('regex must be a regular expression')
  if (regex === '') throw new Inconvertible('regex is empty, which matches every value')
  return regex
}

/** The share of values that must be as expected. */
function mostlyIn(args: Fields): number {
  const { mostly = 1 } = args
  if (typeof mostly !== 'number' || mostly < 0 || mostly > 1)
    throw new Inconvertible('mostly must be a number from 0 to 1')
  return mostly
}

/** An expectation of each value that is not null. @param plain the rule without `mostly` */
function ofValues(
  known: readonly string[],
  valid: (column: string, args: Fields, engine: SqlEngine) => string,
  plain?: (args: Fields) => Fields | null,
): Make {
  return (args, { engine, table }) => {
    allowFields(args, 'column', 'mostly', ...known)
    const name = columnIn(args)
    const column = writeName(name, engine)
    const mostly = mostlyIn(args)
    const rule = plain?.(args) ?? null
    if (mostly === 1 && rule)
      return { key: [name], body: { ...rule, column_name: name, treat_null_as_valid: true } }
    const condition = valid(column, args, engine)
    if (mostly === 1) return { key: [name], body: customSql(`${column} is null or ${condition}`) }
    // The share is that of the values which are not null, a threshold of ours that of all rows.
    return {
      key: [name],
      body: customSql(selectWhenFewAreValid(condition, mostly, column, writeTable(table, engine))),
    }
  }
}

function selectWhenFewAreValid(condition: string, mostly: number, column: string, from: string): string {
  return `select 1 as failed from (select count(*) as n, sum(case when ${condition} then 1 else 0 end) as valid from ${from} where ${column} is not null) measured where valid < ${mostly} * n`
}

function setIn(args: Fields): Scalar[] {
  const values = args.value_set
  if (!Array.isArray(values) || values.length === 0 || !values.every(isScalar))
    throw new Inconvertible('value_set must be a list of texts, numbers or booleans')
  return values as Scalar[]
}

function boundsIn(
  column: string,
  { min_value: min, max_value: max, ...args }: Fields,
  engine: SqlEngine,
): string {
  const parts = [
    ...(min === undefined
      ? []
      : [`${column} ${args.strict_min === true ? '>' : '>='} ${scalar(min, engine)}`]),
    ...(max === undefined
      ? []
      : [`${column} ${args.strict_max === true ? '<' : '<='} ${scalar(max, engine)}`]),
  ]
  if (parts.length === 0) throw new Inconvertible('it has neither min_value nor max_value')
  return `(${parts.join(' and ')})`
}

const isNumber = (value: unknown): value is number | PythonNumber =>
  typeof value === 'number' || value instanceof PythonNumber

function scalar(value: unknown, engine: SqlEngine): string {
  if (!isScalar(value)) throw new Inconvertible(`${JSON.stringify(value)} is neither a number nor a text`)
  return writeScalar(value, engine)
}

const BOUNDS = ['min_value', 'max_value', 'strict_min', 'strict_max']

/** An expectation of a number that the table has. Without a value it fails, as in the other tool. */
const ofAggregate =
  (compute: (column: string) => string): Make =>
  (args, { engine, table }) => {
    allowFields(args, 'column', ...BOUNDS)
    const name = args.column === undefined ? undefined : columnIn(args)
    const value = compute(name === undefined ? '*' : writeName(name, engine))
    const failed = `value is null or not ${boundsIn('value', args, engine)}`
    return {
      key: name === undefined ? [] : [name],
      body: customSql(selectWhenFailed({ value, from: writeTable(table, engine) }, failed)),
    }
  }

/**
 * A condition on two columns of a row. One that is null passes, as in the other tool: only rows for which it is false are
 * unexpected there.
 */
const ofPair =
  (condition: (a: string, b: string, args: Fields, engine: SqlEngine) => string, ...known: string[]): Make =>
  (args, { engine }) => {
    allowFields(args, 'column_A', 'column_B', 'ignore_row_if', ...known)
    const names = [columnIn(args, 'column_A'), columnIn(args, 'column_B')]
    const [a = '', b = ''] = names.map(name => writeName(name, engine))
    const ignored = args.ignore_row_if ?? 'both_values_are_missing'
    const skip = {
      both_values_are_missing: `(${a} is null and ${b} is null)`,
      either_value_is_missing: `(${a} is null or ${b} is null)`,
      neither: '1 = 0',
    }[String(ignored)]
    if (skip === undefined) throw new Inconvertible(`ignore_row_if ${JSON.stringify(ignored)} is not known`)
    return { key: names, body: customSql(`${skip} or ${condition(a, b, args, engine)}`) }
  }

/** The same of several columns. */
const ofColumns =
  (
    condition: (columns: readonly string[], args: Fields, engine: SqlEngine) => string,
    ...known: string[]
  ): Make =>
  (args, { engine }) => {
    allowFields(args, 'column_list', 'ignore_row_if', ...known)
    const names = columnsIn(args)
    if (names.length < 2) throw new Inconvertible('column_list must have two columns or more')
    const columns = names.map(name => writeName(name, engine))
    return {
      key: names,
      body: customSql(`${ignoredRows(columns, args)} or ${condition(columns, args, engine)}`),
    }
  }

function columnsIn({ column_list: names }: Fields): string[] {
  if (!Array.isArray(names) || names.length === 0 || !names.every(name => typeof name === 'string'))
    throw new Inconvertible('column_list must be a list of columns')
  return names as string[]
}

/** The rows that an expectation of several columns does not look at. */
function ignoredRows(columns: readonly string[], args: Fields): string {
  const ignored = args.ignore_row_if ?? 'all_values_are_missing'
  const missing = columns.map(column => `${column} is null`)
  const skip = {
    all_values_are_missing: `(${missing.join(' and ')})`,
    any_value_is_missing: `(${missing.join(' or ')})`,
    never: '1 = 0',
  }[String(ignored)]
  if (skip === undefined) throw new Inconvertible(`ignore_row_if ${JSON.stringify(ignored)} is not known`)
  return skip
}

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
  expect_compound_columns_to_be_unique(args, { engine, table }) {
    allowFields(args, 'column_list', 'ignore_row_if')
    ignoredRows([], args)
    const names = columnsIn(args)
    const columns = names.map(name => writeName(name, engine))
    const list = columns.join(', ')
    // Rows are compared by =, which NULL is never, whatever ignore_row_if says.
    const complete = columns.map(column => `${column} is not null`).join(' and ')
    const text = `select ${list} from ${writeTable(table, engine)} where ${complete} group by ${list} having count(*) > 1`
    return { key: names, body: customSql(text) }
  },
  expect_table_row_count_to_be_between: ofAggregate(() => 'count(*)'),
  expect_table_row_count_to_equal(args, options) {
    allowFields(args, 'value')
    const bounds = { min_value: args.value, max_value: args.value }
    return ofAggregate(() => 'count(*)')(bounds, options)
  },
  expect_column_max_to_be_between: ofAggregate(column => `max(${column})`),
  expect_column_min_to_be_between: ofAggregate(column => `min(${column})`),
  expect_column_mean_to_be_between: ofAggregate(column => `avg(${column})`),
  expect_column_sum_to_be_between: ofAggregate(column => `sum(${column})`),
  expect_column_unique_value_count_to_be_between: ofAggregate(column => `count(distinct ${column})`),
  expect_column_proportion_of_unique_values_to_be_between: ofAggregate(
    column => `1.0 * count(distinct ${column}) / nullif(count(${column}), 0)`,
  ),
}
