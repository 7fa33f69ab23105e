import assert from 'node:assert/strict'
import type { Connection } from '../connector.ts'
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts'
import { raw, sql } from '../sql.ts'
import { fixtureTypes } from './fixture.ts'
import {
  singleValue,
  STATEMENT_TIMEOUT_MS,
  QUERY_OPTIONS,
  assertRejects,
  failIfHung,
  type PromiseGroup,
} from './kit.ts'
import { waitForStatementsToEnd } from './session.ts'

const CANCEL_ERROR_KINDS: readonly ConnectorErrorKind[] = ['timeout', 'other', 'network']

/** How statements fail, are ended and are kept from writing. */
export const statementGroups: readonly PromiseGroup[] = [
  {
    name: 'statements',
    async run(t, kit) {
      const values = kit.table('conformance_values')
      const id = kit.quote('id')
      await kit.holds(t, 'a second statement in one text never runs', () =>
        kit.session(async connection => {
          const empty = kit.table('conformance_empty')
          const twice = sql`select 1 as one; drop table ${empty}`
          await connection.query(twice, QUERY_OPTIONS).catch(() => undefined)
          assert.deepEqual(await connection.query(sql`select ${id} from ${empty}`, QUERY_OPTIONS), [])
        }),
      )
      await kit.holds(t, 'calls that overlap get their own rows', () =>
        kit.session(async connection => {
          const asked = [1, 2, 3, 4, 5]
          const found = await Promise.all(
            asked.map(async each =>
              singleValue(
                await connection.query(sql`select ${id} from ${values} where ${id} = ${each}`, QUERY_OPTIONS),
              ),
            ),
          )
          assert.deepEqual(found, asked)
        }),
      )
      await kit.holds(t, 'a bad statement is blamed by its kind, and the session goes on', () =>
        kit.session(async connection => {
          await assertRejects('invalid-query', connection.query(sql`select (`, QUERY_OPTIONS))
          const nowhere = sql`select * from ${kit.table('no_such_table')}`
          await assertRejects('missing-object', connection.query(nowhere, QUERY_OPTIONS))
          const nothing = sql`select ${kit.quote('no_such_column')} from ${values}`
          await assertRejects('missing-object', connection.query(nothing, QUERY_OPTIONS))
          assert.equal(Number(singleValue(await connection.query(sql`select 1 as one`, QUERY_OPTIONS))), 1)
        }),
      )
    },
  },
  {
    name: 'timeout',
    async run(t, kit) {
      await kit.holds(
        t,
        'a statement over its time is rejected with kind timeout, and the session is not hung',
        () =>
          kit.session(async connection => {
            await assertRejects('timeout', connection.query(kit.fixture.slow, { timeoutMs: 300 }))
            await assertUsableOrClosed(connection)
            await waitForStatementsToEnd(kit)
          }),
      )
      await kit.holds(t, 'the time of one statement is not that of the next', () =>
        kit.session(async connection => {
          const values = sql`select ${kit.quote('id')} from ${kit.table('conformance_values')}`
          for (const timeoutMs of [STATEMENT_TIMEOUT_MS, 5000, STATEMENT_TIMEOUT_MS]) {
            assert.equal((await connection.query(values, { timeoutMs })).length, 5)
          }
        }),
      )
    },
  },
  {
    name: 'cancel',
    needs: 'cancel',
    async run(t, kit) {
      await kit.holds(t, 'a running statement ends in the server when its signal aborts', () =>
        kit.session(async connection => {
          const signal = AbortSignal.timeout(300)
          const error = await assertRejects(
            CANCEL_ERROR_KINDS,
            connection.query(kit.fixture.slow, { timeoutMs: STATEMENT_TIMEOUT_MS * 2, signal }),
          )
          assert.ok(error.code === 'ABORTED' || error.kind === 'timeout', 'code ABORTED or kind timeout')
          await assertUsableOrClosed(connection)
          await waitForStatementsToEnd(kit)
        }),
      )
      await kit.holds(t, 'a statement whose signal has aborted is not run', () =>
        kit.session(async connection => {
          const signal = AbortSignal.abort()
          await assertRejects(
            CANCEL_ERROR_KINDS,
            connection.query(sql`select 1 as one`, { ...QUERY_OPTIONS, signal }),
          )
          await assertUsableOrClosed(connection)
        }),
      )
    },
  },
  {
    name: 'readOnly',
    needs: 'readOnly',
    async run(t, kit) {
      await kit.holds(t, 'the engine itself refuses to write', () =>
        kit.session(async connection => {
          const [id, label] = ['id', 'label'].map(kit.quote)
          const texts = kit.table('conformance_texts')
          const integer = raw(fixtureTypes(kit.fixture).integer)
          const count = async () =>
            Number(
              singleValue(await connection.query(sql`select count(*) as n from ${texts}`, QUERY_OPTIONS)),
            )
          const before = await count()
          const writes = [
            sql`insert into ${texts} (${id}, ${label}) values (${99}, ${'x'})`,
            sql`update ${texts} set ${label} = ${'x'} where 1 = 1`,
            sql`delete from ${texts} where 1 = 1`,
            sql`create table ${kit.table('conformance_written')} (${id} ${integer})`,
            sql`drop table ${texts}`,
          ]
          for (const write of writes) await assertRejects(undefined, connection.query(write, QUERY_OPTIONS))
          assert.equal(await count(), before)
        }),
      )
    },
  },
]

/** After a statement was ended, the session answers or says that it is closed. */
export async function assertUsableOrClosed(connection: Connection): Promise<void> {
  const answer = connection.query(sql`select 1 as one`, QUERY_OPTIONS).then(
    rows => Number(singleValue(rows)),
    (error: unknown) => error,
  )
  const result = await failIfHung(answer)
  assert.ok(result === 1 || result instanceof ConnectorError, `usable or closed, not ${String(result)}`)
}
