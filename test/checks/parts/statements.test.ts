/** How many parts one statement reads. */
import t from 'tap'
import { writePartStatements } from '../../../checks/parts/statements.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { raw, sql, type Sql } from '../../../connectors/sql.ts'

const parts = (count: number) =>
  Array.from({ length: count }, (_, place) => ({
    name: `p${place}`,
    version: '1',
    from: raw(`p${place}`),
  }))

function sizesOf(count: number, measures: Map<string, Sql>): number[] {
  const group = { keys: [...measures.keys()], parts: parts(count) }
  const on = { dialect: postgresql.dialect, columns: [{ name: 'a' }] }
  return writePartStatements(group, measures, on).map(statement => statement.parts.length)
}

t.test('parts are read a hundred at once', async t => {
  const one = new Map([['a', sql`count(*)`]])
  t.strictSame(sizesOf(250, one), [100, 100, 50])
  t.strictSame(sizesOf(3, one), [3])
})

t.test('no statement binds more values, or has more columns, than the engine takes', async t => {
  const bound = sql`count(*) filter (where a in (${1}))`
  const many = new Map(Array.from({ length: 1_000 }, (_, place) => [`m${place}`, sql`${bound} + ${place}`]))
  t.strictSame(sizesOf(40, many), [40], 'values once, not for each part')
  const wide = new Map(Array.from({ length: 2_000 }, (_, place) => [`m${place}`, raw(`${place}`)]))
  t.strictSame(sizesOf(2, wide), [2, 2])
})
