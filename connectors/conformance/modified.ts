import assert from 'node:assert/strict'
import { tablePath } from '../catalog.ts'
import type { Connection } from '../connector.ts'
import { awkwardNames, fixtureTypes } from './fixture.ts'
import { STATEMENT_TIMEOUT_MS, failIfHung, type ConformanceKit, type PromiseGroup } from './kit.ts'

/** As many tables as a source with many schedules has. */
const TABLE_COUNT = 5000

/** `connection.lastModified`, by which tables are left unread. */
export const modifiedGroup: PromiseGroup = {
  name: 'lastModified',
  needs: 'lastModified',
  async run(kit) {
    const { fixture } = kit
    const name = 'conformance_modified'
    const columns = [{ name: 'id', type: fixtureTypes(fixture).integer }]
    await kit.write({ name, columns, rows: [['1']] })
    const insert = () =>
      kit.withoutSql
        ? kit.write({ name, columns, rows: [['1'], ['2']] })
        : kit.execute(`insert into ${kit.text(kit.table(name))} values (2)`)

    await kit.holdsInSession(
      'times of modification come by table path, and unknown tables are left out',
      async connection => {
        const found = await readModified(kit, connection, ['conformance_texts', 'no_such_table'])
        assert.deepEqual([...found.keys()], [tablePath(kit.ref('conformance_texts'))])
        for (const time of found.values())
          assert.ok(time instanceof Date && !Number.isNaN(time.getTime()), 'a Date')
      },
    )
    await kit.holdsInSession('a view has none, whatever it selects', async connection =>
      assert.deepEqual(await readModified(kit, connection, ['conformance_view']), new Map()),
    )
    await kit.holdsInSession('tables are distinguished, whatever their names', async connection => {
      const names = awkwardNames(fixture).map(([, awkward]) => awkward)
      const found = await readModified(kit, connection, names)
      assert.deepEqual([...found.keys()].sort(), names.map(each => tablePath(kit.ref(each))).sort())
    })
    await kit.holdsInSession(
      'a time stays while no row changes, and an insert moves it',
      async connection => {
        const time = async () => (await readModified(kit, connection, [name])).get(tablePath(kit.ref(name)))
        const before = await waitForLaterTime(time, new Date(0))
        assert.deepEqual(await time(), before, 'as long as no row changes')
        await insert()
        await waitForLaterTime(time, before)
      },
    )
    await kit.holdsUnless(
      fixture.countStatements ? undefined : 'the fixture counts no statements',
      'as many statements are sent, however many tables are asked for',
      () =>
        kit.session(async connection => {
          const sent = async (names: readonly string[]) => {
            const from = (await fixture.countStatements?.()) ?? 0
            assert.equal((await readModified(kit, connection, names)).size, 1)
            return ((await fixture.countStatements?.()) ?? 0) - from
          }
          const one = await sent([name])
          const others = Array.from({ length: TABLE_COUNT - 1 }, (_, index) => `no_such_table_${index}`)
          assert.ok(one > 0, 'statements are counted')
          assert.equal(await sent([name, ...others]), one)
        }),
    )
  },
}

async function readModified(
  kit: ConformanceKit,
  connection: Connection,
  names: readonly string[],
): Promise<Map<string, Date>> {
  assert.ok(connection.lastModified, 'it is claimed')
  return failIfHung(connection.lastModified(names.map(kit.ref)))
}

/** Waits for a time after another one: some engines report a change late. */
async function waitForLaterTime(time: () => Promise<Date | undefined>, before: Date): Promise<Date> {
  const deadline = Date.now() + STATEMENT_TIMEOUT_MS
  for (;;) {
    const found = await time()
    if (found && found > before) return found
    assert.ok(Date.now() < deadline, `it is ${found?.toISOString()} after ${before.toISOString()}`)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}
