/**
 * What comparing two tables costs: `node test/bench/compare.ts [rows] [rounds]`.
 *
 * On one source of PostgreSQL, over a full join by hand that counts the same, with no row differing; the ways take turns, and
 * the ratio of each round is printed. Between two databases of PostgreSQL and between PostgreSQL and MariaDB with no row, 10
 * rows and 1 % differing: time, rows fetched, and the most memory that the process took above what it had before; with 1 %
 * also by a key that no range finds. `--max-semi-space-size=8` before the file gives memory as `npm start` does.
 * `node test/bench/compare.ts 100000 1` is short enough to run at every change.
 */
import { setInterval } from 'node:timers'
import { comparing, makeCompareWorld, PLANTED, type Copy } from './compare-world.ts'
import { compareRounds, median, positionalWords, printRows, withTeardown } from './rows.ts'

const rows = Number(positionalWords[0] ?? 1_000_000)
const rounds = Number(positionalWords[1] ?? 5)
/** The most that a comparison on one source may take of the time of the join by hand. */
const MAX_RATIO = 1.1
/** The most memory that a comparison across sources may take. */
const MAX_MEGABYTES = 150

const COMPARED = ['customer', 'status', 'total', 'placed_at', 'note']
const BY_HAND = `select count(l.id) as rows_left, count(r.id) as rows_right,
    count(*) filter (where r.id is null) as only_left, count(*) filter (where l.id is null) as only_right,
    count(*) filter (where l.id is not null and r.id is not null
      and (${COMPARED.map(name => `l.${name} is distinct from r.${name}`).join(' or ')})) as differing
  from orders l full join orders_copy r on l.id = r.id`

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const startedAt = performance.now()
  const result = await work()
  return { ms: performance.now() - startedAt, result }
}

/** The most that the process had while something ran, above what it had before, in megabytes. */
async function withMemory<T>(work: () => Promise<T>): Promise<{ megabytes: number; result: T }> {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20)
  const result = await work()
  clearInterval(watch)
  return { megabytes: (most - before) / 1024 / 1024, result }
}

await withTeardown(async t => {
  const world = await makeCompareWorld(t, rows)
  console.log(`${rows.toLocaleString('en')} rows, medians of ${rounds} rounds`)
  const compareBeside = await comparing(world.left, world.beside)
  const [ours, byHand]: [number[], number[]] = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    const measure = [
      async () => {
        const { ms, result } = await timed(compareBeside)
        if (result.differing + result.onlyLeft + result.onlyRight > 0 || result.rowsLeft !== rows)
          throw new Error(JSON.stringify(result))
        if (round > 0) ours.push(ms)
      },
      async () => {
        const { ms } = await timed(() => world.owners.left.query(BY_HAND))
        if (round > 0) byHand.push(ms)
      },
    ]
    for (const way of round % 2 === 0 ? measure : measure.toReversed()) await way()
  }
  console.log(`one source: ${median(ours).toFixed(0)} ms, by hand ${median(byHand).toFixed(0)} ms`)
  const pairs: { name: string; right: Copy; key?: readonly string[] }[] = [
    { name: 'PostgreSQL with PostgreSQL', right: world.right },
    ...(world.mariadb ? [{ name: 'PostgreSQL with MariaDB', right: world.mariadb }] : []),
  ]
  const byHash = { name: 'PostgreSQL with PostgreSQL by hash', right: world.right, key: ['placed_at', 'id'] }
  const memory: number[] = []
  for (const planted of PLANTED) {
    await world.plant(planted)
    for (const { name, right, key } of planted === '1 %' ? [...pairs, byHash] : pairs) {
      const compare = await comparing(world.left, right, key)
      const { megabytes, result } = await withMemory(() => timed(compare))
      const { differing, rowsFetched, segments } = result.result
      memory.push(megabytes)
      console.log(
        `${name}, ${planted}: ${result.ms.toFixed(0)} ms, ${differing.toLocaleString('en')} differ, ${rowsFetched.toLocaleString('en')} rows fetched, ${segments} segments, ${megabytes.toFixed(0)} MB`,
      )
    }
  }
  printRows([
    {
      what: `one source, ${rows.toLocaleString('en')} rows, over a join by hand`,
      unit: 'ms',
      bar: { most: MAX_RATIO },
      ...compareRounds(ours, byHand),
    },
  ])
  if (Math.max(...memory) > MAX_MEGABYTES) throw new Error(`It took ${Math.max(...memory).toFixed(0)} MB.`)
})
