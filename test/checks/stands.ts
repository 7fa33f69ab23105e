import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Stand, StandColumn } from '../../checks/conformance.ts'
import type { ColumnKind, TableRef } from '../../connectors/catalog.ts'
import type { Connection, Connector, ConnectOptions } from '../../connectors/connector.ts'
import { postgresql } from '../../connectors/postgresql/index.ts'
import { resolveHostModules } from '../../server/extensions.ts'
import { startSource } from '../helpers/source.ts'

// The template imports the host by its public name, as a third party's package does.
resolveHostModules()
const { sqlite } = await import('../../plugin-template/connector.ts')

/** Takes things down when a test ends. */
interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A stand on a real engine, with its owner's hand for what a reader may not do. */
export interface EngineStand extends Stand {
  connection: Connection
  /** Runs one statement as the owner. */
  execute(text: string, values?: unknown[]): Promise<void>
  ref(name: string): TableRef
}

const options: ConnectOptions = {
  egress: { address: host => Promise.resolve(host), file: path => Promise.resolve(path) },
  log: { debug() {}, warn() {} },
}

const POSTGRESQL_TYPES: Partial<Record<ColumnKind, string>> = {
  integer: 'integer',
  decimal: 'numeric',
  float: 'double precision',
  binary: 'bytea',
  json: 'jsonb',
}

/** PostgreSQL, through its connector and as a role that may only read. */
export async function postgresqlStand(t: Teardown): Promise<EngineStand> {
  const source = await startSource(t)
  const config = postgresql.config.validate(source.config).value
  const connection = await postgresql.connect(config, options)
  t.teardown(() => connection.close())
  return stand({
    connector: postgresql as unknown as Connector,
    connection,
    types: POSTGRESQL_TYPES,
    ref: name => ({ catalog: source.name, schema: 'public', name }),
    async execute(text, values) {
      await source.query(text, values)
    },
    key: 'integer generated always as identity primary key',
    placeholder: (position, type) => `$${position}::text::${type}`,
  })
}

const SQLITE_TYPES: Partial<Record<ColumnKind, string>> = {
  integer: 'integer',
  decimal: 'decimal',
  float: 'double',
  binary: 'blob',
}

/** SQLite, through the connector of the plug-in template. */
export async function sqliteStand(t: Teardown): Promise<EngineStand> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-checks-'))
  const path = join(folder, 'shop.db')
  const database = new DatabaseSync(path)
  const connection = await sqlite.connect({ path }, options)
  t.teardown(async () => {
    await connection.close()
    database.close()
    rmSync(folder, { recursive: true })
  })
  return stand({
    connector: sqlite as Connector,
    connection,
    types: SQLITE_TYPES,
    ref: name => ({ catalog: 'main', schema: 'main', name }),
    execute(text, values = []) {
      database.prepare(text).run(...values.map(toInput))
      return Promise.resolve()
    },
    key: 'integer primary key',
    placeholder: () => '?',
  })
}

function toInput(value: unknown): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)
}

interface Parts {
  connector: Connector
  connection: Connection
  types: Partial<Record<ColumnKind, string>>
  ref(name: string): TableRef
  execute(text: string, values?: unknown[]): Promise<void>
  key: string
  placeholder(position: number, type: string): string
}

function stand({ connector, connection, types, ref, execute, key, placeholder }: Parts): EngineStand {
  let made = 0
  const typeOf = ({ kind, type }: StandColumn) => type ?? types[kind] ?? kind
  return {
    engine: connector,
    connection,
    execute,
    ref,
    async make(columns, rows) {
      const name = `t${(made += 1)}`
      const table = connector.dialect.table(ref(name)).strings[0]
      const names = columns.map(column => connector.dialect.quote(column.name).strings[0])
      const declared = columns.map((column, index) => `${names[index]} ${typeOf(column)}`)
      await execute(`create table ${table} (id ${key}, ${declared.join(', ')})`)
      const places = columns.map((column, index) => placeholder(index + 1, typeOf(column)))
      for (const row of rows) {
        await execute(`insert into ${table} (${names.join(', ')}) values (${places.join(', ')})`, [...row])
      }
      const [found] = await connection.introspect({ tables: [ref(name)] })
      if (!found) throw new Error(`The table ${name} was not found.`)
      return { table: found, connection }
    },
  }
}
