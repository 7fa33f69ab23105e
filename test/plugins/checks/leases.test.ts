import t from 'tap'
import { checkJob } from '../../../plugins/checks/check-job.ts'
import { untilBlocked } from '../../helpers/lock-waits.ts'
import { logPostgresql } from '../../helpers/statement-log.ts'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. No sweep runs but those that a test asks for. */
const stage = await makeStage(t)

const TABLES = ['customers', 'items', 'orders'] as const
const SLOT = new Date('2026-01-05T10:20:30.123Z')

/** Three tables with a rule each, all of them due. */
async function dueWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const statements = TABLES.map(table => `create table ${table} as select 1 as id, 'ann@x.org' as email`)
  const world = await makeWorldOn(t, stage, statements)
  await discover(world)
  const { app, tenant, asset, source } = world
  for (const table of TABLES) {
    const body = { table_path: table, column_name: 'email', rule_type: 'NOT_NULL', check_interval: 'hourly' }
    const { status } = await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, body)
    if (status !== 201) throw new Error(`The rule of ${table} was answered with ${status}`)
  }
  await app.query('update checks set next_run_at = $1', [SLOT])
  return {
    ...world,
    scans: app.server.plugins.checks,
    /** Starts a check of the whole source, which waits in its first table until it is let go on. */
    async blockedCheck() {
      await source.query('begin')
      await source.query('lock table customers in access exclusive mode')
      const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/check`)
      await untilBlocked(source)
      return {
        runId: String(body.data.job_id),
        async settle() {
          await source.query('commit')
          return app.server.jobs.settled(checkJob, ({ run_id: id }) => id === body.data.job_id)
        },
      }
    },
    /** The slots that results were stored for, by table. */
    slots: () =>
      app.query(
        `select t.name, array_agg(r.scheduled_for order by r.id) as slots
         from check_results r join checks v on v.id = r.check_id join tables t on t.id = v.table_id
         group by t.name order by t.name`,
      ),
    /** The due times that are still open. */
    open: () => app.query('select from checks where next_run_at <= now() or running_slot is not null'),
    leases: () => app.query('select from check_leases'),
  }
}

const ONCE_EACH = TABLES.map(name => ({ name, slots: [SLOT] }))

t.test('a sweep beside a check of a source reads none of its tables a second time', async t => {
  const { source, scans, blockedCheck, slots, leases, open } = await dueWorld(t)
  const log = await logPostgresql(source)
  const check = await blockedCheck()
  t.same(await scans.dispatch(), { tables: 0 })
  t.equal(await check.settle(), 'completed')
  t.same(await scans.dispatch(), { tables: 0 })
  t.same(await slots(), ONCE_EACH)
  t.same(await leases(), [])
  const { statements } = await log.take()
  const reads = (table: string) =>
    statements.filter(({ text }) => new RegExp(`from (public\\.)?${table}`).test(text))
  for (const table of TABLES) t.equal(reads(table).length, 1, table)
  t.same(await open(), [])
})

t.test('a scan job that starts during a check of its source leaves the table to the check', async t => {
  const { app, tenant, scans, blockedCheck, slots, open } = await dueWorld(t)
  await app.query(`update checks set running_slot = next_run_at, next_run_at = now() + interval '1 hour'`)
  const check = await blockedCheck()
  const tables = await app.query('select table_id from checks')
  for (const { table_id: tableId } of tables) {
    const scanned = await scans.runTable(tenant.companyId, String(tableId), 'claimed')
    t.same(scanned, { checks: 0, statements: 0 })
  }
  t.equal((await open()).length, TABLES.length, 'nothing that is due is lost meanwhile')
  t.equal(await check.settle(), 'completed')
  t.same(await slots(), ONCE_EACH)
  t.same(await open(), [])
})

t.test('what a check that was cancelled has not measured is left to the next sweep', async t => {
  const { tenant, scans, blockedCheck, slots, leases } = await dueWorld(t)
  const check = await blockedCheck()
  t.equal((await tenant.ask('POST', `/api/v1/sdk/jobs/${check.runId}/cancel`)).status, 200)
  await check.settle()
  t.same(await leases(), [])
  const measured = (await slots()).length
  t.ok(measured < TABLES.length, `${measured} tables were measured`)
  t.same(await scans.dispatch(), { tables: TABLES.length - measured })
})

t.test('a process that died in a check keeps its tables from sweeps until its leases expire', async t => {
  const { app, tenant, scans } = await dueWorld(t)
  await app.query(
    `insert into check_leases select $1, table_id, gen_random_uuid(), now() + interval '1 min' from checks`,
    [tenant.companyId],
  )
  t.same(await scans.dispatch(), { tables: 0 })
  await app.query('update check_leases set expires_at = now()')
  t.same(await scans.dispatch(), { tables: TABLES.length })
})
