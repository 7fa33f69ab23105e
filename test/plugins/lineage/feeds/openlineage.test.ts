import { randomUUID } from 'node:crypto'
import t from 'tap'
import { pruneRunsJob } from '../../../../plugins/lineage/feeds/prune-job.ts'
import { makeStage } from '../../../helpers/world.ts'

const { app, tenant } = await makeStage(t)
const { query, server } = app

t.beforeEach(() => query('delete from rate_windows'))

const NAMESPACE = 'postgres://db.example.com:5432'

/** A source with this connection and tables of these names, each with columns id and amount. */
async function addSource(
  names: readonly string[],
  {
    type = 'postgresql',
    config = { host: 'db.example.com', port: 5432, database: 'shop' } as object,
    catalog = 'shop',
  } = {},
) {
  const source = randomUUID()
  const name = `s${source.slice(0, 8)}`
  await query(`insert into sources (id, company_id, name, source_type, config) values ($1, $2, $3, $4, $5)`, [
    ...[source, tenant.companyId, name, type],
    JSON.stringify(config),
  ])
  const addTables = (added: readonly string[]) =>
    query(
      `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
         constraints, fingerprint, column_count)
       select gen_random_uuid(), $1, $2, $5, 'public', n, $4 || '.' || $5 || '.public.' || n, 'table',
              '[{"name": "id"}, {"name": "amount"}]', '[]', 'x', 2 from unnest($3::text[]) n`,
      [tenant.companyId, source, added, name, catalog],
    )
  await addTables(names)
  return { source, name, addTables, remove: () => query('delete from sources where id = $1', [source]) }
}

const dataset = (name: string, facets: object = {}, namespace = NAMESPACE) => ({ namespace, name, facets })

function runEvent(event: object = {}) {
  return {
    eventType: 'COMPLETE',
    eventTime: '2026-05-04T10:00:00.000Z',
    producer: 'https://example.com/producer',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: randomUUID(), facets: {} },
    job: { namespace: 'airflow', name: 'shop.daily' },
    ...event,
  }
}

async function send(event: unknown, status = 201, path = '/api/v1/lineage') {
  const reply = await app.ask('POST', path, event as object, tenant.key)
  if (reply.status !== status) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body
}

/** All edges, as `orders > sales`; `ns/name` outside the catalog, with columns `orders.id > sales.id`. */
async function edges() {
  const name = (end: string) =>
    `coalesce((select name from tables where id = e.${end}), (select qualified_name from lineage_nodes where id = e.${end}))`
  const found = await query(
    `select ${name('upstream_id')} || ' > ' || ${name('downstream_id')} as edge,
            (select string_agg(upstream_column || case kind when 'direct' then ' > ' else ' ~> ' end || downstream_column, ', '
               order by upstream_column, downstream_column) from lineage_column_edges c
              where (c.upstream_id, c.downstream_id) = (e.upstream_id, e.downstream_id)) as columns
       from lineage_edges e where company_id = $1 order by 1`,
    [tenant.companyId],
  )
  await query('delete from lineage_edges where company_id = $1', [tenant.companyId])
  return found.map(({ edge, columns }) => (columns === null ? edge : `${String(edge)}: ${String(columns)}`))
}

t.test('inputs lead to outputs, once however often an event comes', async t => {
  const { remove } = await addSource(['orders', 'sales'])
  t.teardown(remove)
  const event = runEvent({
    inputs: [dataset('shop.public.orders')],
    outputs: [dataset('shop.public.SALES')],
  })
  t.match(await send(event), { data: { tables: 2, outside: 0, edges: 1 } })
  await send(event)
  t.strictSame(await edges(), ['orders > sales'])
  const runs = await query('select state, ended_at from lineage_runs')
  t.match(runs, [{ state: 'completed' }])
  t.equal(runs.length, 1)
})

t.test('columns come from the facets, spelled as the catalog spells them', async t => {
  const { remove } = await addSource(['orders', 'sales'])
  t.teardown(remove)
  const input = (field: string, type: string) => ({
    ...{ namespace: NAMESPACE, name: 'shop.public.orders', field },
    transformations: [{ type, subtype: 'X' }],
  })
  const columnLineage = {
    fields: { AMOUNT: { inputFields: [input('Amount', 'DIRECT'), input('id', 'INDIRECT')] } },
    dataset: [input('id', 'INDIRECT')],
  }
  await send(runEvent({ outputs: [dataset('shop.public.sales', { columnLineage })] }))
  t.strictSame(await edges(), ['orders > sales: amount > amount, id ~> *, id ~> amount'])
  const lineage = {
    inputs: [{ namespace: NAMESPACE, name: 'shop.public.orders', type: 'DATASET' }],
    fields: {},
  }
  await send(
    { ...runEvent(), run: undefined, job: undefined, dataset: dataset('shop.public.sales', { lineage }) },
    422,
  )
  const { eventType: _type, run: _run, job: _job, ...rest } = runEvent()
  await send({ ...rest, dataset: dataset('shop.public.sales', { lineage }) })
  t.strictSame(await edges(), ['orders > sales'])
})

t.test('a run may name its inputs first and its outputs last', async t => {
  const { source, remove } = await addSource(['orders', 'sales'])
  t.teardown(remove)
  const run = { runId: randomUUID() }
  const failed = {
    ...run,
    facets: { errorMessage: { message: 'out of memory', programmingLanguage: 'JAVA' } },
  }
  const at = (minute: number) => `2026-05-04T10:0${minute}:00Z`
  const end = runEvent({
    eventType: 'FAIL',
    eventTime: at(5),
    run: failed,
    outputs: [dataset('shop.public.sales')],
  })
  const start = runEvent({
    eventType: 'START',
    eventTime: at(1),
    run,
    inputs: [dataset('shop.public.orders')],
  })
  await send(end)
  await send(start)
  await send(runEvent({ eventType: 'RUNNING', eventTime: at(6), run }))
  t.strictSame(await edges(), ['orders > sales'])
  const { body } = await tenant.ask('GET', `/api/v1/sdk/lineage/runs?asset_id=${source}&days=90`)
  await query(`update lineage_runs set last_event_at = now()`)
  const shown = (await tenant.ask('GET', `/api/v1/sdk/lineage/runs?asset_id=${source}`)).body.data.runs
  t.match(body, { data: { runs: [] } })
  t.match(shown, [
    {
      ...{
        state: 'failed',
        error_message: 'out of memory',
        job_name: 'shop.daily',
        job_namespace: 'airflow',
      },
      ...{ started_at: '2026-05-04T10:01:00.000Z', ended_at: '2026-05-04T10:05:00.000Z' },
    },
  ])
  const [{ id: table } = {}] = await query(`select id from tables where source_id = $1 and name = 'sales'`, [
    source,
  ])
  const runs = await server.db.company(tenant.companyId, trx =>
    server.plugins.lineage.runsOf(trx, [String(table)], new Date(0)),
  )
  t.match(runs, [{ tableId: table, state: 'failed', errorMessage: 'out of memory' }])
})

t.test('what no source has is outside, until a rule or a discovery finds it', async t => {
  const { source, addTables, remove } = await addSource(['orders'])
  t.teardown(remove)
  const owner = { ownership: { owners: [{ name: 'team:data', type: 'OWNER' }] } }
  const later = { namespace: NAMESPACE, name: 'shop.public.later', type: 'TABLE' }
  await send(
    runEvent({
      inputs: [dataset('orders', {}, 'spark://prod'), dataset('raw/orders', {}, 's3://lake')],
      outputs: [
        dataset('shop.public.late', owner),
        // Known by another name.
        dataset('warehouse/later', { symlinks: { identifiers: [later] } }, 's3://lake'),
      ],
    }),
  )
  t.match((await tenant.ask('GET', '/api/v1/sdk/lineage/namespaces')).body.data, {
    rules: [],
    reported: [
      { namespace: NAMESPACE, datasets: 1, mapping: 'automatic', source_ids: [source] },
      { namespace: 's3://lake', datasets: 2, mapping: 'none', source_ids: [] },
      { namespace: 'spark://prod', datasets: 1, mapping: 'none' },
    ],
  })
  const body = { namespace: 'spark://*', source_id: source, name_prefix: 'shop.public' }
  const made = await tenant.ask('POST', '/api/v1/sdk/lineage/namespaces', body)
  t.match(made, { status: 201, body: { data: { moved_datasets: 1, namespace: 'spark://*' } } })
  t.equal((await tenant.ask('POST', '/api/v1/sdk/lineage/namespaces', body)).status, 409)
  await addTables(['late', 'later'])
  await server.db.company(tenant.companyId, async trx => {
    const asset = await server.plugins.catalog.findAsset(trx, source)
    await server.plugins.catalog.notifyDiscovered(trx, asset.source)
  })
  const [late] = await query(`select id from tables where name = 'late' and company_id = $1`, [
    tenant.companyId,
  ])
  const { data } = (await tenant.ask('GET', `/api/v1/sdk/assets/${String(late?.id)}/owners`)).body
  t.match(data.owners, [{ origin: 'openlineage', name: 'data' }])
  t.strictSame(await edges(), [
    ...['orders > late', 'orders > later'],
    ...['s3://lake/raw/orders > late', 's3://lake/raw/orders > later'],
  ])
  const { id } = made.body.data as { id: string }
  t.equal((await tenant.ask('DELETE', `/api/v1/sdk/lineage/namespaces/${id}`)).status, 200)
  t.equal((await tenant.ask('DELETE', `/api/v1/sdk/lineage/namespaces/${id}`)).status, 404)
})

t.test('a name that two sources have is outside; a symlink may be the table', async t => {
  const [one, two] = [await addSource(['orders', 'sales']), await addSource(['orders'])]
  t.teardown(() => Promise.all([one.remove(), two.remove()]))
  const symlinks = { identifiers: [{ namespace: NAMESPACE, name: 'shop.public.sales', type: 'TABLE' }] }
  const event = runEvent({
    inputs: [dataset('shop.public.orders')],
    outputs: [dataset('warehouse/sales', { symlinks }, 's3://lake')],
  })
  t.match(await send(event), { data: { tables: 1, outside: 1 } })
  t.strictSame(await edges(), [`${NAMESPACE}/shop.public.orders > sales`])
})

t.test('events that are none are refused with what is wrong; unknown facets are not', async t => {
  const errors = async (event: unknown) =>
    (await send(event, 422)).detail?.map(({ loc }: { loc: string[] }) => loc.join('.'))
  t.strictSame(await errors({ hello: 1 }), ['body'])
  t.match(await send({ hello: 1 }, 422), {
    detail: [{ loc: ['body'], msg: /must have run and job/, type: 'any.invalid' }],
    error: { code: 'VALIDATION_ERROR', details: { field: 'body' } },
  })
  t.strictSame(await errors([]), ['body'])
  t.strictSame(await errors(runEvent({ run: { runId: 'x' }, eventType: 'DONE', eventTime: 'now' })), [
    ...['body.eventTime', 'body.run.runId', 'body.eventType'],
  ])
  t.strictSame(await errors(runEvent({ job: { name: '' } })), ['body.job.namespace', 'body.job.name'])
  t.strictSame(await errors(runEvent({ inputs: [{ name: 'x' }], outputs: {} })), [
    'body.inputs.0.namespace',
    'body.outputs',
  ])
  const broken = await app.ask('POST', '/api/v1/lineage', 'null' as never, tenant.key)
  t.equal(broken.status, 422)
  const text = await app.ask('POST', '/api/v1/lineage', '{' as never, tenant.key)
  t.match(text, { status: 400, body: { error: { code: 'BAD_REQUEST' } } }, 'what is no JSON')
  const facets = {
    my: { _producer: 'x', text: 'a\u0000b', deep: { list: [[[{}]]] } },
    errorMessage: 7,
    parent: [],
  }
  await send(
    runEvent({
      run: { runId: randomUUID(), facets },
      inputs: [dataset('a', { schema: 5, columnLineage: [] })],
    }),
  )
  const reply = await app.ask('POST', '/api/v1/lineage', runEvent())
  t.equal(reply.status, 401)
})

t.test('a symlink is a name of its dataset in later events, and merges what was two nodes', async t => {
  const link = (...names: [namespace: string, name: string][]) => ({
    symlinks: { identifiers: names.map(([namespace, name]) => ({ namespace, name, type: 'TABLE' })) },
  })
  const write = (name: string, namespace: string, facets: object = {}) =>
    send(
      runEvent({
        inputs: [dataset(`raw/${name}`, {}, 's3://lake')],
        outputs: [dataset(name, facets, namespace)],
      }),
    )
  const weekly = (name: string, namespace: string) =>
    send(runEvent({ inputs: [dataset(name, {}, namespace)], outputs: [dataset('weekly', {}, 'trino')] }))
  const readEdges = async () => {
    const found = await edges()
    await query('delete from lineage_nodes')
    await query('delete from lineage_aliases')
    return found
  }

  await write('sales', 's3://lake', link(['hive', 'db.sales']))
  await weekly('db.sales', 'hive')
  t.strictSame(await readEdges(), ['s3://lake/raw/sales > s3://lake/sales', 's3://lake/sales > trino/weekly'])

  // The other way round, declared by an event of the dataset alone.
  await weekly('db.late', 'hive')
  await write('late', 's3://lake')
  const { eventType: _type, run: _run, job: _job, ...rest } = runEvent()
  const declaration = { ...rest, dataset: dataset('late', link(['hive', 'db.late']), 's3://lake') }
  await send(declaration)
  await send(declaration)
  t.equal((await query(`select from lineage_nodes where namespace = 'hive'`)).length, 0)
  t.strictSame(await readEdges(), ['s3://lake/late > trino/weekly', 's3://lake/raw/late > s3://lake/late'])

  // A table of a source: its name counts, and so do events that use the other name alone.
  const { remove } = await addSource(['orders'])
  t.teardown(remove)
  await write('orders', 's3://lake')
  await weekly('orders', 's3://lake')
  await write('orders', 's3://lake', link([NAMESPACE, 'shop.public.orders']))
  await weekly('orders', 's3://lake')
  t.equal((await query(`select from lineage_nodes where name = 'orders'`)).length, 0)
  t.strictSame(await readEdges(), ['orders > trino/weekly', 's3://lake/raw/orders > orders'])

  // Names of names, and a name that two datasets declare stays with the first.
  await write('one', 's3://lake', link(['hive', 'db.one']))
  await write('db.one', 'hive', link(['glue', 'one'], ['s3://lake', 'one']))
  await weekly('one', 'glue')
  await write('two', 's3://lake', link(['glue', 'one']))
  await weekly('one', 'glue')
  t.strictSame(await readEdges(), [
    's3://lake/one > trino/weekly',
    's3://lake/raw/db.one > s3://lake/one',
    's3://lake/raw/one > s3://lake/one',
    's3://lake/raw/two > s3://lake/two',
  ])
})

t.test('a dataset takes over a name that another one has not declared for a day', async t => {
  const declare = async (name: string) => {
    const symlinks = { identifiers: [{ namespace: 'hive', name: 'db.moved', type: 'TABLE' }] }
    await send(runEvent({ outputs: [dataset(name, { symlinks }, 's3://lake')] }))
  }
  const prune = () =>
    pruneRunsJob.work({}, { server, signal: new AbortController().signal } as Parameters<
      typeof pruneRunsJob.work
    >[1])
  const owner = async () =>
    (await query(`select dataset_name from lineage_aliases where name = 'db.moved'`))[0]?.dataset_name
  await declare('v1')
  await declare('v2')
  t.equal(await owner(), 'v1')
  await query(`update lineage_aliases set declared_at = now() - interval '2 days'`)
  await declare('v1')
  await declare('v2')
  t.equal(await owner(), 'v1', 'declared again')
  await query(`update lineage_aliases set declared_at = now() - interval '2 days'`)
  await declare('v2')
  t.equal(await owner(), 'v2')
  await query(`update lineage_aliases set last_seen_at = now() - interval '89 days'`)
  await send(runEvent({ inputs: [dataset('db.moved', {}, 'hive')] }))
  await query(`update lineage_aliases set last_seen_at = last_seen_at - interval '2 days'`)
  await prune()
  t.equal(await owner(), 'v2', 'used within 90 days')
  await query(`update lineage_aliases set last_seen_at = now() - interval '91 days'`)
  await prune()
  t.equal(await owner(), undefined)
  await query('delete from lineage_aliases')
  await query('delete from lineage_nodes')
})

t.test('events that declare the same names at once leave one node', async t => {
  const names = ['a', 'b', 'c']
  await Promise.all(
    names.map(name => {
      const others = names.filter(other => other !== name).map(other => ({ namespace: 'lake', name: other }))
      const facets = { symlinks: { identifiers: others } }
      return send(
        runEvent({ inputs: [dataset('raw', {}, 'lake')], outputs: [dataset(name, facets, 'lake')] }),
      )
    }),
  )
  for (const name of names) await send(runEvent({ outputs: [dataset(name, {}, 'lake')] }))
  t.equal((await edges()).length, 1)
  await query('delete from lineage_aliases')
  await query('delete from lineage_nodes')
})

t.test('an event with too many datasets is stored with the first ones, and its failure', async t => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => dataset(`many${n}`, {}, 'lake'))
  const run = { runId: randomUUID(), facets: { errorMessage: { message: 'out of disk' } } }
  const event = (fields: object) => runEvent({ eventType: 'FAIL', run, ...fields })
  const symlinks = { identifiers: many(1_003) }
  t.match(await send(event({ inputs: many(1_001), outputs: [dataset('one', { symlinks }, 'lake')] })), {
    data: { omitted_datasets: 4, omitted_edges: 0 },
  })
  t.match(await query('select state, error_message from lineage_runs where run_id = $1', [run.runId]), [
    { state: 'failed', error_message: 'out of disk' },
  ])
  t.match(await send([event({ inputs: many(1_002) })], 200, '/api/v1/lineage/batch'), {
    status: 'success',
    summary: { successful: 1, omitted_datasets: 2 },
  })
  await query('delete from lineage_nodes')
})

t.test('a batch stores what it can', async t => {
  const body = await send(
    [runEvent(), { hello: 1 }, runEvent({ eventType: 'START' })],
    200,
    '/api/v1/lineage/batch',
  )
  t.match(body, {
    status: 'partial_success',
    summary: { received: 3, successful: 2, failed: 1, retriable: 0, non_retriable: 1 },
    failed_events: [{ index: 1, retriable: false }],
  })
  await send({}, 422, '/api/v1/lineage/batch')
})

t.test('large events are read in a thread, one while another waits', async t => {
  const facets = { big: { text: 'x'.repeat(400_000) } }
  const large = () => runEvent({ run: { runId: randomUUID(), facets } })
  await send(large())
  await Promise.all([send(large()), send(large())])
  t.end()
})

t.test('an event more than a day ahead is refused: its run would stay the newest for ever', async t => {
  const ahead = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const { error } = await send(runEvent({ eventTime: '9999-12-30T00:00:00Z' }), 422)
  t.match(error.details, { field: 'eventTime', error: /more than a day in the future/ })
  await send(runEvent({ eventTime: ahead(1.1) }), 422)
  await send(runEvent({ eventTime: ahead(0.9) }))
})
