import type { ColumnKind, TableInfo, TableRef } from '../../connectors/catalog.ts'
import type { Connection, Connector } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import type { TestDatabase, TestColumn } from './test-database.ts'

export interface TestDatabaseOptions {
  connector: Pick<Connector, 'name' | 'label' | 'dialect' | 'capabilities'>
  /** A session that may read the tables, or a function that opens it on first use. */
  connection: TestConnection | Promise<TestConnection> | (() => TestConnection | Promise<TestConnection>)
  /** Runs one statement with the right to create and write. */
  execute(text: string): Promise<unknown>
  /** The reference of a table of this name, as `introspect` returns it. */
  tableRef(name: string): TableRef
  /**
   * The engine's column types by kind; defaults to the kind's name, null if there is no such type. A `decimal` must hold
   * 30 digits before the point and 2 after it; a `text` must distinguish `a`, `A` and `' a'`.
   */
  columnTypes: Partial<Record<ColumnKind, string | null>>
  /** The declaration of the column `id`; defaults to `integer not null primary key`. */
  keyDeclaration?: string
  /** A value as SQL, or undefined for the usual form, in which bytes are x'…'. */
  literal?(value: unknown, column: TestColumn): string | undefined
  columnName?: TestDatabase['columnName']
  foldName?: TestDatabase['foldName']
  traits?: TestDatabase['traits']
  deviations?: TestDatabase['deviations']
}

type TestConnection = Pick<Connection, 'query' | 'introspect'>

const CHUNK = 500

/**
 * A test database on any engine. A table costs one CREATE, one INSERT per 500 rows and, if it is the first with such
 * columns, one `introspect` limited to it. Tables are called t1, t2 and so on and are not dropped.
 */
export function createTestDatabase(options: TestDatabaseOptions): TestDatabase {
  const {
    connector,
    execute,
    tableRef,
    columnTypes,
    keyDeclaration = 'integer not null primary key',
  } = options
  const { dialect } = connector
  /** Introspected tables by their columns: another table with equal columns has the same entry. */
  const introspected = new Map<string, TableInfo>()
  let opened: Promise<TestConnection> | undefined
  let made = 0

  const open = () =>
    (opened ??= Promise.resolve(
      typeof options.connection === 'function' ? options.connection() : options.connection,
    ))
  const typeOf = ({ kind, type }: TestColumn) => type ?? columnTypes[kind] ?? USUAL[kind] ?? kind
  const write = (value: unknown, column: TestColumn) =>
    options.literal?.(value, column) ?? usualLiteral(value, column, dialect)

  return {
    engine: connector,
    columnName: options.columnName,
    foldName: options.foldName,
    traits: options.traits,
    deviations: options.deviations,
    whyUnsupported: ({ kind, type }) =>
      type === undefined && columnTypes[kind] === null
        ? `${connector.label} has no columns of kind ${kind}`
        : null,
    async createTable(columns, rows) {
      const name = `t${(made += 1)}`
      const connection = await open()
      const table = dialect.table(tableRef(name)).strings[0]
      const names = columns.map(column => dialect.quote(column.name).strings[0])
      const declared = columns.map((column, index) => `${names[index]} ${typeOf(column)}`)
      await execute(`create table ${table} (${['id ' + keyDeclaration, ...declared].join(', ')})`)
      for (let from = 0; from < rows.length; from += CHUNK) {
        const lines = rows.slice(from, from + CHUNK).map((row, index) => {
          const values = columns.map((column, position) => write(row[position], column))
          return `(${[from + index + 1, ...values].join(', ')})`
        })
        await execute(`insert into ${table} (${['id', ...names].join(', ')}) values ${lines.join(', ')}`)
      }
      const like = JSON.stringify(columns)
      const known = introspected.get(like)
      if (known) return { table: { ...known, ...tableRef(name) }, connection }
      const [found] = await connection.introspect({ tables: [tableRef(name)] })
      if (!found)
        throw new Error(`introspect does not return the table ${name}, which was created as ${table}.`)
      introspected.set(like, found)
      return { table: found, connection }
    },
  }
}

const USUAL: Partial<Record<ColumnKind, string>> = { float: 'double precision' }

const NUMERIC: readonly ColumnKind[] = ['integer', 'decimal', 'float']
const NUMERAL = /^-?\d+(\.\d+)?$/

/** A value as SQL in its usual form: numbers, and texts of digits for numeric columns, as they are. */
function usualLiteral(value: unknown, { kind }: TestColumn, dialect: Dialect): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') {
    // With an exponent it is a floating number everywhere; without, 1e20 would be an integer too large.
    return kind === 'float' && Math.abs(value) >= 1e15 ? value.toExponential() : String(value)
  }
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`
  if (typeof value !== 'string') throw new TypeError(`A ${typeof value} needs a literal of its own.`)
  if (NUMERIC.includes(kind) && NUMERAL.test(value)) return value
  return dialect.textLiteral(value).strings.join('')
}
