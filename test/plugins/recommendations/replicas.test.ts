import t from 'tap'
import { discoverJob } from '../../../plugins/catalog/discovery/jobs.ts'
import { startWorlds } from '../freshness/worlds.ts'

const { server, tenant, stranger, query, world, addSource } = await startWorlds(t)

const ORDERS = `create table orders (id int primary key, status text, total numeric, created_at timestamptz);
  insert into orders select n, 'new', n, '2026-01-01' from generate_series(1, 20) n`

const comparisonsOf = async (asset: string, who = tenant) => {
  const { body } = await who.ask('GET', `/api/v1/sdk/recommendations?asset_id=${asset}&kind=comparison`)
  return body.data.recommendations as {
    id: string
    table_path: string
    config: object
    reason: string
    confidence: number
  }[]
}

t.test('a table that another source has, too, is offered a comparison by its key', async t => {
  const production = await world(t, ORDERS)
  const warehouse = await world(t, `${ORDERS}; create table notes (id int primary key, body text)`)
  const [offer, ...others] = await comparisonsOf(warehouse.source.id)
  t.strictSame(others, [], 'for the one table that both have')
  t.match(offer!.table_path, /public\.orders$/)
  t.match(offer!.config, {
    right_source: production.source.name,
    level: 'rows',
    key_columns: ['id'],
  })
  t.match(offer!.reason, `${production.source.name} has a table of the same name`)
  t.match(offer!.reason, '4 of its 4 columns')
  t.strictSame(await comparisonsOf(production.source.id), [], 'a pair is offered once, for the later source')

  const applied = await tenant.ask('POST', '/api/v1/sdk/recommendations/apply', { ids: [offer!.id] })
  t.match(applied.body.data, { created: { comparison: 1 }, created_count: 1 })
  const { body } = await tenant.ask('GET', `/api/v1/sdk/comparisons/${warehouse.source.id}`)
  const [comparison] = body.data.items
  t.match(comparison, { level: 'rows', right_source: production.source.name })
  const path = `/api/v1/sdk/comparisons/${warehouse.source.id}/${comparison.id}/execute`
  const ran = await tenant.ask('POST', path)
  t.match(ran.body.data, { status: 'pass', rows_left: 20, rows_right: 20 })
  t.strictSame(await comparisonsOf(warehouse.source.id), [], 'it is there now')
})

t.test('tables of other columns, or with no key, are no copies by rows', async t => {
  await world(
    t,
    `create table invoices (id int primary key, paid bool, who text);
     create table visits (page text, hits int, at timestamptz)`,
  )
  const later = await world(
    t,
    `create table invoices (number text primary key, customer text, amount numeric, who text);
     create table visits (page text, hits int, at timestamptz)`,
  )
  const offers = await comparisonsOf(later.source.id)
  t.strictSame(
    offers.map(({ config }) => config),
    [{ ...(offers[0]!.config as object), level: 'counts' }],
    'visits alone, by its number of rows',
  )
  t.match(offers[0]!.table_path, /visits$/)
})

t.test('a source that is found later counts for the tables of the one before it', async t => {
  const before = await world(t, 'create table parcels (id int primary key, weight int, zone text)')
  t.strictSame(await comparisonsOf(before.source.id), [])
  const after = await addSource('postgresql', before.database.config)
  t.equal((await comparisonsOf(after.id)).length, 1, 'a copy, even on the same database')
})

t.test('other companies have no part in it', async t => {
  const { database } = await world(t, 'create table secrets_of_one (id int primary key, body text)')
  const { body } = await stranger.ask('POST', '/api/v1/sdk/assets', {
    name: 'same tables',
    source_type: 'postgresql',
    connection_config: database.config,
  })
  const { id } = body.data as { id: string }
  const started = await stranger.ask('POST', `/api/v1/sdk/assets/${id}/discover`)
  await server.jobs.settled(discoverJob, data => data.run_id === started.body.data.job_id)
  t.strictSame(await comparisonsOf(id, stranger), [])
})

t.test('a comparison of some of the rows is not that of all', async t => {
  const tables = 'create table stock (id int primary key, item text, amount int)'
  const original = await world(t, tables)
  const copy = await world(t, tables)
  const created = await tenant.ask('POST', `/api/v1/sdk/comparisons/${copy.source.id}`, {
    table_path: 'public.stock',
    right_source: original.source.name,
    right_table_path: 'public.stock',
    key_columns: ['id'],
    right_filter: 'amount > 0',
  })
  t.equal(created.status, 201)
  const [offer] = await comparisonsOf(copy.source.id)
  t.ok(offer, 'it is still offered')
  const path = `/api/v1/sdk/comparisons/${copy.source.id}/${created.body.data.id}`
  t.equal((await tenant.ask('DELETE', path)).status, 200)
  t.equal((await comparisonsOf(copy.source.id)).length, 1, 'and its removal declines nothing')
})

t.test('a table of an engine that no extension provides any more is passed over', async t => {
  const tables = 'create table coupons (id int primary key, code text, amount int)'
  const gone = await world(t, tables)
  const copy = await world(t, tables)
  await query(`update sources set source_type = 'gone' where id = $1`, [gone.source.id])
  t.strictSame(await comparisonsOf(copy.source.id), [])
})
