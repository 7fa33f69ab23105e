import t from 'tap'
import { matchesPattern } from '../../../connectors/duckdb/wildcards.ts'

const matches = (path: string, pattern: string) => matchesPattern(path, pattern.split('/'))

t.test('a star is any characters of a name, a question mark one, two stars any folders', async t => {
  for (const [path, pattern] of [
    ['orders.parquet', '*.parquet'],
    ['orders-1.parquet', 'orders-?.parquet'],
    ['2026/11/orders.csv', '**/*.csv'],
    ['orders.csv', '**/*.csv'],
    ['a/b/c/orders.csv', 'a/**/orders.csv'],
    ['year=2026/part-0.parquet', '*/part-*.parquet'],
    ['a+b(1).csv', 'a+b(1).*'],
    ['naïve 😀.csv', 'naïve ?.csv'],
  ] as const)
    t.ok(matches(path, pattern), `${path} is one of ${pattern}`)
  for (const [path, pattern] of [
    ['2026/orders.parquet', '*.parquet'],
    ['orders.parquet.tmp', '*.parquet'],
    ['orders-12.parquet', 'orders-?.parquet'],
    ['axb.csv', 'a.b.csv'],
    ['a/b.csv', '*'],
  ] as const)
    t.notOk(matches(path, pattern), `${path} is none of ${pattern}`)
})

t.test('a pattern of many stars is judged as fast as any', async t => {
  t.notOk(matches('a'.repeat(250), `${'*a'.repeat(100)}*b`))
  t.notOk(matches('a/'.repeat(100) + 'a', `${'**/a/'.repeat(40)}b`))
})
