import type { ColumnKind, TableInfo, TableRef } from '../../connectors/catalog.ts'
import type { Connection, Connector } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import type { TestDatabase, TestColumn } from './test-database.ts'

/** What `createTestDatabase` takes. */
export interface TestDatabaseOptions {
  connector: Pick<Connector, 'name' | 'label' | 'dialect' | 'capabilities'>
  /** A session that may read the tables, or what opens one; opened once, when it is first needed. */
  connection: TestConnection | Promise<TestConnection> | (() => TestConnection | Promise<TestConnection>)
  /** Runs one statement with the right to create and write. */
  execute(text: string): Promise<unknown>
  /** Where a table of this name is made, as `introspect` tells it. */
  tableRef(name: string): TableRef
  /**
   * The engine's column types by kind; the kind's own name unless told, null where there is no such type. A
   * `decimal` must take 30 digits before the point and 2 after it; a `text` must tell `a` from `A` and `' a'`.
   */
  columnTypes: Partial<Record<ColumnKind, string | null>>
  /** The declaration of the column `id`; `integer not null primary key` unless told. */
  keyDeclaration?: string
  /** A value as SQL where the usual form, which undefined falls back to, does not do; bytes are x'…'. */
  literal?(value: unknown, column: TestColumn): string | undefined
  columnName?: TestDatabase['columnName']
  foldName?: TestDatabase['foldName']
  traits?: TestDatabase['traits']
  deviations?: TestDatabase['deviations']
}

type TestConnection = Pick<Connection, 'query' | 'introspect'>

/** Rows of one insert. */
const CHUNK = 500

/**
 * A stand on any engine: a table costs one statement that creates it, one that fills it and, when it is the first
 * with such columns, one `introspect` limited to it. The tables are called t1, t2 and so on and are not dropped.
 */
export function createTestDatabase(options: TestDatabaseOptions): TestDatabase {
  const {
    connector,
    execute,
    tableRef: ref,
    columnTypes: types,
    keyDeclaration: key = 'integer not null primary key',
  } = options
  const { dialect } = connector
  /** What `introspect` told of a table, by its columns: of another with equal ones it would tell the same. */
  const told = new Map<string, TableInfo>()
  let opened: Promise<TestConnection> | undefined
  let made = 0

  const open = () =>
    (opened ??= Promise.resolve(
      typeof options.connection === 'function' ? options.connection() : options.connection,
    ))
  const typeOf = ({ kind, type }: TestColumn) => type ?? types[kind] ?? USUAL[kind] ?? kind
  const write = (value: unknown, column: TestColumn) =>
    options.literal?.(value, column) ?? usualLiteral(value, column, dialect)

  return {
    engine: connector,
    columnName: options.columnName,
    foldName: options.foldName,
    traits: options.traits,
    deviations: options.deviations,
    whyUnsupported: ({ kind, type }) =>
      type === undefined && types[kind] === null ? `${connector.label} has no columns of kind ${kind}` : null,
    async createTable(columns, rows) {
      const name = `t${(made += 1)}`
      const connection = await open()
      const table = dialect.table(ref(name)).strings[0]
      const names = columns.map(column => dialect.quote(column.name).strings[0])
      const declared = columns.map((column, index) => `${names[index]} ${typeOf(column)}`)
      await execute(`create table ${table} (${['id ' + key, ...declared].join(', ')})`)
      for (let from = 0; from < rows.length; from += CHUNK) {
        const lines = rows.slice(from, from + CHUNK).map((row, index) => {
          const values = columns.map((column, position) => write(row[position], column))
          return `(${[from + index + 1, ...values].join(', ')})`
        })
        await execute(`insert into ${table} (${['id', ...names].join(', ')}) values ${lines.join(', ')}`)
      }
      const like = JSON.stringify(columns)
      const known = told.get(like)
      if (known) return { table: { ...known, ...ref(name) }, connection }
      const [found] = await connection.introspect({ tables: [ref(name)] })
      if (!found) throw new Error(`introspect does not tell the table ${name}, which was made as ${table}.`)
      told.set(like, found)
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
