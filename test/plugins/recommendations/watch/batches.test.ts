import t from 'tap'
import type { Transaction } from '../../../../server/database/database.ts'
import { depsOf } from '../../../../plugins/recommendations/deps.ts'
import { applyPolicy, TABLES_PER_BATCH } from '../../../../plugins/recommendations/watch/batches.ts'
import { applyJob, dispatchPolicies, sendApply } from '../../../../plugins/recommendations/watch/jobs.ts'
import { startWorlds } from '../../freshness/worlds.ts'

const { server, tenant, query, world } = await startWorlds(t)
const { companyId } = tenant
const deps = depsOf(server)

/** Tables of three batches. */
const TABLES = 2 * TABLES_PER_BATCH + 100

async function manyTables(t: Parameters<typeof world>[0]) {
  const { source } = await world(t, 'create table orders (id int primary key, updated_at timestamptz)')
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint)
     select gen_random_uuid(), company_id, source_id, catalog_name, schema_name, 'copy_' || n,
       replace(qualified_name, 'orders', 'copy_' || n), kind, columns, constraints, fingerprint
     from tables, generate_series(2, $2::int) n where source_id = $1 and name = 'orders'`,
    [source.id, TABLES],
  )
  return source
}

const watch = (id: string, body: object) => tenant.ask('POST', `/api/v1/sdk/assets/${id}/watch`, body)
const apply = (sourceId: string) => applyPolicy(deps, companyId, sourceId, new AbortController().signal)

/** Checks of a source, all together and those that are there twice. */
async function countChecks(sourceId: string) {
  const [found] = await query(
    `select cast(sum(n) as int) as checks, cast(count(*) filter (where n > 1) as int) as doubles from (
       select count(*) as n from checks where source_id = $1 group by table_id, kind, type, column_name) c`,
    [sourceId],
  )
  return found
}

/** The numbers of tables that each application of recommendations looks at while something is done. */
async function appliedDuring(
  work: () => Promise<unknown>,
  fails?: (n: number) => boolean,
): Promise<number[]> {
  const { freshness } = server.plugins
  const applied = new Map<Transaction, number>()
  const original = freshness.findSignals
  // An application reads the evidence of its tables in its transaction, some at a time.
  freshness.findSignals = (trx, source, ids) => {
    const read = applied.get(trx)
    applied.set(trx, (read ?? 0) + ids.length)
    if (read === undefined && fails?.(applied.size)) throw new Error('the process is gone')
    return original(trx, source, ids)
  }
  try {
    await work()
  } finally {
    freshness.findSignals = original
  }
  return [...applied.values()]
}

t.test('a level for many tables is applied by a job, batch after batch', async t => {
  const source = await manyTables(t)
  const settled = server.jobs.settled(applyJob, data => data.source_id === source.id)
  const applied = await appliedDuring(async () => {
    const { status, body } = await watch(source.id, { level: 'light' })
    t.equal(status, 202)
    t.match(body.data, {
      asset_id: source.id,
      matched: TABLES,
      level: 'light',
      job_id: String,
      status: 'pending',
    })
    t.equal(await settled, 'completed')
    const { body: job } = await tenant.ask('GET', `/api/v1/sdk/jobs/${String(body.data.job_id)}`)
    t.match(job.data, {
      status: 'completed',
      progress: 100,
      workflow_name: 'watch',
      result: {
        matched: TABLES,
        row_count: { created: TABLES },
        freshness: { created: TABLES },
        not_null: { created: TABLES },
        unique: { created: TABLES },
        statements_per_day: { checks: TABLES, freshness: 24 },
      },
    })
  })
  t.strictSame(applied, [TABLES_PER_BATCH, TABLES_PER_BATCH, 100])
  t.match(await countChecks(source.id), { checks: 4 * TABLES, doubles: 0 })

  t.strictSame(await appliedDuring(() => apply(source.id)), [], 'nothing changed, so nothing is looked at')
  await query(`update tables set updated_at = now() where source_id = $1 and name in ('copy_7', 'copy_8')`, [
    source.id,
  ])
  await query(
    `insert into profiles (id, company_id, source_id, table_id, row_count, is_row_count_exact, profiled_rows, is_sampled,
       statements, milliseconds, columns)
     select gen_random_uuid(), company_id, source_id, id, 1, true, 1, false, 1, 1, '[]'
     from tables where source_id = $1 and name in ('copy_8', 'copy_9')`,
    [source.id],
  )
  t.strictSame(
    await appliedDuring(() => apply(source.id)),
    [3],
    'what was discovered, changed or profiled since',
  )
  t.match(await countChecks(source.id), { checks: 4 * TABLES, doubles: 0 })
})

t.test('an application that crashes goes on where it was, and doubles nothing', async t => {
  const source = await manyTables(t)
  await query(
    `insert into watch_policies (source_id, company_id, level, include_patterns, exclude_patterns) values ($1, $2, 'light', '{}', '{}')`,
    [source.id, companyId],
  )
  const before = await appliedDuring(
    () => t.rejects(apply(source.id)),
    n => n === 2,
  )
  t.equal(before.length, 2)
  t.match(await countChecks(source.id), { checks: 4 * TABLES_PER_BATCH, doubles: 0 })
  const after = await appliedDuring(() => apply(source.id))
  t.strictSame(after, [TABLES_PER_BATCH, 100], 'the first batch is not looked at again')
  t.match(await countChecks(source.id), { checks: 4 * TABLES, doubles: 0 })
  const [policy] = await query('select applied_at, run_id from watch_policies where source_id = $1', [
    source.id,
  ])
  t.ok(policy?.applied_at)
})

t.test('one job of a source waits or runs, however long it takes', async t => {
  const { source } = await world(t, 'create table orders (id int primary key)')
  await watch(source.id, { level: 'light' })
  const isLocked = Promise.withResolvers<void>()
  const isReleased = Promise.withResolvers<void>()
  const holding = server.db.company(companyId, async trx => {
    await server.plugins.catalog.lockSource(trx, source.id)
    isLocked.resolve()
    await isReleased.promise
  })
  await isLocked.promise
  const settled = server.jobs.settled(applyJob, data => data.source_id === source.id)
  await server.db.company(companyId, trx => sendApply(deps, trx, { companyId, sourceId: source.id }))
  for (let n = 0; n < 3; n += 1) {
    await query(
      `update watch_policies set requested_at = now() - interval '1 hour', applied_at = null where source_id = $1`,
      [source.id],
    )
    await dispatchPolicies.work({}, { server } as never)
  }
  const [jobs] = await query(
    `select cast(count(*) as int) as jobs from pgboss.job where name = 'watch.apply' and data ->> 'source_id' = $1`,
    [source.id],
  )
  t.match(jobs, { jobs: 1 })
  isReleased.resolve()
  await holding
  t.equal(await settled, 'completed')
})

t.test('a check that was created by hand and removed is not created by the policy', async t => {
  const { source } = await world(t, 'create table orders (id int primary key, updated_at timestamptz)')
  const removeNew = async (path: string, created: { status: number; body: { data: { id: string } } }) => {
    t.equal(created.status, 201)
    const removed = await tenant.ask('DELETE', `/api/v1/sdk/${path}/${created.body.data.id}`)
    t.equal(removed.status, 200)
  }
  const post = (path: string, body: object) => tenant.ask('POST', `/api/v1/sdk/${path}`, body)
  const rule = { rule_type: 'UNIQUE', table_path: 'orders', column_name: 'id' }
  await removeNew(`validity/${source.id}`, await post(`validity/${source.id}`, rule))
  const metric = { metric_type: 'row_count', table_path: 'orders' }
  await removeNew(`metrics/${source.id}`, await post(`metrics/${source.id}`, metric))
  const schedule = { asset_id: source.id, table_path: 'orders' }
  await removeNew('freshness/schedules', await post('freshness/schedules', schedule))
  const { body } = await watch(source.id, { level: 'light' })
  t.match(body.data, {
    row_count: { created: 0 },
    freshness: { created: 0 },
    unique: { created: 0 },
    not_null: { created: 1 },
  })
  t.match(await countChecks(source.id), { checks: 1 })
})
