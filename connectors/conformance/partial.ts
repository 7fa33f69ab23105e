import assert from 'node:assert/strict'
import { tablePath, type TableInfo, type TableRef } from '../catalog.ts'
import type { Connection } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { fixtureTypes } from './fixture.ts'
import { settled, type Group, type Kit } from './kit.ts'
import { gone } from './session.ts'
import { goesOnOrIsClosed } from './statements.ts'

/** When an introspection is given up, in milliseconds after it began: at once, and in the midst of it. */
const MOMENTS = [0, 1, 5, 20]

/** What becomes of an introspection that does not see everything. */
export const partialGroups: readonly Group[] = [
  {
    name: 'partial catalogs',
    async run(t, kit) {
      const whole = await settled(kit.session(connection => connection.introspect()))
      await kit.holds(
        t,
        'an introspection that is given up rejects, and the session goes on or is closed',
        () => giveUp(kit, whole),
      )
      const promises = await kit.session(async ({ hidden }) => hidden !== undefined)
      const absent = promises ? undefined : 'the engine tells of no hidden tables'
      await kit.holds(t, 'a table that was dropped is not hidden', () => dropTable(kit), absent)
      const { hides } = kit.fixture
      await kit.holds(
        t,
        'a table on which all rights were lost is hidden',
        async () => {
          const { table, config = kit.rawConfig } = (await hides?.()) ?? {}
          assert.ok(table)
          await kit.session(async connection => {
            const shown = (await connection.introspect()).map(tablePath)
            assert.ok(!shown.includes(tablePath(table)), 'the table is not shown')
            const gone = { ...table, name: 'no_such_table' }
            const reason = (await hiddenOf(connection, [gone, table])).get(tablePath(table))
            assert.ok(reason instanceof ConnectorError && reason.kind === 'permission', 'kind permission')
          }, kit.validate(config))
        },
        absent ?? (hides ? undefined : 'the fixture hides nothing'),
      )
    },
  },
]

async function giveUp(kit: Kit, whole: readonly TableInfo[]): Promise<void> {
  await kit.session(connection => rejects(connection, connection.introspect({ signal: AbortSignal.abort() })))
  await kit.session(connection => {
    const giving = new AbortController()
    const reading = connection.introspect({ signal: giving.signal })
    giving.abort()
    return rejects(connection, reading)
  })
  for (const moment of MOMENTS) {
    await kit.session(async connection => {
      const reading = connection.introspect({ signal: AbortSignal.timeout(moment) })
      // It may have been faster; then it must be whole.
      const outcome = await settled(reading.catch((error: unknown) => error))
      if (Array.isArray(outcome)) assert.deepEqual(outcome.map(tablePath), whole.map(tablePath))
      else assertGivenUp(outcome)
      await goesOnOrIsClosed(connection)
    })
  }
  await gone(kit)
}

async function rejects(connection: Connection, reading: Promise<unknown>): Promise<void> {
  assertGivenUp(await settled(reading.catch((error: unknown) => error)))
  await goesOnOrIsClosed(connection)
}

function assertGivenUp(outcome: unknown): void {
  assert.ok(outcome instanceof ConnectorError, `rejected with a ConnectorError, not ${String(outcome)}`)
  assert.ok(outcome.code === 'ABORTED' || outcome.kind === 'timeout', 'code ABORTED or kind timeout')
}

async function dropTable(kit: Kit): Promise<void> {
  const { fixture } = kit
  const [ref, table] = [kit.ref('conformance_dropped'), kit.text(kit.table('conformance_dropped'))]
  await fixture.execute(
    `create table ${table} (${kit.text(kit.quote('id'))} ${fixtureTypes(fixture).integer})`,
  )
  await kit.session(async connection => {
    assert.equal((await connection.introspect({ tables: [ref] })).length, 1, 'it is shown before')
    await fixture.execute(`drop table ${table}`)
    assert.deepEqual(await connection.introspect({ tables: [ref] }), [], 'and not after')
    assert.deepEqual([...(await hiddenOf(connection, [ref, kit.ref('no_such_table')]))], [])
    const elsewhere = { ...ref, catalog: 'no_such_catalog' }
    assert.deepEqual(
      [...(await hiddenOf(connection, [elsewhere]))],
      [],
      'nor what the configuration does not mean',
    )
    assert.deepEqual([...(await hiddenOf(connection, []))], [])
  })
}

async function hiddenOf(connection: Connection, tables: TableRef[]): Promise<Map<string, ConnectorError>> {
  return (await settled(connection.hidden?.(tables) ?? Promise.resolve(undefined))) ?? new Map()
}
