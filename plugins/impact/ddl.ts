/** Reads the changes of a migration in PostgreSQL's grammar. The parser must be loaded. */
import { parseSync } from 'libpg-query'
import { formatName } from '../../connectors/catalog.ts'
import type { PlannedChange } from './changes.ts'

/** A node of the parser's tree. */
type TreeNode = Record<string, unknown>

export interface MigrationReading {
  /** With the line of the statement, from 1. */
  changes: (PlannedChange & { line: number })[]
  /** Statements, or parts of them, whose impact is not known. */
  notUnderstood: { line: number; statement: string; reason: string }[]
}

/** Statements that take nothing from those who read tables. */
const HARMLESS_STATEMENTS = new Set([
  'TransactionStmt',
  'CommentStmt',
  'GrantStmt',
  'GrantRoleStmt',
  'IndexStmt',
  'CreateStmt',
  'CreateTableAsStmt',
  'CreateSchemaStmt',
  'CreateSeqStmt',
  'AlterSeqStmt',
  'CreateEnumStmt',
  'CreateExtensionStmt',
  'CreateFunctionStmt',
  'CreateRoleStmt',
  'VacuumStmt',
  'ReindexStmt',
  'LockStmt',
  'ExplainStmt',
])

/** Objects that can be dropped without a reader of tables noticing. */
const HARMLESS_DROPS = new Set([
  'OBJECT_INDEX',
  'OBJECT_TRIGGER',
  'OBJECT_RULE',
  'OBJECT_POLICY',
  'OBJECT_EXTENSION',
])
const TABLES = new Set(['OBJECT_TABLE', 'OBJECT_VIEW', 'OBJECT_MATVIEW', 'OBJECT_FOREIGN_TABLE'])
/** Parts of ALTER TABLE that change no column. */
const HARMLESS_PARTS =
  /^AT_(AddColumn|ColumnDefault|AddConstraint|ValidateConstraint|DropConstraint|AddIndex|SetStatistics|SetStorage|SetOptions|ResetOptions|SetRelOptions|ResetRelOptions|ReplaceRelOptions|ChangeOwner|ClusterOn|DropCluster|SetLogged|SetUnLogged|ReplicaIdentity|EnableTrig|DisableTrig|EnableRowSecurity|DisableRowSecurity|ForceRowSecurity|NoForceRowSecurity|SetTableSpace|AddIdentity|SetIdentity|DropIdentity|SetCompression|AttachPartition)\w*$/

/** @throws SqlError of the parser for what is not in its grammar */
export function readMigration(sql: string): MigrationReading {
  const bytes = Buffer.from(sql)
  const reading: MigrationReading = { changes: [], notUnderstood: [] }
  const names = new MigrationNames()
  // Statements come in the order of the text, whose lines are counted once.
  let [counted, lines] = [0, 1]
  for (const { stmt, stmt_location: start = 0, stmt_len: length } of (parseSync(sql).stmts ?? []) as {
    stmt: TreeNode
    stmt_location?: number
    stmt_len?: number
  }[]) {
    const text = bytes.subarray(start, length === undefined ? undefined : start + length).toString()
    const lead = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*/.exec(text)?.[0] ?? ''
    lines += countBreaks(bytes.subarray(counted, start))
    counted = start
    const line = lines + countBreaks(Buffer.from(lead))
    const [[kind, node] = ['', {}]] = Object.entries(stmt) as [string, TreeNode][]
    const found = readStatement(kind, node, names)
    for (const change of found.changes) reading.changes.push({ ...change, line })
    for (const reason of found.problems)
      reading.notUnderstood.push({ line, statement: shorten(text.slice(lead.length)), reason })
  }
  return reading
}

const LINE_FEED = 10
const countBreaks = (bytes: Buffer) => bytes.reduce((count, byte) => count + Number(byte === LINE_FEED), 0)

const MAX_STATEMENT_CHARACTERS = 200
const shorten = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_STATEMENT_CHARACTERS)

interface StatementReading {
  changes: PlannedChange[]
  problems: string[]
}

const NOTHING: StatementReading = { changes: [], problems: [] }
const problem = (reason: string): StatementReading => ({ changes: [], problems: [reason] })

function readStatement(kind: string, node: TreeNode, names: MigrationNames): StatementReading {
  if (kind === 'DropStmt') return readDrop(node, names)
  if (kind === 'AlterTableStmt') return readAlter(node, names)
  if (kind === 'RenameStmt') return readRename(node, names)
  if (kind === 'TruncateStmt') {
    const tables = (node.relations as TreeNode[]).map(each => pathOf(each.RangeVar as TreeNode))
    return { changes: names.keep(tables.map(table => ({ change: 'truncate_table', table }))), problems: [] }
  }
  if (kind === 'AlterObjectSchemaStmt' && TABLES.has(String(node.objectType))) {
    const table = pathOf(node.relation as TreeNode)
    const schema = String(node.newschema)
    const [change] = names.keep([{ change: 'rename_table', table, new_name: schema }])
    names.rename(table, formatName([schema, String((node.relation as TreeNode).relname)]))
    return { changes: change ? [change] : [], problems: [] }
  }
  if (kind === 'CreateStmt') names.create(pathOf(node.relation as TreeNode))
  if (kind === 'CreateTableAsStmt') names.create(pathOf((node.into as TreeNode).rel as TreeNode))
  if (kind === 'ViewStmt') {
    if (node.replace) return problem('a view that is replaced may lose columns or change their types')
    names.create(pathOf(node.view as TreeNode))
    return NOTHING
  }
  if (HARMLESS_STATEMENTS.has(kind)) return NOTHING
  if (kind === 'InsertStmt') return problem('it changes rows, not the schema')
  return problem(`${describeKind(kind)} is not judged`)
}

const describeKind = (kind: string) =>
  kind
    .replace(/Stmt$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toUpperCase()

function readDrop({ removeType, objects }: TreeNode, names: MigrationNames): StatementReading {
  const type = String(removeType)
  if (HARMLESS_DROPS.has(type)) return NOTHING
  const paths = (objects as TreeNode[]).map(each => formatName(stringsIn(each)))
  if (type === 'OBJECT_SCHEMA')
    return { changes: paths.map(schema => ({ change: 'drop_schema', schema })), problems: [] }
  if (!TABLES.has(type)) return problem(`what depends on a dropped ${typeName(type)} is not known`)
  return { changes: names.keep(paths.map(table => ({ change: 'drop_table', table }))), problems: [] }
}

const typeName = (type: string) => type.replace('OBJECT_', '').toLowerCase().replaceAll('_', ' ')

function readAlter({ relation, cmds, objtype }: TreeNode, names: MigrationNames): StatementReading {
  if (!TABLES.has(String(objtype)))
    return String(objtype) === 'OBJECT_INDEX' || String(objtype) === 'OBJECT_SEQUENCE'
      ? NOTHING
      : problem(`ALTER of a ${typeName(String(objtype))} is not judged`)
  const table = pathOf(relation as TreeNode)
  const changes: PlannedChange[] = []
  const problems: string[] = []
  for (const { AlterTableCmd: command } of cmds as { AlterTableCmd: TreeNode }[]) {
    const subtype = String(command.subtype)
    const column = String(command.name)
    if (subtype === 'AT_DropColumn') changes.push({ change: 'drop_column', table, column })
    else if (subtype === 'AT_SetNotNull') changes.push({ change: 'add_not_null', table, column })
    else if (subtype === 'AT_DropNotNull') changes.push({ change: 'drop_not_null', table, column })
    else if (subtype === 'AT_AlterColumnType')
      changes.push({ change: 'retype_column', table, column, new_type: typeOf(command) })
    else if (!HARMLESS_PARTS.test(subtype)) problems.push(`${subtype.replace('AT_', '')} is not judged`)
  }
  return { changes: names.keep(changes), problems }
}

function readRename(node: TreeNode, names: MigrationNames): StatementReading {
  const type = String(node.renameType)
  if (type === 'OBJECT_TABCONSTRAINT' || type === 'OBJECT_INDEX' || type === 'OBJECT_SEQUENCE') return NOTHING
  if (type === 'OBJECT_SCHEMA') {
    const schema = formatName([String(node.subname)])
    return { changes: [{ change: 'drop_schema', schema, new_name: String(node.newname) }], problems: [] }
  }
  const relation = node.relation as TreeNode | undefined
  if (!relation) return problem(`renaming a ${typeName(type)} is not judged`)
  const table = pathOf(relation)
  const newName = String(node.newname)
  if (type === 'OBJECT_COLUMN') {
    const column = String(node.subname)
    const changes = names.keep([{ change: 'rename_column', table, column, new_name: newName }])
    names.renameColumn(table, column, newName)
    return { changes, problems: [] }
  }
  if (!TABLES.has(type)) return problem(`renaming a ${typeName(type)} is not judged`)
  const changes = names.keep([{ change: 'rename_table', table, new_name: newName }])
  const schema = relation.schemaname as string | undefined
  names.rename(table, formatName([...(schema ? [schema] : []), newName]))
  return { changes, problems: [] }
}

/** What earlier statements of the migration created and renamed: later ones name it so. */
class MigrationNames {
  private readonly created = new Set<string>()
  /** Paths before the migration, by those of now. */
  private readonly former = new Map<string, string>()
  private readonly formerColumns = new Map<string, string>()

  create(path: string): void {
    this.created.add(path)
  }

  rename(path: string, now: string): void {
    if (this.created.has(path)) this.created.add(now)
    else this.former.set(now, this.former.get(path) ?? path)
  }

  renameColumn(table: string, column: string, now: string): void {
    const key = (name: string) => `${table} ${name}`
    this.formerColumns.set(key(now), this.formerColumns.get(key(column)) ?? column)
  }

  /** The changes of what was there before, by its names of then. */
  keep(changes: PlannedChange[]): PlannedChange[] {
    return changes
      .filter(({ table = '' }) => !this.created.has(table))
      .map(({ table = '', column, ...change }) => ({
        ...change,
        table: this.former.get(table) ?? table,
        ...(column !== undefined && { column: this.formerColumns.get(`${table} ${column}`) ?? column }),
      }))
  }
}

function pathOf({ catalogname, schemaname, relname }: TreeNode): string {
  return formatName([catalogname, schemaname, relname].filter(part => part !== undefined).map(String))
}

/** The texts of a list, or of one. */
function stringsIn(node: TreeNode): string[] {
  const { List: list, String: text } = node as { List?: { items: TreeNode[] }; String?: { sval: string } }
  return list ? list.items.flatMap(stringsIn) : text ? [text.sval] : []
}

/** `numeric(10,2)` of a new type. */
function typeOf(command: TreeNode): string {
  const { typeName: type } = (command.def as { ColumnDef: { typeName: TreeNode } }).ColumnDef
  const parts = (type.names as TreeNode[]).flatMap(stringsIn).filter(part => part !== 'pg_catalog')
  const sizes = ((type.typmods as TreeNode[] | undefined) ?? []).map(
    each => (each.A_Const as { ival?: { ival?: number } } | undefined)?.ival?.ival ?? 0,
  )
  const size = sizes.length > 0 ? `(${sizes.join(',')})` : ''
  return `${parts.join('.')}${size}${type.arrayBounds ? '[]' : ''}`
}
