import { sqlError } from './errors.ts'
import { tokenize, type Token } from './tokens.ts'

/** A value of `parameters`; without one, NULL. */
export interface SentParameter {
  name: string
  value?: string | null
  type?: string
}

/** Words of Databricks' types, and DuckDB's. TIMESTAMP is a moment there, TIMESTAMP_NTZ is naive. */
const TYPES: Record<string, string> = {
  string: 'varchar',
  byte: 'tinyint',
  short: 'smallint',
  long: 'bigint',
  binary: 'blob',
  timestamp: 'timestamptz',
  timestamp_ntz: 'timestamp',
  variant: 'json',
}

/** The functions that statements of the connector and of its tests call, by the same name in Databricks. */
const FUNCTIONS: Record<string, string> = {
  approx_count_distinct: 'approx_count_distinct',
  char_length: 'length',
  count: 'count',
  stddev_samp: 'stddev_samp',
  count_if: 'memory.main.dbx_count_if',
  sum: 'sum',
  avg: 'avg',
  min: 'min',
  max: 'max',
  coalesce: 'coalesce',
  nullif: 'nullif',
  cast: 'cast',
  hash: 'hash',
  unhex: 'unhex',
  range: 'range',
  lower: 'lower',
  length: 'length',
  substr: 'substr',
  mod: 'mod',
  row_number: 'row_number',
  pmod: 'memory.main.dbx_pmod',
  regexp_like: 'memory.main.dbx_regexp_like',
  percentile: 'memory.main.dbx_percentile',
  from_json: 'memory.main.dbx_from_json',
  element_at: 'memory.main.dbx_element_at',
  parse_json: 'memory.main.dbx_parse_json',
  typeof: 'memory.main.dbx_typeof',
  unix_seconds: 'memory.main.dbx_unix_seconds',
  from_utc_timestamp: 'memory.main.dbx_from_utc_timestamp',
  current_timezone: 'memory.main.dbx_current_timezone',
}

/** Words before a parenthesis that are no functions. */
const BEFORE_PARENTHESES = new Set(
  (
    'in values and or not as on from join select where when then else by having key table references over exists ' +
    'varchar char decimal'
  ).split(' '),
)

/** https://docs.databricks.com/sql/language-manual/sql-ref-names.html */
const REFUSED_IN_NAMES = /[./ \u0000-\u001f\u007f]/

/**
 * Writes a statement of Databricks SQL for DuckDB, as little changed as it goes. It refuses what Databricks does:
 * a second statement, parameters without a name, functions that it does not have, unique constraints, names with
 * dots and blanks. Double quotes make texts; names of tables are kept in lower case.
 */
export function rewrite(
  text: string,
  parameters: readonly SentParameter[],
  catalogs: readonly string[],
): string {
  const tokens = joined(tokenize(text))
  const end = tokens.findIndex(({ text: symbol, kind }) => kind === 'symbol' && symbol === ';')
  if (end !== -1 && end < tokens.length - 1) throw syntaxError(tokens[end + 1])
  const statement = end === -1 ? tokens : tokens.slice(0, end)
  const values = new Map(parameters.map(parameter => [parameter.name, parameter]))
  const named = namesOfNew(statement)
  let written = ''
  for (let at = 0; at < statement.length; at++) {
    if (statement[at]?.isApart) written += ' '
    // DuckDB takes no catalog where a key refers to.
    if (statement[at - 1]?.text.toLowerCase() === 'references') at += 2
    const relation = informationSchema(statement, at, catalogs)
    written += relation ?? write(statement, at, values, named)
    if (relation) at += 4
  }
  return written
}

/** Texts that stand beside each other are one. */
function joined(tokens: readonly Token[]): Token[] {
  const result: Token[] = []
  for (const token of tokens) {
    const last = result.at(-1)
    if (last?.kind === 'string' && token.kind === 'string') last.text += token.text
    else result.push({ ...token })
  }
  return result
}

function write(
  tokens: readonly Token[],
  at: number,
  values: ReadonlyMap<string, SentParameter>,
  named: ReadonlySet<number>,
): string {
  const token = tokens[at] as Token
  if (token.kind === 'string') return literal(token.text)
  if (token.kind === 'identifier') return identifier(named.has(at) ? nameOfNew(token.text) : token.text)
  if (token.kind === 'parameter') return bound(token.text, values.get(token.text))
  return token.kind === 'word' ? word(tokens, at) : token.text
}

function word(tokens: readonly Token[], at: number): string {
  const { text } = tokens[at] as Token
  const name = text.toLowerCase()
  const isCall = tokens[at + 1]?.text === '(' && tokens[at + 1]?.kind === 'symbol'
  if (name === 'unique') throw syntaxError(tokens[at])
  const isAlias = tokens[at - 1]?.text === '.' || /^(as|join|from)$/i.test(tokens[at - 2]?.text ?? '')
  if (!isCall) return isAlias ? text : (TYPES[name] ?? text)
  if (BEFORE_PARENTHESES.has(name)) return text
  // By rows: DuckDB's default takes whole vectors.
  if (name === 'tablesample') return 'tablesample bernoulli'
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
  if (known) return known
  throw sqlError('UNRESOLVED_ROUTINE', `Cannot resolve routine \`${text}\` on search path.`, '42883')
}

function syntaxError(token: Token | undefined) {
  return sqlError('PARSE_SYNTAX_ERROR', `Syntax error at or near '${token?.text}'.`, '42601')
}

/** Where the names of a new table or view stand. */
function namesOfNew(tokens: readonly Token[]): Set<number> {
  const [create, what] = tokens.map(({ text }) => text.toLowerCase())
  const places = new Set<number>()
  if (create !== 'create' || !['table', 'view'].includes(what ?? '')) return places
  for (let at = 2; at === 2 || tokens[at - 1]?.text === '.'; at += 2) places.add(at)
  return places
}

function nameOfNew(name: string): string {
  if (REFUSED_IN_NAMES.test(name) || name.length > 255) {
    throw sqlError('INVALID_PARAMETER_VALUE', `"${name}" is not a valid name.`, '22023')
  }
  return name.toLowerCase()
}

/** `catalog.information_schema.relation`, as the double keeps it. */
function informationSchema(
  tokens: readonly Token[],
  at: number,
  catalogs: readonly string[],
): string | undefined {
  const [catalog, , schema, , name] = tokens.slice(at, at + 5).map(({ text }) => text)
  if (schema?.toLowerCase() !== 'information_schema' || tokens[at]?.kind !== 'identifier') return undefined
  if (!catalogs.includes(catalog ?? '')) {
    throw sqlError('NO_SUCH_CATALOG_EXCEPTION', `Catalog '${catalog}' was not found.`, '42704')
  }
  const where = catalog === 'system' ? '' : ` where table_catalog = ${literal(catalog ?? '')}`
  return `(select * from memory.main.dbx_${name?.toLowerCase()}${where})`
}

function bound(name: string, parameter: SentParameter | undefined): string {
  if (!parameter) {
    throw sqlError('UNBOUND_SQL_PARAMETER', `Found the unbound parameter: ${name}.`, '42P02')
  }
  const { value = null, type = 'STRING' } = parameter
  if (value === null) return 'null'
  if (type === 'STRING') return literal(value)
  return `cast(${literal(value)} as ${TYPES[type.toLowerCase()] ?? type})`
}

/** A text in DuckDB's SQL, which cannot hold a NUL itself. */
function literal(text: string): string {
  const parts = text.split('\0').map(part => `'${part.replaceAll("'", "''")}'`)
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(' || chr(0) || ')})`
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
