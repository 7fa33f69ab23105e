import assert from 'node:assert/strict'
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts'
import { raw, sql } from '../sql.ts'
import type { Connection, Value } from '../connector.ts'
import { fixtureTypes, type Fixture } from './fixture.ts'
import { only, PATIENCE, rejectsWith, settled, type Group } from './kit.ts'

const QUICK = { timeoutMs: PATIENCE }
const ENDS: readonly ConnectorErrorKind[] = ['timeout', 'other', 'network']

/** Texts that break SQL put together from strings. */
const HOSTILE_TEXTS = [
  `'; drop table conformance_values; --`,
  `"double" and 'single'`,
  `back\\slash \\' \\0`,
  '$1 ? :1 @p1 %s {}',
  'line\nbreak\ttab',
  '  padded  ',
  '名前 🦆 \u202Ertl',
  'é'.repeat(1000),
]

/** How a session is opened, used and ended. */
export const sessionGroups: readonly Group[] = [
  {
    name: 'config',
    async run(t, kit) {
      await kit.holds(t, 'a working configuration is accepted and secrets are marked', async () => {
        kit.validate(kit.rawConfig)
        const keys = kit.connector.config.describe().keys as Record<
          string,
          { metas?: { secret?: boolean }[] }
        >
        for (const [name, key] of Object.entries(keys)) {
          if (!/password|token|secret|private_key|credentials/i.test(name)) continue
          assert.ok(
            key.metas?.some(meta => meta.secret),
            `${name} is marked .meta({ secret: true })`,
          )
        }
      })
      await kit.holds(t, 'an unknown key is refused, so that no driver option slips in', async () => {
        const { error } = kit.connector.config.validate({ ...kit.rawConfig, no_such_option: true })
        assert.ok(error, 'refused')
      })
      await kit.holds(t, 'an empty configuration is refused', async () => {
        assert.ok(kit.connector.config.validate({}).error, 'refused')
      })
    },
  },
  {
    name: 'connect',
    async run(t, kit) {
      await kit.holds(t, 'a session opens, answers and closes twice', async () => {
        const connection = await settled(kit.connector.connect(kit.config, kit.options))
        assert.equal(Number(only(await connection.query(sql`select 1 as one`, QUICK))), 1)
        await connection.close()
        await connection.close()
        await rejectsWith(undefined, connection.query(sql`select 1 as one`, QUICK))
      })
      await kit.holds(t, 'test() passes every stage in order', async () => {
        const stages = await settled(kit.connector.test(kit.config, kit.options))
        assert.deepEqual(
          stages.map(stage => [stage.name, stage.status === 'failed' ? stage.message : 'ok']),
          ['reach', 'tls', 'sign_in', 'read_catalog'].map(name => [name, 'ok']),
        )
        for (const stage of stages) assert.ok(stage.message.length > 0 && stage.latencyMs >= 0)
      })
      for (const { name, config, kind } of kit.fixture.refused) {
        await kit.holds(t, `${name} is refused with kind ${kind}`, async () => {
          const error = await rejectsWith(kind, kit.connector.connect(kit.validate(config), kit.options))
          assert.equal(error.engine, kit.connector.name)
        })
        await kit.holds(t, `${name} fails one stage of test() and skips the later ones`, async () => {
          const stages = await settled(kit.connector.test(kit.validate(config), kit.options))
          const failed = stages.findIndex(stage => stage.status === 'failed')
          assert.equal(stages[failed]?.error?.kind, kind)
          assert.ok(
            stages.slice(failed + 1).every(stage => stage.status === 'skipped' && stage.latencyMs === 0),
          )
          assert.ok(stages.slice(0, failed).every(stage => stage.status !== 'failed'))
        })
      }
      await kit.holds(t, 'an egress policy that refuses is obeyed', async () => {
        const refuse = async (): Promise<never> => {
          throw new ConnectorError({ kind: 'egress-refused', engine: '', message: 'not allowed' })
        }
        const options = { ...kit.options, egress: { address: refuse, file: refuse } }
        await rejectsWith('egress-refused', kit.connector.connect(kit.config, options))
      })
    },
  },
  {
    name: 'values',
    async run(t, kit) {
      const types = fixtureTypes(kit.fixture)
      const values = kit.table('conformance_values')
      await kit.holds(t, 'texts are bound, whatever they hold', () =>
        kit.session(async connection => {
          for (const text of HOSTILE_TEXTS) {
            assert.equal(only(await connection.query(sql`select ${text} as v`, QUICK)), text)
            const found = await connection.query(sql`select id from ${values} where label = ${text}`, QUICK)
            assert.deepEqual(found, [])
          }
          assert.equal(
            Number(only(await connection.query(sql`select count(*) as n from ${values}`, QUICK))),
            5,
          )
        }),
      )
      await kit.holds(t, 'numbers and nulls are bound where a column gives the type', () =>
        kit.session(async connection => {
          const ids = async (condition: ReturnType<typeof sql>) =>
            (await connection.query(sql`select id from ${values} where ${condition} order by id`, QUICK)).map(
              row => row.id,
            )
          assert.deepEqual(await ids(sql`id in (${2}, ${4})`), [2, 4])
          assert.deepEqual(await ids(sql`id > ${3.5}`), [4, 5])
          assert.deepEqual(await ids(sql`id < ${3_000_000_000} and ratio > ${0}`), [1, 3, 5])
          assert.deepEqual(await ids(sql`ratio = ${-1.25}`), [2])
          assert.deepEqual(await ids(sql`label = ${null}`), [])
        }),
      )
      await kit.holds(t, 'integers within 2^53 arrive as number, larger ones as string', async () => {
        assert.deepEqual(await column('big'), [
          9007199254740991,
          '9007199254740993',
          '-9223372036854775807',
          0,
          null,
        ])
      })
      await kit.holds(t, 'floats arrive as number', async () => {
        assert.deepEqual(await column('ratio'), [0.5, -1.25, 1e10, null, 2])
      })
      if (types.decimal !== null) {
        await kit.holds(t, 'decimals arrive as string, with every digit', async () => {
          assert.equal((await column('decimal_value'))[0], '123456789012345678.90')
        })
      }
      if (types.date !== null) {
        await kit.holds(t, 'dates arrive as YYYY-MM-DD', async () => {
          assert.equal((await column('date_value'))[0], '2024-02-29')
        })
      }
      if (types.timestamp !== null) {
        await kit.holds(t, 'timestamps arrive as Date, naive ones read as UTC', async () => {
          assert.deepEqual((await column('timestamp_value'))[0], new Date('2024-02-29T12:34:56Z'))
        })
        await kit.holds(t, 'a Date is bound as that moment', () =>
          kit.session(async connection => {
            const moment = new Date('2024-02-29T12:34:56Z')
            const found = await connection.query(
              sql`select id from ${values} where timestamp_value >= ${moment} and timestamp_value <= ${moment}`,
              QUICK,
            )
            assert.deepEqual(found, [{ id: 1 }])
          }),
        )
      }
      await kit.holds(t, 'rows beyond maxRows are not given', () =>
        kit.session(async connection => {
          const rows = await connection.query(sql`select id from ${values} order by id`, {
            ...QUICK,
            maxRows: 2,
          })
          assert.deepEqual(rows, [{ id: 1 }, { id: 2 }])
          assert.equal(
            (await connection.query(sql`select id from ${values}`, { ...QUICK, maxRows: 5 })).length,
            5,
          )
          assert.equal((await connection.query(sql`select id from ${values}`, QUICK)).length, 5)
        }),
      )
      await kit.holds(t, 'a second statement in one text never runs', () =>
        kit.session(async connection => {
          const twice = sql`select 1 as one; drop table ${kit.table('conformance_empty')}`
          await connection.query(twice, QUICK).catch(() => undefined)
          assert.deepEqual(
            await connection.query(sql`select id from ${kit.table('conformance_empty')}`, QUICK),
            [],
          )
        }),
      )
      await kit.holds(t, 'calls that overlap get their own rows', () =>
        kit.session(async connection => {
          const asked = [1, 2, 3, 4, 5]
          const found = await Promise.all(
            asked.map(async id =>
              only(await connection.query(sql`select id from ${values} where id = ${id}`, QUICK)),
            ),
          )
          assert.deepEqual(found, asked)
        }),
      )
      await kit.holds(t, 'a bad statement is blamed by its kind, and the session goes on', () =>
        kit.session(async connection => {
          await rejectsWith('invalid-query', connection.query(sql`select from where`, QUICK))
          await rejectsWith(
            'missing-object',
            connection.query(sql`select * from ${kit.table('no_such_table')}`, QUICK),
          )
          await rejectsWith(
            'missing-object',
            connection.query(sql`select no_such_column from ${values}`, QUICK),
          )
          assert.equal(Number(only(await connection.query(sql`select 1 as one`, QUICK))), 1)
        }),
      )

      async function column(name: string): Promise<Value[]> {
        return kit.session(async connection => {
          const rows = await connection.query(sql`select ${raw(name)} as v from ${values} order by id`, QUICK)
          return rows.map(row => row.v as Value)
        })
      }
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
            await rejectsWith('timeout', connection.query(kit.fixture.slow, { timeoutMs: 300 }))
            await goesOnOrIsClosed(connection)
            await gone(kit.fixture)
          }),
      )
      await kit.holds(t, 'the time of one statement is not that of the next', () =>
        kit.session(async connection => {
          const values = kit.table('conformance_values')
          for (const timeoutMs of [PATIENCE, 1000, PATIENCE]) {
            assert.equal((await connection.query(sql`select id from ${values}`, { timeoutMs })).length, 5)
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
          const error = await rejectsWith(
            ENDS,
            connection.query(kit.fixture.slow, { timeoutMs: PATIENCE * 2, signal }),
          )
          assert.ok(error.code === 'ABORTED' || error.kind === 'timeout', 'code ABORTED or kind timeout')
          await goesOnOrIsClosed(connection)
          await gone(kit.fixture)
        }),
      )
      await kit.holds(t, 'a statement whose signal has aborted is not run', () =>
        kit.session(async connection => {
          const signal = AbortSignal.abort()
          await rejectsWith(ENDS, connection.query(sql`select 1 as one`, { ...QUICK, signal }))
          await goesOnOrIsClosed(connection)
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
          const texts = kit.table('conformance_texts')
          const count = async () =>
            Number(only(await connection.query(sql`select count(*) as n from ${texts}`, QUICK)))
          const before = await count()
          const writes = [
            sql`insert into ${texts} (id, label) values (${99}, ${'x'})`,
            sql`update ${texts} set label = ${'x'}`,
            sql`delete from ${texts}`,
            sql`create table ${kit.table('conformance_written')} (id ${raw(fixtureTypes(kit.fixture).integer)})`,
            sql`drop table ${texts}`,
          ]
          for (const write of writes) await rejectsWith(undefined, connection.query(write, QUICK))
          assert.equal(await count(), before)
        }),
      )
    },
  },
]

/** After a statement was ended, the session answers or says that it is closed. */
async function goesOnOrIsClosed(connection: Connection): Promise<void> {
  const answer = connection.query(sql`select 1 as one`, QUICK).then(
    rows => Number(only(rows)),
    (error: unknown) => error,
  )
  const result = await settled(answer)
  assert.ok(result === 1 || result instanceof ConnectorError, `usable or closed, not ${String(result)}`)
}

/** Waits until the server runs none of the connector's statements. */
async function gone(fixture: Fixture): Promise<void> {
  const deadline = Date.now() + 5000
  while (fixture.running && (await fixture.running()) > 0) {
    assert.ok(Date.now() < deadline, 'the statement still runs in the server')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
