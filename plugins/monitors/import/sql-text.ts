/** SQL texts of imported checks, in the dialect of an engine. */
import { limitsOf } from '../../../checks/sql/limits.ts'
import { parseName } from '../../../connectors/catalog.ts'
import { Inconvertible } from './import-draft.ts'
import { PythonNumber } from './python-scalars.ts'
import { isRecord, type Fields } from './values.ts'

/** The engine whose SQL the texts are written in. */
export const SQL_ENGINES = [
  'postgresql',
  'redshift',
  'mysql',
  'snowflake',
  'bigquery',
  'databricks',
  'sqlite',
] as const
export type SqlEngine = (typeof SQL_ENGINES)[number]

export type Scalar = string | number | boolean | PythonNumber

/** Engines that quote names with backticks, and read a backslash in a text as an escape. */
const BACKTICK_ENGINES: readonly SqlEngine[] = ['mysql', 'bigquery', 'databricks']

/** A name that means the same with and without quotes in all engines that fold to lower case. */
const PLAIN = /^[a-z_][a-z0-9_]*$/

/** A name in SQL, quoted where it must be. */
export function writeName(name: string, engine: SqlEngine): string {
  if (PLAIN.test(name)) return name
  const quote = BACKTICK_ENGINES.includes(engine) ? '`' : '"'
  if (quote === '`' && name.includes('`')) throw new Inconvertible(`the name ${name} has a backtick`)
  return quote + name.replaceAll(quote, quote + quote) + quote
}

/** A column that another tool writes into its SQL as its file has it. */
export interface WrittenColumn {
  /** As the engine names it. */
  name: string
  /** As it stands in SQL. */
  text: string
}

const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_$]*$/u

/** @throws Inconvertible for what is an expression, not a name */
export function readColumn(text: string, engine: SqlEngine): WrittenColumn {
  const given = text.trim()
  const quoted = /^"((?:[^"]|"")+)"$/.exec(given)?.[1] ?? /^`([^`]+)`$/.exec(given)?.[1]
  if (quoted !== undefined) {
    const name = quoted.replaceAll('""', '"')
    return { name, text: writeName(name, engine) }
  }
  if (!IDENTIFIER.test(given))
    throw new Inconvertible(
      `${JSON.stringify(text)} is no name of a column in SQL: a name with other characters needs quotes`,
    )
  return { name: foldName(given, engine), text: given }
}

/** The name of a table or column that SQL has without quotes. */
export function foldName(name: string, engine: SqlEngine): string {
  if (!IDENTIFIER.test(name)) return name
  if (engine === 'snowflake') return name.toUpperCase()
  return engine === 'postgresql' || engine === 'redshift' ? name.toLowerCase() : name
}

/** The path of a table in SQL. */
export function writeTable(path: string, engine: SqlEngine): string {
  return (parseName(path) ?? [path]).map(name => writeName(name, engine)).join('.')
}

export function writeScalar(value: Scalar, engine: SqlEngine): string {
  if (typeof value !== 'string') return String(value)
  if (value.includes('\\') && BACKTICK_ENGINES.includes(engine))
    throw new Inconvertible(
      `the text ${JSON.stringify(value)} has a backslash, which ${engine} reads as an escape`,
    )
  return `'${value.replaceAll("'", "''")}'`
}

export const writeList = (values: readonly Scalar[], engine: SqlEngine): string =>
  values.map(value => writeScalar(value, engine)).join(', ')

/** The number of characters of a text. */
export const writeLength = (text: string, engine: SqlEngine): string =>
  engine === 'mysql' ? `char_length(${text})` : `length(${text})`

/** Whether a text has a match of a pattern. @throws Inconvertible for engines whose operator is not known here */
export function writeMatch(text: string, pattern: string, engine: SqlEngine): string {
  if (engine === 'postgresql' || engine === 'redshift') return `${text} ~ ${writeScalar(pattern, engine)}`
  if (engine === 'mysql') return `${text} regexp ${writeScalar(pattern, engine)}`
  throw new Inconvertible(`a pattern beside other conditions is not converted for ${engine}`)
}

/** A rule whose SQL is true for valid rows, or returns invalid ones. */
export const customSql = (text: string) => ({
  rule_type: 'CUSTOM_SQL',
  rule_config: { sql_expression: text },
})

/** Whether a check is a SELECT, which takes no filter: its conditions are in its WHERE. */
export function isSelect({ rule_config: config }: Fields): boolean {
  return isRecord(config) && /^(select|with)\b/i.test(String(config.sql_expression))
}

/** A condition that holds where all of some hold; undefined without any. An empty one is none, as in the other tools. */
export function allOf(...conditions: readonly (string | undefined)[]): string | undefined {
  const given = conditions.filter(condition => condition !== undefined && condition !== '')
  return given.length > 1 ? given.map(condition => `(${condition})`).join(' and ') : given[0]
}

/** The rows of a table for which a condition is true, as a table in SQL. */
export const rowsOf = (table: string, condition: string | undefined): string =>
  condition === undefined ? table : `(select * from ${table} where ${condition}) filtered`

/** A query without the semicolon at its end. */
export const readQuery = (text: string): string => text.trim().replace(/;\s*$/, '')

/** The number of rows for which a condition is true. */
export const countWhere = (condition: string): string =>
  `coalesce(sum(case when ${condition} then 1 else 0 end), 0)`

/** A number of rows in percent of a total; 0 of none. */
export const writePercent = (count: string, total = 'count(*)'): string =>
  `coalesce(100.0 * ${count} / nullif(${total}, 0), 0)`

/** A number that a SELECT computes from the rows of a table. */
export interface Aggregate {
  value: string
  /** A table in SQL, or a subquery with its alias. */
  from: string
  where?: string | undefined
}

/** A SELECT that returns a number when a condition on it, as `value`, is true. */
export function selectWhenFailed({ value, from, where }: Aggregate, failed: string): string {
  const filter = where === undefined ? '' : ` where ${where}`
  return `select value from (select ${value} as value from ${from}${filter}) measured where ${failed}`
}

/** A rule that fails when a number does, and says the number and what was expected. @param unit `%`, `rows` */
export const failsWhen = (aggregate: Aggregate, failed: string, unit?: string) =>
  numberSql(selectWhenFailed(aggregate, failed), writeExpected(failed), unit)

/** A rule whose SELECT returns a number in `value` that is not as expected. */
export const numberSql = (text: string, expected: string, unit?: string) => ({
  rule_type: 'CUSTOM_SQL',
  rule_config: {
    sql_expression: text,
    expected: `${expected}${unit === '%' ? ' %' : ''}`.slice(0, MAX_EXPECTED),
    value_column: 'value',
    ...(unit !== undefined && { value_unit: unit }),
  },
})

const MAX_EXPECTED = 200

/** Comparisons in words, and those in which a value fails. */
const WORDS: Record<string, { holds: string; fails: string }> = {
  '>': { holds: 'more than ', fails: 'at most ' },
  '>=': { holds: 'at least ', fails: 'less than ' },
  '<': { holds: 'less than ', fails: 'at least ' },
  '<=': { holds: 'at most ', fails: 'more than ' },
  '=': { holds: '', fails: 'not ' },
  '<>': { holds: 'not ', fails: '' },
  '!=': { holds: 'not ', fails: '' },
}

/** Comparisons of `value` with numbers, all of which hold of a good one or of which any makes it fail. */
interface ReadCondition {
  as: 'holds' | 'fails'
  /** Null where it is another condition. */
  comparisons: { sign: string; number: string }[] | null
  /** The condition itself, without what it is negated by. */
  text: string
}

/** Reads a condition in which a number fails. */
function readFailure(failed: string): ReadCondition {
  const condition = failed.replace(/^value is null or /, '')
  const held = /^not (?:\(\((.*)\)\)|\((.*)\)|(.*))$/s.exec(condition)
  const text = held?.[1] ?? held?.[2] ?? held?.[3] ?? condition
  const comparisons = text.split(held ? ' and ' : ' or ').map(part => {
    const [, sign = '', number = ''] = /^value (<>|!=|[<>]=?|=) (-?[\d.]+)$/.exec(part) ?? []
    return Object.hasOwn(WORDS, sign) ? { sign, number } : null
  })
  const isRead = comparisons.every(each => each !== null)
  return { as: held ? 'holds' : 'fails', comparisons: isRead ? comparisons : null, text }
}

/** What a number must be that fails in a condition: `value < 1 or value > 5` is at least 1 and at most 5. */
function writeExpected(failed: string): string {
  const { as, comparisons, text } = readFailure(failed)
  if (comparisons) return comparisons.map(({ sign, number }) => WORDS[sign]![as] + number).join(' and ')
  return `${as === 'holds' ? '' : 'not '}${text.replaceAll('value ', '')}`
}

/** The comparison that holds where another one fails. */
const OPPOSITES: Record<string, string> = {
  '>': '<=',
  '>=': '<',
  '<': '>=',
  '<=': '>',
  '=': '<>',
  '<>': '=',
  '!=': '=',
}

/** Metrics whose values are whole numbers. */
const COUNTS: readonly string[] = ['row_count', 'distinct_count', 'min_length', 'max_length']

/** Metrics that have a value of no rows. */
const NEVER_EMPTY: readonly string[] = ['row_count', 'distinct_count', 'null_percent']

/**
 * A metric that fails where a condition on its value does, by limits that belong to what is allowed; null where there are
 * none that say the same, as of `value > 0.5` of a mean. A metric without a value passes, and a sum has one of no rows.
 */
export function limitedMetric(type: string, column: string | undefined, failed: string): Fields | null {
  const { as, comparisons } = readFailure(failed)
  if (!comparisons) return null
  const range = COUNTS.includes(type) ? 'whole' : type === 'null_percent' ? 'percent' : 'any'
  const limits = limitsOf(
    comparisons.map(({ sign, number }) => ({
      sign: as === 'holds' ? sign : (OPPOSITES[sign] ?? ''),
      number: Number(number),
    })),
    range,
  )
  if (!limits) return null
  const { min = -Infinity, max = Infinity } = limits
  const failsWithout = failed.startsWith('value is null or ')
  const isZeroAllowed = min <= 0 && max >= 0
  if (type === 'sum' ? failsWithout === isZeroAllowed : failsWithout && !NEVER_EMPTY.includes(type))
    return null
  return { metric_type: type, ...(column !== undefined && { column_name: column }), ...limits }
}

export const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'boolean'].includes(typeof value) || value instanceof PythonNumber
