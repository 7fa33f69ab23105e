import t from 'tap'
import { ENGINES } from '../rows/orders.ts'
import type { EngineTestDatabase } from '../test-databases.ts'
import { compare, makeTable, waysOf, type TableOn } from './tables.ts'

type EngineName = (typeof ENGINES)[number]['name']

const present = ENGINES.filter(({ absent }) => !absent)
const stands = new Map<EngineName, Promise<EngineTestDatabase>>()
for (const { name, start } of present) stands.set(name, start(t))
let made = 0

/** The same rows on every engine. @param columns with `text`, which needs a length on MariaDB to be a key */
async function onAll(columns: string, rows: readonly string[]): Promise<TableOn[]> {
  made += 1
  const tables: TableOn[] = []
  for (const { name } of present) {
    const written = name === 'MariaDB' ? columns.replaceAll(/\btext\b/g, 'varchar(50)') : columns
    tables.push(await makeTable(await stands.get(name)!, `keys${made}`, written, rows))
  }
  return tables
}

type PairTest = (left: TableOn, right: TableOn, isOneSource: boolean, label: string) => Promise<unknown>

async function forEachPair(
  lefts: readonly TableOn[],
  rights: readonly TableOn[],
  work: PairTest,
): Promise<void> {
  for (const left of lefts)
    for (const right of rights)
      for (const { way, isOneSource } of waysOf(left, right))
        await work(left, right, isOneSource, `${left.on.engine.name}, ${right.on.engine.name}, ${way}`)
}

void t.test('rows of which a part of the key is NULL are on one side only, each of them', async t => {
  const columns = 'a integer, b text, c date, v integer'
  const shared = [`1, 'x', '2024-01-01', 1`, `1, 'x', '2024-01-02', 2`, `1, '', '2024-01-01', 3`]
  const lefts = await onAll(columns, [
    ...shared,
    `null, 'x', '2024-01-01', 1`,
    `1, null, '2024-01-01', 1`,
    `1, 'x', null, 1`,
    `null, null, null, 1`,
    `2, 'x', '2024-01-01', 1`,
  ])
  const rights = await onAll(columns, [...shared, `null, 'x', '2024-01-01', 1`, `3, 'x', '1969-01-01', 1`])
  await forEachPair(lefts, rights, async (left, right, isOneSource, label) => {
    const { rowsLeft, rowsRight, onlyLeft, onlyRight, differing, samples } = await compare(left, right, {
      keys: ['a', 'b', 'c'],
      isOneSource,
    })
    t.same(
      { rowsLeft, rowsRight, onlyLeft, onlyRight, differing },
      { rowsLeft: 8, rowsRight: 5, onlyLeft: 5, onlyRight: 2, differing: 0 },
      label,
    )
    t.same(samples.map(({ key }) => key.join(' ')).toSorted(), ['2 x 2024-01-01', '3 x 1969-01-01'])
  })
})

void t.test('rows that share a key are an error, also where both sides are copies', async t => {
  for (const [key, rows] of [
    ['a', [`1, 'x', 1`, `1, 'y', 2`, `2, 'x', 3`]],
    ['b', [`1, 'x', 1`, `2, 'x', 1`, `3, 'y', 1`]],
  ] as const) {
    const rejects: PairTest = async (left, right, isOneSource, label) => {
      await t.rejects(compare(left, right, { keys: [key], isOneSource }), { name: 'RepeatedKeyError' }, label)
    }
    const tables = await onAll('a integer, b text, v integer', rows)
    await forEachPair(tables, tables, rejects)
    const unique = await onAll('a integer, b text, v integer', [`1, 'x', 1`, `2, 'y', 1`])
    await forEachPair(unique, tables, rejects)
    await forEachPair(tables, unique, rejects)
  }
})

void t.test('texts that only a collation takes for equal are different keys', async t => {
  const columns = 'b text, v integer'
  const lefts = await onAll(columns, [`'a', 1`, `'A', 2`, `'a ', 3`, `'ä', 4`, `'b', 5`])
  const rights = await onAll(columns, [`'a', 1`, `'A', 2`, `'a ', 3`, `'ä', 4`, `'B', 5`])
  await forEachPair(lefts, rights, async (left, right, isOneSource, label) => {
    const { onlyLeft, onlyRight, differing } = await compare(left, right, { keys: ['b'], isOneSource })
    t.same({ onlyLeft, onlyRight, differing }, { onlyLeft: 1, onlyRight: 1, differing: 0 }, label)
  })
})

void t.test('tables without rows, and of one row', async t => {
  const columns = 'k integer primary key, b text'
  const [empty, one, other, none] = [
    await onAll(columns, []),
    await onAll(columns, [`7, 'x'`]),
    await onAll(columns, [`7, 'y'`]),
    await onAll(columns, []),
  ]
  const numbersOf = async (
    lefts: readonly TableOn[],
    rights: readonly TableOn[],
    expected: Record<string, number>,
  ) => {
    for (const key of ['k', 'b'])
      await forEachPair(lefts, rights, async (left, right, isOneSource, label) => {
        const found = await compare(left, right, {
          keys: [key],
          isOneSource,
          columns: key === 'k' ? undefined : [],
        })
        t.match(found, expected, `${label} by ${key}`)
      })
  }
  await numbersOf(empty, none, { rowsLeft: 0, rowsRight: 0, onlyLeft: 0, onlyRight: 0, differing: 0 })
  await numbersOf(one, none, { rowsLeft: 1, rowsRight: 0, onlyLeft: 1, onlyRight: 0, differing: 0 })
  await numbersOf(empty, one, { rowsLeft: 0, rowsRight: 1, onlyLeft: 0, onlyRight: 1, differing: 0 })
  await numbersOf(one, one, { rowsLeft: 1, rowsRight: 1, onlyLeft: 0, onlyRight: 0, differing: 0 })
  await forEachPair(one, other, async (left, right, isOneSource, label) =>
    t.match(await compare(left, right, { keys: ['k'], isOneSource }), { differing: 1, onlyLeft: 0 }, label),
  )
})

void t.test('integers that lie close together and far apart are cut until parts are small', async t => {
  const columns = 'k bigint primary key, v integer'
  const keys = [
    ...Array.from({ length: 6_000 }, (_, k) => BigInt(k)),
    ...Array.from({ length: 300 }, (_, k) => BigInt(k) * 1_000_003n + 10n ** 12n),
    -(2n ** 61n),
    2n ** 61n,
  ]
  const lefts = await onAll(
    columns,
    keys.map(k => `${k}, 1`),
  )
  const rights = await onAll(
    columns,
    keys.filter(k => k !== 10n ** 12n).map(k => `${k}, ${k === 5_000n || k === 2n ** 61n ? 2 : 1}`),
  )
  await forEachPair(lefts, rights, async (left, right, isOneSource, label) => {
    const found = await compare(left, right, { keys: ['k'], isOneSource })
    t.match(found, { rowsLeft: keys.length, onlyLeft: 1, onlyRight: 0, differing: 2 }, label)
    if (!isOneSource) t.ok(found.rowsFetched < 7_000, `${label}: ${found.rowsFetched} rows fetched`)
  })
})

void t.test('keys at the ends of what integers can be', async t => {
  const columns = 'k bigint primary key, v integer'
  const rows = ['-9223372036854775808, 1', '0, 1', '9223372036854775807, 1']
  const [lefts, rights] = [await onAll(columns, rows), await onAll(columns, [rows[0]!, '0, 2', '1, 1'])]
  await forEachPair(lefts, rights, async (left, right, isOneSource, label) =>
    t.match(
      await compare(left, right, { keys: ['k'], isOneSource }),
      { onlyLeft: 1, onlyRight: 1, differing: 1 },
      label,
    ),
  )
})

void t.test('rows too wide for one result are fetched in smaller parts, down to one row', async t => {
  const columns = 'k integer primary key, v longtext'
  const wide = (mark: string) => Array.from({ length: 40 }, (_, k) => `${k}, '${mark.repeat(1_200_000)}'`)
  for (const { name } of present.filter(({ name }) => name !== 'MariaDB')) {
    const on = await stands.get(name)!
    const make = (side: string, mark: string) =>
      makeTable(on, `wide_${side}`, columns.replace('longtext', 'text'), wide(mark))
    const [left, right] = [await make('left', 'a'), await make('right', 'b')]
    const { differing, byColumn } = await compare(left, right, { keys: ['k'], isOneSource: false })
    t.same({ differing, byColumn }, { differing: 40, byColumn: { v: 40 } }, name)
  }
})
