import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import type { Row, Value } from '../../connectors/connector.ts'
import type { ColumnKind } from '../../connectors/catalog.ts'
import { defineDialect, sampleByNumber } from '../../connectors/dialect.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { raw, sql, type Sql } from '../../connectors/sql.ts'
import { addFunctions } from '../../plugin-template/reader/functions.ts'
import { describeTable, type TestDatabase, type TestTable } from './test-database.ts'
import type { Engine } from '../plan.ts'

const TYPES: Partial<Record<ColumnKind, string>> = {
  integer: 'integer',
  decimal: 'numeric',
  float: 'real',
  boolean: 'integer',
  binary: 'blob',
}

/** To SQLite each number is less than each text. */
const isNumber = (value: Sql) => sql`${value} < ''`

/**
 * The SQL of the SQLite connector, which stands in a package of its own and cannot be imported from here; a test compares
 * the two, member by member.
 */
const dialect = defineDialect({
  matches: (value, pattern) => sql`regexp(${pattern}, ${dialect.asText(value)})`,
  parsesAsDate: (value, format) => sql`is_date(${dialect.asText(value)}, ${format})`,
  percentile: (value, fraction) => sql`percentile_cont(${dialect.asNumber(value)}, ${fraction})`,
  countIf: condition => sql`count(*) filter (where ${condition})`,
  countDistinctIf: (value, condition) => sql`count(distinct ${value}) filter (where ${condition})`,
  isNotTrue: condition => sql`(${condition}) is not true`,
  isNumber,
  asNumber: value => sql`case when ${isNumber(value)} then cast(${value} as real) end`,
  mean: value =>
    sql`coalesce(avg(${value}) filter (where ${isNumber(value)}),
      case when count(*) filter (where ${isNumber(value)}) > 0 then 9e999 end)`,
  sum: value =>
    sql`case when count(*) filter (where ${isNumber(value)}) > 0
      then coalesce(sum(${dialect.asNumber(value)}), 9e999) end`,
  asText: value => sql`cast(${value} as text)`,
  textLength: text => sql`length(${text})`,
  sample: (table, { fraction }) => sampleByNumber(table, raw('(abs(random() % 1000000) / 1e6)'), fraction),
  epochSeconds: value =>
    sql`unixepoch(substr(${value}, 1, 19) || ltrim(substr(${value}, 20), '.0123456789'), 'auto')`,
  isInstant: () => false,
  limits: { columns: 1000, values: 30_000 },
})

const engine: Engine = {
  name: 'memory',
  dialect,
  capabilities: { regex: true, percentile: true, groupedPercentile: true, dateParsing: true },
}

/**
 * SQLite in memory, with the dialect of the SQLite connector and the functions that its reader adds: what a check measures
 * here, it measures in a source.
 */
export function openMemoryDatabase(): TestDatabase {
  const database = new DatabaseSync(':memory:')
  addFunctions(database)
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
    deviations: ['decimals are doubles', 'moments are texts', 'percentiles are finite'],
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
