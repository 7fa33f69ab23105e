import assert from 'node:assert/strict'
import type { ColumnInfo } from '../catalog.ts'
import type { Value } from '../connector.ts'
import { sql, type Sql } from '../sql.ts'
import { momentsOf } from './fixture.ts'
import { singleValue, QUERY_OPTIONS, type PromiseGroup, type ConformanceKit } from './kit.ts'

/** How far the clock that wrote what has no zone is ahead of UTC, in milliseconds: Kathmandu's, and no engine's own. */
const CLOCK_OFFSET_MS = 345 * 60_000

/** The newest moment of each type, once the clock's zone is known. */
const NEWEST = {
  timestamp: new Date(Date.UTC(9999, 11, 31, 23, 59, 59) - CLOCK_OFFSET_MS),
  timestamptz: new Date('2024-06-30T23:30:00Z'),
}

const PROMISES = {
  timestamp: 'timestamp: max() gives what a clock showed, and is no moment',
  timestamptz: 'timestamptz: max() gives the moment',
}

/** `dialect.isInstant`, held to the newest values that arrive. */
export const momentsGroup: PromiseGroup = {
  name: 'moments',
  async run(t, kit) {
    const has = momentsOf(kit.fixture)
    const lacks = (type: keyof typeof NEWEST) =>
      has[type] ? undefined : `${kit.connector.label} has no such type`
    for (const type of ['timestamp', 'timestamptz'] as const) {
      const check = async () => {
        const column = await columnOf(kit, 'conformance_moments', `${type}_value`)
        const newest = await kit.session(async connection =>
          singleValue(
            await connection.query(sql`select ${newestOf(kit, type)} as ${kit.quote('m')}`, QUERY_OPTIONS),
          ),
        )
        assert.deepEqual(momentOf(kit, column, newest), NEWEST[type], `${column.type}: ${String(newest)}`)
      }
      await kit.holds(t, PROMISES[type], check, lacks(type))
    }
    await kit.holds(t, 'columns of other types hold no moments', async () => {
      for (const table of ['conformance_values', 'conformance_types']) {
        for (const column of await columnsOf(kit, table)) {
          if (column.name === 'timestamptz_value') continue
          assert.equal(kit.connector.dialect.isInstant(column), false, column.type)
        }
      }
    })
    await kit.holds(t, 'one SELECT gives the newest values of several tables, and NULL of an empty one', () =>
      kit.session(async connection => {
        const id = kit.quote('id')
        const greatest = (table: string) => sql`(select max(${id}) from ${kit.table(table)})`
        const [a, b, c] = ['m0', 'm1', 'm2'].map(kit.quote) as [Sql, Sql, Sql]
        const found = await connection.query(
          sql`select ${greatest('conformance_values')} as ${a}, ${greatest('conformance_empty')} as ${b}, ${greatest('conformance_texts')} as ${c}`,
          QUERY_OPTIONS,
        )
        assert.deepEqual(found, [{ m0: 5, m1: null, m2: 7 }])
      }),
    )
  },
}

function newestOf(kit: ConformanceKit, type: keyof typeof NEWEST): Sql {
  return sql`(select max(${kit.quote(`${type}_value`)}) from ${kit.table('conformance_moments')})`
}

/** The moment of a value that arrived, by the rule of the dialect. */
function momentOf(kit: ConformanceKit, column: ColumnInfo, value: Value | undefined): Value | undefined {
  if (!(value instanceof Date) || kit.connector.dialect.isInstant(column)) return value
  return new Date(value.getTime() - CLOCK_OFFSET_MS)
}

async function columnsOf(kit: ConformanceKit, table: string): Promise<ColumnInfo[]> {
  const found = await kit.session(connection => connection.introspect({ tables: [kit.ref(table)] }))
  assert.equal(found.length, 1, `${table} is listed once`)
  return found[0]?.columns ?? []
}

async function columnOf(kit: ConformanceKit, table: string, name: string): Promise<ColumnInfo> {
  const column = (await columnsOf(kit, table)).find(each => each.name === name)
  assert.ok(column, `${name} is listed`)
  return column
}
