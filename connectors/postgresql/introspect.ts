import {
  sortTables,
  tablePath,
  type ConstraintInfo,
  type TableInfo,
  type TableKind,
  type TableRef,
} from '../catalog.ts'
import type { Row } from '../connector.ts'
import type { Sql } from '../sql.ts'
import { catalogQuery, estimatesQuery } from './catalog-query.ts'
import { canonicalType, columnKind } from './types.ts'

/** Runs one statement of the catalog. */
type Read = (statement: Sql) => Promise<Row[]>

interface TableBody {
  schema: string
  name: string
  kind: string
  comment: string | null
  rows: number | null
}

interface ColumnBody {
  name: string
  ordinal: number
  type: string
  builtin: string | null
  category: string
  nullable: boolean
  default: string | null
  comment: string | null
}

interface ConstraintBody {
  name: string
  type: string
  columns: string[]
  schema?: string | null
  table?: string | null
  at?: string[] | null
}

const TABLE_KINDS: Readonly<Record<string, TableKind>> = {
  r: 'table',
  p: 'table',
  v: 'view',
  m: 'materialized_view',
  f: 'external_table',
}

const CONSTRAINT_TYPES: Readonly<Record<string, ConstraintInfo['type']>> = {
  p: 'primary_key',
  f: 'foreign_key',
  u: 'unique',
}

/** Reads the catalog of a database with one statement. */
export async function introspect(
  read: Read,
  catalog: string,
  tables?: readonly TableRef[],
): Promise<TableInfo[]> {
  const rows = await read(catalogQuery(inCatalog(catalog, tables)))
  const found = new Map<unknown, TableInfo>()
  const of = <Body>(part: string) =>
    rows.filter(row => row.part === part) as unknown as { oid: number; body: Body }[]

  for (const { oid, body } of of<TableBody>('table')) {
    found.set(oid, {
      catalog,
      schema: body.schema,
      name: body.name,
      kind: TABLE_KINDS[body.kind] ?? 'table',
      comment: body.comment,
      columns: [],
      constraints: [],
      identity: String(oid),
      ...(body.rows === null ? {} : { estimatedRows: Math.round(body.rows) }),
    })
  }
  for (const { oid, body } of of<ColumnBody>('column')) {
    found.get(oid)?.columns.push({
      name: body.name,
      ordinal: body.ordinal,
      type: canonicalType(body.type),
      rawType: body.type,
      kind: columnKind(body.builtin, body.category),
      nullable: body.nullable,
      default: body.default,
      comment: body.comment,
      identity: String(body.ordinal),
    })
  }
  for (const { oid, body } of of<ConstraintBody>('constraint'))
    found.get(oid)?.constraints.push(constraint(catalog, body))
  for (const table of found.values())
    table.constraints.sort((a, b) => compare(a.type, b.type) || compare(a.name, b.name))
  return sortTables([...found.values()])
}

/** Row estimates from the statistics of the last ANALYZE, by `tablePath`, with one statement. */
export async function readEstimates(
  read: Read,
  catalog: string,
  tables: readonly TableRef[],
): Promise<Map<string, number>> {
  const rows = await read(estimatesQuery(inCatalog(catalog, tables) ?? []))
  return new Map(
    rows.map(row => [
      tablePath({ catalog, schema: String(row.schema), name: String(row.name) }),
      Math.round(Number(row.rows)),
    ]),
  )
}

function inCatalog(
  catalog: string,
  tables: readonly TableRef[] | undefined,
): readonly TableRef[] | undefined {
  return tables?.filter(table => table.catalog === catalog)
}

function constraint(
  catalog: string,
  { name, type, columns, schema, table, at }: ConstraintBody,
): ConstraintInfo {
  const to = schema && table && at ? { table: { catalog, schema, name: table }, columns: at } : undefined
  return { name, type: CONSTRAINT_TYPES[type] ?? 'unique', columns, ...(to ? { references: to } : {}) }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
