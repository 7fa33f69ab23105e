import t from 'tap'
import { scanJob } from '../../../plugins/checks/jobs.ts'
import { startProxy } from '../../helpers/proxy.ts'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

/** One of six orders has no customer, two have one that does not exist; Ann has two orders, Bob one, Cid none. */
const SHOP = [
  'create table customers (id int primary key, email text, code uuid)',
  `insert into customers values (1, 'ann@x.org', null), (2, 'bob@x.org', null), (3, 'cid@x.org', null)`,
  'create table orders (id int primary key, customer_id int, email text, payload jsonb)',
  'insert into orders values (1, 1), (2, 1), (3, 2), (4, 8), (5, 9), (6, null)',
  'create table visits (customer_id int)',
  'insert into visits values (1), (1), (null)',
  'create schema old',
  'create table old.customers (id bigint)',
]

const UNKNOWN = '11111111-1111-4111-8111-111111111111'

const COLUMNS = {
  child_table_path: 'orders',
  child_column_name: 'customer_id',
  parent_table_path: 'public.customers',
  parent_column_name: 'id',
}

/** A discovered shop with a way to make and run checks. */
async function shop(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, SHOP)
  await discover(world)
  const { tenant, asset } = world
  const base = `/api/v1/sdk/referential/${asset.id}`
  const make = (body: object = {}) => tenant.ask('POST', base, { ...COLUMNS, ...body })
  return {
    ...world,
    base,
    make,
    async made(body: object = {}): Promise<string> {
      const { status, body: reply } = await make(body)
      if (status !== 201) throw new Error(JSON.stringify(reply))
      return reply.data.id as string
    },
    change: (id: string, body: object) => tenant.ask('PATCH', `${base}/${id}`, body),
    async execute(id: string) {
      const { status, body } = await tenant.ask('POST', `${base}/${id}/execute`)
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body.data
    },
  }
}

t.test('a check is made, read, changed, listed and removed', async t => {
  const { tenant, base, make, change, source, asset } = await shop(t)
  const made = await make()
  t.equal(made.status, 201)
  const {
    id,
    internal_id: internalId,
    created_at: createdAt,
    updated_at: updatedAt,
    ...rest
  } = made.body.data
  t.match([id, internalId, createdAt, updatedAt], [/^[0-9a-f-]{36}$/, Number, /Z$/, /Z$/])
  t.same(rest, {
    asset_id: asset.id,
    name: 'orders.customer_id in customers.id',
    description: null,
    severity: 'warning',
    is_active: true,
    filter: null,
    time_column: null,
    window: null,
    window_delay: null,
    revisit: null,
    child_table_path: `${source.name}.public.orders`,
    child_column_name: 'customer_id',
    parent_table_path: `${source.name}.public.customers`,
    parent_column_name: 'id',
    capture_interval: 'daily',
    max_orphan_count: 0,
    max_orphan_percent: null,
    min_child_count: null,
    max_child_count: null,
    latest_status: null,
    last_check_at: null,
    last_checked_at: null,
  })
  for (const form of [id, id.toUpperCase(), internalId])
    t.same((await tenant.ask('GET', `${base}/${form}`)).body, made.body, String(form))

  const all = {
    name: 'every order has a customer',
    description: 'asked for by sales',
    severity: 'critical',
    is_active: false,
    capture_interval: 'weekly',
    max_orphan_count: 3,
    max_orphan_percent: 12.5,
    min_child_count: 1,
    max_child_count: 9,
  }
  const full = await make(all)
  t.match(full, { status: 201, body: { data: all } })
  t.match(await change(id, all), { status: 200, body: { data: { id, ...all } } })
  const cleared = { description: null, max_orphan_count: null, min_child_count: null }
  t.match((await change(id, cleared)).body.data, { ...all, ...cleared })
  t.match((await change(id, { max_orphan_percent: null, max_child_count: null })).body.data, {
    max_orphan_count: 0,
    max_orphan_percent: null,
    max_child_count: null,
  })
  t.match((await change(id, {})).status, 200)

  const visits = await make({ child_table_path: 'visits' })
  const list = await tenant.ask('GET', `${base}?limit=2`)
  t.match(list.body.pagination, { total: 3, limit: 2, offset: 0, has_more: true })
  t.same(list.body.data.items, [visits.body.data, full.body.data], 'newest first')
  t.match((await tenant.ask('GET', `${base}?is_active=false`)).body.pagination, { total: 2, limit: 50 })
  t.match((await tenant.ask('GET', `${base}?is_active=true&offset=1`)).body, {
    data: { items: [] },
    pagination: { total: 1, has_more: false },
  })
  const table = await tenant.ask('GET', `/api/v1/sdk/referential/shop.${source.name}.public.visits`)
  t.same(table.body.data.items, [visits.body.data], 'of a table, those of which it is the child')
  t.match(await tenant.ask('GET', `/api/v1/sdk/referential/shop.${source.name}.public.visits/${id}`), {
    status: 404,
  })

  t.match(await tenant.ask('DELETE', `${base}/${id}`), {
    status: 200,
    body: { data: { success: true, message: /every order has a customer/ } },
  })
  t.match(await tenant.ask('GET', `${base}/${id}`), {
    status: 404,
    body: { error: { code: 'REFERENTIAL_CHECK_NOT_FOUND', details: { check_id: id } } },
  })
  t.equal((await tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`)).status, 200)
})

t.test('an execution counts orphans and shows some; lists do not', async t => {
  const { tenant, base, made, execute, source } = await shop(t)
  const id = await made()
  const first = await execute(id)
  const { id: resultId, query_duration_ms: ms, checked_at: checkedAt, orphan_sample: sample, ...rest } = first
  t.match([resultId, ms, checkedAt], [Number, Number, /Z$/])
  const { internal_id: internalId } = (await tenant.ask('GET', `${base}/${id}`)).body.data
  t.same(rest, {
    referential_check_id: internalId,
    check_id: id,
    status: 'fail',
    orphan_count: 2,
    orphan_percent: 40,
    total_child_rows: 6,
    parents_below_min: null,
    parents_above_max: null,
    error_message: null,
  })
  const byRow = (a: { row_id: number }, b: { row_id: number }) => a.row_id - b.row_id
  t.same(sample.toSorted(byRow), [
    { row_id: 4, value: 8 },
    { row_id: 5, value: 9 },
  ])
  t.match((await tenant.ask('GET', `${base}/${id}`)).body.data, {
    latest_status: 'fail',
    last_check_at: checkedAt,
    last_checked_at: checkedAt,
  })

  await source.query('insert into orders select n, n from generate_series(100, 120) n')
  t.equal((await execute(id)).orphan_sample.length, 10, 'ten at most')
  await source.query('delete from orders where customer_id > 3')
  t.match(await execute(id), { status: 'pass', orphan_count: 0, orphan_percent: 0, orphan_sample: [] })

  const results = await tenant.ask('GET', `${base}/${id}/results?limit=2`)
  t.match(results.body.pagination, { total: 3, limit: 2, offset: 0, has_more: true })
  t.match(results.body.data.items, [
    { status: 'pass', orphan_sample: null },
    { status: 'fail', orphan_count: 23, orphan_sample: null },
  ])
  const last = await tenant.ask('GET', `${base}/${id}/results?limit=1000&offset=2`)
  t.same(last.body.data.items, [{ ...first, orphan_sample: null }])
  t.match((await tenant.ask('GET', `${base}/${id}/results`)).body.pagination, { limit: 100 })
  for (const query of ['limit=0', 'limit=1001', 'offset=-1', 'colour=red'])
    t.equal((await tenant.ask('GET', `${base}/${id}/results?${query}`)).status, 400, query)
})

t.test('each limit is the last value that passes', async t => {
  const { made, change, execute, source } = await shop(t)
  const id = await made()
  const none = {
    max_orphan_count: null,
    max_orphan_percent: null,
    min_child_count: null,
    max_child_count: null,
  }
  const borders: [object, string, object][] = [
    [{ max_orphan_count: 2 }, 'pass', { orphan_count: 2, parents_below_min: null, parents_above_max: null }],
    [{ max_orphan_count: 1 }, 'fail', {}],
    [{ max_orphan_percent: 40 }, 'pass', { orphan_percent: 40 }],
    [{ max_orphan_percent: 39.9 }, 'fail', {}],
    [{ max_orphan_percent: 0 }, 'fail', {}],
    [{ max_orphan_count: 2, max_orphan_percent: 39 }, 'fail', {}],
    [{ max_orphan_count: 1, max_orphan_percent: 40 }, 'fail', {}],
    [{ min_child_count: 0 }, 'pass', { parents_below_min: 0, parents_above_max: null, orphan_count: 2 }],
    [{ min_child_count: 1 }, 'fail', { parents_below_min: 1 }],
    [{ min_child_count: 2 }, 'fail', { parents_below_min: 2 }],
    [{ max_child_count: 2 }, 'pass', { parents_below_min: null, parents_above_max: 0, orphan_count: 2 }],
    [{ max_child_count: 1 }, 'fail', { parents_above_max: 1 }],
    [{ min_child_count: 1, max_child_count: 1 }, 'fail', { parents_below_min: 1, parents_above_max: 1 }],
    [{ max_orphan_count: 1, max_child_count: 2 }, 'fail', { parents_above_max: 0 }],
    [{}, 'fail', { orphan_count: 2 }],
  ]
  for (const [limits, status, numbers] of borders) {
    t.equal((await change(id, { ...none, ...limits })).status, 200)
    t.match(await execute(id), { status, total_child_rows: 6, ...numbers }, JSON.stringify(limits))
  }
  await source.query('insert into orders values (7, 3)')
  await change(id, { ...none, min_child_count: 1, max_child_count: 2 })
  t.match(await execute(id), { status: 'pass', parents_below_min: 0, parents_above_max: 0 })
})

t.test('doubles in the parent, NULLs and empty tables', async t => {
  const { made, execute, source } = await shop(t)
  const body = { child_table_path: 'visits', parent_table_path: 'old.customers', min_child_count: 2 }
  const id = await made({ ...body, max_orphan_count: 0, max_child_count: 2 })
  const numbers = (orphans: number, percent: number, rows: number, below: number, above: number) => ({
    orphan_count: orphans,
    orphan_percent: percent,
    total_child_rows: rows,
    parents_below_min: below,
    parents_above_max: above,
  })
  t.match(await execute(id), { status: 'fail', ...numbers(2, 100, 3, 0, 0) }, 'the parent is empty')
  await source.query('insert into old.customers values (1), (1), (null)')
  t.match(await execute(id), { status: 'pass', ...numbers(0, 0, 3, 0, 0) }, 'doubles count once')
  await source.query('delete from visits where customer_id is not null')
  t.match(await execute(id), { status: 'fail', ...numbers(0, 0, 1, 1, 0) }, 'only a NULL is left')
  await source.query('truncate visits')
  t.match(await execute(id), { status: 'fail', ...numbers(0, 0, 0, 1, 0) }, 'the child is empty')
  await source.query('truncate old.customers')
  t.match(await execute(id), { status: 'pass', ...numbers(0, 0, 0, 0, 0) }, 'both are')
})

t.test('a failure opens one alert, counts repeats on it, and a pass or a removal resolves it', async t => {
  const { app, tenant, base, made, execute, change, source } = await shop(t)
  const id = await made({ severity: 'critical', name: 'customers of orders', max_orphan_count: 1 })
  const alerts = () =>
    app.query(
      `select status, occurrences, severity, cause, title, event from alerts where kind = 'referential_failure' order by created_at`,
    )
  await execute(id)
  await execute(id)
  t.match(await alerts(), [
    {
      status: 'triggered',
      occurrences: 2,
      severity: 'critical',
      cause: id,
      title: 'orders.customer_id: 2 rows without a match in customers.id (40 %), expected at most 1',
      event: {
        asset: { asset_type: 'table', qualified_name: /orders$/ },
        details: {
          check_id: id,
          child_table_path: `${source.name}.public.orders`,
          child_column_name: 'customer_id',
          parent_table_path: `${source.name}.public.customers`,
          parent_column_name: 'id',
          orphan_count: 2,
          orphan_percent: 40,
          total_child_rows: 6,
          parents_below_min: null,
          parents_above_max: null,
          max_orphan_count: 1,
          max_orphan_percent: null,
          min_child_count: null,
          max_child_count: null,
        },
      },
    },
  ])
  await source.query('alter table orders rename column customer_id to client')
  t.match(await execute(id), { status: 'error' })
  t.match(await alerts(), [{ status: 'triggered', occurrences: 2 }], 'an error says nothing of it')
  await source.query('alter table orders rename column client to customer_id')
  await source.query('delete from orders where id = 5')
  t.match(await execute(id), { status: 'pass', orphan_count: 1 })
  t.match(await alerts(), [{ status: 'resolved' }])

  await change(id, { max_orphan_count: null, min_child_count: 1, max_child_count: 1 })
  t.match(await execute(id), { orphan_count: 1 })
  t.match(await alerts(), [
    { status: 'resolved' },
    {
      status: 'triggered',
      title:
        /^orders\.customer_id: 1 row of customers with fewer than 1 row here; 1 row of customers with more than 1 row here$/,
    },
  ])
  t.equal((await tenant.ask('DELETE', `${base}/${id}`)).status, 200)
  t.match(await alerts(), [{ status: 'resolved' }, { status: 'resolved' }])
})

t.test('a check that cannot be measured is an error with a sentence, never a pass', async t => {
  const world = await shop(t)
  const { tenant, base, made, execute, change, source, asset } = world
  const id = await made()
  await source.query('alter table customers rename column id to key')
  const failed = await execute(id)
  t.match(
    failed,
    { status: 'error', error_message: /column .*\bid\b.* does not exist/ },
    'the engine names the column',
  )
  const nothing = {
    orphan_count: 0,
    orphan_percent: 0,
    total_child_rows: 0,
    parents_below_min: null,
    parents_above_max: null,
    orphan_sample: null,
  }
  t.match(failed, nothing)
  t.match((await tenant.ask('GET', `${base}/${id}/results`)).body.data.items, [nothing], 'in lists as well')
  await discover(world)
  const proxy = await startProxy(t, source.config)
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
    connection_config: { port: proxy.port, password: source.config.password },
  })
  proxy.statements.length = 0
  t.match(await execute(id), {
    status: 'error',
    error_message: `The column id does not exist in ${source.name}.public.customers.`,
    ...nothing,
  })
  await source.query('drop table customers')
  await discover(world)
  proxy.statements.length = 0
  t.match(await execute(id), {
    status: 'error',
    error_message: /The table shop\..*\.public\.customers is no longer in the source/,
  })
  t.same(proxy.statements, [], 'without a statement')
  t.match(
    (await tenant.ask('GET', `${base}/${id}`)).body.data,
    {
      is_active: true,
      latest_status: 'error',
      parent_table_path: `${source.name}.public.customers`,
    },
    'it outlives its parent',
  )
  t.match((await change(id, { is_active: false })).status, 200)
  t.match(await execute(id), { status: 'error' })
  t.equal((await tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`)).status, 200)
  t.match(
    (await tenant.ask('GET', `${base}/${id}`)).body.error.code,
    'ASSET_NOT_FOUND',
    'the source takes all',
  )
  t.same(await world.app.query('select from checks'), [])
})

t.test('what a user gets wrong is named with its field', async t => {
  const { tenant, base, make, made, change, source } = await shop(t)
  const refusals: [object, string, RegExp?][] = [
    [{ child_table_path: undefined }, 'child_table_path'],
    [{ child_table_path: 'nope' }, 'child_table_path', /there is no table `nope`/],
    [{ child_table_path: 'a.b.c.d' }, 'child_table_path', /catalog\.schema\.table/],
    [{ parent_table_path: undefined }, 'parent_table_path'],
    [{ parent_table_path: 'nope' }, 'parent_table_path', /there is no table `nope`/],
    [{ parent_table_path: 'customers' }, 'parent_table_path', /several tables/],
    [{ parent_table_path: 'elsewhere.public.customers' }, 'parent_table_path'],
    [{ child_column_name: undefined }, 'child_column_name'],
    [{ child_column_name: 'nope' }, 'child_column_name', /no column `nope`; its columns are id, /],
    [{ parent_column_name: undefined }, 'parent_column_name'],
    [{ parent_column_name: 'nope' }, 'parent_column_name', /no column `nope`; its columns are id, /],
    [{ parent_column_name: 'email' }, 'parent_column_name', /email is text, which cannot be compared/],
    [{ child_column_name: 'payload' }, 'parent_column_name', /payload is jsonb/],
    [
      { child_column_name: 'email', parent_column_name: 'code' },
      'parent_column_name',
      /PostgreSQL cannot compare/,
    ],
    [{ capture_interval: '5m' }, 'capture_interval'],
    [{ severity: 'huge' }, 'severity'],
    [{ is_active: 'yes' }, 'is_active'],
    [{ name: '' }, 'name'],
    [{ max_orphan_count: -1 }, 'max_orphan_count'],
    [{ max_orphan_count: 1.5 }, 'max_orphan_count'],
    [{ max_orphan_count: '1' }, 'max_orphan_count'],
    [{ max_orphan_percent: 100.1 }, 'max_orphan_percent'],
    [{ max_orphan_percent: -1 }, 'max_orphan_percent'],
    [{ min_child_count: -1 }, 'min_child_count'],
    [{ max_child_count: 2 ** 60 }, 'max_child_count'],
    [{ min_child_count: 3, max_child_count: 2 }, 'min_child_count', /max_child_count, which is 2/],
    [{ colour: 'red' }, 'colour'],
  ]
  for (const [body, field, sentence = /./] of refusals) {
    const refused = await make(body)
    const said = JSON.stringify([body, refused.body])
    t.match(refused, { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, said)
    t.match(
      refused.body.error.details,
      { field, error: sentence, errors: [{ field, error: sentence }] },
      said,
    )
  }
  const ambiguous = await make({ parent_table_path: 'customers' })
  t.equal(ambiguous.body.error.details.candidates.length, 2)
  t.same((await tenant.ask('GET', base)).body.data.items, [], 'nothing was made')

  const id = await made({ max_child_count: 5 })
  for (const [body, field] of [
    [{ min_child_count: 6 }, 'min_child_count'],
    [{ child_column_name: 'id' }, 'child_column_name'],
    [{ max_orphan_percent: 101 }, 'max_orphan_percent'],
    [{ capture_interval: null }, 'capture_interval'],
  ] as const) {
    t.match(await change(id, body), { status: 400, body: { error: { details: { field } } } }, field)
  }
  t.equal((await change(id, { min_child_count: 5 })).status, 200)
  t.match(await change(id, { max_child_count: 4 }), {
    status: 400,
    body: { error: { details: { field: 'min_child_count' } } },
  })
  t.equal((await tenant.ask('POST', `${base}/${id}/execute`, { sample_limit: 5 })).status, 400)
  t.equal((await tenant.ask('POST', `${base}/${id}/execute`, {})).status, 200)
  for (const query of ['limit=101', 'is_active=maybe', 'colour=red'])
    t.equal((await tenant.ask('GET', `${base}?${query}`)).status, 400, query)

  const byTable = `/api/v1/sdk/referential/shop.${source.name}.public.orders`
  t.match(
    (await tenant.ask('POST', byTable, COLUMNS)).status,
    201,
    'the parent is another table than the asset',
  )
  t.match(await tenant.ask('POST', byTable, { ...COLUMNS, child_table_path: 'visits' }), {
    status: 400,
    body: { error: { details: { field: 'child_table_path', error: /another table than the asset/ } } },
  })
})

t.test(
  'columns that only the engine can compare are not held up by a source that cannot be reached',
  async t => {
    const { tenant, make, asset, source } = await shop(t)
    await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
      connection_config: { port: 1, password: source.config.password },
    })
    const made = await make({ child_column_name: 'email', parent_column_name: 'code' })
    t.equal(made.status, 201)
  },
)

t.test('the summary counts checks by how the active ones did last', async t => {
  const { app, tenant, base, made, execute, change, asset, source } = await shop(t)
  const summary = async (of = base) => (await tenant.ask('GET', `${of}/summary`)).body.data
  const none = { total_checks: 0, active_checks: 0, passing_checks: 0, failing_checks: 0, error: 0 }
  t.same(await summary(), { ...none, last_check_at: null })
  const failing = await made()
  const passing = await made({ child_table_path: 'visits' })
  const broken = await made({ parent_table_path: 'old.customers' })
  t.same(await summary(), { ...none, total_checks: 3, active_checks: 3, last_check_at: null })
  await source.query('drop table old.customers')
  await execute(failing)
  await execute(broken)
  const { checked_at: checkedAt } = await execute(passing)
  const counts = { total_checks: 3, active_checks: 3, passing_checks: 1, failing_checks: 1, error: 1 }
  t.same(await summary(), { ...counts, last_check_at: checkedAt })
  t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, { data_quality_status: 'failing' })
  await change(failing, { is_active: false })
  t.match(await app.query(`select status from alerts where kind = 'referential_failure'`), [
    { status: 'resolved' },
  ])
  t.match(await summary(), { total_checks: 3, active_checks: 2, failing_checks: 0 })
  t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, { data_quality_status: 'error' })
  t.match(await summary(`/api/v1/sdk/referential/shop.${source.name}.public.visits`), {
    total_checks: 1,
    passing_checks: 1,
  })
})

t.test('the sweep runs what is due, in a statement of its own, and keeps no sample', async t => {
  const { app, tenant, base, made, asset, source } = await shop(t)
  const id = await made({ capture_interval: 'hourly' })
  await made({ is_active: false })
  for (const column of ['id', 'customer_id']) {
    const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: column }
    t.equal((await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, rule)).status, 201)
  }
  const proxy = await startProxy(t, source.config)
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
    connection_config: { port: proxy.port, password: source.config.password },
  })
  proxy.statements.length = 0
  const { checks } = app.server.plugins
  t.same(await checks.dispatch(), { tables: 1 })
  const [{ table_id: tableId } = {}] = await app.query('select table_id from checks')
  t.equal(await app.server.jobs.settled(scanJob, ({ table_id }) => table_id === tableId), 'completed')
  t.equal(proxy.statements.length, 2, proxy.statements.join('\n'))
  t.equal(proxy.statements.filter(text => text.includes('customers')).length, 1)
  const results = (await tenant.ask('GET', `${base}/${id}/results`)).body.data.items
  t.match(results, [{ status: 'fail', orphan_count: 2, orphan_sample: null }])
  const [row] = await app.query(
    `select next_run_at > now() as ahead, running_slot, (select scheduled_for is not null from check_results r where r.check_id = checks.id) as slotted
     from checks where uuid = $1`,
    [id],
  )
  t.same(row, { ahead: true, running_slot: null, slotted: true })
  t.same(await checks.dispatch(), { tables: 0 })
  await app.query(`update checks set next_run_at = now() - interval '3 hours'`)
  t.same(await checks.dispatch(), { tables: 1 }, 'one run, however many were missed')
})

t.test('checks are read with read scope, changed with write scope, and never seen by others', async t => {
  const { app, tenant, base, made, asset } = await shop(t)
  const id = await made()
  const { internal_id: internalId } = (await tenant.ask('GET', `${base}/${id}`)).body.data
  const { body } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  const reader = body.data.key as string
  for (const path of [base, `${base}/summary`, `${base}/${id}`, `${base}/${id}/results`]) {
    t.equal((await app.ask('GET', path, undefined, reader)).status, 200)
    t.equal((await app.ask('GET', path, undefined, tenant.token)).status, 200)
    t.equal((await app.ask('GET', path)).status, 401)
  }
  const other = await app.signUp('Other')
  for (const [method, path] of [
    ['POST', base],
    ['PATCH', `${base}/${id}`],
    ['DELETE', `${base}/${id}`],
    ['POST', `${base}/${id}/execute`],
  ] as const) {
    const payload = path === base ? COLUMNS : {}
    t.match(await app.ask(method, path, payload, reader), {
      status: 403,
      body: { error: { code: 'FORBIDDEN', details: { required_scope: 'read-write' } } },
    })
    t.match(await other.ask(method, path, payload), {
      status: 404,
      body: { error: { code: 'ASSET_NOT_FOUND' } },
    })
  }
  t.match(await other.ask('GET', `${base}/${id}`), {
    status: 404,
    body: { error: { code: 'ASSET_NOT_FOUND' } },
  })

  const own = await other.ask('POST', '/api/v1/sdk/assets', {
    name: 'mine',
    source_type: 'postgresql',
    connection_config: { host: '127.0.0.1', port: 1, database: 'x', username: 'x', password: 'x' },
  })
  const mine = `/api/v1/sdk/referential/${own.body.data.id}`
  for (const unknown of [
    id,
    internalId,
    UNKNOWN,
    '0',
    '9'.repeat(15),
    '9'.repeat(40),
    'nonsense',
    'x'.repeat(300),
  ]) {
    for (const [method, tail] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/execute'],
      ['GET', '/results'],
    ] as const) {
      t.match(
        await other.ask(method, `${mine}/${unknown}${tail}`, method === 'PATCH' ? {} : undefined),
        {
          status: 404,
          body: { error: { code: 'REFERENTIAL_CHECK_NOT_FOUND', details: { check_id: String(unknown) } } },
        },
        `${method} ${unknown}${tail}`,
      )
    }
  }
  t.equal((await tenant.ask('GET', `${base}/${id}`)).status, 200)
  t.match((await tenant.ask('GET', `/api/v1/sdk/referential/${asset.name}/${id}`)).body.data, { id })
})

t.test('a dry run measures a check by its limits, and stores nothing', async t => {
  const { tenant, asset, app } = await shop(t)
  const dryRun = (body: object) =>
    tenant.ask('POST', '/api/v1/sdk/referential/dry-run', { asset_id: asset.id, ...COLUMNS, ...body })
  const strict = await dryRun({})
  t.equal(strict.status, 200)
  t.match(strict.body.data, {
    status: 'fail',
    orphan_count: 2,
    orphan_percent: 40,
    total_child_rows: 6,
    parents_below_min: null,
    error_message: null,
  })
  t.match(strict.body.data.sql[0].text, /customer_id/)
  t.match((await dryRun({ max_orphan_percent: 50 })).body.data, { status: 'pass', orphan_count: 2 })
  t.match((await dryRun({ min_child_count: 1 })).body.data, { status: 'fail', parents_below_min: 1 })
  t.match(await dryRun({ parent_column_name: 'email' }), {
    status: 400,
    body: { error: { details: { field: 'parent_column_name' } } },
  })
  t.match(await dryRun({ min_child_count: 3, max_child_count: 1 }), {
    status: 400,
    body: { error: { details: { field: 'min_child_count' } } },
  })
  t.same(await app.query('select from checks'), [])
})

t.test('with a window, the children of each day are looked at by themselves', async t => {
  const { source, made, execute, tenant, base, make } = await shop(t)
  await source.query('alter table orders add placed_at timestamptz')
  await source.query(`update orders set placed_at = date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'
    - case when id in (4, 6) then interval '12 hours' else interval '36 hours' end`)
  await discover({ ...stage, asset: { id: base.split('/').at(-1)! } })
  t.match(await make({ window: '1d' }), {
    status: 400,
    body: { error: { details: { field: 'time_column' } } },
  })
  const id = await made({ time_column: 'placed_at', window: '1d', revisit: 1 })
  const newest = await execute(id)
  t.match(newest, { status: 'fail', orphan_count: 1, total_child_rows: 2, bucket_start: /T00:00:00/ })
  const { body } = await tenant.ask('GET', `${base}/${id}/results`)
  t.match(body.data.items, [
    { orphan_count: 1, total_child_rows: 2 },
    { orphan_count: 1, total_child_rows: 4 },
  ])
  await source.query(`insert into customers values (8, 'eve@x.org', null)`)
  t.match(await execute(id), { status: 'pass', orphan_count: 0, total_child_rows: 2 })
})
