import type { SnowflakeBinding } from '../../../connectors/snowflake/values.ts'
import { quoteName, quoteText, SnowflakeError, syntaxError, tokenize, type Token } from './tokens.ts'

/** What a statement is run with; `null` where what was named does not exist. */
export interface Context {
  warehouse: string | null
  database: string | null
  schema: string | null
  role: string
}

/** The schema in which the catalog's views stand; DuckDB has one of Snowflake's name already. */
export const INFORMATION_SCHEMA = 'INFORMATION SCHEMA'

/** Functions that statements may call, with DuckDB's name where it is another. All others are unknown. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  APPROX_COUNT_DISTINCT: 'approx_count_distinct',
  AVG: 'avg',
  COALESCE: 'coalesce',
  CONVERT_TIMEZONE: 'memory.main.snowflake_convert_timezone',
  COUNT: 'count',
  DATEDIFF: 'date_diff',
  LENGTH: 'length',
  MAX: 'max',
  MIN: 'min',
  MOD: 'mod',
  NULLIF: 'nullif',
  PERCENTILE_CONT: 'percentile_cont',
  REGEXP_LIKE: 'regexp_full_match',
  SUBSTR: 'substr',
  ROW_NUMBER: 'row_number',
  STDDEV_SAMP: 'stddev_samp',
  SUM: 'sum',
}

/** Words that may stand before a parenthesis and call nothing. */
const NO_FUNCTIONS = new Set(
  'ALL AND ANY AS BERNOULLI BY CAST DECIMAL DOUBLE ELSE EXISTS FROM GROUP HAVING IN INTO JOIN NOT ON OR OVER SELECT SYSTEM THEN UNION VALUES VARCHAR WHEN WHERE'.split(
    ' ',
  ),
)

/** Words that are texts or other words in DuckDB: the part of a date, a type. */
const PARTS = new Map([
  ['SAMPLE', 'TABLESAMPLE'],
  ['SECOND', "'second'"],
  ['TIMESTAMP_NTZ', 'TIMESTAMP'],
])

/** The size of a sample, which DuckDB would take for a number of rows. */
const SAMPLE = /(TABLESAMPLE (?:SYSTEM|BERNOULLI) \( [\d.]+) \)/g

/** Runs for minutes when nothing ends it. */
const SLOW = '(select count(*) from range(100000000) a, range(1000) b where a.range % 7 = b.range % 11)'

/** A statement for DuckDB, with the values of its placeholders. */
export interface Translated {
  text: string
  values: (string | null)[]
}

/** Writes one statement of Snowflake for DuckDB, as little changed as can be. */
export function translate(
  text: string,
  context: Context,
  bindings: Record<string, SnowflakeBinding> = {},
): Translated {
  const tokens = single(tokenize(text))
  const values: (string | null)[] = []
  const written: string[] = []
  let placeholders = 0
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as Token
    const isCall = tokens[index + 1]?.text === '(' && tokens[index + 1]?.kind === 'sign'
    if (token.kind === 'placeholder') {
      placeholders += 1
      written.push(placeholder(bindings[String(placeholders)], values))
    } else if (token.kind === 'quoted') written.push(quoteName(token.text))
    else if (token.kind === 'literal') written.push(quoteText(token.text))
    else if (token.kind !== 'word') written.push(token.text)
    else if (token.text === 'INFORMATION_SCHEMA') written.push(quoteName(INFORMATION_SCHEMA))
    else if (!isCall) written.push(PARTS.get(token.text) ?? token.text)
    else if (token.text === 'SYSTEM$WAIT') {
      written.push(SLOW)
      index = closing(tokens, index + 1)
    } else if (token.text.startsWith('CURRENT_')) {
      written.push(current(token.text, context))
      index = closing(tokens, index + 1)
    } else if (token.text === 'TO_BINARY') {
      // The second argument says HEX, which is what unhex reads.
      written.push(`unhex(${quoteText(tokens[index + 2]?.text ?? '')})`)
      index = closing(tokens, index + 1)
    } else if (token.text === 'PARSE_JSON') {
      written.push(`CAST(json(${quoteText(tokens[index + 2]?.text ?? '')}) AS VARCHAR)`)
      index = closing(tokens, index + 1)
    } else if (NO_FUNCTIONS.has(token.text) || isTable(tokens, index)) written.push(token.text)
    else written.push(functionName(token.text))
  }
  return { text: written.join(' ').replaceAll(SAMPLE, '$1 PERCENT )'), values }
}

/** The tokens of the only statement, without a closing semicolon. */
function single(tokens: Token[]): Token[] {
  const end = tokens.findIndex(({ kind, text }) => kind === 'sign' && text === ';')
  if (end === -1) return tokens
  if (end < tokens.length - 1) {
    const message = 'Actual statement count 2 did not match the desired statement count 1.'
    throw new SnowflakeError('000008', '0A000', message)
  }
  return tokens.slice(0, end)
}

function placeholder(binding: SnowflakeBinding | undefined, values: (string | null)[]): string {
  if (!binding)
    throw new SnowflakeError('002049', '42601', 'SQL compilation error:\nBind variable ? not set.')
  const { type, value } = binding
  if (value === null) return 'CAST(NULL AS VARCHAR)'
  values.push(type === 'TIMESTAMP_NTZ' ? isoOf(value) : value)
  if (type === 'TEXT') return '?'
  if (type === 'BINARY') return 'unhex(?)'
  const duck = { FIXED: 'DECIMAL(38,0)', REAL: 'DOUBLE', BOOLEAN: 'BOOLEAN', TIMESTAMP_NTZ: 'TIMESTAMP' }
  return `CAST(? AS ${duck[type]})`
}

function isoOf(nanoseconds: string): string {
  return new Date(Number(BigInt(nanoseconds) / 1_000_000n)).toISOString().slice(0, -1)
}

/** The index of the parenthesis that closes the one at an index. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let index = open; index < tokens.length; index++) {
    const { kind, text } = tokens[index] as Token
    if (kind !== 'sign') continue
    if (text === '(') depth += 1
    if (text === ')') depth -= 1
    if (depth === 0) return index
  }
  throw syntaxError('<EOF>')
}

/** Whether a word with a parenthesis after it is a table whose columns are listed. */
function isTable(tokens: readonly Token[], index: number): boolean {
  return ['INTO', 'REFERENCES', '.'].includes(tokens[index - 1]?.text ?? '')
}

function current(name: string, { warehouse, database, schema, role }: Context): string {
  const values: Record<string, string | null> = {
    CURRENT_WAREHOUSE: warehouse,
    CURRENT_DATABASE: database,
    CURRENT_SCHEMA: schema,
    CURRENT_ROLE: role,
  }
  const value = values[name]
  if (value === undefined) throw unknownFunction(name)
  return value === null ? 'CAST(NULL AS VARCHAR)' : quoteText(value)
}

function functionName(name: string): string {
  const known = FUNCTIONS[name]
  if (known === undefined) throw unknownFunction(name)
  return known
}

function unknownFunction(name: string): SnowflakeError {
  return new SnowflakeError('002140', '42601', `SQL compilation error:\nUnknown function ${name}`)
}
