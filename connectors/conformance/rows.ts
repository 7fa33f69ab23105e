import assert from 'node:assert/strict'
import { join, sql, type Sql } from '../sql.ts'
import type { Row } from '../connector.ts'
import { labelOf, ROW_COUNT } from './fixture.ts'
import { query, type PromiseGroup } from './kit.ts'

/** How many rows are read: ten thousand, some, one, none. */
export const rowsGroups: readonly PromiseGroup[] = [
  {
    name: 'rows',
    async run(kit) {
      const rows = kit.table('conformance_rows')
      const [id, digit, label] = ['id', 'digit', 'label'].map(kit.quote) as [Sql, Sql, Sql]
      const all = sql`select ${id}, ${label} from ${rows} order by ${id}`
      await kit.holds('ten thousand rows arrive whole, each once', async () =>
        assertRows(await kit.query(all), ROW_COUNT),
      )
      await kit.holdsInSession(
        'rows beyond maxRows are not given, and the session goes on',
        async connection => {
          for (const maxRows of [1, 2500, ROW_COUNT, ROW_COUNT + 1]) {
            assertRows(await query(connection, all, { maxRows }), Math.min(maxRows, ROW_COUNT))
          }
          assert.equal((await query(connection, all)).length, ROW_COUNT)
        },
      )
      await kit.holds('they are counted and added up in one SELECT', async () => {
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
        const entries = Object.entries(measures)
        const columns = entries.map(([name, [measure]]) => sql`${measure} as ${kit.quote(name)}`)
        const [row] = await kit.query(sql`select ${join(columns)} from ${rows}`)
        const found = Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)])
        assert.deepEqual(
          found,
          entries.map(([name, [, expected]]) => [name, expected]),
        )
      })
      await kit.holdsUnless(kit.withoutSql, 'a view over them gives what it selects', async () => {
        const view = kit.table('conformance_rows_view')
        const found = await kit.query(sql`select ${id}, ${label} from ${view} order by ${id}`)
        assert.equal(found.length, 1000)
        assert.deepEqual(found.slice(0, 2), [
          { id: 8, label: 'd7' },
          { id: 18, label: 'd7' },
        ])
      })
      await kit.holdsInSession('an empty table gives no rows', async connection => {
        const empty = sql`select ${id}, ${label} from ${kit.table('conformance_empty')}`
        assert.deepEqual(await query(connection, empty), [])
        assert.deepEqual(await query(connection, empty, { maxRows: 3 }), [])
      })
    },
  },
]

/** The first rows of `conformance_rows`, in order. */
function assertRows(found: Row[], expected: number): void {
  assert.equal(found.length, expected, 'as many rows')
  const wrong = found.findIndex((row, index) => row.id !== index + 1 || row.label !== labelOf(index % 10))
  assert.equal(wrong, -1, `row ${wrong} is ${JSON.stringify(found[wrong])}`)
}
