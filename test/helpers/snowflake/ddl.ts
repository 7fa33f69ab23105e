import { quoteName, quoteText, syntaxError, type Token } from './tokens.ts'
import { closing } from './translate.ts'

/** A column as CREATE TABLE declares it. */
export interface Declared {
  name: string
  /** `DATA_TYPE` of the catalog. */
  type: string
  length?: number
  precision?: number
  scale?: number
  fraction?: number
  /** DuckDB's type. */
  stored: string
  /** NOT NULL and DEFAULT as written. */
  rest: string
}

/** A key as CREATE TABLE declares it. Snowflake keeps keys and does not enforce them, and so they go no further. */
export interface DeclaredKey {
  kind: 'PRIMARY' | 'UNIQUE' | 'IMPORTED'
  columns: string[]
  /** Database, schema and name, and the columns there. */
  to?: { table: string[]; columns: string[] }
}

export interface CreateTable {
  table: string[]
  columns: Declared[]
  keys: DeclaredKey[]
  /** What CLUSTER BY names, as written. */
  clustering: string | null
}

/** Columns of this type hold JSON; DuckDB's own is a text like any other. */
export const VARIANT = 'UNION("VARIANT" VARCHAR)'

const TYPES: Readonly<Record<string, (...sizes: number[]) => Omit<Declared, 'name' | 'rest'>>> = {
  NUMBER: (precision = 38, scale = 0) => ({
    type: 'NUMBER',
    precision,
    scale,
    stored: `DECIMAL(${precision},${scale})`,
  }),
  FLOAT: () => ({ type: 'FLOAT', stored: 'DOUBLE' }),
  VARCHAR: (length = 16_777_216) => ({ type: 'TEXT', length, stored: 'VARCHAR' }),
  BINARY: (length = 8_388_608) => ({ type: 'BINARY', length, stored: 'BLOB' }),
  BOOLEAN: () => ({ type: 'BOOLEAN', stored: 'BOOLEAN' }),
  DATE: () => ({ type: 'DATE', stored: 'DATE' }),
  TIME: (fraction = 9) => ({ type: 'TIME', fraction, stored: 'TIME' }),
  TIMESTAMP_NTZ: (fraction = 9) => ({ type: 'TIMESTAMP_NTZ', fraction, stored: 'TIMESTAMP' }),
  TIMESTAMP_LTZ: (fraction = 9) => ({ type: 'TIMESTAMP_LTZ', fraction, stored: 'TIMESTAMPTZ' }),
  TIMESTAMP_TZ: (fraction = 9) => ({ type: 'TIMESTAMP_TZ', fraction, stored: 'TIMESTAMPTZ' }),
  VARIANT: () => ({ type: 'VARIANT', stored: VARIANT }),
  OBJECT: () => ({ type: 'OBJECT', stored: VARIANT }),
  ARRAY: () => ({ type: 'ARRAY', stored: VARIANT }),
  GEOGRAPHY: () => ({ type: 'GEOGRAPHY', stored: 'VARCHAR' }),
}

/** Other names of the same types (https://docs.snowflake.com/en/sql-reference/intro-summary-data-types). */
const SYNONYMS: Readonly<Record<string, string>> = {
  BIGINT: 'NUMBER',
  INT: 'NUMBER',
  INTEGER: 'NUMBER',
  SMALLINT: 'NUMBER',
  DECIMAL: 'NUMBER',
  NUMERIC: 'NUMBER',
  DOUBLE: 'FLOAT',
  REAL: 'FLOAT',
  CHAR: 'VARCHAR',
  STRING: 'VARCHAR',
  TEXT: 'VARCHAR',
  VARBINARY: 'BINARY',
  DATETIME: 'TIMESTAMP_NTZ',
  TIMESTAMP: 'TIMESTAMP_NTZ',
}

/** Whole numbers take no precision of their own. */
const WHOLE = ['BIGINT', 'INT', 'INTEGER', 'SMALLINT']

/** Reads a CREATE TABLE, or gives null for another statement. */
export function readCreateTable(tokens: readonly Token[]): CreateTable | null {
  if (tokens[0]?.text !== 'CREATE' || tokens[1]?.text !== 'TABLE') return null
  const open = tokens.findIndex(token => token.kind === 'sign' && token.text === '(')
  const columns: Declared[] = []
  const keys: DeclaredKey[] = []
  for (const part of parts(tokens.slice(open + 1, closing(tokens, open)))) {
    const key = readKey(part)
    if (key) keys.push(key)
    else columns.push(readColumn(part, keys))
  }
  const cluster = tokens.findIndex(({ kind, text }) => kind === 'word' && text === 'CLUSTER')
  const clustering =
    cluster === -1
      ? null
      : tokens
          .slice(cluster + 3, -1)
          .map(clusterText)
          .join('')
  return { table: namesOf(tokens.slice(2, open)), columns, keys, clustering }
}

/** The same table for DuckDB. */
export function writeCreateTable({ table, columns }: CreateTable): string {
  const declared = columns.map(({ name, stored, rest }) => `${quoteName(name)} ${stored} ${rest}`)
  return `CREATE TABLE ${table.map(quoteName).join('.')} (${declared.join(', ')})`
}

/** What lies between the commas that stand in no parentheses. */
function parts(tokens: readonly Token[]): Token[][] {
  const found: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.kind === 'sign' && token.text === '(') depth += 1
    if (token.kind === 'sign' && token.text === ')') depth -= 1
    if (token.kind === 'sign' && token.text === ',' && depth === 0) found.push([])
    else found.at(-1)?.push(token)
  }
  return found
}

/** The names of a path or of a list. */
function namesOf(tokens: readonly Token[]): string[] {
  return tokens.filter(({ kind }) => kind === 'quoted' || kind === 'word').map(({ text }) => text)
}

function listed(tokens: readonly Token[], from: number): { names: string[]; end: number } {
  const open = tokens.findIndex(({ text }, index) => index >= from && text === '(')
  const end = closing(tokens, open)
  return { names: namesOf(tokens.slice(open, end)), end }
}

function readKey(part: readonly Token[]): DeclaredKey | null {
  const [first] = part
  if (first?.kind !== 'word') return null
  if (first.text === 'PRIMARY' || first.text === 'UNIQUE')
    return { kind: first.text, columns: listed(part, 0).names }
  if (first.text !== 'FOREIGN') return null
  const { names, end } = listed(part, 0)
  const open = part.findIndex(({ text }, index) => index > end && text === '(')
  const table = namesOf(part.slice(end + 1, open)).slice(1)
  return { kind: 'IMPORTED', columns: names, to: { table, columns: listed(part, open).names } }
}

function readColumn(part: readonly Token[], keys: DeclaredKey[]): Declared {
  const name = part[0]?.text ?? ''
  const word = part[1]?.text ?? ''
  let rest = part.slice(word === 'DOUBLE' && part[2]?.text === 'PRECISION' ? 3 : 2)
  let sizes: number[] = []
  if (rest[0]?.text === '(') {
    const end = closing(rest, 0)
    sizes = rest.slice(1, end).flatMap(({ kind, text }) => (kind === 'number' ? [Number(text)] : []))
    rest = rest.slice(end + 1)
  }
  const type = TYPES[SYNONYMS[word] ?? word]
  if (!type) throw syntaxError(word)
  const primary = rest.findIndex(({ text }) => text === 'PRIMARY')
  if (primary !== -1) {
    keys.push({ kind: 'PRIMARY', columns: [name] })
    rest = rest.toSpliced(primary, 2)
  }
  const declared = type(...(WHOLE.includes(word) ? [] : sizes))
  return { name, ...declared, rest: rest.map(written).join(' ') }
}

function clusterText({ kind, text }: Token): string {
  return kind === 'quoted' ? `"${text.replaceAll('"', '""')}"` : kind === 'literal' ? quoteText(text) : text
}

function written({ kind, text }: Token): string {
  return kind === 'literal' ? quoteText(text) : text
}
