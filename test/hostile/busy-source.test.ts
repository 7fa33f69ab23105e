/** A job whose source is busy holds no slot: it is put off, and runs when a session is free. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { discover, makeStage, type World } from '../helpers/world.ts'
import { startSource } from '../helpers/source.ts'
import { allowStuckViews, countStuck, hold, makeStuckView, release } from './stuck-view.ts'

const stage = await makeStage(t)
const { app, tenant } = stage
const source = await startSource(t)
for (const statement of [
  'create table items (id int primary key, seen_at timestamptz default now())',
  'insert into items select n from generate_series(1, 200) n',
])
  await source.query(statement)
await allowStuckViews(source)
await makeStuckView(source, 'stuck', 'select * from items')
const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
  ...{ name: 'shop', source_type: 'postgresql', connection_config: source.config },
  ...{ max_concurrency: 1, statement_timeout_seconds: 600 },
})
const world = { ...stage, source, asset: made.body.data as World['asset'] }
await discover(world)
async function make(what: string, body: object): Promise<void> {
  const { status, body: reply } = await tenant.ask('POST', what, body)
  if (status !== 201) throw new Error(`${what}: ${JSON.stringify(reply)}`)
}

const path = `/api/v1/sdk/assets/${world.asset.id}`
const rule = { table_path: 'public.stuck', rule_type: 'NOT_NULL', column_name: 'id' }
await make(`/api/v1/sdk/validity/${world.asset.id}`, rule)
const schedule = {
  ...{ asset_id: world.asset.id, table_path: 'public.items' },
  ...{ monitoring_mode: 'explicit', sla_threshold: '24h' },
}
await make('/api/v1/sdk/freshness/schedules', schedule)

async function request(what: string, body?: object): Promise<string> {
  const { status, body: reply } = await tenant.ask('POST', what, body)
  if (status !== 202) throw new Error(`${what}: ${JSON.stringify(reply)}`)
  return reply.data.job_id as string
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(50)
}

const statusOf = async (jobId: string) =>
  (await app.query('select status from runs where id = $1', [jobId]))[0]?.status as string
const jobOf = async (jobId: string) =>
  (await app.query(`select state, retry_count from pgboss.job where data ->> 'run_id' = $1`, [jobId]))[0]!

const CONTRACT = `{apiVersion: v3.1.0, kind: DataContract, id: o, version: '1', status: active, schema: [{name: items,
  properties: [{name: id, logicalType: integer, required: true}]}]}`

t.test('a profile, a test, a refresh and a discovery wait for a session without a slot', async t => {
  await hold(source)
  const checked = await request(`${path}/check`)
  await until(async () => (await countStuck(source)) > 0)
  const waiting: Record<string, string> = {
    profile: await request(`${path}/profile`, { table_path: 'public.items' }),
    'contract test': await request(`${path}/contract-test`, { contract: CONTRACT }),
    refresh: await request(`/api/v1/sdk/freshness/${world.asset.id}/refresh`),
    discovery: await request(`${path}/discover`),
  }
  for (const [what, jobId] of Object.entries(waiting)) {
    await until(async () => (await jobOf(jobId)).state === 'retry')
    t.equal((await jobOf(jobId)).retry_count, -1, `the claim of the ${what} is undone`)
  }
  t.equal(await statusOf(checked), 'running', 'while the source is busy')
  await release(source)
  for (const [what, jobId] of Object.entries({ check: checked, ...waiting })) {
    await until(async () => ['completed', 'failed'].includes(await statusOf(jobId)))
    t.equal(await statusOf(jobId), 'completed', what)
    await until(async () => (await jobOf(jobId)).state === 'completed')
    t.equal((await jobOf(jobId)).retry_count, 0, 'at its first try')
  }
})
