import assert from 'node:assert/strict'
import { getDefaultResultOrder } from 'node:dns'
import https from 'node:https'
import tls from 'node:tls'
import { assertStages } from '../answers/sessions.ts'
import type { ConnectOptions } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { sql } from '../sql.ts'
import { assertRejects, failIfHung, query, queryValue, waitForZero } from './kit.ts'
import type { ConformanceKit, PromiseGroup } from './kit.ts'

/** Sessions that are opened and closed one after the other. */
const SESSION_COUNT = 20

/** How a session is opened and closed. */
export const sessionGroups: readonly PromiseGroup[] = [
  {
    name: 'connect',
    async run(kit) {
      const { connector, fixture } = kit
      const before = processState()
      await kit.holds('a session opens, answers and closes twice', async () => {
        const connection = await failIfHung(connector.connect(kit.config, kit.options))
        assert.equal(Number(await queryValue(connection, sql`select 1 as one`)), 1)
        await connection.close()
        await connection.close()
        await assertRejects(undefined, query(connection, sql`select 1 as one`))
      })
      await kit.holds('test() passes every stage in order', async () => {
        const stages = assertStages(connector.name, await failIfHung(connector.test(kit.config, kit.options)))
        assert.deepEqual(
          stages.map(stage => [stage.name, stage.status === 'failed' ? stage.message : 'ok']),
          ['reach', 'tls', 'sign_in', 'read_catalog'].map(name => [name, 'ok']),
        )
        for (const stage of stages) assert.ok(stage.message.length > 0 && stage.latencyMs >= 0)
      })
      await kit.holds('an egress policy that refuses is obeyed', async () => {
        const refuse = async (): Promise<never> => {
          throw new ConnectorError({ kind: 'egress-refused', engine: '', message: 'not allowed' })
        }
        const options = { ...kit.options, egress: { address: refuse, file: refuse, folder: refuse } }
        await assertRejects('egress-refused', openOnce(kit, options))
      })
      await kit.holds('a session whose signal has aborted is not opened', async () => {
        const options = { ...kit.options, signal: AbortSignal.abort() }
        await assertRejects(undefined, openOnce(kit, options))
      })
      await kit.holds('closing ends the statement that runs and refuses the one that waits', async () => {
        const connection = await failIfHung(connector.connect(kit.config, kit.options))
        const asked = [fixture.slow, sql`select 1 as one`].map(statement =>
          assertRejects(undefined, query(connection, statement)),
        )
        // Long enough for the statement to have reached the server.
        await new Promise(resolve => setTimeout(resolve, 200))
        await failIfHung(Promise.all([connection.close(), ...asked]))
        await waitForStatementsToEnd(kit)
      })
      await kit.holds(`${SESSION_COUNT} sessions, one after the other, leave nothing`, async () => {
        for (let count = 0; count < SESSION_COUNT; count++) {
          await kit.query(sql`select 1 as one`)
        }
        if (fixture.countSessions) await waitForZero(fixture.countSessions, 'sessions are left in the server')
      })
      await kit.holds('no setting of the process is touched', async () => {
        assert.deepEqual(processState(), before)
      })
    },
  },
  {
    name: 'transactions',
    async run(kit) {
      const { countTransactions: transactions } = kit.fixture
      await kit.holdsUnless(
        transactions ? undefined : 'the fixture counts no transactions',
        'none is open between statements and after errors',
        () =>
          kit.session(async connection => {
            const closed = async (after: string) => {
              if (transactions) await waitForZero(transactions, `transactions are open after ${after}`)
            }
            const statement = sql`select ${kit.quote('id')} from ${kit.table('conformance_values')}`
            await query(connection, statement)
            await closed('a statement')
            await query(connection, statement, { maxRows: 1 })
            await closed('some of the rows')
            await connection.introspect({ tables: [] })
            await connection.introspect({ tables: [kit.ref('conformance_values')] })
            await closed('introspecting')
            await assertRejects('invalid-query', query(connection, sql`select (`))
            await closed('an error')
            await assertRejects('timeout', connection.query(kit.fixture.slow, { timeoutMs: 300 }))
            await closed('a timeout')
          }),
      )
    },
  },
]

/** A session that should not have been opened is closed at once, so that no later promise stumbles over it. */
async function openOnce({ connector, config }: ConformanceKit, options: ConnectOptions): Promise<void> {
  const connection = await connector.connect(config, options)
  await connection.close()
}

/** Waits until the server runs none of the connector's statements. */
export async function waitForStatementsToEnd({ fixture }: ConformanceKit): Promise<void> {
  if (fixture.countRunning) await waitForZero(fixture.countRunning, 'statements still run in the server')
}

/** Process-wide settings that a driver might change. */
function processState() {
  return {
    folder: process.cwd(),
    oldestTls: tls.DEFAULT_MIN_VERSION,
    ciphers: tls.DEFAULT_CIPHERS,
    addresses: getDefaultResultOrder(),
    agent: { ...https.globalAgent.options },
    numbers: Object.keys(BigInt.prototype),
    dates: Object.keys(Date.prototype),
  }
}
