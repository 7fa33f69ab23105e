const downs: (() => unknown)[] = []; const t = { teardown: (f: () => unknown) => downs.push(f) }
import { discoverJob } from '/work/main/plugins/catalog/jobs.ts'
import { checkJob, dispatchChecks } from '/work/main/plugins/freshness/jobs.ts'
import { startServer } from '/work/main/test/helpers/server.ts'
import { startSource } from '/work/main/test/helpers/source.ts'
const { server, signUp, query } = await startServer(t as never)
const tenant = await signUp()
const db = await startSource(t as never)
const N = 5000
for (let from = 0; from < N; from += 500)
  await db.query(`do $$ begin for i in ${from}..${from + 499} loop execute format('create table t_%s (id int primary key, updated_at timestamptz); create index on t_%s (updated_at); insert into t_%s select g, now() - interval ''1 min'' * g from generate_series(1, 5) g', i, i, i); end loop; end $$`)
const made = await tenant.ask('POST', '/api/v1/sdk/assets', { name: 'big', source_type: 'postgresql', connection_config: db.config })
const id = made.body.data.id
const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${id}/discover`)
await server.jobs.settled(discoverJob, d => d.run_id === body.data.job_id)
await query(`insert into freshness_schedules (id, company_id, source_id, table_id, timestamp_column, monitoring_mode, sla_threshold, check_interval)
 select gen_random_uuid(), company_id, source_id, id, 'updated_at', case when random() < .5 then 'explicit' else 'auto_learn' end, '24h', '1h' from tables where source_id = $1`, [id])
await query(`insert into freshness_checks (company_id, schedule_id, status, last_updated, is_update, checked_at)
 select company_id, id, 'fresh', now() - interval '1 hour' * g, true, now() - interval '1 hour' * g from freshness_schedules, generate_series(1, 60) g`)
await query('analyze')
for (let i = 0; i < 3; i++) {
  await query(`update freshness_schedules set next_run_at = now()`)
  const a = performance.now()
  const done = server.jobs.settled(checkJob, () => true)
  await server.jobs.send(dispatchChecks, {})
  console.error('sweep settled', await done, Math.round(performance.now() - a))
  const b = performance.now()
  const c = await server.plugins.freshness.checkSource({ companyId: tenant.companyId, sourceId: id })
  console.error({ ...c, failed: c.failed.slice(0, 2) }, Math.round(performance.now() - b), 'ms')
}
console.error(await query(`select state, count(*)::int, max(output::text) from pgboss.job where name='freshness.check' group by 1`))
for (const d of downs.reverse()) await d()
