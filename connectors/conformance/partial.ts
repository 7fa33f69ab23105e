import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { tablePath, type ConstraintInfo, type TableInfo, type TableRef } from '../catalog.ts'
import type { Connection, ReducedTable } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import type { HiddenColumns } from './fixture.ts'
import { failIfHung, type ConformanceKit, type PromiseGroup } from './kit.ts'
import { waitForStatementsToEnd } from './session.ts'
import { assertUsableOrClosed } from './statements.ts'

/** When an introspection is given up, in milliseconds after it began: at once, and in the midst of it. */
const ABORT_DELAYS_MS = [0, 1, 5, 20]

/** What becomes of an introspection that does not see everything. */
export const partialGroups: readonly PromiseGroup[] = [
  {
    name: 'partial catalogs',
    async run(kit) {
      const whole = await failIfHung(kit.session(connection => connection.introspect()))
      await kit.holds('an introspection that is given up rejects, and the session goes on or is closed', () =>
        abortIntrospection(kit, whole),
      )
      const { findHiddenTables, findHiddenParts } = await kit.session(async connection => connection)
      const absent = findHiddenTables ? undefined : 'the engine finds no hidden tables'
      await kit.holdsUnless(absent, 'a table that was dropped is not hidden', () => dropTable(kit))
      const { hideTable: hides } = kit.fixture
      await kit.holdsUnless(
        absent ?? (hides ? undefined : 'the fixture hides nothing'),
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
      )
      const { hideColumns: hidesColumns } = kit.fixture
      await kit.holdsUnless(
        hidesColumns ? undefined : 'the fixture has no rights on columns',
        'columns whose privilege is lost are never removals, nor are their keys',
        async () => loseColumns(kit, await hidesColumns!()),
      )
      await kit.holdsUnless(
        findHiddenParts ? undefined : 'the engine asks for no hidden columns',
        'a column that was dropped is not hidden',
        () => dropColumn(kit),
      )
    },
  },
]

async function abortIntrospection(kit: ConformanceKit, whole: readonly TableInfo[]): Promise<void> {
  await kit.session(connection =>
    assertAborts(connection, connection.introspect({ signal: AbortSignal.abort() })),
  )
  await kit.session(connection => {
    const giving = new AbortController()
    const reading = connection.introspect({ signal: giving.signal })
    giving.abort()
    return assertAborts(connection, reading)
  })
  for (const moment of ABORT_DELAYS_MS) {
    await kit.session(async connection => {
      const reading = connection.introspect({ signal: AbortSignal.timeout(moment) })
      // It may have been faster; then it must be whole.
      const outcome = await failIfHung(reading.catch((error: unknown) => error))
      if (Array.isArray(outcome)) assert.deepEqual(outcome.map(tablePath), whole.map(tablePath))
      else assertGivenUp(outcome)
      await assertUsableOrClosed(connection)
    })
  }
  await waitForStatementsToEnd(kit)
}

async function assertAborts(connection: Connection, reading: Promise<unknown>): Promise<void> {
  assertGivenUp(await failIfHung(reading.catch((error: unknown) => error)))
  await assertUsableOrClosed(connection)
}

function assertGivenUp(outcome: unknown): void {
  assert.ok(outcome instanceof ConnectorError, `rejected with a ConnectorError, not ${String(outcome)}`)
  assert.ok(outcome.code === 'ABORTED' || outcome.kind === 'timeout', 'code ABORTED or kind timeout')
}

async function dropTable(kit: ConformanceKit): Promise<void> {
  const ref = kit.ref('conformance_dropped')
  const table = await kit.createTable(ref.name, 'id')
  await kit.session(async connection => {
    assert.equal((await connection.introspect({ tables: [ref] })).length, 1, 'it is shown before')
    await kit.execute(`drop table ${table}`)
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

/** Compares what two accounts see of a table: the one that may read it whole, and the one that may read a part. */
async function loseColumns(kit: ConformanceKit, { table, config }: HiddenColumns): Promise<void> {
  const read = async (connection: Connection) => {
    const [found] = await failIfHung(connection.introspect({ tables: [table] }))
    assert.ok(found, `${tablePath(table)} is shown`)
    return found
  }
  const known = await kit.session(read)
  assert.ok(known.constraints.length > 0 || !kit.connector.capabilities.constraints, 'it has a key')
  await kit.session(async connection => {
    const shown = await read(connection)
    const names = new Set(shown.columns.map(({ name }) => name))
    const missingColumns = known.columns.map(({ name }) => name).filter(name => !names.has(name))
    const isShown = (constraint: ConstraintInfo) =>
      shown.constraints.some(
        ({ name, columns }) => name === constraint.name && isDeepStrictEqual(columns, constraint.columns),
      )
    const missingKeys = known.constraints.filter(constraint => !isShown(constraint))
    if (missingColumns.length + missingKeys.length === 0) return
    const { catalog, schema, name } = table
    const answer = await failIfHung(
      connection.findHiddenParts?.([{ catalog, schema, name, missingColumns }]) ?? Promise.resolve(undefined),
    )
    const parts = answer?.get(tablePath(table))
    assert.deepEqual(parts?.columns, missingColumns, 'the missing columns are hidden')
    assert.equal(parts?.reason.kind, 'permission')
    for (const { name, type, columns } of missingKeys) {
      const isExplained =
        columns.some(column => parts?.columns.includes(column)) ||
        (type === 'foreign_key' && parts?.foreignKeys === true)
      assert.ok(isExplained, `the key ${name} is hidden with a column`)
    }
  }, kit.validate(config))
}

async function dropColumn(kit: ConformanceKit): Promise<void> {
  const ref = kit.ref('conformance_lesser')
  const table = await kit.createTable(ref.name, 'kept', 'dropped')
  await kit.execute(`alter table ${table} drop column ${kit.text(kit.quote('dropped'))}`)
  await kit.session(async connection => {
    const ask = async (table: ReducedTable[]) => [
      ...((await failIfHung(connection.findHiddenParts!(table))) ?? []),
    ]
    assert.deepEqual(await ask([{ ...ref, missingColumns: ['dropped', `it's "no" \`column\``] }]), [])
    const elsewhere = { ...ref, catalog: 'no_such_catalog', missingColumns: ['kept'] }
    assert.deepEqual(await ask([elsewhere]), [], 'nor what the configuration does not mean')
    assert.deepEqual(await ask([]), [])
  })
}

async function hiddenOf(connection: Connection, tables: TableRef[]): Promise<Map<string, ConnectorError>> {
  return (await failIfHung(connection.findHiddenTables?.(tables) ?? Promise.resolve(undefined))) ?? new Map()
}
