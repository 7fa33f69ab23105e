import t from 'tap'
import { ENGINES, profiled } from './engines.ts'

const ROWS = 60
const row = (_: unknown, n: number) => [
  n % 4 === 0 ? null : n,
  `${n}.50`,
  n / 8,
  n % 2 === 0 ? `user${n}@example.com` : `person${n}@mail.example.org`,
  ['new', 'paid', 'shipped'][n % 3],
  n === 0 ? 'none' : `2024-01-${String((n % 28) + 1).padStart(2, '0')}`,
  `2024-02-${String((n % 28) + 1).padStart(2, '0')}`,
  `2024-03-01 12:00:${String(n).padStart(2, '0')}`,
]
const COLUMNS = [
  { name: 'amount', kind: 'integer' },
  { name: 'price', kind: 'decimal' },
  { name: 'ratio', kind: 'float' },
  { name: 'email', kind: 'text' },
  { name: 'status', kind: 'text' },
  { name: 'written', kind: 'text' },
  { name: 'day', kind: 'date' },
  { name: 'placed_at', kind: 'timestamp' },
] as const

for (const [name, { absent, start }] of Object.entries(ENGINES)) {
  t.test(`a table of ${name}`, { skip: absent || false }, async t => {
    const on = await start(t)
    const rows = Array.from({ length: ROWS }, row)
    const made = await on.createTable(COLUMNS, rows)
    const found = await profiled(on, made)
    const of = Object.fromEntries(found.columns.map(column => [column.name.toLowerCase(), column]))
    t.match(found, { rowCount: ROWS, profiledRows: ROWS, isSampled: false, isRowCountExact: true })
    t.ok(found.statements <= 4, `${found.statements} statements, one of them for frequent values`)
    t.match(of.id, { count: ROWS, nulls: 0, distinct: ROWS, isDistinctExact: true, isKeyCandidate: true })
    t.match(of.amount, { count: 45, nulls: 15, distinct: 45, min: 1, max: 59, isKeyCandidate: false })
    t.match(of.amount, { quantiles: { p50: 30 } })
    const amounts = rows.flatMap(([amount]) => (typeof amount === 'number' ? [amount] : []))
    const mean = amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length
    const spread = Math.sqrt(
      amounts.reduce((sum, amount) => sum + (amount - mean) ** 2, 0) / (amounts.length - 1),
    )
    t.ok(Math.abs((of.amount?.mean ?? 0) - mean) < 1e-9)
    t.ok(Math.abs((of.amount?.stddev ?? 0) - spread) < 1e-9)
    t.match(of.price, { count: ROWS, distinct: ROWS, min: 0.5, max: 59.5, mean: 30, topValues: null })
    t.match(of.ratio, { min: 0, max: 7.375 })
    t.match(of.email, { pattern: { name: 'email', share: 1 }, minLength: 17, maxLength: 25, min: null })
    t.match(of.written, { pattern: { name: 'iso_date', share: 59 / 60 } })
    t.match(of.status, { distinct: 3, pattern: { name: 'enum', share: 1 } })
    t.same(of.status?.topValues, [
      { value: 'new', count: 20 },
      { value: 'paid', count: 20 },
      { value: 'shipped', count: 20 },
    ])
    t.match(of.day, { min: '2024-02-01', max: '2024-02-28', distinct: 28 })
    t.match(of.placed_at, { min: '2024-03-01T12:00:00Z', max: '2024-03-01T12:00:59Z' })

    const masked = new Set(found.columns.map(column => column.name))
    const hidden = await profiled(on, made, { masked })
    for (const column of hidden.columns) {
      t.match(column, { min: null, max: null, quantiles: null, topValues: null, isMasked: true })
      t.equal(column.distinct, of[column.name.toLowerCase()]?.distinct)
    }
    const aggregated = await profiled(on, made, { showsValues: false })
    t.ok(aggregated.columns.every(({ topValues }) => topValues === null))

    const empty = await profiled(on, await on.createTable(COLUMNS, []))
    t.match(empty, { rowCount: 0, profiledRows: 0, isSampled: false })
    for (const column of empty.columns)
      t.match(column, { count: 0, nulls: 0, mean: null, quantiles: null, isKeyCandidate: false })

    const part = await profiled(on, made, { rowLimit: 30 })
    t.match(part, { isSampled: true })
    t.ok(part.profiledRows <= ROWS && part.rowCount >= part.profiledRows)
    for (const column of part.columns) t.match(column, { isDistinctExact: false, isKeyCandidate: false })
  })
}
