import type { ConstraintInfo, ConstraintProperties, ReferentialAction, TableRef } from '../catalog.ts'
import type { CatalogReader } from '../catalog-reader.ts'
import type { Row } from '../connector.ts'
import { keysQuery, keyTablesQuery, type SnowflakeScope, type KeyKind } from './catalog-query.ts'

/** SHOW lists no more rows than this, and does not report that there were more. */
const MAX_SHOWN_ROWS = 10_000

/** A key and the table that it is of. */
export interface SnowflakeKey {
  schema: string
  table: string
  constraint: ConstraintInfo
}

/**
 * The keys of one kind of some tables, with one statement. Where a database has more of them than SHOW lists at
 * once, they are read schema by schema, and the missing ones of a larger schema table by table.
 */
export async function readKeys(
  read: CatalogReader,
  { database, schema }: SnowflakeScope,
  kind: KeyKind,
  tables: readonly TableRef[],
): Promise<SnowflakeKey[]> {
  const schemas = [...new Set(tables.map(table => table.schema))]
  if (schemas.length === 0) return []
  const only = schema ?? (schemas.length === 1 ? schemas[0] : undefined)
  const whole = await read(keysQuery(kind, database, only))
  if (whole.length < MAX_SHOWN_ROWS) return groupKeys(kind, whole)
  const found: SnowflakeKey[] = []
  for (const one of schemas) {
    const rows = only === undefined ? await read(keysQuery(kind, database, one)) : whole
    const ofSchema = tables.filter(table => table.schema === one)
    found.push(
      ...(rows.length < MAX_SHOWN_ROWS
        ? groupKeys(kind, rows)
        : await readTruncatedKeys(read, kind, rows, ofSchema)),
    )
  }
  return found
}

/**
 * Adds the keys of a schema that SHOW cut off. Missing keys are found by their names; the tables of these and of the last
 * key, which may lack columns, are read again.
 */
async function readTruncatedKeys(
  read: CatalogReader,
  kind: KeyKind,
  rows: readonly Row[],
  tables: readonly TableRef[],
): Promise<SnowflakeKey[]> {
  const [{ catalog: database, schema } = { catalog: '', schema: '' }] = tables
  const shown = groupKeys(kind, rows)
  const names = new Set(shown.map(keyId))
  const [last] = groupKeys(kind, rows.slice(-1))
  const again = new Set(last ? [last.table] : [])
  for (const { table, name } of await read(keyTablesQuery(kind, database, schema))) {
    if (!names.has(JSON.stringify([String(table), String(name)]))) again.add(String(table))
  }
  const found = shown.filter(({ table }) => !again.has(table))
  for (const table of tables) {
    if (again.has(table.name))
      found.push(...groupKeys(kind, await read(keysQuery(kind, database, schema, table.name))))
  }
  return found
}

function keyId({ table, constraint }: SnowflakeKey): string {
  return JSON.stringify([table, constraint.name])
}

const CONSTRAINT_TYPES: Readonly<Record<KeyKind, ConstraintInfo['type']>> = {
  PRIMARY: 'primary_key',
  UNIQUE: 'unique',
  IMPORTED: 'foreign_key',
}

/** Actions as SHOW prints them; NO ACTION is the default. */
const ACTIONS: Readonly<Record<string, ReferentialAction>> = {
  RESTRICT: 'restrict',
  CASCADE: 'cascade',
  'SET NULL': 'set_null',
  'SET DEFAULT': 'set_default',
}

/** `deferrability` is NOT DEFERRABLE, INITIALLY DEFERRED or INITIALLY IMMEDIATE; how keys match is not shown. */
function keyProperties({
  delete_rule: deletion,
  update_rule: update,
  deferrability,
}: Row): ConstraintProperties {
  const [onDelete, onUpdate] = [ACTIONS[String(deletion)], ACTIONS[String(update)]]
  const initially = /^INITIALLY (\w+)/.exec(String(deferrability))?.[1]
  return {
    ...(onDelete && { onDelete }),
    ...(onUpdate && { onUpdate }),
    ...(initially !== undefined && { deferrable: true }),
    ...(initially === 'DEFERRED' && { initiallyDeferred: true }),
  }
}

/** Puts the rows of SHOW … KEYS together, a row for each column of a key. */
function groupKeys(kind: KeyKind, rows: readonly Row[]): SnowflakeKey[] {
  const isImported = kind === 'IMPORTED'
  const own = isImported ? 'fk_' : ''
  const name = isImported ? 'fk_name' : 'constraint_name'
  const keys = Map.groupBy(rows, row =>
    JSON.stringify([row[`${own}schema_name`], row[`${own}table_name`], row[name]]),
  )
  const type = CONSTRAINT_TYPES[kind]
  return [...keys.values()]
    .map((parts): SnowflakeKey => {
      const ordered = parts.toSorted((a, b) => Number(a.key_sequence) - Number(b.key_sequence))
      const [first = {}] = ordered
      const columns = (prefix: string) => ordered.map(row => String(row[`${prefix}column_name`]))
      const references = {
        table: {
          catalog: String(first.pk_database_name),
          schema: String(first.pk_schema_name),
          name: String(first.pk_table_name),
        },
        columns: columns('pk_'),
      }
      return {
        schema: String(first[`${own}schema_name`]),
        table: String(first[`${own}table_name`]),
        constraint: {
          name: String(first[name]),
          type,
          columns: columns(own),
          ...(isImported && { references, properties: keyProperties(first) }),
        },
      }
    })
    .sort((a, b) => (a.constraint.name < b.constraint.name ? -1 : 1))
}
