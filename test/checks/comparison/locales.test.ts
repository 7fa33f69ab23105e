import t from 'tap'
import type { Connector } from '../../../connectors/connector.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { sql } from '../../../connectors/sql.ts'
import { connectOptions, settings, startSource } from '../../helpers/source.ts'
import { ENGINES } from '../rows/orders.ts'
import { compare, makeTable, type Place, type TableOn } from './tables.ts'

/** A database in which only the letters of ASCII have a lower case. */
async function placeInC(): Promise<Place> {
  const source = await startSource(t, { locale: 'C' })
  const connection = await postgresql.connect(settings(source.config), connectOptions)
  t.teardown(() => connection.close())
  return {
    engine: postgresql as unknown as Connector,
    connection,
    execute: text => source.query(text),
    ref: name => ({ catalog: source.name, schema: 'public', name }),
  }
}

const upperTexts = ['ÄPFEL', 'İstanbul', 'ΟΔΟΣ', 'ДОМ', 'Ÿ', 'plain', 'Zebra', 'É']
const lowerTexts = ['äpfel', 'i̇stanbul', 'οδος', 'дом', 'ÿ', 'PLAIN', 'zEBRA', 'E']

void t.test('texts without case are the same in databases of different locales', async t => {
  const columns = 'k integer primary key, v varchar(20)'
  const rows = (texts: readonly string[]) => texts.map((text, k) => `${k}, '${text}'`)
  const places = [
    { name: 'PostgreSQL in C', place: await placeInC() },
    ...(await Promise.all(
      ENGINES.filter(({ absent }) => !absent).map(async ({ name, start }) => ({
        name,
        place: (await start(t)) as Place,
      })),
    )),
  ]
  const lower = await Promise.all(
    places
      .slice(0, 2)
      .map(({ place }) => place.connection.query(sql`select lower('Ä') as v`, { timeoutMs: 10_000 })),
  )
  t.same(lower.flat(), [{ v: 'Ä' }, { v: 'ä' }], 'the locales differ')
  const tables: { name: string; left: TableOn; right: TableOn }[] = []
  for (const { name, place } of places)
    tables.push({
      name,
      left: await makeTable(place, 'upper_case', columns, rows(upperTexts)),
      right: await makeTable(place, 'lower_case', columns, rows(lowerTexts)),
    })
  for (const { name, left } of tables)
    for (const { name: other, right } of tables) {
      const found = await compare(left, right, {
        keys: ['k'],
        columns: [{ left: 'v', right: 'v', rule: { ignoreCase: true } }],
        isOneSource: false,
      })
      t.same(
        found.samples.map(({ key }) => key),
        [[String(lowerTexts.length - 1)]],
        `${name}, ${other}: only É and E differ`,
      )
    }
})
