/** How many parts one statement reads. */
import t from 'tap'
import { writePartStatements } from '../../../checks/parts/statements.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { raw, sql, type Sql } from '../../../connectors/sql.ts'

const parts = (count: number, rows?: number) =>
  Array.from({ length: count }, (_, place) => ({
    name: `p${place}`,
    version: '1',
    from: raw(`p${place}`),
    ...(rows !== undefined && { rows }),
  }))

function sizesOf(count: number, rows: number | undefined, measures: Map<string, Sql>): number[] {
  const group = { keys: [...measures.keys()], parts: parts(count, rows) }
  return writePartStatements(group, measures, postgresql.dialect).map(statement => statement.parts.length)
}

t.test('small parts are read a hundred at once', async t => {
  const one = new Map([['a', sql`count(*)`]])
  t.strictSame(sizesOf(250, 10, one), [100, 100, 50])
  t.strictSame(sizesOf(3, undefined, one), [3])
})

t.test('large parts are read with no more rows at once than are well read so', async t => {
  const one = new Map([['a', sql`count(*)`]])
  t.strictSame(sizesOf(5, 1_000_000, one), [2, 2, 1])
  t.strictSame(sizesOf(2, 9_000_000, one), [1, 1])
})

t.test('no statement binds more values, or has more columns, than the engine takes', async t => {
  const bound = sql`count(*) filter (where a in (${1}))`
  const many = new Map(Array.from({ length: 1_000 }, (_, place) => [`m${place}`, sql`${bound} + ${place}`]))
  t.strictSame(sizesOf(40, 1, many), [16, 16, 8])
  const wide = new Map(Array.from({ length: 2_000 }, (_, place) => [`m${place}`, raw(`${place}`)]))
  t.strictSame(sizesOf(2, 1, wide), [2, 2])
})
