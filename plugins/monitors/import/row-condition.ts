/**
 * The conditions on rows of Great Expectations, in SQL: its condition objects, and the texts that its SQL engines read,
 * such as `col("status") == "paid"`. https://docs.greatexpectations.io/docs/core/customize_expectations/expectation_conditions
 */
import { Inconvertible } from './import-draft.ts'
import { isScalar, writeList, writeName, writeScalar, type Scalar, type SqlEngine } from './sql-text.ts'
import { isRecord, type Fields } from './values.ts'

const TEXT_PARSERS: readonly unknown[] = ['great_expectations', 'great_expectations__experimental__']

const OPERATORS: Record<string, string> = {
  '==': '=',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
}

/** Deepest nesting of conditions. */
const MAX_DEPTH = 10

/**
 * The condition of an expectation in SQL.
 * @param nameOf a column as the engine names it
 * @throws Inconvertible for what its SQL engines do not read, or read otherwise than it looks
 */
export function writeRowCondition(
  { row_condition: condition, condition_parser: parser }: Fields,
  engine: SqlEngine,
  nameOf: (name: string) => string,
): string {
  const column = (name: string) => writeName(nameOf(name), engine)
  if (isRecord(condition)) return writeObject(condition, { engine, column, depth: 0 })
  if (typeof condition !== 'string') throw new Inconvertible('row_condition is neither a text nor an object')
  if (!TEXT_PARSERS.includes(parser))
    throw new Inconvertible(
      `row_condition in the language of ${JSON.stringify(parser ?? 'pandas')} is not read in databases: write it as col("a") == 1`,
    )
  return writeText(condition, engine, column)
}

/** The grammar of the other tool, which ignores what follows; here a whole text must be understood. */
const TEXT =
  /^\s*col\("([A-Za-z][\w.-]*)"\)\s*(?:(\.notnull\(\))|(==|!=|<=|>=|<|>)\s*(?:([+-]?\d+(?:\.\d*)?)|"([^\s"'][^"']*)"|'([^\s"'][^"']*)'))\s*$/i

function writeText(text: string, engine: SqlEngine, column: (name: string) => string): string {
  const [, name, notNull, operator = '', number, ...texts] = TEXT.exec(text) ?? []
  if (name === undefined || !/^[\x20-\x7e\t]*$/.test(text))
    throw new Inconvertible(
      `row_condition ${JSON.stringify(text)} is not one comparison of a column with a number or a text`,
    )
  if (notNull !== undefined) return `${column(name)} is not null`
  const value = number ?? writeScalar(texts.find(given => given !== undefined) ?? '', engine)
  return `${column(name)} ${OPERATORS[operator]} ${value}`
}

interface ObjectOptions {
  engine: SqlEngine
  column: (name: string) => string
  depth: number
}

function writeObject(condition: unknown, options: ObjectOptions): string {
  const { engine, column, depth } = options
  if (!isRecord(condition) || depth > MAX_DEPTH)
    throw new Inconvertible('row_condition holds what is no condition')
  const { type, conditions } = condition
  if (type === 'and' || type === 'or') {
    if (!Array.isArray(conditions) || conditions.length === 0)
      throw new Inconvertible(`a condition with ${type} has no others`)
    return (conditions as unknown[])
      .map(each => `(${writeObject(each, { ...options, depth: depth + 1 })})`)
      .join(` ${type} `)
  }
  const name = isRecord(condition.column) ? condition.column.name : undefined
  if (typeof name !== 'string')
    throw new Inconvertible(`a row_condition of the type ${JSON.stringify(type)} names no column`)
  if (type === 'nullity') return `${column(name)} is ${condition.is_null === true ? '' : 'not '}null`
  const { operator, parameter } = condition
  if (type !== 'comparison' || typeof operator !== 'string')
    throw new Inconvertible(`a row_condition of the type ${JSON.stringify(type)} has no counterpart`)
  if (operator === 'IN' || operator === 'NOT_IN') {
    if (!Array.isArray(parameter) || parameter.length === 0 || !parameter.every(isScalar))
      throw new Inconvertible(`${operator} of row_condition needs a list of texts or numbers`)
    return `${column(name)} ${operator === 'IN' ? 'in' : 'not in'} (${writeList(parameter as Scalar[], engine)})`
  }
  if (!Object.hasOwn(OPERATORS, operator) || !isScalar(parameter))
    throw new Inconvertible(`row_condition compares by ${operator} with what is no number or text`)
  return `${column(name)} ${OPERATORS[operator]} ${writeScalar(parameter, engine)}`
}
