import assert from 'node:assert/strict'
import { join, sql, type Sql } from '../sql.ts'
import type { Row } from '../connector.ts'
import { labelOf, ROWS } from './fixture.ts'
import { QUICK, type Group } from './kit.ts'

/** How many rows are read: ten thousand, some, one, none. */
export const rowsGroups: readonly Group[] = [
  {
    name: 'rows',
    async run(t, kit) {
      const rows = kit.table('conformance_rows')
      const [id, digit, label] = ['id', 'digit', 'label'].map(kit.quote) as [Sql, Sql, Sql]
      const all = sql`select ${id}, ${label} from ${rows} order by ${id}`
      await kit.holds(t, 'ten thousand rows arrive whole, each once', () =>
        kit.session(async connection => assertRows(await connection.query(all, QUICK), ROWS)),
      )
      await kit.holds(t, 'rows beyond maxRows are not given, and the session goes on', () =>
        kit.session(async connection => {
          for (const maxRows of [1, 2500, ROWS, ROWS + 1]) {
            assertRows(await connection.query(all, { ...QUICK, maxRows }), Math.min(maxRows, ROWS))
          }
          assert.equal((await connection.query(all, QUICK)).length, ROWS)
        }),
      )
      await kit.holds(t, 'they are counted and added up in one SELECT', () =>
        kit.session(async connection => {
          const { dialect } = kit.connector
          const measures = {
            rows: [sql`count(*)`, ROWS],
            labels: [sql`count(${label})`, 9000],
            distinct: [sql`count(distinct ${label})`, 9],
            sevens: [dialect.countIf(sql`${digit} = ${7}`), 1000],
            late: [dialect.countIf(sql`${id} > ${7500}`), 2500],
            sum: [sql`sum(${dialect.asNumber(id)})`, 50_005_000],
            greatest: [sql`max(${dialect.asNumber(id)})`, ROWS],
          } satisfies Record<string, [Sql, number]>
          const columns = Object.entries(measures).map(
            ([name, [measure]]) => sql`${measure} as ${kit.quote(name)}`,
          )
          const [row] = await connection.query(sql`select ${join(columns)} from ${rows}`, QUICK)
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
          const found = await connection.query(sql`select ${id}, ${label} from ${view} order by ${id}`, QUICK)
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
          assert.deepEqual(await connection.query(empty, QUICK), [])
          assert.deepEqual(await connection.query(empty, { ...QUICK, maxRows: 3 }), [])
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
