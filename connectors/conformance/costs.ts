import assert from 'node:assert/strict'
import type { Connection, CostEstimate } from '../connector.ts'
import { sql, type Sql } from '../sql.ts'
import { ROW_COUNT } from './fixture.ts'
import { assertRejects, failIfHung, STATEMENT_TIMEOUT_MS, type PromiseGroup } from './kit.ts'
import { waitForStatementsToEnd } from './session.ts'

/** How far an estimate may be from what is there: engines keep samples and whole pages. */
const FACTOR = 2

/** What statements would read, and that reading has a limit. */
export const costGroups: readonly PromiseGroup[] = [
  {
    name: 'costEstimates',
    needs: 'costEstimates',
    async run(kit) {
      const rows = kit.table('conformance_rows')
      for (const statement of kit.fixture.analyze?.(kit.text(rows)) ?? [`analyze ${kit.text(rows)}`])
        await kit.execute(statement)
      await kit.holdsInSession('what a statement would read is estimated, or null', async connection => {
        const whole = await estimate(connection, sql`select max(${kit.quote('label')}) as m from ${rows}`)
        if (whole.rows !== null)
          assert.ok(
            whole.rows >= ROW_COUNT / FACTOR && whole.rows <= ROW_COUNT * FACTOR,
            `about ${ROW_COUNT} rows, not ${whole.rows}`,
          )
        if (whole.bytes !== null) assert.ok(whole.bytes >= 0, `no ${whole.bytes} bytes`)
      })
      await kit.holdsInSession('a statement that reads no table reads nothing', async connection => {
        const { rows: none, bytes } = await estimate(connection, sql`select 1 as one`)
        assert.ok(!none && !bytes, `neither ${none} rows nor ${bytes} bytes`)
      })
      await kit.holdsInSession('what is estimated is not run', async connection => {
        await failIfHung(estimate(connection, kit.fixture.slow))
        await waitForStatementsToEnd(kit)
      })
      await kit.holdsInSession('an unknown table is refused, and the session goes on', async connection => {
        await assertRejects(
          'missing-object',
          estimate(connection, sql`select count(*) as n from ${kit.table('no_such_table')}`),
        )
        await estimate(connection, sql`select count(*) as n from ${rows} where ${kit.quote('id')} > ${1}`)
      })
    },
  },
  {
    name: 'dryRuns',
    needs: 'dryRuns',
    async run(kit) {
      await kit.holdsInSession('names and types are resolved where nothing is planned', async connection => {
        const values = kit.table('conformance_values')
        const nothing = sql`select ${kit.quote('no_such_column')} from ${values}`
        await assertRejects('missing-object', estimate(connection, nothing))
      })
    },
  },
  {
    name: 'byteLimit',
    needs: 'byteLimit',
    async run(kit) {
      const { connector, config, options } = kit
      await kit.holds('a statement that would read more is refused by the engine', async () => {
        const connection = await connector.connect(config, { ...options, maxBytesPerStatement: 1 })
        try {
          const label = kit.quote('label')
          const read = sql`select max(${label}) as m from ${kit.table('conformance_rows')}`
          await assertRejects('invalid-query', connection.query(read, { timeoutMs: STATEMENT_TIMEOUT_MS }))
        } finally {
          await connection.close()
        }
      })
    },
  },
]

async function estimate(connection: Connection, statement: Sql): Promise<CostEstimate> {
  const found = await connection.estimateCost!(statement, { timeoutMs: STATEMENT_TIMEOUT_MS })
  for (const number of [found.rows, found.bytes])
    assert.ok(number === null || Number.isFinite(number), `a number or null, not ${String(number)}`)
  return found
}
