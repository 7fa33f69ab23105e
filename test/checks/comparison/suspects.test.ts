import { hash } from 'node:crypto'
import t from 'tap'
import { ConnectorError } from '../../../connectors/errors.ts'
import { ENGINES } from '../rows/orders.ts'
import { compare, makeTable, type Place } from './tables.ts'

const present = ENGINES.filter(({ absent }) => !absent)
const places = new Map<string, Promise<Place>>(present.map(({ name, start }) => [name, start(t)]))

/** A table on an engine, with the types that it has for texts of keys and for long ones. */
async function tableOn(name: string, table: string, columns: string, rows: readonly string[]) {
  const isMariadb = name === 'MariaDB'
  const written = columns
    .replaceAll('KEY', isMariadb ? 'varchar(50)' : 'text')
    .replaceAll('LONG', isMariadb ? 'longtext' : 'text')
  return makeTable((await places.get(name))!, table, written, rows)
}

/** Texts whose hash begins with the same digits. */
function textsOfOneSlot(count: number, digits: string): string[] {
  const texts: string[] = []
  for (let number = 0; texts.length < count; number += 1)
    if (hashOfKey(String(number)).startsWith(digits)) texts.push(String(number))
  return texts
}

/** The MD5 of a key of one text, as comparisons write it. */
const hashOfKey = (text: string) => hash('md5', `${text.length}:${text}`)

void t.test('rows of one slot that are too wide for one result are cut deeper', async t => {
  const keys = textsOfOneSlot(30, '7f0')
  for (const { name } of present) {
    const make = (side: string, mark: string) =>
      // MariaDB takes no statement of 36 MB.
      tableOn(name, `slot_${side}`, 'k KEY primary key, v LONG', []).then(async table => {
        for (const key of keys)
          await table.on.execute(`insert into slot_${side} values ('${key}', '${mark.repeat(1_200_000)}')`)
        return table
      })
    const [left, right] = [await make('left', 'a'), await make('right', 'b')]
    const found = await compare(left, right, { keys: ['k'], isOneSource: false })
    t.match(found, { differing: 30, onlyLeft: 0, rowsLeft: 30, rowsRight: 30 }, name)
  }
})

void t.test('a row that is too wide for a result is an error that says so', async t => {
  const make = (side: string, mark: string) =>
    tableOn('PostgreSQL', `row_${side}`, 'k text primary key, v text', [`'x', repeat('${mark}', 34000000)`])
  const comparing = compare(await make('left', 'a'), await make('right', 'b'), {
    keys: ['k'],
    isOneSource: false,
  })
  await t.rejects(comparing, ConnectorError)
  await t.rejects(comparing, /more than 32 MB/)
})

void t.test('slots with many rows of which few differ are cut deeper before rows are fetched', async t => {
  const rows = Array.from({ length: 80_000 }, (_, k) => `'key ${k}', ${k}`)
  const changed = rows
    .map((row, k) => (k % 20 === 1 ? `'key ${k}', -1` : row))
    .filter((_, k) => k !== 2 && k !== 39_999)
  for (const { name } of present) {
    const left = await tableOn('PostgreSQL', `many_${name}`, 'k KEY primary key, v integer', rows)
    const right = await tableOn(name, 'many_right', 'k KEY primary key, v integer', changed)
    const found = await compare(left, right, { keys: ['k'], isOneSource: false })
    t.match(found, { differing: 4_000, onlyLeft: 2, onlyRight: 0, rowsLeft: 80_000, rowsRight: 79_998 }, name)
    t.ok(found.rowsFetched < 10_000, `${name}: ${found.rowsFetched} rows fetched`)
  }
})

void t.test('slots of which most rows differ are fetched as they are', async t => {
  const rows = (value: number) => Array.from({ length: 33_000 }, (_, k) => `'key ${k}', ${value}`)
  const columns = 'k KEY primary key, v integer'
  const left = await tableOn('PostgreSQL', 'most_left', columns, rows(1))
  const right = await tableOn('PostgreSQL', 'most_right', columns, rows(2))
  const found = await compare(left, right, { keys: ['k'], isOneSource: false })
  t.match(found, { differing: 33_000, rowsLeft: 33_000, rowsRight: 33_000, rowsFetched: 66_000 })
})

void t.test(
  'keys of several columns are cut by the first one, and by their hash where many begin alike',
  async t => {
    const columns = 'a integer, b KEY, v integer, primary key (a, b)'
    const rows = [
      ...Array.from({ length: 9_000 }, (_, k) => `7, 'key ${k}', ${k}`),
      ...Array.from({ length: 3_000 }, (_, k) => `${k + 10}, 'key', ${k}`),
    ]
    const changed = rows
      .map((row, k) => (k === 100 || k === 10_000 ? row.replace(/\d+$/, '-1') : row))
      .filter((_, k) => k !== 200)
    for (const { name } of present) {
      const left = await tableOn('PostgreSQL', `parts_${name}`, columns, rows)
      const right = await tableOn(name, 'parts_right', columns, changed)
      const found = await compare(left, right, { keys: ['a', 'b'], isOneSource: false })
      t.match(found, { differing: 2, onlyLeft: 1, onlyRight: 0, rowsLeft: 12_000, rowsRight: 11_999 }, name)
      t.ok(found.rowsFetched < 5_000, `${name}: ${found.rowsFetched} rows fetched`)
    }
  },
)
