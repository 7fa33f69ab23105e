import { randomUUID } from 'node:crypto'
import t from 'tap'
import { operationsTexts } from '../../../plugins/console/client/screens/settings/operations-texts.ts'
import type { Tenant } from '../../helpers/server.ts'
import { discover, makeWorld } from '../../helpers/world.ts'

const world = await makeWorld(t, ['create table orders (id int primary key)'])
const { app, tenant } = world
await discover(world)
const [table] = (await tenant.ask('GET', '/api/v1/assets?asset_type=table')).body.data
const made = await tenant.ask('POST', `/api/v1/sdk/metrics/${table.id}`, {
  table_path: 'orders',
  metric_type: 'row_count',
})
if (made.status !== 201) throw new Error(JSON.stringify(made.body))
const base = '/api/v1/sdk/operations'

/** A job that failed for good, as the engine leaves it. */
async function die(companyId: string, { queue = 'scans.run', tableId = table.id as string } = {}) {
  const id = randomUUID()
  await app.query(
    `insert into pgboss.job (id, name, data, source_name, source_retry_count, source_output, keep_until)
     values ($1, 'jobs.dead', $2, $3, 2, '{"message": "no answer within 60 s"}', now() + interval '1 day')`,
    [id, { company_id: companyId, table_id: tableId, _crashes: 3 }, queue],
  )
  return id
}

const deadOf = async (of: Tenant, query = '') =>
  (await of.ask('GET', `${base}/dead-jobs${query}`)).body as {
    data: { id: string }[]
    pagination: { total: number }
  }
const redrive = (of: Tenant, body: object) => of.ask('POST', `${base}/dead-jobs/redrive`, body)
const discard = (of: Tenant, body: object) => of.ask('POST', `${base}/dead-jobs/discard`, body)
const forget = () => app.query(`delete from pgboss.job where name = 'jobs.dead'`)

t.test('an admin sees how the service does, and the jobs of the company by queue', async t => {
  const stranger = await app.signUp()
  await die(tenant.companyId)
  await die(stranger.companyId)
  await die(stranger.companyId, { queue: 'catalog.discover' })
  // Files share a server, of which an earlier one may have stopped writes for half a minute: it says what health says.
  const { status } = (await app.ask('GET', '/health')).body.data
  const { data } = (await tenant.ask('GET', base)).body
  t.match(data, {
    status,
    jobs: 'up',
    workers: 'up',
    versions: { node: process.versions.node, tidemark: /^\d+\./, postgresql: /^\d+\./ },
    dashboard_url: null,
  })
  const queues = new Map(data.queues.map((queue: { queue: string }) => [queue.queue, queue]))
  t.match(queues.get('scans.run'), { dead: 1, waiting: 0, running: 0 })
  t.match(queues.get('catalog.discover'), { dead: 0 }, 'jobs of other companies are not counted')
  await forget()
})

t.test('the page has words for the work of every queue', async t => {
  const { data } = (await tenant.ask('GET', base)).body
  const queues = (data.queues as { queue: string }[]).map(({ queue }) => queue)
  t.ok(queues.includes('recommendations.count'))
  t.strictSame(
    queues.filter(queue => !(queue in operationsTexts.works)),
    [],
  )
  t.strictSame(
    Object.keys(operationsTexts.works).sort(),
    [...app.server.jobs.names()].sort(),
    'and for no other',
  )
})

t.test('a dead job says what it was about and why it failed', async t => {
  const id = await die(tenant.companyId)
  const gone = await die(tenant.companyId, { tableId: randomUUID(), queue: 'freshness.check' })
  const { data, pagination } = await deadOf(tenant, '?queue=scans.run')
  t.equal(pagination.total, 1)
  t.strictSame(data, [
    {
      ...{ id, queue: 'scans.run', attempts: 3, reason: 'no answer within 60 s' },
      ...{
        asset_id: table.id,
        asset_type: 'table',
        asset_name: table.qualified_name,
        data: { table_id: table.id },
      },
      died_at: (data[0] as unknown as { died_at: string }).died_at,
    },
  ])
  t.match((await deadOf(tenant, '?limit=1&offset=1')).pagination, { total: 2, has_more: false })
  t.match((await deadOf(tenant, '?queue=freshness.check')).data, [{ id: gone, asset_name: null }])
  await forget()
})

t.test('a dead job is sent again, and does its work', async t => {
  const id = await die(tenant.companyId)
  const ran = app.server.jobs.settled(
    { name: 'scans.run' } as never,
    (data: { table_id?: string }) => data.table_id === table.id,
  )
  t.match(await redrive(tenant, { ids: [id] }), { status: 200, body: { data: { redriven: 1 } } })
  t.equal(await ran, 'completed')
  t.match(await deadOf(tenant), { pagination: { total: 0 } })
  const log = (await tenant.ask('GET', '/api/v1/audit-log?action=dead_jobs.redriven')).body.data
  t.match(log, [{ target: { type: 'queue', id: 'all' }, details: { ids: [id], count: 1 } }])
})

t.test('dead jobs are discarded by queue, or all', async t => {
  await die(tenant.companyId)
  await die(tenant.companyId)
  await die(tenant.companyId, { queue: 'freshness.check' })
  t.match(await discard(tenant, { queue: 'scans.run' }), { body: { data: { discarded: 2 } } })
  t.match(await deadOf(tenant), { pagination: { total: 1 } })
  t.match(await discard(tenant, { all: true }), { body: { data: { discarded: 1 } } })
  t.match(await discard(tenant, { all: true }), { body: { data: { discarded: 0 } } })
})

t.test('dead jobs of other companies are out of reach', async t => {
  const stranger = await app.signUp()
  const id = await die(stranger.companyId)
  t.match(await deadOf(tenant), { data: [], pagination: { total: 0 } })
  for (const body of [{ ids: [id] }, { queue: 'scans.run' }, { all: true }]) {
    t.match(await redrive(tenant, body), { body: { data: { redriven: 0 } } })
    t.match(await discard(tenant, body), { body: { data: { discarded: 0 } } })
  }
  t.match(await deadOf(stranger), { data: [{ id, asset_name: null }] }, 'nor the name of its table')
  const jobs = await app.server.db.company(tenant.companyId, async trx => {
    const { listDead } = await import('../../../server/jobs/dead-letters.ts')
    return listDead({ trx, companyId: stranger.companyId }, {}, { limit: 10 })
  })
  t.equal(jobs.total, 0, 'the company of the transaction is compared too')
  await forget()
})

t.test('which dead jobs are meant is said, once', async t => {
  for (const [body, message] of [
    [{}, /give ids, queue or all/],
    [{ all: true, queue: 'scans.run' }, /cannot be given together/],
    [{ all: false }, /all/],
    [{ ids: ['1'] }, /must be a UUID/],
    [{ ids: [] }, /ids/],
  ] as const) {
    t.match(await redrive(tenant, body), { status: 400, body: { error: { message } } })
    t.match(await discard(tenant, body), { status: 400, body: { error: { message } } })
  }
})

t.test('a name that no queue can have is refused, whatever is done with it', async t => {
  for (const queue of ['!@', 'a b', 'é', `x' or 1=1 --`]) {
    for (const act of [redrive, discard])
      t.match(
        await act(tenant, { queue }),
        { status: 400, body: { error: { details: { field: 'queue' } } } },
        queue,
      )
    t.equal((await tenant.ask('GET', `${base}/dead-jobs?queue=${encodeURIComponent(queue)}`)).status, 400)
  }
})
