import t from 'tap'
import { scanJob } from '../../../plugins/checks/jobs.ts'
import { discover, makeStage, type makeWorldOn } from '../../helpers/world.ts'
import { shopAndWarehouse } from './two-sources.ts'

/** One server for all tests of this file, which have sources of their own. */
const stage = await makeStage(t)
const sdk = '/api/v1/sdk'

/** A shop and its warehouse, with what asks for comparisons of the two. */
async function comparedStage(t: Parameters<typeof makeWorldOn>[0]) {
  const { shop, warehouse, tenant } = await shopAndWarehouse(t, stage)
  const base = `${sdk}/comparisons/${warehouse.asset.id}`
  const body = {
    table_path: 'orders_copy',
    right_source: 'shop',
    right_table_path: 'orders',
    key_columns: ['id'],
  }
  return {
    shop,
    warehouse,
    tenant,
    base,
    body,
    async made(more: object = {}): Promise<string> {
      const reply = await tenant.ask('POST', base, { ...body, ...more })
      if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
      return reply.body.data.id as string
    },
    async execute(id: string) {
      const reply = await tenant.ask('POST', `${base}/${id}/execute`)
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      return reply.body.data
    },
  }
}

void t.test('rows of two sources are compared, and shown by their keys', async t => {
  const { tenant, base, made, execute, shop, warehouse } = await comparedStage(t)
  const id = await made()
  t.match(id, /^c_/)
  const result = await execute(id)
  t.match(result, {
    status: 'fail',
    differing_rows: 4,
    rows_left: 49,
    rows_right: 50,
    only_left: 1,
    only_right: 2,
    differing: 1,
    differing_columns: { total: 1 },
    error_message: null,
  })
  const samples = result.samples as { key: { id: string }; kind: string; values: unknown[] }[]
  t.strictSame(
    samples.toSorted((a, b) => Number(a.key.id) - Number(b.key.id)),
    [
      { key: { id: '7' }, kind: 'only_right', values: [] },
      { key: { id: '8' }, kind: 'only_right', values: [] },
      { key: { id: '20' }, kind: 'differs', values: [{ column: 'total', left: '21.5', right: '20.5' }] },
      { key: { id: '99' }, kind: 'only_left', values: [] },
    ],
  )
  const { body: alerts } = await tenant.ask('GET', `${sdk}/alerts?event_type=comparison_failure`)
  t.match(alerts.data.data, [
    {
      title: 'orders_copy: 4 of 51 rows differ: 1 only in warehouse, 2 only in shop, 1 in column total',
      rule_id: id,
    },
  ])
  t.match((await tenant.ask('GET', `${base}/${id}/results`)).body.data.items, [
    { status: 'fail', differing_rows: 4 },
  ])
  t.notOk(
    'samples' in (await tenant.ask('GET', `${base}/${id}/results`)).body.data.items[0],
    'rows are not kept',
  )

  await warehouse.source.query(`delete from orders_copy where id = 99`)
  await shop.source.query('delete from orders where id in (7, 8)')
  await shop.source.query('update orders set total = total + 1 where id = 20')
  t.match(await execute(id), {
    status: 'pass',
    differing_rows: 0,
    rows_left: 48,
    rows_right: 48,
    samples: [],
  })
  const { body: resolved } = await tenant.ask(
    'GET',
    `${sdk}/alerts?event_type=comparison_failure&status=resolved`,
  )
  t.equal(resolved.data.data.length, 1)
})

void t.test('tables of one source are compared there, by aggregates and counts too', async t => {
  const { tenant, shop } = await comparedStage(t)
  await shop.source.query('create table archive as select * from orders where id < 40')
  await discover(shop)
  const base = `${sdk}/comparisons/dry-run`
  const body = { asset_id: 'shop', table_path: 'archive', right_table_path: 'orders' }
  const rows = await tenant.ask('POST', base, { ...body, key_columns: ['id'] })
  t.match(rows.body.data, {
    status: 'fail',
    only_right: 11,
    only_left: 0,
    differing: 0,
    segments: 0,
    rows_fetched: 11,
  })
  const counts = await tenant.ask('POST', base, { ...body, level: 'counts' })
  t.match(counts.body.data, { status: 'fail', differing_rows: 11, rows_left: 39, rows_right: 50 })
  const allowed = await tenant.ask('POST', base, { ...body, level: 'counts', max_differing_percent: 22 })
  t.match(allowed.body.data, { status: 'pass', differing_rows: 11, differing_percent: 22 })
  const aggregates = await tenant.ask('POST', base, {
    ...body,
    level: 'aggregates',
    columns: ['total', 'status'],
  })
  t.match(aggregates.body.data, {
    status: 'fail',
    differing_aggregates: [
      { column: null, measure: 'rows', left: '39', right: '50', group: {} },
      { column: 'total', measure: 'distinct' },
      { column: 'total', measure: 'sum', left: '799.5', right: '1300' },
      { column: 'total', measure: 'maximum', left: '39.5', right: '50.5' },
    ],
  })
  const grouped = await tenant.ask('POST', base, { ...body, level: 'counts', group_by_columns: ['status'] })
  t.match(grouped.body.data.differing_aggregates, [{ group: { status: 'paid' }, measure: 'rows' }])
})

void t.test('filters and windows of both sides apply', async t => {
  const { tenant, body } = await comparedStage(t)
  const dryRun = (more: object) =>
    tenant.ask('POST', `${sdk}/comparisons/dry-run`, { asset_id: 'warehouse', ...body, ...more })
  t.match((await dryRun({ filter: 'id < 7', right_filter: 'id < 7' })).body.data, {
    status: 'pass',
    rows_left: 6,
  })
  t.match((await dryRun({ filter: 'id < 7' })).body.data, { status: 'fail', rows_left: 6, only_right: 44 })
  t.match((await dryRun({ right_filter: 'no_such = 1' })).body.error.details.errors, [
    { field: 'right_filter' },
  ])
  const windowed = await dryRun({ time_column: 'placed_at', window: '1d' })
  t.match(windowed.body.data, { status: 'pass', rows_left: 0, rows_right: 0 }, 'no orders yesterday')
})

void t.test('what is tried counts as a dry run, on both sources', async t => {
  const { tenant, shop, warehouse, body } = await comparedStage(t)
  const tried = await tenant.ask('POST', `${sdk}/comparisons/dry-run`, { asset_id: 'warehouse', ...body })
  t.equal(tried.status, 200)
  for (const { asset } of [shop, warehouse]) {
    const { data } = (await tenant.ask('GET', `${sdk}/assets/${asset.id}/usage`)).body
    t.ok(data.by_purpose.dry_run.statements > 0)
    t.equal(data.by_purpose.scan.statements, 0)
  }
})

void t.test('what cannot be compared is refused with a sentence that names the field', async t => {
  const { tenant, base, body } = await comparedStage(t)
  const refused = async (more: object) => {
    const { status, body: reply } = await tenant.ask('POST', base, { ...body, ...more })
    t.equal(status, 400, JSON.stringify(more))
    return reply.error.details.errors as { field: string; error: string }[]
  }
  t.match(await refused({ key_columns: [] }), [{ field: 'key_columns', error: /are needed to compare rows/ }])
  t.match(await refused({ key_columns: ['idd'] }), [{ field: 'key_columns', error: /idd/ }])
  t.match(await refused({ right_source: 'shop', right_table_path: 'orderz' }), [
    { field: 'right_table_path' },
  ])
  t.match(await refused({ columns: [{ left: 'status', tolerance: 1 }] }), [
    { field: 'columns', error: /tolerance is for number columns/ },
  ])
  t.match(await refused({ columns: [{ left: 'status', right: 'total' }] }), [
    { field: 'columns', error: /no values in common/ },
  ])
  t.match(await refused({ level: 'counts' }), [{ field: 'key_columns', error: /are for the level rows/ }])
  t.match(await refused({ level: 'aggregates', key_columns: [], max_differing_rows: 3 }), [
    { field: 'max_differing_rows' },
  ])
  t.match(await refused({ window: '1d' }), [{ field: 'time_column' }])
  t.match(await refused({ window: '1d', time_column: 'status' }), [{ field: 'time_column' }])
})

void t.test('a key that several rows share is an error, never a pass', async t => {
  const { warehouse, made, execute } = await comparedStage(t)
  const id = await made({ key_columns: ['status'], columns: ['total'] })
  t.match(await execute(id), {
    status: 'error',
    error_message: /share their key|occur more than once/,
    differing_rows: null,
  })
  await warehouse.source.query('drop table orders_copy')
  t.match(await execute(id), { status: 'error' })
})

void t.test('values of personal data are not shown, of whichever side they are', async t => {
  const { tenant, made, execute } = await comparedStage(t)
  const tag = { asset_id: 'shop', name: 'pii', object_path: 'public.orders.total', object_type: 'column' }
  t.equal((await tenant.ask('POST', `${sdk}/tags`, tag)).status, 201)
  const { samples } = await execute(await made())
  const differing = samples.find(({ kind }: { kind: string }) => kind === 'differs')
  t.match(differing, { key: { id: '20' }, values: [{ column: 'total', left: '•••', right: '•••' }] })
})

void t.test('between two sources, a side that shows no rows refuses to have them compared', async t => {
  const { tenant, warehouse, made, execute } = await comparedStage(t)
  const id = await made()
  await tenant.ask('PATCH', `${sdk}/assets/${warehouse.asset.id}`, { query_access_level: 'aggregates' })
  t.match(await execute(id), {
    status: 'error',
    error_message: /query_access_level of warehouse is aggregates/,
  })
})

void t.test('the sweep runs it beside the other checks of its table', async t => {
  const { tenant, made, warehouse } = await comparedStage(t)
  const id = await made()
  const metric = await tenant.ask('POST', `${sdk}/metrics/${warehouse.asset.id}`, {
    ...{ table_path: 'orders_copy', metric_type: 'row_count' },
  })
  await stage.app.server.plugins.checks.dispatch()
  await stage.app.server.jobs.settled(scanJob, () => true)
  const { body } = await tenant.ask('GET', `${sdk}/comparisons/${warehouse.asset.id}/${id}`)
  t.equal(body.data.latest_status, 'fail')
  const { body: other } = await tenant.ask(
    'GET',
    `${sdk}/metrics/${warehouse.asset.id}/${metric.body.data.id}`,
  )
  t.equal(other.data.last_status, 'PASS')
})

void t.test(
  'a source that others are compared with can be removed, and takes their comparisons with it',
  async t => {
    const { tenant, made, execute, base, shop, warehouse } = await comparedStage(t)
    const id = await made()
    t.match(await execute(id), { status: 'fail' })
    const back = {
      table_path: 'orders',
      right_source: 'warehouse',
      right_table_path: 'orders_copy',
      key_columns: ['id'],
    }
    t.equal((await tenant.ask('POST', `${sdk}/comparisons/${shop.asset.id}`, back)).status, 201)
    t.equal((await tenant.ask('DELETE', `${sdk}/assets/${shop.asset.id}`)).status, 200)
    t.equal((await tenant.ask('GET', `${base}/${id}`)).status, 404)
    const { body } = await tenant.ask('GET', `${sdk}/alerts?event_type=comparison_failure`)
    const alerts = body.data.data as { status: string }[]
    t.ok(alerts.length > 0 && alerts.every(({ status }) => status === 'resolved'), 'its alert is over')
    t.equal((await tenant.ask('DELETE', `${sdk}/assets/${warehouse.asset.id}`)).status, 200)
  },
)

void t.test('a read-only key tries comparisons, but no SQL of its own on either side', async t => {
  const { tenant, body } = await comparedStage(t)
  const { body: made } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  const dryRun = (more: object) =>
    stage.app.ask(
      'POST',
      `${sdk}/comparisons/dry-run`,
      { asset_id: 'warehouse', ...body, ...more },
      made.data.key as string,
    )
  t.match(await dryRun({}), { status: 200, body: { data: { differing_rows: 4 } } })
  for (const field of ['filter', 'right_filter'])
    t.match(
      await dryRun({ [field]: 'id < 7' }),
      { status: 403, body: { error: { code: 'FORBIDDEN' } } },
      field,
    )
})
