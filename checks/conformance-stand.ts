import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import type { Connection, Row, Value } from '../connectors/connector.ts'
import type { ColumnKind, TableInfo } from '../connectors/catalog.ts'
import { defineDialect } from '../connectors/dialect.ts'
import { ConnectorError } from '../connectors/errors.ts'
import { sql } from '../connectors/sql.ts'
import type { Engine } from './plan.ts'

/** A column of a table that a stand makes. */
export interface StandColumn {
  name: string
  kind: ColumnKind
  /** The column's type in the engine's words; the stand's usual one for the kind unless told. */
  type?: string
}

/** A table with rows, and a session that can read it. */
export interface StandTable {
  table: TableInfo
  connection: Pick<Connection, 'query'>
}

/** Where `testCheck` measures: an engine, and a way to make tables in it. */
export interface Stand {
  engine: Engine
  /** Makes a table with these rows and a primary key `id` that counts them from 1. */
  make(columns: readonly StandColumn[], rows: readonly (readonly unknown[])[]): Promise<StandTable>
}

const TYPES: Partial<Record<ColumnKind, string>> = {
  integer: 'integer',
  decimal: 'numeric',
  float: 'real',
  boolean: 'integer',
  binary: 'blob',
}

const dialect = defineDialect({
  matches: (value, pattern) => sql`matches(${pattern}, ${value})`,
  asText: value => sql`cast(${value} as text)`,
  percentile: (value, fraction, table) => {
    const ranked = sql`select ${value} as x, row_number() over (order by ${value}) - 1 as i, (count(*) over () - 1) * ${fraction} as p from ${table} where ${value} is not null`
    return sql`(select sum(x * (1 - abs(i - p))) from (${ranked}) r where abs(i - p) < 1)`
  },
})

const engine: Engine = {
  name: 'memory',
  dialect,
  capabilities: { regex: true, percentile: true },
}

/** A SQLite in memory: enough for the SQL of most check types, there wherever Node is. No date parsing. */
export function memoryStand(): Stand {
  const database = new DatabaseSync(':memory:')
  database.function('matches', (pattern, value) =>
    value === null ? null : Number(new RegExp(String(pattern)).test(String(value))),
  )
  let made = 0
  const connection: StandTable['connection'] = {
    query(statement) {
      try {
        const { text, values } = dialect.render(statement)
        const prepared = database.prepare(text)
        prepared.setReadBigInts(true)
        const rows = prepared.all(...(values as SQLInputValue[]))
        return Promise.resolve(rows.map(row => mapValues(row, fromOutput)))
      } catch (cause) {
        const message = (cause as Error).message
        return Promise.reject(
          new ConnectorError({ kind: 'invalid-query', engine: engine.name, message, cause }),
        )
      }
    },
  }
  return {
    engine,
    make(columns, rows) {
      const name = `t${(made += 1)}`
      const declared = columns.map(
        column => `${dialect.quote(column.name).strings[0]} ${column.type ?? TYPES[column.kind] ?? 'text'}`,
      )
      database.exec(`create table ${name} (id integer primary key, ${declared.join(', ')})`)
      const insert = database.prepare(`insert into ${name} values (null${', ?'.repeat(columns.length)})`)
      for (const row of rows) insert.run(...row.map(toInput))
      return Promise.resolve({
        table: describeTable({ catalog: 'main', schema: 'main', name }, columns),
        connection,
      })
    },
  }
}

/** As connectors give them: integers within 2^53 as number, others as string. */
function fromOutput(value: SQLOutputValue): Value {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

function mapValues(row: Record<string, SQLOutputValue>, map: (value: SQLOutputValue) => Value): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, map(value)]))
}

function toInput(value: unknown): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)
}

/** The catalog entry of a table that a stand made: its `id`, then the columns. */
export function describeTable(
  ref: { catalog: string; schema: string; name: string },
  columns: readonly StandColumn[],
): TableInfo {
  const all: readonly StandColumn[] = [{ name: 'id', kind: 'integer' }, ...columns]
  return {
    ...ref,
    kind: 'table',
    comment: null,
    constraints: [{ name: 'pk', type: 'primary_key', columns: ['id'] }],
    columns: all.map(({ name, kind, type }, index) => ({
      name,
      ordinal: index + 1,
      type: type ?? kind,
      rawType: type ?? kind,
      kind,
      nullable: name !== 'id',
      default: null,
      comment: null,
    })),
  }
}
