import t from 'tap'
import { backfillJob } from '../../../../plugins/checks/past/backfill-job.ts'
import { startWorlds } from '../../freshness/worlds.ts'

const { server, tenant, query, world } = await startWorlds(t)

const SHOP = `create table orders (id int primary key, amount int, created_at timestamptz);
  insert into orders select n, n % 7, now() - make_interval(hours => n) from generate_series(1, 480) n;
  create table notes (body text)`

const settled = (id: string) => server.jobs.settled(backfillJob, data => data.source_id === id)

const watch = (asset: string, body: object) =>
  tenant.ask('POST', `/api/v1/sdk/assets/${asset}/watch`, { row_count: true, ...body })

/** Results of the metrics of a source, by table. */
const points = (sourceId: string) =>
  query(
    `select t.name, count(r.id)::int as n, bool_and(r.is_backfilled) as all_computed, c.backfill_days
       from checks c join tables t on t.id = c.table_id left join check_results r on r.check_id = c.id
      where c.source_id = $1 group by t.name, c.backfill_days order by t.name`,
    [sourceId],
  )

t.test('what is watched learns the last 30 days at once, where a column has times', async t => {
  const { source } = await world(t, SHOP)
  const { body } = await watch(source.id, { dry_run: true })
  t.match(body.data, { backfill: { days: 30, tables: 1, statements: 1, bytes: Number } })
  t.strictSame(await points(source.id), [])
  await watch(source.id, {})
  await settled(source.id)
  const found = await points(source.id)
  t.match(found, [
    { name: 'notes', n: 0, backfill_days: null },
    { name: 'orders', all_computed: true, backfill_days: null },
  ])
  const [, orders] = found
  t.ok(Number(orders!.n) >= 19 && Number(orders!.n) <= 21, 'days before the first row are left out')
  const [state] = await query(
    `select count(*)::int as n from check_states s join checks c on c.id = s.check_id where c.source_id = $1`,
    [source.id],
  )
  t.match(state, { n: 1 }, 'what was learned of the past is there')
})

t.test('what a scan found before the past was there is learned after it', async t => {
  const { source } = await world(t, SHOP)
  await watch(source.id, { backfill: false })
  const [check] = await query(
    `select c.id, c.table_id from checks c join tables t on t.id = c.table_id
    where c.source_id = $1 and t.name = 'orders'`,
    [source.id],
  )
  t.match(await points(source.id), [{ n: 0 }, { n: 0 }], 'a choice switches it off')
  await server.plugins.checks.runTable(tenant.companyId, String(check!.table_id), 'active', {})
  await query('update checks set backfill_days = 30 where id = $1 returning id', [check!.id])
  await server.db.company(tenant.companyId, trx =>
    server.plugins.checks.sendBackfill(trx, { id: source.id, companyId: tenant.companyId }),
  )
  await settled(source.id)
  await server.plugins.checks.runTable(tenant.companyId, String(check!.table_id), 'active', {})
  const results = await query(
    `select is_backfilled, is_learning from check_results where check_id = $1 order by at desc limit 2`,
    [check!.id],
  )
  t.match(results[0], { is_backfilled: false, is_learning: false })
})

t.test('recommendations that are accepted in bulk learn the past, too', async t => {
  const { source } = await world(t, SHOP)
  const apply = (body: object) =>
    tenant.ask('POST', '/api/v1/sdk/recommendations/apply', {
      asset_id: source.id,
      type: ['row_count'],
      ...body,
    })
  t.match((await apply({ dry_run: true })).body.data, { backfill: { tables: 1, statements: 1 } })
  t.match((await apply({ dry_run: true, backfill: false })).body.data, { backfill: { tables: 0, days: 0 } })
  await apply({})
  await settled(source.id)
  t.match((await points(source.id))[1], { name: 'orders', all_computed: true })
})

t.test('a past that could not be read waits for the next backfill of its source', async t => {
  const { source } = await world(t, SHOP)
  await watch(source.id, { backfill: false })
  await query('update checks set backfill_days = 30 where source_id = $1', [source.id])
  const { companyId } = tenant
  const backfill = async () => {
    server.jobs.forgetSettled()
    await server.db.company(companyId, trx =>
      server.plugins.checks.sendBackfill(trx, { id: source.id, companyId }),
    )
    await settled(source.id)
  }
  await query('update sources set is_active = false where id = $1', [source.id])
  await backfill()
  t.match((await points(source.id))[1], { name: 'orders', n: 0, backfill_days: 30 })
  await query('update sources set is_active = true where id = $1', [source.id])
  await backfill()
  t.match((await points(source.id))[1], { name: 'orders', all_computed: true, backfill_days: null })
})
