import type { BigqueryParameter } from '../../../connectors/bigquery/values.ts'
import { BigqueryFailure, closing, quoteName, quoteText, syntaxError, type Token } from './tokens.ts'

/** Words that are no names without quotes (…/standard-sql/lexical#reserved_keywords). */
const RESERVED = new Set(
  'all and any array as asc assert_rows_modified at between by case cast collate contains create cross cube current default define desc distinct else end enum escape except exclude exists extract false fetch following for from full group grouping groups hash having if ignore in inner intersect interval into is join lateral left like limit lookup merge natural new no not null nulls of on or order outer over partition preceding proto qualify range recursive respect right rollup rows select set some struct tablesample then to treat true unbounded union unnest using when where window with within'.split(
    ' ',
  ),
)

/** Words of statements that write, which are no names here. */
const PLAIN = new Set(['system', 'percent', 'insert', 'values', 'table', 'view', 'delete', 'update', 'drop'])

/** Functions that statements may call, with DuckDB's name where it is another. All others are unknown. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  abs: 'abs',
  approx_count_distinct: 'approx_count_distinct',
  avg: 'avg',
  char_length: 'length',
  coalesce: 'coalesce',
  count: 'count',
  countif: 'bigquery_countif',
  error: 'bigquery_error',
  format: 'bigquery_format',
  from_hex: 'unhex',
  length: 'length',
  max: 'max',
  min: 'min',
  mod: 'mod',
  nullif: 'nullif',
  percentile_cont: 'quantile_cont',
  rand: 'random',
  regexp_contains: 'regexp_matches',
  row_number: 'row_number',
  stddev_samp: 'stddev_samp',
  substr: 'substr',
  sum: 'sum',
  unix_seconds: 'bigquery_unix_seconds',
  timestamp_millis: 'bigquery_timestamp_millis',
}

/** DuckDB's types by BigQuery's. */
const TYPES: Readonly<Record<string, string>> = {
  int64: 'BIGINT',
  bigint: 'BIGINT',
  float64: 'DOUBLE',
  numeric: 'DECIMAL(38,9)',
  bignumeric: 'DECIMAL(38,9)',
  string: 'VARCHAR',
  bool: 'BOOLEAN',
  bytes: 'BLOB',
  date: 'DATE',
  time: 'TIME',
  datetime: 'TIMESTAMP',
  timestamp: 'TIMESTAMP WITH TIME ZONE',
  json: 'JSON',
}

/** DuckDB's type for that at an index, and the index after it. */
export function typeAt(tokens: readonly Token[], at: number): { type: string; end: number } {
  const token = tokens[at]
  const known = token?.kind === 'word' && Object.hasOwn(TYPES, token.text) ? TYPES[token.text] : undefined
  if (known === undefined)
    throw new BigqueryFailure(400, 'invalidQuery', `Type not found: ${token?.text} at [${token?.at}]`)
  if (tokens[at + 1]?.text !== '(' || tokens[at + 1]?.kind !== 'sign') return { type: known, end: at + 1 }
  const end = closing(tokens, at + 1)
  const size = tokens.slice(at + 2, end).map(({ text }) => text)
  const isSized = known.startsWith('DECIMAL')
  return { type: isSized ? `DECIMAL(${size.join('')}${size.length === 1 ? ',0' : ''})` : known, end: end + 1 }
}

/** A statement for DuckDB. */
export interface Translated {
  text: string
  values: string[]
}

const LITERAL_TYPES = new Set(['numeric', 'bignumeric', 'date', 'time', 'datetime', 'timestamp', 'json'])
const INT64 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n }

/** Writes one statement of GoogleSQL for DuckDB, as little changed as can be. */
export function translate(
  tokens: readonly Token[],
  parameters: readonly BigqueryParameter[] = [],
): Translated {
  const values: string[] = []
  const written: string[] = []
  let placeholders = 0
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as Token
    const next = tokens[index + 1]
    const isCall = next?.kind === 'sign' && next.text === '('
    const isAlias = tokens[index - 1]?.kind === 'word' && tokens[index - 1]?.text === 'as'
    const isPart = tokens[index - 1]?.kind === 'sign' && tokens[index - 1]?.text === '.'
    if (token.kind === 'placeholder') {
      written.push(placeholder(parameters[placeholders], values))
      placeholders += 1
    } else if (token.kind === 'name') {
      const path = catalogPath(tokens, index)
      written.push(path?.text ?? quoteName(token.text))
      index = path?.end ?? index
    } else if (token.kind === 'text') written.push(quoteText(token.text))
    else if (token.kind === 'bytes')
      written.push(`from_hex('${Buffer.from(token.text, 'latin1').toString('hex')}')`)
    else if (token.kind === 'number')
      written.push(next?.text === 'percent' ? token.text : numeral(token, tokens[index - 1]))
    else if (token.kind === 'sign') written.push(token.text)
    else if (next?.kind === 'text' && LITERAL_TYPES.has(token.text)) {
      written.push(typedLiteral(token.text, next.text))
      index += 1
    } else if (isAlias && Object.hasOwn(TYPES, token.text) && isCast(tokens, index)) {
      const { type, end } = typeAt(tokens, index)
      written.push(type)
      index = end - 1
    } else if (isAlias && RESERVED.has(token.text)) {
      throw syntaxError(`Unexpected keyword ${token.text.toUpperCase()}`, token.at)
    } else if (token.text === 'unnest') {
      const { text, end } = numbers(tokens, index)
      written.push(text)
      index = end
    } else if (RESERVED.has(token.text) || PLAIN.has(token.text)) written.push(token.text)
    else written.push(isCall && !isPart ? functionName(token) : quoteName(token.text))
  }
  if (placeholders !== parameters.length) {
    const message = `Query parameter not found: ${placeholders} positions and ${parameters.length} parameters`
    throw new BigqueryFailure(400, 'invalidQuery', message)
  }
  return { text: written.join(' '), values }
}

function isCast(tokens: readonly Token[], index: number): boolean {
  let depth = 0
  for (let at = index; at >= 0; at--) {
    const { kind, text } = tokens[at] as Token
    if (kind !== 'sign') continue
    if (text === ')') depth += 1
    if (text === '(') depth -= 1
    if (depth < 0) return tokens[at - 1]?.text === 'cast'
  }
  return false
}

function functionName({ text, at }: Token): string {
  const known = Object.hasOwn(FUNCTIONS, text) ? FUNCTIONS[text] : undefined
  if (known !== undefined) return known
  throw new BigqueryFailure(400, 'invalidQuery', `Function not found: ${text} at [${at}]`)
}

/** A literal without a point is an INT64, which must fit; with one or an exponent a FLOAT64. */
function numeral({ text, at }: Token, before: Token | undefined): string {
  if (!/^\d+$/.test(text)) return `cast(${text} as DOUBLE)`
  const value = BigInt(before?.text === '-' ? `-${text}` : text)
  if (value < INT64.least || value > INT64.greatest)
    throw new BigqueryFailure(400, 'invalidQuery', `Invalid integer literal: ${text} at [${at}]`)
  return text
}

function typedLiteral(type: string, text: string): string {
  if (type !== 'numeric' && type !== 'bignumeric') return `cast(${quoteText(text)} as ${TYPES[type]})`
  const decimals = /\.(\d+)$/.exec(text)?.[1]?.length ?? 0
  if (type === 'numeric' && decimals > 9)
    throw new BigqueryFailure(400, 'invalidQuery', `Invalid NUMERIC literal: ${text}`)
  return `cast(${quoteText(text)} as DECIMAL(38,${decimals}))`
}

/** A text becomes a date or a time where one is compared with it, which DuckDB does with literals alone. */
function placeholder(given: BigqueryParameter | undefined, values: string[]): string {
  if (!given) throw new BigqueryFailure(400, 'invalidQuery', 'Query parameter not found')
  const { type } = given.parameterType
  const { value } = given.parameterValue
  if (type === 'STRING' && !value.includes('\0')) return quoteText(value)
  values.push(type === 'BYTES' ? Buffer.from(value, 'base64').toString('hex') : value)
  if (type === 'STRING') return '?'
  if (type === 'BYTES') return 'unhex(?)'
  if (type === 'NUMERIC' || type === 'BIGNUMERIC') return 'cast(? as DECIMAL(38,0))'
  return `cast(? as ${TYPES[type.toLowerCase()]})`
}

/** The schema in which the views of a dataset or region stand. */
export const viewsOf = (qualifier: string) => `INFORMATION_SCHEMA of ${qualifier}`

/** `p`.`d`.INFORMATION_SCHEMA.TABLES and `p`.`d`.`__TABLES__`, which DuckDB has in schemas of their own. */
function catalogPath(tokens: readonly Token[], index: number): { text: string; end: number } | null {
  const isDot = (at: number) => tokens[at]?.kind === 'sign' && tokens[at]?.text === '.'
  const [project, dataset, third] = [tokens[index], tokens[index + 2], tokens[index + 4]]
  if (isDot(index - 1) || !isDot(index + 1) || !isDot(index + 3) || dataset?.kind !== 'name') return null
  const written = (view: string) =>
    `${quoteName(project?.text ?? '')}.${quoteName(viewsOf(dataset.text))}.${quoteName(view)}`
  if (third?.kind === 'name' && third.text === '__TABLES__')
    return { text: written('__TABLES__'), end: index + 4 }
  if (third?.kind !== 'word' || third.text !== 'information_schema' || !isDot(index + 5)) return null
  return { text: written((tokens[index + 6]?.text ?? '').toUpperCase()), end: index + 6 }
}

/** `unnest(generate_array(1, n)) as x`. */
function numbers(tokens: readonly Token[], index: number): { text: string; end: number } {
  const end = closing(tokens, index + 1)
  const inner = tokens.slice(index + 2, end)
  if (inner[0]?.text !== 'generate_array' || tokens[end + 1]?.text !== 'as')
    throw syntaxError('Unexpected keyword UNNEST', tokens[index]?.at ?? '')
  const [from, to] = [inner[2]?.text, inner[4]?.text]
  const name = quoteName(tokens[end + 2]?.text ?? '')
  return { text: `(select range as ${name} from range(${from}, ${to}))`, end: end + 2 }
}
