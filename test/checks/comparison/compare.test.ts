import t from 'tap'
import {
  compareRows,
  pairTables,
  type ComparedColumns,
  type ComparisonPairs,
} from '../../../checks/comparison/compare.ts'
import type { ValueRule } from '../../../checks/comparison/pairs.ts'
import type { RowDifferences } from '../../../checks/comparison/result.ts'
import type { ComparedTable } from '../../../checks/comparison/sides.ts'
import type { TestColumn } from '../../../checks/conformance.ts'
import type { TableInfo } from '../../../connectors/catalog.ts'
import { randomOf, type Random } from '../../bench/detector-random.ts'
import { ENGINES } from '../rows/orders.ts'
import type { EngineTestDatabase } from '../test-databases.ts'

const COLUMNS: TestColumn[] = [
  { name: 'k', kind: 'integer' },
  { name: 'code', kind: 'text' },
  { name: 'day', kind: 'date' },
  { name: 'amount', kind: 'decimal' },
  { name: 'share', kind: 'float' },
  { name: 'note', kind: 'text' },
  { name: 'flag', kind: 'boolean' },
  { name: 'at', kind: 'timestamp' },
  { name: 'raw', kind: 'binary' },
]
const VALUES = COLUMNS.slice(3).map(({ name }) => name)

const NOTES = ['', 'a', ' a', 'A', 'ä', 'a\u0308', '漢字', '😀', "it's", 'a|b', '~', 'null', 'tab\tand\nline']

function randomRow(random: Random, k: number): unknown[] {
  const maybe = (value: unknown) => (random.chance(0.1) ? null : value)
  const day = random.integer(1, 28)
  const second = String(random.integer(0, 59)).padStart(2, '0')
  return [
    k,
    `key ${k} ${NOTES[Math.abs(k) % NOTES.length]}`,
    `${1900 + (k % 200)}-02-${String(1 + (Math.abs(k) % 28)).padStart(2, '0')}`,
    maybe((random.integer(-1_000_000, 1_000_000) / 100).toFixed(2)),
    maybe(random.pick([0, 0.1, -2.5, 1e-7, 1e20, 123456.789, random.uniform(-1, 1)])),
    maybe(random.pick(NOTES)),
    maybe(random.chance(0.5)),
    maybe(`19${random.integer(50, 99)}-03-${String(day).padStart(2, '0')} 12:30:${second}`),
    maybe(Uint8Array.from([random.integer(0, 255), 0, 255])),
  ]
}

/** A value that is another one by every rule of writing. */
function changed(name: string, value: unknown): unknown {
  if (value === null) return OTHERS[name]
  if (name === 'amount') return (Number(value) + 0.01).toFixed(2)
  if (name === 'share') return Number(value) * 2 + 1
  if (name === 'note') return `${String(value)} `
  if (name === 'flag') return !value
  if (name === 'at') return String(value).replace('12:30', '12:31')
  return name === 'raw' ? Uint8Array.from([1, 2]) : null
}

const OTHERS: Readonly<Record<string, unknown>> = {
  amount: '0.00',
  share: 0,
  note: '',
  flag: false,
  at: '1999-12-31 00:00:00',
  raw: Uint8Array.from([0]),
}

interface Planted {
  left: unknown[][]
  right: unknown[][]
  onlyLeft: number
  onlyRight: number
  differing: number
  byColumn: Record<string, number>
}

/** Two sets of rows with known differences. @param share of the rows that are not the same */
function plant(seed: string, count: number, share: number): Planted {
  const random = randomOf(seed)
  const planted: Planted = {
    left: [],
    right: [],
    onlyLeft: 0,
    onlyRight: 0,
    differing: 0,
    byColumn: Object.fromEntries(VALUES.map(name => [name, 0])),
  }
  let k = -500
  for (let made = 0; made < count; made += 1) {
    k += random.chance(0.02) ? random.integer(1, 300) : 1
    const row = randomRow(random, k)
    if (!random.chance(share)) {
      planted.left.push(row)
      planted.right.push(row)
      continue
    }
    const kind = random.pick(['left', 'right', 'differs'] as const)
    if (kind === 'left') {
      planted.left.push(row)
      planted.onlyLeft += 1
    } else if (kind === 'right') {
      planted.right.push(row)
      planted.onlyRight += 1
    } else {
      const place = random.integer(0, VALUES.length - 1)
      const other = [...row]
      other[3 + place] = changed(VALUES[place]!, row[3 + place])
      planted.left.push(row)
      planted.right.push(other)
      planted.differing += 1
      planted.byColumn[VALUES[place]!]! += 1
    }
  }
  return planted
}

function tableOf(on: EngineTestDatabase, table: TableInfo): ComparedTable {
  return {
    dialect: on.engine.dialect,
    table,
    conditions: [],
    query: statement => on.connection.query(statement, { timeoutMs: 60_000 }),
  }
}

function pairsOf(
  left: { on: EngineTestDatabase; table: TableInfo },
  right: { on: EngineTestDatabase; table: TableInfo },
  columns: ComparedColumns,
): ComparisonPairs {
  const pairs = pairTables(
    { table: left.table, dialect: left.on.engine.dialect, engine: left.on.engine.name },
    { table: right.table, dialect: right.on.engine.dialect, engine: right.on.engine.name },
    columns,
  )
  if ('message' in pairs) throw new Error(pairs.message)
  return pairs
}

/** PostgreSQL has another way to write bytes. */
function written(engine: string, rows: readonly unknown[][]): unknown[][] {
  const hex = (value: unknown) =>
    value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value
  return engine === 'PostgreSQL' ? rows.map(row => row.map(hex)) : [...rows]
}

const named = (name: string, rule: ValueRule = {}) => ({ left: name, right: name, rule })
const numbers = ({
  samples: _samples,
  segments: _segments,
  rowsFetched: _fetched,
  ...rest
}: RowDifferences) => rest

const KEYS = { 'an integer': ['k'], 'a text': ['code'], 'three columns': ['k', 'day', 'code'] } as const

for (const left of ENGINES)
  for (const right of ENGINES)
    void t.test(
      `${left.name} with ${right.name}: what was planted is found, no more and no less`,
      { skip: left.absent || right.absent },
      async t => {
        const [onLeft, onRight] = [await left.start(t), await right.start(t)]
        for (const [name, keys] of Object.entries(KEYS)) {
          const planted = plant(`${left.name} ${right.name} ${name}`, 1_500, 0.03)
          const tables = {
            left: await onLeft.createTable(COLUMNS, written(left.name, planted.left)),
            right: await onRight.createTable(COLUMNS, written(right.name, planted.right)),
          }
          const pairs = pairsOf(
            { on: onLeft, table: tables.left.table },
            { on: onRight, table: tables.right.table },
            {
              keys: keys.map(key => ({ left: key, right: key })),
              columns: VALUES.map(column => named(column)),
            },
          )
          const found = await compareRows({
            left: tableOf(onLeft, tables.left.table),
            right: tableOf(onRight, tables.right.table),
            isOneSource: false,
            pairs,
            sampleLimit: 10_000,
          })
          const { left: rowsLeft, right: rowsRight, ...expected } = planted
          t.same(
            numbers(found),
            { rowsLeft: rowsLeft.length, rowsRight: rowsRight.length, ...expected },
            `by ${name}`,
          )
          t.equal(found.samples.length, planted.onlyLeft + planted.onlyRight + planted.differing)
        }
      },
    )

for (const { name, absent, start } of ENGINES)
  void t.test(`${name}: one source compares its own tables`, { skip: absent }, async t => {
    const on = await start(t)
    for (const [keyName, keys] of Object.entries(KEYS)) {
      const planted = plant(`${name} ${keyName}`, 1_500, 0.03)
      const [left, right] = [
        await on.createTable(COLUMNS, written(name, planted.left)),
        await on.createTable(COLUMNS, written(name, planted.right)),
      ]
      const pairs = pairsOf(
        { on, table: left.table },
        { on, table: right.table },
        {
          keys: keys.map(key => ({ left: key, right: key })),
          columns: VALUES.map(column => named(column)),
        },
      )
      const found = await compareRows({
        left: tableOf(on, left.table),
        right: tableOf(on, right.table),
        isOneSource: true,
        pairs,
        sampleLimit: 10_000,
      })
      const { left: rowsLeft, right: rowsRight, ...expected } = planted
      t.same(
        numbers(found),
        { rowsLeft: rowsLeft.length, rowsRight: rowsRight.length, ...expected },
        `by ${keyName}`,
      )
      t.equal(found.samples.length, planted.onlyLeft + planted.onlyRight + planted.differing)
    }
  })
