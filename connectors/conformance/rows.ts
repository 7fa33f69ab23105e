import assert from 'node:assert/strict'
import { join, sql, type Sql } from '../sql.ts'
import type { Row } from '../connector.ts'
import { labelOf, ROW_COUNT } from './fixture.ts'
import { QUERY_OPTIONS, type PromiseGroup } from './kit.ts'

/** How many rows are read: ten thousand, some, one, none. */
export const rowsGroups: readonly PromiseGroup[] = [
  {
    name: 'rows',
    async run(t, kit) {
      const rows = kit.table('conformance_rows')
      const [id, digit, label] = ['id', 'digit', 'label'].map(kit.quote) as [Sql, Sql, Sql]
      const all = sql`select ${id}, ${label} from ${rows} order by ${id}`
      await kit.holds(t, 'ten thousand rows arrive whole, each once', () =>
        kit.session(async connection => assertRows(await connection.query(all, QUERY_OPTIONS), ROW_COUNT)),
      )
      await kit.holds(t, 'rows beyond maxRows are not given, and the session goes on', () =>
        kit.session(async connection => {
          for (const maxRows of [1, 2500, ROW_COUNT, ROW_COUNT + 1]) {
            assertRows(
              await connection.query(all, { ...QUERY_OPTIONS, maxRows }),
              Math.min(maxRows, ROW_COUNT),
            )
          }
          assert.equal((await connection.query(all, QUERY_OPTIONS)).length, ROW_COUNT)
        }),
      )
      await kit.holds(t, 'they are counted and added up in one SELECT', () =>
        kit.session(async connection => {
          const { dialect } = kit.connector
          const measures = {
            rows: [sql`count(*)`, ROW_COUNT],
            labels: [sql`count(${label})`, 9000],
            distinct: [sql`count(distinct ${label})`, 9],
            sevens: [dialect.countIf(sql`${digit} = ${7}`), 1000],
            late: [dialect.countIf(sql`${id} > ${7500}`), 2500],
            sum: [sql`sum(${dialect.asNumber(id)})`, 50_005_000],
            greatest: [sql`max(${dialect.asNumber(id)})`, ROW_COUNT],
          } satisfies Record<string, [Sql, number]>
          const columns = Object.entries(measures).map(
            ([name, [measure]]) => sql`${measure} as ${kit.quote(name)}`,
          )
          const [row] = await connection.query(sql`select ${join(columns)} from ${rows}`, QUERY_OPTIONS)
          const found = Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)])
          assert.deepEqual(
            found,
            Object.entries(measures).map(([name, [, expected]]) => [name, expected]),
          )
        }),
      )
      await kit.holds(t, 'a view over them gives what it selects', () =>
        kit.session(async connection => {
          const view = kit.table('conformance_rows_view')
          const found = await connection.query(
            sql`select ${id}, ${label} from ${view} order by ${id}`,
            QUERY_OPTIONS,
          )
          assert.equal(found.length, 1000)
          assert.deepEqual(found.slice(0, 2), [
            { id: 8, label: 'd7' },
            { id: 18, label: 'd7' },
          ])
        }),
      )
      await kit.holds(t, 'an empty table gives no rows', () =>
        kit.session(async connection => {
          const empty = sql`select ${id}, ${label} from ${kit.table('conformance_empty')}`
          assert.deepEqual(await connection.query(empty, QUERY_OPTIONS), [])
          assert.deepEqual(await connection.query(empty, { ...QUERY_OPTIONS, maxRows: 3 }), [])
        }),
      )
    },
  },
]

/** The first rows of `conformance_rows`, in order. */
function assertRows(found: Row[], expected: number): void {
  assert.equal(found.length, expected, 'as many rows')
  const wrong = found.findIndex((row, index) => row.id !== index + 1 || row.label !== labelOf(index % 10))
  assert.equal(wrong, -1, `row ${wrong} is ${JSON.stringify(found[wrong])}`)
}
