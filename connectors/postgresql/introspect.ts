import {
  partitioningOf,
  sortTables,
  tablePath,
  type ColumnInfo,
  type ColumnProperties,
  type ConstraintInfo,
  type ConstraintProperties,
  type PartitionColumn,
  type ReferentialAction,
  type TableInfo,
  type TableKind,
  type TableRef,
} from '../catalog.ts'
import type { StreamingCatalogReader } from '../catalog-reader.ts'
import type { Partition } from '../connector.ts'
import { catalogQuery, estimatesQuery, partitionsQuery, type PostgresqlCatalogRow } from './catalog-query.ts'
import { TypeShapes } from './type-shapes.ts'
import { canonicalType, columnKind, isComparable } from './types.ts'

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

/** Actions by the letters of pg_constraint; `a` is the default. */
const ACTIONS: Readonly<Record<string, ReferentialAction>> = {
  r: 'restrict',
  c: 'cascade',
  n: 'set_null',
  d: 'set_default',
}

/** Reads the catalog of a database with one statement. */
export async function introspect(
  read: StreamingCatalogReader,
  catalog: string,
  tables?: readonly TableRef[],
): Promise<TableInfo[]> {
  const found = new Map<number, TableInfo>()
  const outside = new Map<number, NumberedTable>()
  const types = new Map<string, ReturnType<typeof describeType>>()
  // Rows about tables and types that have not arrived yet; the server sends those first, but does not promise it.
  const late: PostgresqlCatalogRow[] = []
  const shapes = new TypeShapes()
  const collations = new Map<string, PostgresqlCatalogRow>()
  /** Columns of which more is known when all rows have arrived. */
  const open: { column: ColumnInfo; type?: string; collation?: string }[] = []

  const addColumn = (row: PostgresqlCatalogRow) => {
    const type = types.get(row.a ?? '')
    const table = found.get(row.oid)
    if (!type || !table) return false
    const { isRequired, collation, properties } = readNature(row.d ?? '')
    const column = describeColumn(row, type, isRequired, properties)
    table.columns.push(column)
    if (collation !== undefined || type.createdOid !== undefined)
      open.push({ column, type: type.createdOid, collation })
    return true
  }
  const take = (row: PostgresqlCatalogRow) => {
    if (row.part === 'table') found.set(row.oid, describeTable(catalog, row))
    else if (row.part === 'type') types.set(`${row.oid} ${row.number}`, describeType(row))
    else if (row.part === 'target') addTarget(outside, catalog, row)
    else if (row.part === 'member') shapes.add(row)
    else if (row.part === 'collation') collations.set(String(row.oid), row)
    else if (row.part !== 'column' || !addColumn(row)) late.push(row)
  }
  await read(catalogQuery(tablesInCatalog(catalog, tables)), row => take(row as PostgresqlCatalogRow))

  for (const row of late.filter(({ part }) => part === 'column')) addColumn(row)
  for (const { column, type, collation } of open) {
    const { name, a: exact } = collations.get(collation ?? '') ?? {}
    column.properties = {
      ...column.properties,
      ...(type !== undefined && shapes.membersOf(type)),
      ...(name !== undefined && { collation: name }),
    }
    if (name !== undefined && exact !== TRUE) column.nondeterministicCollation = name
    if (type !== undefined && shapes.isIncomparable(type)) column.isIncomparable = true
  }
  for (const { oid, a: strategy, b: numbers } of late.filter(({ part }) => part === 'partition')) {
    const table = found.get(oid)
    if (table) Object.assign(table, describePartitioning(table, strategy ?? '', numbers ?? ''))
  }
  for (const row of late.filter(({ part }) => part === 'constraint')) {
    const target = row.c === null ? undefined : (found.get(Number(row.c)) ?? outside.get(Number(row.c)))
    const table = found.get(row.oid)
    table?.constraints.push(describeConstraint(row, table, target))
  }
  return sortTables([...found.values()])
}

/** Row estimates from the statistics of the last ANALYZE, by `tablePath`, with one statement. */
export async function readEstimates(
  read: StreamingCatalogReader,
  catalog: string,
  tables: readonly TableRef[],
): Promise<Map<string, number>> {
  const rows = await read(estimatesQuery(tablesInCatalog(catalog, tables) ?? []))
  return new Map(
    rows.map(row => [
      tablePath({ catalog, schema: String(row.schema), name: String(row.name) }),
      Math.round(Number(row.rows)),
    ]),
  )
}

/** Those of some tables that are partitions now, by `tablePath`, with one statement. */
export async function readPartitions(
  read: StreamingCatalogReader,
  catalog: string,
  tables: readonly TableRef[],
): Promise<Map<string, Partition>> {
  const rows = await read(partitionsQuery(tablesInCatalog(catalog, tables) ?? []))
  return new Map(
    rows.map(row => [
      tablePath({ catalog, schema: String(row.schema), name: String(row.name) }),
      {
        parent: { catalog, schema: String(row.parent_schema), name: String(row.parent) },
        identity: String(row.oid),
      },
    ]),
  )
}

function tablesInCatalog(
  catalog: string,
  tables: readonly TableRef[] | undefined,
): readonly TableRef[] | undefined {
  return tables?.filter(table => table.catalog === catalog)
}

/** A relation whose columns a constraint names by number. */
interface NumberedTable extends TableRef {
  columns: { ordinal: number; name: string }[]
}

/** A boolean as the server prints it when it is cast to text. */
const TRUE = 'true'
/** Stands for the database's collation, and for none. */
const NO_COLLATION = '0'
/** What is built in has smaller ones. */
const FIRST_CREATED_OID = 16_384

/** Identities by `attidentity`. */
const IDENTITIES: Readonly<Record<string, ColumnProperties['autoIncrement']>> = {
  a: 'always',
  d: 'by_default',
}
/** Kinds of generated columns by `attgenerated`. */
const GENERATED: Readonly<Record<string, ColumnProperties['generated']>> = { s: 'stored', v: 'virtual' }

const NO_PROPERTIES: ColumnProperties = {}

/** What a column's row adds to whether it is required, see `CatalogRow`; most add nothing. */
function readNature(nature: string): {
  isRequired: boolean
  collation?: string
  properties: ColumnProperties
} {
  if (!nature.includes(' ')) return { isRequired: nature === TRUE, properties: NO_PROPERTIES }
  const [required, ...rest] = nature.split(' ')
  const generated = rest.at(-1)?.startsWith('g') ? GENERATED[rest.pop()?.[1] ?? ''] : undefined
  const [collation = NO_COLLATION, identity = ''] = rest
  const autoIncrement = IDENTITIES[identity]
  return {
    isRequired: required === TRUE,
    ...(collation !== NO_COLLATION && { collation }),
    properties: { ...(autoIncrement && { autoIncrement }), ...(generated && { generated }) },
  }
}

function describeType({ oid, name, a: category, b: builtin, c: base, d: required }: PostgresqlCatalogRow) {
  const kind = columnKind(builtin, category ?? '')
  const type = {
    type: canonicalType(name),
    ...(base !== null && { base: canonicalType(base) }),
    rawType: name,
    kind,
    ...(!isComparable(builtin) && { isIncomparable: true as const }),
  }
  return {
    type,
    isRequired: required === TRUE,
    ...(oid >= FIRST_CREATED_OID && { createdOid: String(oid) }),
  }
}

function describeTable(
  catalog: string,
  { oid, name, a: kind, b: schema, c: comment, d }: PostgresqlCatalogRow,
): TableInfo {
  return {
    catalog,
    schema: schema ?? '',
    name,
    kind: TABLE_KINDS[kind ?? ''] ?? 'table',
    comment,
    columns: [],
    constraints: [],
    identity: String(oid),
    ...(d === null ? {} : { estimatedRows: Math.round(Number(d)) }),
  }
}

function describeColumn(
  { number, name, b: expression, c: comment }: PostgresqlCatalogRow,
  { type, isRequired }: ReturnType<typeof describeType>,
  isNotNull: boolean,
  properties: ColumnProperties,
): ColumnInfo {
  return {
    name,
    ordinal: number ?? 0,
    ...type,
    nullable: !isNotNull && !isRequired,
    default: expression,
    comment,
    identity: String(number),
    properties,
  }
}

function addTarget(targets: Map<number, NumberedTable>, catalog: string, row: PostgresqlCatalogRow): void {
  const { oid, number, name, a: table, b: schema } = row
  const target = targets.get(oid) ?? { catalog, schema: schema ?? '', name: table ?? '', columns: [] }
  target.columns.push({ ordinal: number ?? 0, name })
  targets.set(oid, target)
}

function describeConstraint(
  { name, number, a: nature, b: columns, d: at }: PostgresqlCatalogRow,
  own: NumberedTable,
  target?: NumberedTable,
): ConstraintInfo {
  const type = CONSTRAINT_TYPES[nature?.[0] ?? ''] ?? 'unique'
  const constraint: ConstraintInfo = {
    name,
    type,
    columns: columnNames(own, columns ?? '', number),
    properties: describeProperties(nature ?? ''),
  }
  if (!target || at === null) return constraint
  const table = { catalog: target.catalog, schema: target.schema, name: target.name }
  return { ...constraint, references: { table, columns: columnNames(target, at) } }
}

/** Strategies of partitioning by `partstrat`. */
const PARTITION_STRATEGIES: Readonly<Record<string, PartitionColumn['method']>> = {
  r: 'range',
  l: 'list',
  h: 'hash',
}

function describePartitioning(table: TableInfo, strategy: string, numbers: string) {
  const method = PARTITION_STRATEGIES[strategy]
  const names = columnsByNumber(table)
  // The number of an expression is 0, which no column has.
  const columns = numbers.split(' ').flatMap(number => names.get(Number(number)) ?? [])
  return partitioningOf({
    columns: columns.map(name => ({ name, ...(method && { method }) })),
    clustering: [],
  })
}

/** The properties of a constraint by its `nature`, see `CatalogRow`. */
function describeProperties(nature: string): ConstraintProperties {
  const [, update = '', deletion = '', match, deferrable, deferred, notDistinct] = nature
  const [onDelete, onUpdate] = [ACTIONS[deletion], ACTIONS[update]]
  return {
    ...(onDelete && { onDelete }),
    ...(onUpdate && { onUpdate }),
    ...(match === 'f' && { match: 'full' }),
    ...(deferrable === 't' && { deferrable: true }),
    ...(deferred === 't' && { initiallyDeferred: true }),
    ...(notDistinct === 't' && { nullsNotDistinct: true }),
  }
}

/** The names of the first `count` columns of a list of numbers, or of all. */
function columnNames(table: NumberedTable, numbers: string, count: number | null = null): string[] {
  const names = columnsByNumber(table)
  return numbers.split(' ', count ?? undefined).map(number => names.get(Number(number)) ?? number)
}

/** Kept while the table is: it may have as many constraints as columns. */
const numbered = new WeakMap<NumberedTable, Map<number, string>>()

function columnsByNumber(table: NumberedTable): Map<number, string> {
  const known = numbered.get(table)
  if (known?.size === table.columns.length) return known
  const names = new Map(table.columns.map(({ ordinal, name }) => [ordinal, name]))
  numbered.set(table, names)
  return names
}
