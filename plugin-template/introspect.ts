import {
  raw,
  sortTables,
  sql,
  type ColumnInfo,
  type ColumnProperties,
  type ConnectorError,
  type ConstraintInfo,
  type ConstraintProperties,
  type ReferentialAction,
  type Row,
  type Sql,
  type TableInfo,
  type TableRef,
} from 'tidemark/connector'
import { canonicalType, kindOf, UNTYPED } from './column-types.ts'
import { readDeclaredColumns, type DeclaredColumn } from './declared-columns.ts'

type Run = (statement: Sql) => Promise<Row[]>

/** A row of the first statement; the columns' part is NULL for a table without readable columns. */
interface ColumnRow extends Row {
  table_name: string
  table_type: string
  cid: number
  name: string | null
  type: string
  notnull: number
  dflt_value: string | null
  pk: number
  hidden: number
  /** The text that made the table, with its first column. */
  definition: string | null
}

interface IndexRow extends Row {
  table_name: string
  index_name: string
  origin: 'c' | 'u' | 'pk'
  column_name: string | null
}

interface ForeignKeyRow extends Row {
  table_name: string
  id: number
  column_name: string
  parent: string
  parent_column: string | null
  on_delete: string
  on_update: string
}

const refOf = (name: string): TableRef => ({ catalog: 'main', schema: 'main', name })

/** Everything but SQLite's own tables and the shadow tables in which virtual tables keep their data. */
function chosen(tables: readonly TableRef[] | undefined): Sql {
  const own = sql`t.schema = 'main' and t.type <> 'shadow' and lower(substr(t.name, 1, 7)) <> 'sqlite_'`
  if (!tables) return own
  const names = tables
    .filter(table => table.catalog === 'main' && table.schema === 'main')
    .map(table => table.name)
  return sql`${own} and t.name in (select value from json_each(${JSON.stringify(names)}))`
}

const COLUMNS = raw(`select t.name as table_name, t.type as table_type, c.cid, c.name, c.type, c."notnull",
  c.dflt_value, c.pk, c.hidden, case when c.cid = 0 and t.type = 'table' then (select s.sql from sqlite_schema s
    where s.type = 'table' and s.name = t.name) end as definition
  from pragma_table_list t left join pragma_table_xinfo(t.name, 'main') c`)

const INDEXES = raw(`select t.name as table_name, i.name as index_name, i.origin, c.name as column_name
  from pragma_table_list t join pragma_index_list(t.name, 'main') i join pragma_index_info(i.name, 'main') c`)

/** The parent's name as it was created, and its primary key where the reference names no columns. */
const FOREIGN_KEYS = raw(`select t.name as table_name, f.id, f."from" as column_name,
  coalesce((select s.name from sqlite_schema s where s.type = 'table' and s.name = f."table" collate nocase),
    f."table") as parent,
  coalesce(f."to", (select p.name from pragma_table_info(f."table", 'main') p where p.pk = f.seq + 1))
    as parent_column, f.on_delete, f.on_update
  from pragma_table_list t join pragma_foreign_key_list(t.name, 'main') f`)

/** Reads tables, columns and keys in three statements, however many tables there are. */
export async function introspect(run: Run, wanted?: readonly TableRef[]): Promise<TableInfo[]> {
  const where = chosen(wanted)
  const { columns, unread } = await readColumns(run, where)
  const indexes =
    await run(sql`${INDEXES} where ${where} and t.type = 'table' and i."unique" and not i.partial
    order by t.name, i.seq, c.seqno`)
  const foreignKeys = await run(
    sql`${FOREIGN_KEYS} where ${where} and t.type = 'table' order by t.name, f.id, f.seq`,
  )
  const indexesOf = groupBy(indexes as IndexRow[], row => row.table_name)
  const foreignKeysOf = groupBy(foreignKeys as ForeignKeyRow[], row => row.table_name)
  const tables = [...groupBy(columns, row => row.table_name)].map(([name, rows]): TableInfo => {
    const table = describeTable(name, rows, indexesOf.get(name) ?? [], foreignKeysOf.get(name) ?? [])
    const error = unread.get(name)
    return error ? { ...table, columnsError: error } : table
  })
  return sortTables(tables)
}

/** One statement; only where a view is broken, or a module is missing, one more per table, to find which it is. */
async function readColumns(
  run: Run,
  where: Sql,
): Promise<{ columns: ColumnRow[]; unread: Map<string, ConnectorError> }> {
  const unread = new Map<string, ConnectorError>()
  try {
    return { columns: (await run(sql`${COLUMNS} where ${where}`)) as ColumnRow[], unread }
  } catch (error) {
    if (!isOfObject(error as ConnectorError)) throw error
  }
  const tables = await run(sql`select t.name as table_name, t.type as table_type, null as name
    from pragma_table_list t where ${where}`)
  const found: ColumnRow[] = []
  for (const table of tables as ColumnRow[]) {
    try {
      const rows = await run(sql`${COLUMNS} where ${where} and t.name = ${table.table_name}`)
      found.push(...(rows as ColumnRow[]))
    } catch (error) {
      if (!isOfObject(error as ConnectorError)) throw error
      unread.set(table.table_name, error as ConnectorError)
      found.push(table)
    }
  }
  return { columns: found, unread }
}

/** A view over what is gone, or a virtual table whose module is missing. */
function isOfObject({ kind }: ConnectorError): boolean {
  return kind === 'missing-object' || kind === 'invalid-query'
}

function describeTable(
  name: string,
  rows: ColumnRow[],
  indexes: IndexRow[],
  foreignKeys: ForeignKeyRow[],
): TableInfo {
  // An INTEGER PRIMARY KEY without an index of its own is the row id, which is never NULL.
  const keyIndex = indexes.some(index => index.origin === 'pk')
  const key = rows.filter(row => row.pk > 0).sort((a, b) => a.pk - b.pk)
  const isRowId = (row: ColumnRow) => row.pk === 1 && key.length === 1 && !keyIndex
  const definition = rows.find(row => row.definition !== null)?.definition
  // A view has none, nor has a virtual table.
  const declared = definition == null ? undefined : readDeclaredColumns(definition)
  const columns = rows
    // 1 is a hidden column of a virtual table; 2 and 3 are generated columns.
    .filter(row => row.name !== null && row.hidden !== 1)
    .map((row): ColumnInfo => {
      const type = canonicalType(row.type || UNTYPED)
      return {
        name: String(row.name),
        ordinal: row.cid + 1,
        type,
        rawType: row.type || UNTYPED,
        kind: kindOf(type),
        nullable: !row.notnull && !isRowId(row),
        default: row.dflt_value ?? declared?.[row.cid]?.expression ?? null,
        comment: null,
        ...properties(row, declared),
      }
    })
  return {
    ...refOf(name),
    kind: rows[0]?.table_type === 'view' ? 'view' : 'table',
    comment: null,
    columns,
    constraints: describeConstraints(name, key, indexes, foreignKeys),
  }
}

/** Kinds of generated columns by `hidden`. */
const GENERATED = { 2: 'virtual', 3: 'stored' } as const

/** What a column takes beside its type; nothing where the text of the table was not understood. */
function properties({ cid, name, hidden }: ColumnRow, declared: readonly DeclaredColumn[] | undefined) {
  const column = declared?.[cid]
  if (declared && column?.name !== name) return {}
  const { collation, isAutoIncrement } = column ?? { isAutoIncrement: false }
  const generated = hidden === 2 || hidden === 3 ? GENERATED[hidden] : undefined
  const known: ColumnProperties = {
    ...(collation !== undefined && { collation }),
    ...(isAutoIncrement && { autoIncrement: 'by_default' }),
    ...(generated && { generated }),
  }
  return { properties: known }
}

/**
 * Keys by name. SQLite returns the names of unique indexes only; the others are named by their columns, as
 * PostgreSQL names them, so that a name stays when another constraint comes or goes.
 */
function describeConstraints(
  table: string,
  key: ColumnRow[],
  indexes: IndexRow[],
  foreignKeys: ForeignKeyRow[],
): ConstraintInfo[] {
  const constraints: ConstraintInfo[] = []
  if (key.length > 0) {
    const columns = key.map(row => String(row.name))
    constraints.push({ name: `${table}_pkey`, type: 'primary_key', columns, properties: {} })
  }
  for (const [index, rows] of groupBy(indexes, row => row.index_name)) {
    const columns = rows.flatMap(row => row.column_name ?? [])
    // An index on an expression is no constraint on columns.
    if (rows[0]?.origin === 'pk' || columns.length < rows.length) continue
    const name = rows[0]?.origin === 'c' ? index : [table, ...columns, 'key'].join('_')
    constraints.push({ name, type: 'unique', columns, properties: {} })
  }
  for (const rows of groupBy(foreignKeys, row => row.id).values()) {
    const columns = rows.map(row => row.column_name)
    const references = {
      table: refOf(rows[0]?.parent ?? ''),
      columns: rows.flatMap(row => row.parent_column ?? []),
    }
    constraints.push({
      name: [table, ...columns, 'fkey'].join('_'),
      type: 'foreign_key',
      columns,
      references,
      properties: rules(rows[0]),
    })
  }
  return withDistinctNames(constraints)
}

/** Actions as the pragma prints them; NO ACTION is the default. */
const ACTIONS: Record<string, ReferentialAction> = {
  RESTRICT: 'restrict',
  CASCADE: 'cascade',
  'SET NULL': 'set_null',
  'SET DEFAULT': 'set_default',
}

/** What becomes of referring rows. MATCH and DEFERRABLE are declared in SQL text alone, which no pragma takes apart. */
function rules(row: ForeignKeyRow | undefined): ConstraintProperties {
  const [onDelete, onUpdate] = [ACTIONS[row?.on_delete ?? ''], ACTIONS[row?.on_update ?? '']]
  return { ...(onDelete && { onDelete }), ...(onUpdate && { onUpdate }) }
}

/** Two keys on the same columns would share a name; the later ones get a number. */
function withDistinctNames(constraints: ConstraintInfo[]): ConstraintInfo[] {
  const taken = new Set<string>()
  for (const constraint of constraints) {
    const { name } = constraint
    for (let number = 1; taken.has(constraint.name); number++) constraint.name = `${name}${number}`
    taken.add(constraint.name)
  }
  return constraints
}

function groupBy<Item, Key>(items: Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  return Map.groupBy(items, keyOf)
}
