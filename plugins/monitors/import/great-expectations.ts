/**
 * Great Expectations' suites as monitors: https://greatexpectations.io/expectations. A suite names no table, so the
 * caller does.
 */
import { Inconvertible, type DraftCheck, type ImportDraft } from './import-draft.ts'
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
import type { ImportFile } from './dbt.ts'
import { isRecord, type Fields } from './values.ts'

export interface SuiteOptions {
  engine: SqlEngine
  table: string
}

/** @throws SyntaxError of a file that is no JSON */
export function importSuites(files: readonly ImportFile[], draft: ImportDraft, options: SuiteOptions): void {
  for (const { name: file, text } of files) {
    const suite: unknown = JSON.parse(text)
    const expectations =
      isRecord(suite) && Array.isArray(suite.expectations) ? (suite.expectations as unknown[]) : null
    if (!expectations) {
      draft.leave({ file, line: null, name: 'the file' }, 'a suite has a list of expectations')
      continue
    }
    for (const expectation of expectations) {
      if (!isRecord(expectation)) continue
      const { type, kwargs } = readExpectation(expectation)
      const construct = { file, line: null, name: describe(type, kwargs) }
      draft.convert(construct, () => [convertExpectation(type, kwargs, expectation, options)])
    }
  }
}

const readExpectation = ({ type, expectation_type: older, kwargs }: Fields) => ({
  type: String(type ?? older),
  kwargs: isRecord(kwargs) ? kwargs : {},
})

function describe(type: string, kwargs: Fields): string {
  const columns = [kwargs.column, kwargs.column_A, kwargs.column_B].filter(name => typeof name === 'string')
  return columns.length === 0 ? type : `${type} of ${columns.join(', ')}`
}

/** Fields of an expectation that say nothing about the data. */
const NEUTRAL = [
  'batch_id',
  'meta',
  'notes',
  'result_format',
  'include_config',
  'catch_exceptions',
  'severity',
  'description',
]
const SEVERITIES = ['critical', 'warning', 'info']

function convertExpectation(
  type: string,
  kwargs: Fields,
  expectation: Fields,
  options: SuiteOptions,
): DraftCheck {
  const args = Object.fromEntries(
    Object.entries(kwargs).filter(([name, value]) => !NEUTRAL.includes(name) && value !== null),
  )
  if (args.row_condition !== undefined)
    throw new Inconvertible('row_condition is in a language of its own: write it as CUSTOM_SQL')
  delete args.condition_parser
  if (Object.values(args).some(value => isRecord(value) && '$PARAMETER' in value))
    throw new Inconvertible('it takes a parameter that is given when the suite runs')
  const make = Object.hasOwn(EXPECTATIONS, type) ? EXPECTATIONS[type] : undefined
  if (!make)
    throw new Inconvertible(
      SCHEMA_EXPECTATIONS.test(type)
        ? 'it is about the schema, which every discovery compares; a data contract says what it must be'
        : 'it has no exact counterpart',
    )
  const given = String(expectation.severity ?? kwargs.severity)
  const severity = SEVERITIES.includes(given) ? given : 'critical'
  const { key, body, note } = make(args, options)
  return {
    ...{ kind: 'validity', table: options.table, key: [...key, type.replace(/^expect_/, '')] },
    body: { ...body, severity },
    ...(note !== undefined && { note }),
  }
}

const SCHEMA_EXPECTATIONS =
  /^expect_(column_to_exist|table_column|column_values_to_be_(of_type|in_type_list))/

interface Converted {
  key: string[]
  body: Fields
  note?: string
}
type Make = (args: Fields, options: SuiteOptions) => Converted

function allow(args: Fields, ...known: string[]): void {
  const other = Object.keys(args).find(name => !known.includes(name))
  if (other !== undefined) throw new Inconvertible(`the argument ${other} has no counterpart`)
}

function columnIn(args: Fields, field = 'column'): string {
  const name = args[field]
  if (typeof name !== 'string') throw new Inconvertible(`${field} must be the name of a column`)
  return name
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
    allow(args, 'column', 'mostly', ...known)
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

function scalar(value: unknown, engine: SqlEngine): string {
  if (!isScalar(value)) throw new Inconvertible(`${JSON.stringify(value)} is neither a number nor a text`)
  return writeScalar(value, engine)
}

const BOUNDS = ['min_value', 'max_value', 'strict_min', 'strict_max']

/** An expectation of a number that the table has. Without a value it fails, as in the other tool. */
const ofAggregate =
  (compute: (column: string) => string): Make =>
  (args, { engine, table }) => {
    allow(args, 'column', ...BOUNDS)
    const name = args.column === undefined ? undefined : columnIn(args)
    const value = compute(name === undefined ? '*' : writeName(name, engine))
    const failed = `value is null or not ${boundsIn('value', args, engine)}`
    return {
      key: name === undefined ? [] : [name],
      body: customSql(selectWhenFailed({ value, from: writeTable(table, engine) }, failed)),
    }
  }

const ofPair =
  (condition: (a: string, b: string, args: Fields) => string, ...known: string[]): Make =>
  (args, { engine }) => {
    allow(args, 'column_A', 'column_B', 'ignore_row_if', ...known)
    const names = [columnIn(args, 'column_A'), columnIn(args, 'column_B')]
    const [a = '', b = ''] = names.map(name => writeName(name, engine))
    const ignored = args.ignore_row_if ?? 'both_values_are_missing'
    const skip = {
      both_values_are_missing: `(${a} is null and ${b} is null)`,
      either_value_is_missing: `(${a} is null or ${b} is null)`,
      neither: '1 = 0',
    }[String(ignored)]
    if (skip === undefined) throw new Inconvertible(`ignore_row_if ${JSON.stringify(ignored)} is not known`)
    return { key: names, body: customSql(`${skip} or ${condition(a, b, args)}`) }
  }

const EXPECTATIONS: Record<string, Make> = {
  expect_column_values_to_not_be_null(args) {
    allow(args, 'column', 'mostly')
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
    allow(args, 'column', 'mostly')
    const name = columnIn(args)
    const percent = Number((100 - mostlyIn(args) * 100).toFixed(6))
    const body = customSql(`${writeName(name, engine)} is null`)
    return { key: [name], body: { ...body, ...(percent > 0 && { alert_threshold_percent: percent }) } }
  },
  expect_column_values_to_be_unique(args) {
    allow(args, 'column', 'mostly')
    if (mostlyIn(args) < 1)
      throw new Inconvertible('the share of unique values among those that are not null has no counterpart')
    const name = columnIn(args)
    return { key: [name], body: { rule_type: 'UNIQUE', column_name: name, treat_null_as_valid: true } }
  },
  expect_column_values_to_be_in_set: ofValues(
    ['value_set'],
    (column, args, engine) => `${column} in (${writeList(setIn(args), engine)})`,
    args => ({ rule_type: 'ENUM', rule_config: { allowed_values: setIn(args) } }),
  ),
  // The distinct values are in a set when all values are.
  expect_column_distinct_values_to_be_in_set(args, options) {
    allow(args, 'column', 'value_set')
    return EXPECTATIONS.expect_column_values_to_be_in_set!(args, options)
  },
  expect_column_values_to_not_be_in_set: ofValues(
    ['value_set'],
    (column, args, engine) => `${column} not in (${writeList(setIn(args), engine)})`,
  ),
  expect_column_values_to_be_between: ofValues(BOUNDS, boundsIn, args => {
    const { min_value: min, max_value: max } = args
    if (args.strict_min === true || args.strict_max === true || max === undefined) return null
    return { rule_type: 'RANGE', rule_config: { ...(min !== undefined && { min }), max } }
  }),
  expect_column_values_to_match_regex: ofValues(
    ['regex'],
    (column, args, engine) => writeMatch(column, columnIn(args, 'regex'), engine),
    args => ({ rule_type: 'REGEX', rule_config: { pattern: columnIn(args, 'regex') } }),
  ),
  expect_column_values_to_not_match_regex: ofValues(
    ['regex'],
    (column, args, engine) => `not (${writeMatch(column, columnIn(args, 'regex'), engine)})`,
  ),
  expect_column_values_to_match_strftime_format(args) {
    allow(args, 'column', 'strftime_format')
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
    (a, b, { or_equal: orEqual }) => `coalesce(${a} ${orEqual === true ? '>=' : '>'} ${b}, false)`,
    'or_equal',
  ),
  expect_compound_columns_to_be_unique(args, { engine, table }) {
    allow(args, 'column_list', 'ignore_row_if')
    if (args.ignore_row_if !== undefined && args.ignore_row_if !== 'never')
      throw new Inconvertible(
        `ignore_row_if ${JSON.stringify(args.ignore_row_if)} has no counterpart for several columns`,
      )
    const names = Array.isArray(args.column_list) ? args.column_list.map(String) : []
    if (names.length === 0) throw new Inconvertible('column_list must be a list of columns')
    const list = names.map(name => writeName(name, engine)).join(', ')
    const text = `select ${list} from ${writeTable(table, engine)} group by ${list} having count(*) > 1`
    return { key: names, body: customSql(text) }
  },
  expect_table_row_count_to_be_between: ofAggregate(() => 'count(*)'),
  expect_table_row_count_to_equal(args, options) {
    allow(args, 'value')
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
