import assert from 'node:assert/strict'
import type { ColumnInfo } from '../catalog.ts'
import type { Value } from '../connector.ts'
import { join, sql } from '../sql.ts'
import { momentsOf } from './fixture.ts'
import { type ConformanceKit, type PromiseGroup } from './kit.ts'

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
  async run(kit) {
    const has = momentsOf(kit.fixture)
    const moments = kit.table('conformance_moments')
    const lacks = (type: keyof typeof NEWEST) =>
      has[type] ? undefined : `${kit.connector.label} has no such type`
    for (const type of ['timestamp', 'timestamptz'] as const) {
      const check = async () => {
        const column = await columnOf(kit, 'conformance_moments', `${type}_value`)
        const newest = await kit.value(sql`select max(${kit.quote(column.name)}) as m from ${moments}`)
        assert.deepEqual(momentOf(kit, column, newest), NEWEST[type], `${column.type}: ${String(newest)}`)
      }
      await kit.holdsUnless(lacks(type), PROMISES[type], check)
    }
    await kit.holdsUnless(lacks('timestamp'), 'lastMoment is not before a moment of 9999-12-31', async () => {
      const column = kit.quote('timestamp_value')
      const within = async (bound: string) => {
        const condition = kit.connector.dialect.countIf(sql`${column} <= ${bound}`)
        return Number(await kit.value(sql`select ${condition} as n from ${moments}`))
      }
      const all = Number(await kit.value(sql`select count(${column}) as n from ${moments}`))
      assert.equal(await within(kit.connector.dialect.lastMoment), all)
      assert.equal(await within('9999-12-31'), all - 1)
    })
    await kit.holds('columns of other types hold no moments', async () => {
      for (const table of ['conformance_values', 'conformance_types']) {
        for (const column of await columnsOf(kit, table)) {
          if (column.name === 'timestamptz_value') continue
          assert.equal(kit.connector.dialect.isInstant(column), false, column.type)
        }
      }
    })
    const promise = 'one SELECT gives the newest values of several tables, and NULL of an empty one'
    await kit.holds(promise, async () => {
      const greatest = ['conformance_values', 'conformance_empty', 'conformance_texts'].map(
        (name, at) => sql`(select max(${kit.quote('id')}) from ${kit.table(name)}) as ${kit.quote(`m${at}`)}`,
      )
      assert.deepEqual(await kit.query(sql`select ${join(greatest)}`), [{ m0: 5, m1: null, m2: 7 }])
    })
  },
}

/** The moment of a value that arrived, by the rule of the dialect. */
function momentOf(kit: ConformanceKit, column: ColumnInfo, value: Value | undefined): Value | undefined {
  if (!(value instanceof Date) || kit.connector.dialect.isInstant(column)) return value
  return new Date(value.getTime() - CLOCK_OFFSET_MS)
}

async function columnsOf(kit: ConformanceKit, table: string): Promise<ColumnInfo[]> {
  const found = await kit.introspect(table)
  assert.equal(found.length, 1, `${table} is listed once`)
  return found[0]?.columns ?? []
}

async function columnOf(kit: ConformanceKit, table: string, name: string): Promise<ColumnInfo> {
  const column = (await columnsOf(kit, table)).find(each => each.name === name)
  assert.ok(column, `${name} is listed`)
  return column
}
