import t from 'tap'
import { sweepJob } from '../../../plugins/checks/jobs.ts'
import { sourceJobKind } from '../../../plugins/checks/source-jobs.ts'
import { jobContext, workOf } from '../../helpers/job-context.ts'
import { explicit, startWorlds } from '../freshness/worlds.ts'

const EXTENSIONS = './test/helpers/extensions/name-length.ts'

const { server, tenant, query, world } = await startWorlds(t, { settings: { EXTENSIONS } })
const checkJob = sourceJobKind('freshness')

const checkOf = async (id: string) =>
  (await query('select running_slot, last_checked_at from checks where uuid = $1', [id]))[0] as Record<
    string,
    unknown
  >

t.test('the sweep claims what is due once, keeps the grid, and checks a source in one job', async t => {
  const { watch, source, database } = await world(
    t,
    `create table a (ts timestamptz); insert into a values (now());
     create table b (ts timestamptz); insert into b values (now());`,
  )
  const a = await watch('a', { ...explicit('1h'), check_interval: '5m' })
  const b = await watch('b', { ...explicit('1h'), check_interval: '1d' })
  // Three hours down: the grid of `a` is at 2 minutes past every fifth.
  await query(
    `update checks set next_run_at = date_trunc('hour', now()) - interval '3 hours' + interval '2 minutes' where uuid = $1`,
    [a.id],
  )
  await database.query(`insert into a values (now() + interval '1 ms')`)
  const checked = server.jobs.settled(checkJob, data => data.source_id === source.id)
  await server.jobs.send(sweepJob, {})
  t.equal(await checked, 'completed')
  const [row] = (await query(
    `select extract(minute from next_run_at)::int % 5 as minute, extract(second from next_run_at)::float as second,
       next_run_at > now() as is_ahead, next_run_at <= now() + interval '5 minutes' as is_next, running_slot,
       (select count(*)::int from check_results where check_id = c.id) as checks
     from checks c where uuid = $1`,
    [a.id],
  )) as [object]
  t.same(
    row,
    { minute: 2, second: 0, is_ahead: true, is_next: true, running_slot: null, checks: 2 },
    'what was missed came once',
  )
  const { body } = await tenant.ask('GET', `/api/v1/sdk/freshness/schedules?asset_id=${source.id}`)
  const other = body.data.data.find(({ id }: { id: string }) => id === b.id)
  t.equal(other.last_check, b.last_check, 'what was not due was not checked')
})

t.test('a table whose check still runs is not claimed again, unless that was lost', async t => {
  const { watch, source } = await world(t, `create table a (ts timestamptz); insert into a values (now())`)
  const { id } = await watch('a', { ...explicit('24h'), check_interval: '90m' })
  const claim = async (slot: string) => {
    const before = `running_slot = now() - cast($1 as interval), next_run_at = now() - interval '1 minute'`
    await query(`update checks set ${before} where uuid = $2`, [slot, id])
    await workOf(server, sweepJob)({}, jobContext(server))
    const [row] = await query(
      `select next_run_at > now() + interval '88 minutes' as is_claimed from checks where uuid = $1`,
      [id],
    )
    return row
  }
  t.match(await claim('2 hours'), { is_claimed: false })
  const checked = server.jobs.settled(checkJob, data => data.source_id === source.id)
  t.match(await claim('3 hours'), { is_claimed: true })
  t.equal(await checked, 'completed')
})

t.test('the job of a sweep skips schedules claimed for another job', async t => {
  const { watch, source } = await world(
    t,
    `create table a (ts timestamptz); insert into a values (now());
     create table b (ts timestamptz); insert into b values (now());`,
  )
  const a = await watch('a', explicit('1h'))
  const b = await watch('b', explicit('1h'))
  await query(`update checks set running_slot = now() - interval '10 minutes' where uuid = $1`, [a.id])
  await query(`update checks set next_run_at = now() - interval '1 minute' where uuid = $1`, [b.id])
  const checked = server.jobs.settled(checkJob, data => data.source_id === source.id)
  await server.jobs.send(sweepJob, {})
  t.equal(await checked, 'completed')
  t.match(await checkOf(b.id), { running_slot: null })
  const left = await checkOf(a.id)
  t.ok(left.running_slot, 'it stays claimed for its own job')
  t.equal((left.last_checked_at as Date).toISOString(), a.last_check)
})

t.test('the claims of a job are released when its last attempt has failed', async t => {
  const { watch, source } = await world(t, `create table a (ts timestamptz); insert into a values (now())`)
  const { id } = await watch('a', explicit('1h'))
  const slot = new Date(Date.now() - 60_000)
  await query('update checks set running_slot = $1 where uuid = $2', [slot, id])
  await query('alter table check_results rename to away')
  const slots = { from: slot.toISOString(), to: slot.toISOString() }
  const run = async (attempt: number) => {
    const data = { company_id: tenant.companyId, source_id: source.id, slots }
    await t.rejects(
      Promise.resolve(workOf(server, checkJob)(data, jobContext(server, { isLast: () => attempt === 3 }))),
    )
    return (await checkOf(id)).running_slot
  }
  t.ok(await run(1))
  t.equal(await run(3), null)
  await query('alter table away rename to check_results')
})

t.test('an extension adds a kind that is measured for all tables of a source at once', async t => {
  const { source } = await world(t, 'create table a (id int); create table abcdef (id int)')
  await query(
    `insert into checks (uuid, kind, type, company_id, source_id, table_id, settings, check_interval)
     select gen_random_uuid(), 'name_length', 'name_length', company_id, source_id, id, '{"most": 3}', '6h'
     from tables where source_id = $1`,
    [source.id],
  )
  const job = sourceJobKind('name_length')
  const checked = server.jobs.settled(job, data => data.source_id === source.id)
  await server.jobs.send(sweepJob, {})
  t.equal(await checked, 'completed')
  const found = await query(
    `select t.name, c.status, c.settings, c.running_slot, c.next_run_at > now() as is_ahead, r.status as result, r.value
     from checks c join tables t on t.id = c.table_id join check_results r on r.check_id = c.id
     where c.kind = 'name_length' order by 1`,
  )
  const recorded = { running_slot: null, is_ahead: true }
  t.strictSame(found, [
    { name: 'a', status: 'pass', settings: { most: 3, longest: 1 }, ...recorded, result: 'pass', value: 1 },
    {
      name: 'abcdef',
      status: 'fail',
      settings: { most: 3, longest: 6 },
      ...recorded,
      result: 'fail',
      value: 6,
    },
  ])
})

t.test('checks that are measured by source are in no list, count or run of the others', async t => {
  const { watch, source } = await world(
    t,
    `create table a (ts timestamptz); insert into a values (now() - interval '2 h')`,
  )
  t.match(await watch('a', explicit('1h')), { is_active: true })
  const get = async (path: string) => (await tenant.ask('GET', `/api/v1/sdk/${path}`)).body
  t.match(await get(`checks/${source.id}`), { data: { items: { length: 0 } }, pagination: { total: 0 } })
  t.match((await get(`assets/${source.id}`)).data, { data_quality_status: 'none', freshness_status: 'stale' })
  t.match(await tenant.ask('POST', `/api/v1/sdk/assets/${source.id}/check`), {
    status: 400,
    body: { error: { message: /has no active checks/ } },
  })
  const [table] = await query('select id from tables where source_id = $1', [source.id])
  t.strictSame(await server.plugins.checks.runTable(tenant.companyId, String(table?.id), 'active'), {
    checks: 0,
    statements: 0,
  })
})
