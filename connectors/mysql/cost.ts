/** What a statement would read, from MySQL's or MariaDB's plan of it and the mean length of the rows. */
import type { CatalogReader } from '../catalog-reader.ts'
import type { CostEstimate, Row } from '../connector.ts'
import { sumEstimates } from '../costs.ts'
import { bindList, sql, type Sql } from '../sql.ts'

/** What a table keeps, as the server last counted it. */
interface TableSize {
  rows: number | null
  /** Bytes of a row, with what its pages leave empty. */
  rowLength: number | null
}

/** A table of a statement, with the name that it goes by there. */
const TABLE_OF_TEXT = /`((?:[^`]|``)+)`\.`((?:[^`]|``)+)`(?:\s+(?:as\s+)?`?(\w+)`?)?/g

/** Accesses that are made once for each row of the tables before it. */
const LOOKUPS: ReadonlySet<string> = new Set([
  'eq_ref',
  'ref',
  'ref_or_null',
  'unique_subquery',
  'index_subquery',
])

/**
 * What a statement would read, by two statements: its plan, whose rows are those that are examined in the partitions that
 * are left, and the mean length of the rows of its tables, which both servers keep.
 * @param text as the statement is sent: it says which table a name in the plan stands for
 */
export async function estimateCost(
  read: CatalogReader,
  { statement, text }: { statement: Sql; text: string },
): Promise<CostEstimate> {
  const plan = await read(sql`explain format = traditional ${statement}`)
  const scans = plan.filter(({ table }) => typeof table === 'string' && !table.startsWith('<'))
  if (scans.length === 0) return { rows: 0, bytes: 0 }
  const named = tablesOf(text)
  const sizes = await readSizes(read, named)
  const only = named.length === 1 ? named[0] : undefined
  const estimates: CostEstimate[] = []
  let before = { select: undefined as unknown, rows: 1 }
  /** Rows of the last table that is read once: a dependent sub-query is run for each of them. */
  let outerRows = 1
  for (const scan of scans) {
    const known = only ?? named.find(({ alias, name }) => (alias ?? name) === scan.table)
    const size = known && sizes.get(keyOf(known.schema, known.name))
    const isLookup = LOOKUPS.has(String(scan.type))
    const isDependent = /^DEPENDENT/.test(String(scan.select_type))
    const isJoined = before.select === scan.id && isLookup
    const loops = isJoined ? before.rows : isDependent ? outerRows : 1
    const examined = examinedRows(scan, loops, isLookup ? (size?.rows ?? null) : null)
    before = { select: scan.id, rows: examined ?? 1 }
    if (!isDependent) outerRows = examined ?? 1
    const length = size?.rowLength ?? null
    estimates.push({
      rows: examined,
      bytes: examined === 0 ? 0 : examined === null || length === null ? null : examined * length,
    })
  }
  return sumEstimates(estimates)
}

/** @param all the rows of a table that lookups read no more than once over, as far as they are known */
function examinedRows({ rows }: Row, loops: number, all: number | null): number | null {
  if (rows === null || rows === undefined) return null
  const examined = Number(rows) * loops
  return loops > 1 && all !== null ? Math.min(examined, Math.max(all, Number(rows))) : examined
}

/** A table that the text of a statement names. */
interface NamedTable {
  schema: string
  name: string
  alias?: string | undefined
}

/** The tables that a text of ours names, which has two parts of a name in backticks, each once. */
function tablesOf(text: string): NamedTable[] {
  const unquote = (name: string) => name.replaceAll('``', '`')
  const named = [...text.matchAll(TABLE_OF_TEXT)].map(([, schema = '', name = '', alias]) => ({
    schema: unquote(schema),
    name: unquote(name),
    alias,
  }))
  const isOne = new Set(named.map(({ schema, name }) => keyOf(schema, name))).size === 1
  return isOne ? named.slice(0, 1) : named
}

function keyOf(schema: string, name: string): string {
  return JSON.stringify([schema, name])
}

async function readSizes(
  read: CatalogReader,
  tables: readonly NamedTable[],
): Promise<Map<string, TableSize>> {
  if (tables.length === 0) return new Map()
  const schemas = bindList(new Set(tables.map(({ schema }) => schema)))
  const names = bindList(new Set(tables.map(({ name }) => name)))
  const found = await read(sql`
    select table_schema as db, table_name as tbl, table_rows as n, avg_row_length as len, data_length as size
    from information_schema.tables where table_schema in (${schemas}) and table_name in (${names})`)
  return new Map(found.map(row => [keyOf(String(row.db), String(row.tbl)), sizeOf(row)]))
}

function sizeOf({ n, len, size }: Row): TableSize {
  const numberOf = (value: Row[string] | undefined) =>
    value === null || value === undefined ? null : Number(value)
  const [rows, length, bytes] = [numberOf(n), numberOf(len), numberOf(size)]
  if (length !== null && length > 0) return { rows, rowLength: length }
  return { rows, rowLength: rows && bytes ? bytes / rows : null }
}
