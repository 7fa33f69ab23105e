import assert from 'node:assert/strict'
import type { Connection, TablePart } from '../connector.ts'
import { sql } from '../sql.ts'
import { fixtureTypes } from './fixture.ts'
import { failIfHung, query, STATEMENT_TIMEOUT_MS, type ConformanceKit, type PromiseGroup } from './kit.ts'

const LIMITS = { timeoutMs: STATEMENT_TIMEOUT_MS }

/** `connection.listParts`, by which parts of tables are left unread. */
export const partsGroup: PromiseGroup = {
  name: 'partitions',
  needs: 'partitions',
  async run(kit) {
    const { fixture } = kit
    const name = 'conformance_parts'
    const table = kit.text(kit.table(name))
    const { integer } = fixtureTypes(fixture)
    const columns = ['id', 'part'].map(column => ({ name: column, type: integer }))
    const write = (part: number, ...ids: number[]) =>
      kit.write({ name, columns, rows: ids.map(id => [String(id), String(part)]), part: String(part) })
    await kit.holds('the fixture makes a table with parts', async () => {
      if (kit.withoutSql) for (const part of [1, 2, 3]) await write(part, part)
      else {
        assert.ok(fixture.partitioned, 'the fixture needs `partitioned`')
        for (const statement of fixture.partitioned(table)) await kit.execute(statement)
        for (const part of [1, 2, 3]) await kit.execute(`insert into ${table} values (${part}, ${part})`)
      }
    })
    await kit.holdsInSession('the parts of a table have each of its rows once', async connection => {
      const parts = await listParts(kit, connection, name)
      assert.equal(new Set(parts.map(part => part.name)).size, parts.length, 'each has a name of its own')
      const ids: number[] = []
      for (const { from } of parts)
        for (const row of await query(connection, sql`select ${kit.quote('id')} as n from ${from}`))
          ids.push(Number(row.n))
      assert.deepEqual(
        ids.toSorted((a, b) => a - b),
        [1, 2, 3],
      )
    })
    await kit.holdsInSession('a version stays while nothing changes', async connection => {
      const before = await settledVersions(kit, connection, name)
      assert.deepEqual(await versions(kit, connection, name), before)
    })
    const id = kit.text(kit.quote('id'))
    for (const [change, statement, ids] of [
      ['an insert', `insert into ${table} values (9, 2)`, [2, 9]],
      ['an update', `update ${table} set ${id} = 8 where ${id} = 9`, [2, 8]],
      ['a delete', `delete from ${table} where ${id} = 8`, [2]],
    ] as const)
      await kit.holdsInSession(
        `${change} moves the version of its part, and of no other`,
        async connection => {
          const before = await settledVersions(kit, connection, name)
          await (kit.withoutSql ? write(2, ...ids) : kit.execute(statement))
          const moved = await waitForMove(kit, connection, name, before)
          assert.equal(moved.length, 1, `moved are ${moved.join(', ')}`)
        },
      )
    for (const [what, other] of [
      ['a table without parts', 'conformance_texts'],
      ['a view', 'conformance_view'],
      ['a table that does not exist', 'no_such_table'],
    ] as const)
      await kit.holdsInSession(`the parts of ${what} are not known`, async connection =>
        assert.equal(await failIfHung(connection.listParts!(kit.ref(other), LIMITS)), null),
      )
  },
}

async function listParts(kit: ConformanceKit, connection: Connection, name: string): Promise<TablePart[]> {
  const parts = await failIfHung(connection.listParts!(kit.ref(name), LIMITS))
  assert.ok(parts && parts.length >= 3, 'at least three parts are listed')
  return parts
}

async function versions(
  kit: ConformanceKit,
  connection: Connection,
  name: string,
): Promise<Map<string, string>> {
  const parts = await listParts(kit, connection, name)
  return new Map(parts.map(part => [part.name, part.version]))
}

const POLL_MS = 300
/** Readings without a move after which earlier changes have been counted: engines count late. */
const SETTLED_READINGS = 4

async function settledVersions(kit: ConformanceKit, connection: Connection, name: string) {
  const deadline = Date.now() + STATEMENT_TIMEOUT_MS
  let last = await versions(kit, connection, name)
  for (let same = 0; same < SETTLED_READINGS;) {
    assert.ok(Date.now() < deadline, 'versions stay while nothing changes')
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
    const next = await versions(kit, connection, name)
    same = [...next].every(([part, version]) => last.get(part) === version) ? same + 1 : 0
    last = next
  }
  return last
}

/** The parts whose versions have moved, once one has. */
async function waitForMove(
  kit: ConformanceKit,
  connection: Connection,
  name: string,
  before: ReadonlyMap<string, string>,
): Promise<string[]> {
  const deadline = Date.now() + STATEMENT_TIMEOUT_MS
  for (;;) {
    const now = await versions(kit, connection, name)
    const moved = [...now].filter(([part, version]) => before.get(part) !== version)
    if (moved.length > 0) return moved.map(([part]) => part)
    assert.ok(Date.now() < deadline, 'a version moves')
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}
