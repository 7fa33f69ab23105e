/** Profiles of tables that are wide or large, where statements are split and rows are looked at first. */
import t from 'tap'
import type { TestColumn } from '../../../checks/conformance.ts'
import { diffProfiles } from '../../../plugins/profiles/diff.ts'
import type { TableProfile } from '../../../plugins/profiles/api.ts'
import { postgresqlStand } from '../../checks/test-databases.ts'
import { ENGINES, profiled } from './engines.ts'

const WIDTH = 400
/** Few texts, because of what a row of MariaDB may hold. */
const kindOf = (n: number) => (n % 200 === 1 ? 'text' : n % 2 === 0 ? 'integer' : 'date')
/** One engine has grouping sets; the other has none, and allows the fewest columns. */
const WIDE = ['PostgreSQL', 'MariaDB'] as const

for (const name of WIDE) {
  const { absent, start } = ENGINES[name]!
  t.test(`a table of ${WIDTH} columns of ${name}`, { skip: absent || false }, async t => {
    const on = await start(t)
    const columns: TestColumn[] = Array.from({ length: WIDTH - 1 }, (_, n) => ({
      name: `c${n}`,
      kind: kindOf(n),
    }))
    const valueOf = (kind: string, n: number) =>
      kind === 'text' ? `user${n}@example.com` : kind === 'date' ? `2024-01-0${1 + n}` : n
    const rows = Array.from({ length: 8 }, (_, n) => columns.map(({ kind }) => valueOf(kind, n % 4)))
    const found = await profiled(on, await on.createTable(columns, rows))
    t.equal(found.columns.length, WIDTH)
    for (const { name: column, count, distinct, topValues } of found.columns.slice(1))
      t.match(
        { count, distinct, topValues: topValues?.length },
        { count: 8, distinct: 4, topValues: 4 },
        column,
      )
    t.match(found.columns[2], { pattern: { name: 'email', share: 1 }, minLength: 17 })
    t.match(found.columns[3], { min: 0, max: 3, mean: 1.5, quantiles: { p50: 1.5 } })
    t.ok(found.statements <= 16, `${found.statements} statements`)
  })
}

t.test('a table of which some rows are looked at first', async t => {
  const on = await postgresqlStand(t)
  const made = await on.createTable(
    [
      { name: 'status', kind: 'text' },
      { name: 'seldom', kind: 'text' },
      { name: 'seemed', kind: 'integer' },
      { name: 'long', kind: 'text' },
    ],
    [],
  )
  const table = on.engine.dialect.table(made.table)
  const { text } = on.engine.dialect.render(table)
  // Most rows have one value of `seemed`, and every thirtieth its own.
  await on.execute(
    `insert into ${text} select n, (array['new', 'paid', null])[1 + n % 3], case when n % 3000 = 0 then 'x' end, case when n % 30 = 0 then n else 0 end, repeat('long', 60 * (n % 2)) from generate_series(1, 12000) n`,
  )
  await on.execute(`analyze ${text}`)
  const found = await profiled(on, made)
  const of = Object.fromEntries(found.columns.map(column => [column.name, column]))
  t.match(of.id, { distinct: 12_000, isKeyCandidate: true, topValues: null })
  t.match(of.status, { count: 8_000, nulls: 4_000, distinct: 2, pattern: { name: 'enum' } })
  t.same(of.status?.topValues, [
    { value: 'new', count: 4_000 },
    { value: 'paid', count: 4_000 },
  ])
  t.same(of.seldom?.topValues, [{ value: 'x', count: 4 }])
  t.match(of.seemed, { distinct: 401, topValues: null }, 'distinct values are exact')
  t.match(of.long, { distinct: 2, topValues: null, maxLength: 240 }, 'long texts are not listed')
  t.ok(found.statements <= 5, `${found.statements} statements`)
})

t.test('sums that were added up in another order are no change', t => {
  const profileOf = (mean: number, stddev: number) =>
    ({
      columns: [{ name: 'a', count: null, nulls: null, mean, stddev, quantiles: null, topValues: null }],
    }) as unknown as TableProfile
  const changed = (...later: [number, number]) =>
    diffProfiles(profileOf(0.1, 700), profileOf(...later)).changes.map(({ field }) => field)
  t.strictSame(changed(0.1 + 1e-11, 700 + 1e-10), [])
  t.strictSame(changed(0.1 + 1e-8, 700.000_001), ['mean', 'stddev'])
  t.end()
})
