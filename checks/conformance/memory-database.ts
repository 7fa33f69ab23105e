import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import type { Row, Value } from '../../connectors/connector.ts'
import type { ColumnKind } from '../../connectors/catalog.ts'
import { defineDialect } from '../../connectors/dialect.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { sql } from '../../connectors/sql.ts'
import { describeTable, type TestDatabase, type TestTable } from './test-database.ts'
import type { Engine } from '../plan.ts'

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
  // SQLite takes NaN for NULL.
  mean: value => sql`coalesce(avg(${value}), case when count(${value}) > 0 then 9e999 end)`,
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

/** SQLite in memory: enough for the SQL of most check types, but without date parsing. */
export function openMemoryDatabase(): TestDatabase {
  const database = new DatabaseSync(':memory:')
  database.function('matches', (pattern, value) =>
    value === null ? null : Number(new RegExp(String(pattern)).test(String(value))),
  )
  let made = 0
  const connection: TestTable['connection'] = {
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
    traits: {
      NaN: { unsupported: 'SQLite keeps NaN as NULL' },
      infinity: true,
      exact: true,
      zoned: true,
      microseconds: true,
      padded: { unsupported: 'SQLite pads no text' },
      'case-insensitive': 'text collate nocase',
    },
    deviations: ['decimals are doubles', 'moments are texts'],
    createTable(columns, rows) {
      const name = `t${(made += 1)}`
      const declared = columns.map(
        column => `${dialect.quote(column.name).strings[0]} ${column.type ?? TYPES[column.kind] ?? 'text'}`,
      )
      database.exec(`create table ${name} (id integer primary key, ${declared.join(', ')})`)
      const insert = database.prepare(`insert into ${name} values (null${', ?'.repeat(columns.length)})`)
      for (const row of rows) insert.run(...row.map((value, index) => toInput(value, columns[index]?.kind)))
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

function toInput(value: unknown, kind: ColumnKind | undefined): SQLInputValue {
  // The text of an infinity would stay a text.
  if (kind === 'float' && typeof value === 'string') return Number(value)
  return typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)
}
