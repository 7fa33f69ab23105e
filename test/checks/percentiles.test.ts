import t from 'tap'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand } from './test-databases.ts'

const stands = [
  ['PostgreSQL', postgresqlStand, false],
  ['MariaDB', mariadbStand, mariadbAbsent],
  ['SQLite', sqliteStand, false],
] as const

/** Values without an order, of which no two are equal. */
const VALUES = Array.from({ length: 1001 }, (_, g) => ((g + 1) * 7919) % 10_007)
const SORTED = VALUES.toSorted((a, b) => a - b)

/** Percentiles, each with its digits as an integer and the power of ten that it is divided by. */
const PERCENTILES = [
  [99.9, 999n, 1_000n],
  [99.99, 9_999n, 10_000n],
  [33.333333, 33_333_333n, 100_000_000n],
  [0.1, 1n, 1_000n],
  [7, 7n, 100n],
  [14.7, 147n, 1_000n],
  [57.3, 573n, 1_000n],
  [1e-7, 1n, 1_000_000_000n],
  [100, 1n, 1n],
] as const

/** Whether a percentile is one of the values, or lies between two. */
function isValue([, digits, power]: (typeof PERCENTILES)[number]): boolean {
  return (BigInt(SORTED.length - 1) * digits) % power === 0n
}

/** SQL's percentile_cont in fractions of integers: nothing is rounded but the result. */
function expected([, digits, power]: (typeof PERCENTILES)[number]): number {
  const rank = BigInt(SORTED.length - 1) * digits
  const below = Number(rank / power)
  const low = BigInt(SORTED[below]!)
  const high = BigInt(SORTED[below + 1] ?? SORTED[below]!)
  return Number(low * power + (high - low) * (rank % power)) / Number(power)
}

for (const [engine, open, skip] of stands) {
  t.test(engine, { skip }, async t => {
    const on = await open(t)
    const columns = [
      { name: 'v', kind: 'integer' },
      { name: 'part', kind: 'integer' },
    ] as const
    const { table } = await on.createTable(
      columns,
      VALUES.map(value => [value, 1]),
    )
    for (const item of PERCENTILES) {
      const [percentile_value] = item
      const config = { percentile_value }
      const checks = [
        check('percentile', 'v', config),
        check('percentile', 'v', config, { groupBy: ['part'] }),
      ]
      const { outcomes } = await run(on, table, checks)
      const found = outcomes.map(outcome => {
        if (outcome.status === 'measured') return outcome.value
        return outcome.status === 'grouped' ? outcome.groups[0]?.value : outcome
      })
      // MariaDB weighs the two values around a rank, which rounds once more.
      const tolerance = engine === 'MariaDB' && !isValue(item) ? Number.EPSILON : 0
      const isExact = (value: unknown) =>
        typeof value === 'number' && Math.abs(value - expected(item)) <= tolerance * expected(item)
      t.ok(found.every(isExact), `${percentile_value} is ${String(found)}, expected ${expected(item)}`)
    }
  })
}
