/** Kinds of expectations: of each value, of pairs and several columns of a row, and of a number of the table. */
import { allowFields, Inconvertible } from './import-draft.ts'
import { PythonNumber } from './python-scalars.ts'
import {
  customSql,
  isScalar,
  failsWhen,
  limitedMetric,
  numberSql,
  writeName,
  writeScalar,
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
  /** Defaults to a rule. */
  kind?: 'validity' | 'metric'
  key: string[]
  body: Fields
}
export type Make = (args: Fields, options: MakeOptions) => ConvertedExpectation

/** What a SELECT of an expectation is written with. */
export interface MakeOptions {
  engine: SqlEngine
  /** The table in SQL, or those of its rows that the expectation is about. */
  from: string
}

export function columnIn(args: Fields, field = 'column'): string {
  const name = args[field]
  if (typeof name !== 'string') throw new Inconvertible(`${field} must be the name of a column`)
  return name
}

export function patternIn({ regex }: Fields): string {
  if (typeof regex !== 'string') throw new Inconvertible('regex must be a regular expression')
  if (regex === '') throw new Inconvertible('regex is empty, which matches every value')
  return regex
}

/** The share of values that must be as expected. */
export function mostlyIn(args: Fields): number {
  const { mostly = 1 } = args
  if (typeof mostly !== 'number' || mostly < 0 || mostly > 1)
    throw new Inconvertible('mostly must be a number from 0 to 1')
  return mostly
}

/** An expectation of each value that is not null. @param plain the rule without `mostly` */
export function ofValues(
  known: readonly string[],
  valid: (column: string, args: Fields, engine: SqlEngine) => string,
  plain?: (args: Fields) => Fields | null,
): Make {
  return (args, { engine, from }) => {
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
      body: failsWhenFewAreValid(condition, mostly, column, from),
    }
  }
}

function failsWhenFewAreValid(condition: string, mostly: number, column: string, from: string) {
  const text = `select 100.0 * valid / n as value from (select count(*) as n, sum(case when ${condition} then 1 else 0 end) as valid from ${from} where ${column} is not null) measured where valid < ${mostly} * n`
  return numberSql(text, `at least ${Number((100 * mostly).toPrecision(12))} %`, '% valid')
}

export function setIn(args: Fields): Scalar[] {
  const values = args.value_set
  if (!Array.isArray(values) || values.length === 0 || !values.every(isScalar))
    throw new Inconvertible('value_set must be a list of texts, numbers or booleans')
  return values as Scalar[]
}

export function boundsIn(
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

export const isNumber = (value: unknown): value is number | PythonNumber =>
  typeof value === 'number' || value instanceof PythonNumber

export function scalar(value: unknown, engine: SqlEngine): string {
  if (!isScalar(value)) throw new Inconvertible(`${JSON.stringify(value)} is neither a number nor a text`)
  return writeScalar(value, engine)
}

export const BOUNDS = ['min_value', 'max_value', 'strict_min', 'strict_max']

/**
 * An expectation of a number that the table has: a metric with limits, where there is one that says the same; else a rule,
 * which fails without a value, as in the other tool.
 * @param type the metric
 */
export const ofAggregate =
  (compute: (column: string) => string, type?: string): Make =>
  (args, { engine, from }) => {
    allowFields(args, 'column', ...BOUNDS)
    const name = args.column === undefined ? undefined : columnIn(args)
    const key = name === undefined ? [] : [name]
    const failed = `value is null or not ${boundsIn('value', args, engine)}`
    const limited = type === undefined ? null : limitedMetric(type, name, failed)
    if (limited) return { kind: 'metric', key, body: limited }
    const value = compute(name === undefined ? '*' : writeName(name, engine))
    return { key, body: failsWhen({ value, from }, failed) }
  }

/**
 * A condition on two columns of a row. One that is null passes, as in the other tool: only rows for which it is false are
 * unexpected there.
 */
export const ofPair =
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
export const ofColumns =
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

export function columnsIn({ column_list: names }: Fields): string[] {
  if (!Array.isArray(names) || names.length === 0 || !names.every(name => typeof name === 'string'))
    throw new Inconvertible('column_list must be a list of columns')
  return names as string[]
}

/** The rows that an expectation of several columns does not look at. */
export function ignoredRows(columns: readonly string[], args: Fields): string {
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
