import assert from 'node:assert/strict'
import type { Connection } from '../connector.ts'
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts'
import { raw, sql, type Sql } from '../sql.ts'
import { fixtureTypes, TEXTS } from './fixture.ts'
import { STATEMENT_TIMEOUT_MS, assertRejects, failIfHung, query, queryValue } from './kit.ts'
import type { PromiseGroup } from './kit.ts'
import { waitForStatementsToEnd } from './session.ts'

type Validate = (statement: Sql) => Promise<void>

const CANCEL_ERROR_KINDS: readonly ConnectorErrorKind[] = ['timeout', 'other', 'network']

/** How statements fail, are ended and are kept from writing. */
export const statementGroups: readonly PromiseGroup[] = [
  {
    name: 'statements',
    async run(kit) {
      const values = kit.table('conformance_values')
      const id = kit.quote('id')
      await kit.holdsInSession('a second statement in one text never runs', async connection => {
        const empty = kit.table('conformance_empty')
        const twice = sql`select 1 as one; drop table ${empty}`
        await query(connection, twice).catch(() => undefined)
        assert.deepEqual(await query(connection, sql`select ${id} from ${empty}`), [])
      })
      await kit.holdsInSession('calls that overlap get their own rows', async connection => {
        const asked = [1, 2, 3, 4, 5]
        const find = (each: number) =>
          queryValue(connection, sql`select ${id} from ${values} where ${id} = ${each}`)
        assert.deepEqual(await Promise.all(asked.map(find)), asked)
      })
      await kit.holdsInSession(
        'a bad statement is blamed by its kind, and the session goes on',
        async connection => {
          await assertRejects('invalid-query', query(connection, sql`select (`))
          const nowhere = sql`select * from ${kit.table('no_such_table')}`
          await assertRejects('missing-object', query(connection, nowhere))
          const nothing = sql`select ${kit.quote('no_such_column')} from ${values}`
          await assertRejects('missing-object', query(connection, nothing))
          assert.equal(Number(await queryValue(connection, sql`select 1 as one`)), 1)
        },
      )
      await kit.holdsInSession('no error quotes what a statement has read', async connection => {
        const [id, label] = ['id', 'label'].map(kit.quote)
        const integer = raw(fixtureTypes(kit.fixture).integer)
        const [text] = TEXTS
        // Where the engine converts it to some number, there is no error.
        const converted = query(
          connection,
          sql`select cast(${label} as ${integer}) as n from ${kit.table('conformance_texts')} where ${id} = ${1}`,
        )
        const error = await converted.then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        assert.ok(error === undefined || error instanceof ConnectorError, 'a ConnectorError')
        for (let each: unknown = error; each instanceof Error; each = each.cause)
          assert.ok(!each.message.includes(text), `no ${text} in ${each.message.replaceAll(text, '…')}`)
      })
    },
  },
  {
    name: 'validation',
    async run(kit) {
      const values = kit.table('conformance_values')
      const isAbsent = await kit.session(async connection => connection.validate === undefined)
      const holds = (promise: string, check: (validate: Validate) => Promise<void>) =>
        kit.holdsUnless(isAbsent ? 'the connection has no validate' : undefined, promise, () =>
          kit.session(connection =>
            check(statement => connection.validate!(statement, { timeoutMs: STATEMENT_TIMEOUT_MS })),
          ),
        )
      await holds('a statement without a fault is accepted', async validate => {
        await validate(sql`select ${kit.quote('id')} from ${values} where ${kit.quote('id')} > ${1}`)
        await validate(sql`select count(*) as n from ${values}`)
      })
      await holds('errors of syntax and unknown names are refused by their kind', async validate => {
        await assertRejects('invalid-query', validate(sql`select (`))
        const nowhere = sql`select * from ${kit.table('no_such_table')}`
        await assertRejects('missing-object', validate(nowhere))
        const nothing = sql`select ${kit.quote('no_such_column')} from ${values}`
        await assertRejects('missing-object', validate(nothing))
        await validate(sql`select 1 as one`)
      })
      await holds('what is accepted is not run', async validate => {
        await failIfHung(validate(kit.fixture.slow))
        await waitForStatementsToEnd(kit)
      })
    },
  },
  {
    name: 'timeout',
    async run(kit) {
      await kit.holdsInSession(
        'a statement over its time is rejected with kind timeout, and the session is not hung',
        async connection => {
          await assertRejects('timeout', connection.query(kit.fixture.slow, { timeoutMs: 300 }))
          await assertUsableOrClosed(connection)
          await waitForStatementsToEnd(kit)
        },
      )
      await kit.holdsInSession('the time of one statement is not that of the next', async connection => {
        const values = sql`select ${kit.quote('id')} from ${kit.table('conformance_values')}`
        for (const timeoutMs of [STATEMENT_TIMEOUT_MS, 5000, STATEMENT_TIMEOUT_MS]) {
          assert.equal((await connection.query(values, { timeoutMs })).length, 5)
        }
      })
    },
  },
  {
    name: 'cancel',
    needs: 'cancel',
    async run(kit) {
      await kit.holdsInSession(
        'a running statement ends in the server when its signal aborts',
        async connection => {
          const signal = AbortSignal.timeout(300)
          const slow = query(connection, kit.fixture.slow, { timeoutMs: STATEMENT_TIMEOUT_MS * 2, signal })
          const error = await assertRejects(CANCEL_ERROR_KINDS, slow)
          assert.ok(error.code === 'ABORTED' || error.kind === 'timeout', 'code ABORTED or kind timeout')
          await assertUsableOrClosed(connection)
          await waitForStatementsToEnd(kit)
        },
      )
      await kit.holdsInSession('a statement whose signal has aborted is not run', async connection => {
        const signal = AbortSignal.abort()
        await assertRejects(CANCEL_ERROR_KINDS, query(connection, sql`select 1 as one`, { signal }))
        await assertUsableOrClosed(connection)
      })
    },
  },
  {
    name: 'readOnly',
    needs: 'readOnly',
    async run(kit) {
      await kit.holdsInSession('the engine itself refuses to write', async connection => {
        const [id, label] = ['id', 'label'].map(kit.quote)
        const texts = kit.table('conformance_texts')
        const integer = raw(fixtureTypes(kit.fixture).integer)
        const count = async () =>
          Number(await queryValue(connection, sql`select count(*) as n from ${texts}`))
        const before = await count()
        const writes = [
          sql`insert into ${texts} (${id}, ${label}) values (${99}, ${'x'})`,
          sql`update ${texts} set ${label} = ${'x'} where 1 = 1`,
          sql`delete from ${texts} where 1 = 1`,
          sql`create table ${kit.table('conformance_written')} (${id} ${integer})`,
          sql`drop table ${texts}`,
        ]
        for (const write of writes) await assertRejects(undefined, query(connection, write))
        assert.equal(await count(), before)
      })
    },
  },
]

/** After a statement was ended, the session answers or says that it is closed. */
export async function assertUsableOrClosed(connection: Connection): Promise<void> {
  const answer = queryValue(connection, sql`select 1 as one`).then(Number)
  const result = await failIfHung(answer.catch((error: unknown) => error))
  assert.ok(result === 1 || result instanceof ConnectorError, `usable or closed, not ${String(result)}`)
}
