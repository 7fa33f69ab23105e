import { parseSync, SqlError } from 'libpg-query'
import { toOffset } from '../../../connectors/redaction/statement-tokens.ts'
import { retireThread } from '../../../server/text-pool/retire.ts'
import { ALL_COLUMNS, type SeenColumn } from '../api.ts'
import {
  childOf,
  namesIn,
  splitBaseColumn,
  spreadRest,
  type BaseColumn,
  type QueryResult,
  type Reading,
  type TableName,
  type TreeNode,
} from './columns.ts'
import { readBody, readQuery } from './query.ts'

/** What a view is made from. */
export interface ViewReading {
  /** Columns by the path of each table that it reads; null where they are not known. */
  upstream: Map<string, SeenColumn[] | null>
  /** Names of tables as the definition writes them. */
  names: TableName[]
}

/**
 * Reads a definition in PostgreSQL's grammar: a query, or the statement that creates a view or table of one. The parser
 * must be loaded.
 * @param given.columns of the view, in their order; defaults to those of the query
 * @param given.isCatalogComplete whether `findTable` knows all columns of its tables; defaults to true
 * @throws SqlError of the parser, RangeError of a definition that is nested too deeply or too large
 */
export function readDefinition(
  text: string,
  findTable: Reading['findTable'],
  {
    columns,
    isCatalogComplete = true,
  }: { columns?: readonly string[] | undefined; isCatalogComplete?: boolean } = {},
): ViewReading {
  const statement = childOf(parse(text).stmts?.[0] as TreeNode | undefined, 'stmt')
  const [[, outer] = ['', {}]] = Object.entries(statement ?? {}) as [string, TreeNode][]
  const query = childOf(statement, 'SelectStmt') ?? childOf(childOf(outer, 'query'), 'SelectStmt')
  if (!query) throw new Error('It is no query')
  const aliases = namesIn(outer.aliases ?? childOf(outer, 'into')?.colNames)
  const reading: Reading = {
    findTable,
    isCatalogComplete,
    tables: new Map(),
    used: new Set(),
    names: new Map(),
    unresolved: [],
    size: 0,
    readQuery: (node, around) => readQuery(reading, node, around),
    readBody: (node, around) => readBody(reading, node, around),
  }
  const result = readQuery(reading, query, { ctes: { find: () => undefined } })
  return {
    upstream: upstreamOf(reading, result, columns ?? aliases),
    names: [...reading.names.values()],
  }
}

/** Marks of CYCLE whose casts are taken out of one definition. */
const MAX_CASTS = 20

function parse(text: string, casts = 0): { stmts?: unknown[] } {
  try {
    return parseSync(text)
  } catch (error) {
    // A text that is nested too deeply interrupts the parser, which does not free what it took.
    if (!(error instanceof SqlError)) retireThread()
    const taken = casts < MAX_CASTS && error instanceof SqlError ? withoutCast(text, error) : undefined
    if (taken === undefined) throw error
    return parse(taken, casts + 1)
  }
}

/** Names of types are shorter, with their schema and dimensions. */
const MAX_TYPE = 300

/**
 * PostgreSQL prints `cycle id set mark to 'Y'::text default 'N'::text using path`, and does not read casts there.
 * @returns the text without the cast that the error is about; undefined where it is about something else
 */
function withoutCast(text: string, { sqlDetails }: SqlError): string | undefined {
  const at = toOffset(text, (sqlDetails?.cursorPosition ?? -1) + 1)
  if (at === undefined || !text.startsWith("'::", at - 1)) return undefined
  const end = text.slice(at, at + MAX_TYPE).search(/\s(?:default|using)\s/i)
  return end === -1 ? undefined : text.slice(0, at) + text.slice(at + end)
}

function upstreamOf(
  reading: Reading,
  result: QueryResult,
  names: readonly string[],
): ViewReading['upstream'] {
  const { tables, used, unresolved } = reading
  // A column that was found nowhere may be of any of the tables.
  if (unresolved.length > 0) return new Map([...tables.keys()].map(path => [path, null]))
  const upstream = new Map([...tables.keys()].map(path => [path, [] as SeenColumn[]]))
  const seen = new Set<BaseColumn>()
  const add = (base: BaseColumn, downstream: string, kind: 'direct' | 'indirect') => {
    const { path, column } = splitBaseColumn(base)
    seen.add(base)
    upstream.get(path)?.push({ upstream: column, downstream, kind })
  }
  const columns = spreadRest(result.columns, names.length || result.columns.length)
  for (const [index, { name, dependencies }] of columns.entries()) {
    const { direct, indirect } = dependencies
    const own = names[index] ?? name
    for (const base of direct) add(base, own, 'direct')
    for (const base of indirect) if (!direct.has(base)) add(base, own, 'indirect')
  }
  for (const base of result.rows) add(base, ALL_COLUMNS, 'indirect')
  // What a query inside selects and no other uses: without it, the view would be none.
  for (const base of used) if (!seen.has(base)) add(base, ALL_COLUMNS, 'indirect')
  return upstream
}
