import {
  sortTables,
  tablePath,
  type ColumnInfo,
  type ConstraintInfo,
  type ConstraintProperties,
  type ReferentialAction,
  type TableInfo,
  type TableRef,
} from '../catalog.ts'
import type { StreamingCatalogReader } from '../catalog-reader.ts'
import type { ConnectorError } from '../errors.ts'
import { catalogQuery, estimatesQuery, type MysqlCatalogRow } from './catalog-query.ts'
import { classifyMysqlError } from './errors.ts'
import { describePartitioning } from './partitioning.ts'
import { canonicalDefault, canonicalType, columnKind, columnProperties } from './types.ts'

type ColumnType = Pick<ColumnInfo, 'type' | 'rawType' | 'kind'>

/** Storage engines whose rows are kept elsewhere. */
const EXTERNAL_ENGINE = /^(federated|connect|spider|s3)$/i

/** Reads the catalog of the session's database with one statement. */
export async function introspect(
  read: StreamingCatalogReader,
  isMariadb: boolean,
  scope?: readonly TableRef[],
): Promise<TableInfo[]> {
  if (scope?.length === 0) return []
  const found = new Map<string, TableInfo>()
  const broken = new Map<string, ConnectorError>()
  const wanted = scope && new Set(scope.map(tablePath))
  const describe = makeTypeCache()
  // Columns of tables that have not arrived yet; the server sends tables first, but does not promise it.
  const late: MysqlCatalogRow[] = []
  const keys = new Map<string, MysqlCatalogRow[]>()
  const rules = new Map<string, ConstraintProperties>()
  const partitioned: MysqlCatalogRow[] = []

  const addColumn = (entry: MysqlCatalogRow) => {
    const table = found.get(entry.tbl)
    table?.columns.push(toColumnInfo(entry, describe(entry.a ?? ''), isMariadb))
    return table !== undefined
  }
  const take = (entry: MysqlCatalogRow) => {
    if (entry.part === 'table') {
      const table = toTableInfo(entry)
      // Only the catalog compares names without case.
      if (wanted && !wanted.has(tablePath(table))) return
      found.set(entry.tbl, table)
      const error = findBrokenTableError(entry)
      if (error) broken.set(entry.tbl, error)
    } else if (entry.part === 'column') {
      if (!addColumn(entry)) late.push(entry)
    } else if (entry.part === 'rule') {
      rules.set(`${entry.tbl}\0${entry.name}`, keyProperties(entry))
    } else if (entry.part === 'partition') {
      partitioned.push(entry)
    } else {
      const key = `${entry.part}\0${entry.tbl}\0${entry.name}`
      const parts = keys.get(key)
      if (parts) parts.push(entry)
      else keys.set(key, [entry])
    }
  }
  await read(catalogQuery(scope), row => take(row as MysqlCatalogRow))

  for (const entry of late) addColumn(entry)
  for (const parts of keys.values()) {
    const [{ part, tbl, name }] = parts as [MysqlCatalogRow]
    const constraint = part === 'index' ? toKey(parts) : toForeignKey(parts, rules.get(`${tbl}\0${name}`))
    if (constraint) found.get(tbl)?.constraints.push(constraint)
  }
  for (const entry of partitioned) {
    const table = found.get(entry.tbl)
    if (table) Object.assign(table, describePartitioning(table, entry.a ?? '', entry.b ?? ''))
  }
  for (const [name, table] of found) {
    const unread = broken.get(name) ?? (table.columns.length === 0 ? noColumnsError(table) : undefined)
    if (unread) table.columnsError = unread
  }
  return sortTables([...found.values()])
}

/** Row estimates of the storage engines, by `tablePath`, with one statement. */
export async function readEstimates(
  read: StreamingCatalogReader,
  tables: readonly TableRef[],
): Promise<Map<string, number>> {
  if (tables.length === 0) return new Map()
  const wanted = new Set(tables.map(tablePath))
  const rows = await read(estimatesQuery(tables))
  const counted = rows.map(row => {
    const schema = String(row.name)
    return [tablePath({ catalog: schema, schema, name: String(row.tbl) }), Number(row.n)] as const
  })
  return new Map(counted.filter(([path]) => wanted.has(path)))
}

function toTableInfo(row: MysqlCatalogRow): TableInfo {
  const { tbl, name: schema, a: type, b: comment, c: rows, d: engine } = row
  const isView = type === 'VIEW'
  return {
    catalog: schema,
    schema,
    name: tbl,
    kind: isView ? 'view' : EXTERNAL_ENGINE.test(engine ?? '') ? 'external_table' : 'table',
    // For a view, and a table that cannot be opened, it holds something else.
    comment: isView || engine === null || !comment ? null : comment,
    columns: [],
    constraints: [],
    ...(isView || rows === null ? {} : { estimatedRows: Number(rows) }),
  }
}

/** ER_CANT_OPEN_FILE: the catalog has the words of the error that a table gave, and not its number. */
const CANNOT_OPEN_ERRNO = 1016
const INVALID_VIEW_ERRNO = 1356

/** What is wrong with a view or a table that cannot be opened: the servers say it in place of the comment. */
function findBrokenTableError({ a: type, b: words, d: engine }: MysqlCatalogRow): ConnectorError | undefined {
  if (!words || words === 'VIEW' || (type !== 'VIEW' && engine !== null)) return undefined
  const errno = type === 'VIEW' ? INVALID_VIEW_ERRNO : CANNOT_OPEN_ERRNO
  return classifyMysqlError('mysql', { errno, sqlState: 'HY000', message: words })
}

/** There are no tables without columns, but there are rights on a table that are none on its columns. */
function noColumnsError({ name }: TableInfo): ConnectorError {
  const message = `The catalog shows no columns of ${name}`
  return classifyMysqlError('mysql', { errno: 1143, sqlState: '42000', message })
}

/** Describes types, each text once: a thousand columns have a few types. */
function makeTypeCache(): (rawType: string) => ColumnType {
  const known = new Map<string, ColumnType>()
  return rawType => {
    const seen = known.get(rawType)
    if (seen) return seen
    const type = canonicalType(rawType)
    const described = { type, rawType, kind: columnKind(type) }
    known.set(rawType, described)
    return described
  }
}

function toColumnInfo(
  {
    name,
    place,
    b: comment,
    c: nullable,
    d: printed,
    e: extra,
    f: generation,
    g: collation,
  }: MysqlCatalogRow,
  { type, rawType, kind }: ColumnType,
  isMariadb: boolean,
): ColumnInfo {
  return {
    name,
    ordinal: Number(place),
    type,
    rawType,
    kind,
    nullable: nullable === 'YES',
    default: canonicalDefault(printed, { kind, extra: extra ?? '', generation, isMariadb }),
    comment: comment || null,
    properties: columnProperties(extra ?? '', collation),
  }
}

function sortByPlace(parts: readonly MysqlCatalogRow[]): MysqlCatalogRow[] {
  return parts.toSorted((a, b) => Number(a.place) - Number(b.place))
}

/** A primary key or unique index; null for one on expressions, which is no constraint of columns. */
function toKey(parts: readonly MysqlCatalogRow[]): ConstraintInfo | null {
  const ordered = sortByPlace(parts)
  const columns = ordered.map(({ a }) => a)
  const name = parts[0]?.name ?? ''
  if (columns.some(column => column === null)) return null
  const prefixLengths = ordered.map(({ b: length }) => (length === null ? null : Number(length)))
  return {
    name,
    type: name === 'PRIMARY' ? 'primary_key' : 'unique',
    columns: columns as string[],
    properties: prefixLengths.some(length => length !== null) ? { prefixLengths } : {},
  }
}

/** What is not here is the default: NO ACTION and RESTRICT are the same to InnoDB, and each server prints its own. */
const ACTIONS: Readonly<Record<string, ReferentialAction>> = {
  CASCADE: 'cascade',
  'SET NULL': 'set_null',
  'SET DEFAULT': 'set_default',
}

function keyProperties({ a: deletion, b: update }: MysqlCatalogRow): ConstraintProperties {
  const [onDelete, onUpdate] = [ACTIONS[deletion ?? ''], ACTIONS[update ?? '']]
  return { ...(onDelete && { onDelete }), ...(onUpdate && { onUpdate }) }
}

/** @param properties absent where the account may not see them: MariaDB shows them to no account with SELECT alone */
function toForeignKey(parts: readonly MysqlCatalogRow[], properties?: ConstraintProperties): ConstraintInfo {
  const ordered = sortByPlace(parts)
  const [first] = ordered
  const schema = first?.b ?? ''
  return {
    name: first?.name ?? '',
    type: 'foreign_key',
    columns: ordered.map(({ a }) => a ?? ''),
    references: {
      table: { catalog: schema, schema, name: first?.c ?? '' },
      columns: ordered.map(({ d }) => d ?? ''),
    },
    ...(properties && { properties }),
  }
}
