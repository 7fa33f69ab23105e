/** Scans that are due of company A, whose sources do not answer, hold up no scan of company B. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { discoverJob } from '../../plugins/catalog/discovery/jobs.ts'
import { scanJob } from '../../plugins/checks/jobs.ts'
import type { Tenant } from '../helpers/server.ts'
import { startSource, type Source } from '../helpers/source.ts'
import { makeStage } from '../helpers/world.ts'
import { allowStuckViews, countStuck, hold, makeStuckView, release } from './stuck-view.ts'

const { app, tenant: a } = await makeStage(t)
const b = await app.signUp('B')

/** Each may have a quarter of the slots of a process, so that these would fill them. */
const SLOW_SOURCES = 5
const VIEWS = 4
/** Long enough for a busy machine. */
const MAX_WAIT_MS = 25_000

async function addSource(
  tenant: Tenant,
  name: string,
  views: number,
): Promise<{ id: string; source: Source }> {
  const source = await startSource(t)
  await allowStuckViews(source)
  for (let index = 0; index < views; index++)
    await makeStuckView(source, `orders_${index}`, 'select n as id from generate_series(1, 20) n')
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    ...{ name, source_type: 'postgresql', connection_config: source.config },
    ...{ statement_timeout_seconds: 3_600, max_concurrency: VIEWS },
  })
  const { id } = made.body.data
  const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${id}/discover`)
  await app.server.jobs.settled(discoverJob, data => data.run_id === asked.body.data.job_id)
  for (let index = 0; index < views; index++) {
    const rule = { table_path: `public.orders_${index}`, rule_type: 'NOT_NULL', column_name: 'id' }
    const { status } = await tenant.ask('POST', `/api/v1/sdk/validity/${id}`, rule)
    if (status !== 201) throw new Error(`The rule was answered ${status}`)
  }
  return { id, source }
}

const slow: Source[] = []
for (let index = 0; index < SLOW_SOURCES; index++)
  slow.push((await addSource(a, `slow ${index}`, VIEWS)).source)
await addSource(b, 'shop', 1)

const makeDue = ({ companyId }: Tenant) =>
  app.query('update checks set next_run_at = now() where company_id = $1', [companyId])
const jobsOf = async ({ companyId }: Tenant, state: string) => {
  const [found] = await app.query(
    `select count(*) from pgboss.job where name = $1 and state::text = $2 and data ->> 'company_id' = $3`,
    [scanJob.name, state, companyId],
  )
  return Number(found?.count)
}
const countAllStuck = async () =>
  (await Promise.all(slow.map(countStuck))).reduce((sum, stuck) => sum + stuck, 0)

t.test('a scan of B runs while no source of A answers', { timeout: 120_000 }, async t => {
  for (const source of slow) await hold(source)
  await makeDue(a)
  await app.server.plugins.checks.dispatch()
  while ((await countAllStuck()) < 8) await delay(50)
  // The sweep that a new rule asks for may have scanned it already.
  const before = await jobsOf(b, 'completed')
  await makeDue(b)
  await app.server.plugins.checks.dispatch()
  const began = performance.now()
  while ((await jobsOf(b, 'completed')) === before && performance.now() - began < MAX_WAIT_MS) await delay(50)
  t.equal(await jobsOf(b, 'completed'), before + 1, 'the scan of B has ended')
  t.equal(await jobsOf(a, 'active'), 8, 'A holds half of the slots')
  t.equal(await jobsOf(a, 'created'), SLOW_SOURCES * VIEWS - 8, 'and the others wait')
  t.equal(await countAllStuck(), 8)
  for (const source of slow) await release(source)
  while ((await jobsOf(a, 'completed')) < SLOW_SOURCES * VIEWS) await delay(50)
  t.pass('A is served when they answer again')
})
