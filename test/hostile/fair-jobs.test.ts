/** What company A asks of sources that do not answer holds up nothing that company B asks. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { discoverJob } from '../../plugins/catalog/discovery/jobs.ts'
import type { Tenant } from '../helpers/server.ts'
import { startSource, type Source } from '../helpers/source.ts'
import { makeStage } from '../helpers/world.ts'
import { contract } from '../plugins/contracts/enforcement/contracts.ts'
import { recordCost } from './attack.ts'
import { allowStuckViews, hold, makeStuckView, release } from './stuck-view.ts'

const { app, tenant: a } = await makeStage(t)
const b = await app.signUp('B')

/** More sources than one kind of job has slots. */
const SLOW_SOURCES = 5
/** Long enough for a busy machine; B waited for hours. */
const MAX_WAIT_MS = 25_000

interface Asset {
  id: string
  source: Source
}

async function addSource(tenant: Tenant, name: string): Promise<Asset> {
  const source = await startSource(t)
  await allowStuckViews(source)
  await makeStuckView(source, 'orders', 'select n as id, now() as created_at from generate_series(1, 200) n')
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name,
    source_type: 'postgresql',
    connection_config: source.config,
    statement_timeout_seconds: 3_600,
  })
  const { id } = made.body.data
  const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${id}/discover`)
  await app.server.jobs.settled(discoverJob, data => data.run_id === asked.body.data.job_id)
  const rule = { table_path: 'public.orders', rule_type: 'NOT_NULL', column_name: 'created_at' }
  const { status } = await tenant.ask('POST', `/api/v1/sdk/validity/${id}`, rule)
  if (status !== 201) throw new Error(`The rule was answered ${status}`)
  return { id, source }
}

const slow: Asset[] = []
for (let index = 0; index < SLOW_SOURCES; index++) slow.push(await addSource(a, `slow ${index}`))
const own = await addSource(b, 'shop')
const promise = contract({
  schema: [{ name: 'orders', physicalName: 'public.orders', properties: [{ name: 'id', unique: true }] }],
})

const ASKED = {
  profile: { path: 'profile', body: {} },
  check: { path: 'check', body: {} },
  'contract-test': { path: 'contract-test', body: { contract: promise } },
}

const statusOf = async (tenant: Tenant, job: string) =>
  (await tenant.ask('GET', `/api/v1/sdk/jobs/${job}`)).body.data.status as string

async function runningJobsOf({ companyId }: Tenant): Promise<number> {
  const found = await app.query(
    `select count(*) from pgboss.job where state = 'active' and data ->> 'company_id' = $1`,
    [companyId],
  )
  return Number(found[0]?.count)
}

for (const [kind, { path, body }] of Object.entries(ASKED))
  t.test(`${kind}: B is served while no source of A answers`, { timeout: 120_000 }, async t => {
    for (const { source } of slow) await hold(source)
    const ask = async (tenant: Tenant, { id }: Asset) => {
      const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${id}/${path}`, body)
      t.equal(asked.status, 202)
      return asked.body.data.job_id as string
    }
    const stuck: string[] = []
    for (const asset of slow) stuck.push(await ask(a, asset))
    while ((await runningJobsOf(a)) < 2) await delay(50)
    const began = performance.now()
    const job = await ask(b, own)
    let status = 'pending'
    while (!/completed|failed/.test(status) && performance.now() - began < MAX_WAIT_MS) {
      await delay(50)
      status = await statusOf(b, job)
    }
    t.equal(status, 'completed')
    const left = await Promise.all(stuck.map(each => statusOf(a, each)))
    t.notOk(left.includes('completed'), 'A still waits')
    const p99Ms = performance.now() - began
    recordCost(t, {
      route: `POST /api/v1/sdk/assets/{id}/${path}`,
      attack: `${SLOW_SOURCES} sources that do not answer`,
      delayMs: null,
      p99Ms,
    })
    for (const { source } of slow) await release(source)
    while (!(await Promise.all(stuck.map(each => statusOf(a, each)))).every(each => each === 'completed'))
      await delay(100)
    t.pass('A is served when they answer again')
  })
