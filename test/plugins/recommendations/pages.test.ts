import t from 'tap'
import { countJob, dispatchCounts } from '../../../plugins/recommendations/count-jobs.ts'
import { TABLES_PER_COUNT } from '../../../plugins/recommendations/counts.ts'
import { startWorlds } from '../freshness/worlds.ts'

const { server, tenant, query, world } = await startWorlds(t)

/** Tables that are counted in several transactions. */
const COPIES = 2 * TABLES_PER_COUNT + 50

interface Offered {
  id: string
  type: string
  table_path: string
  column_name: string | null
}

async function copyTables(sourceId: string, count: number, from = 1): Promise<void> {
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint)
     select gen_random_uuid(), company_id, source_id, catalog_name, schema_name, 'copy_' || n,
       replace(qualified_name, 'orders', 'copy_' || n), kind, columns, constraints, fingerprint
     from tables, generate_series($3::int, $3::int + $2::int - 1) n where source_id = $1 and name = 'orders'`,
    [sourceId, count, from],
  )
}

async function manyTables(t: Parameters<typeof world>[0]) {
  const { source } = await world(t, 'create table orders (id int primary key, updated_at timestamptz)')
  await copyTables(source.id, COPIES)
  return source
}

const list = async (asset: string, more = '') => {
  const { body, status } = await tenant.ask('GET', `/api/v1/sdk/recommendations?asset_id=${asset}${more}`)
  t.equal(status, 200)
  return body.data as {
    recommendations: Offered[]
    tables: number
    uncounted_tables: number
    counts: Record<string, number>
    pagination: { total: number; has_more: boolean }
  }
}

const post = async (path: string, body: object) => tenant.ask('POST', `/api/v1/sdk/${path}`, body)

/** The tables whose evidence is read while something is done, each as often as it is read. */
async function tablesReadDuring(work: () => Promise<unknown>): Promise<string[]> {
  const { profiles } = server.plugins
  const { latest } = profiles
  const read: string[] = []
  profiles.latest = (trx, ids) => {
    read.push(...ids)
    return latest(trx, ids)
  }
  try {
    await work()
  } finally {
    profiles.latest = latest
  }
  return read
}

async function countAll(sourceId: string): Promise<void> {
  const settled = server.jobs.settled(countJob, data => data.source_id === sourceId)
  await dispatchCounts.work({}, { server } as never)
  await settled
}

t.test('a page computes its own tables alone', async t => {
  const source = await manyTables(t)
  let first: Awaited<ReturnType<typeof list>> | undefined
  const read = await tablesReadDuring(async () => (first = await list(source.id, '&limit=30')))
  t.equal(first!.recommendations.length, 30, 'the first page is there before all tables are counted')
  t.ok(first!.pagination.has_more)
  t.ok(first!.uncounted_tables > 0 && first!.uncounted_tables <= COPIES + 1 - TABLES_PER_COUNT)
  t.ok(read.length < 2 * TABLES_PER_COUNT)

  await countAll(source.id)
  const whole = await list(source.id, '&limit=500')
  t.match(whole, { uncounted_tables: 0, tables: COPIES + 1 })
  t.equal(whole.counts.offered, whole.pagination.total)
  t.equal(whole.pagination.total, 4 * (COPIES + 1), 'row_count, freshness, NOT_NULL and UNIQUE of each')
  for (const offset of [0, 37, 4 * COPIES]) {
    let page: Awaited<ReturnType<typeof list>> | undefined
    const tables = await tablesReadDuring(async () => {
      page = await list(source.id, `&limit=10&offset=${offset}`)
    })
    t.ok(tables.length <= 4, `${tables.length} tables at ${offset}`)
    t.match(page!.pagination, { total: whole.pagination.total })
    if (offset < 490) t.strictSame(page!.recommendations, whole.recommendations.slice(offset, offset + 10))
  }
  const filtered = await list(source.id, '&kind=validity&type=UNIQUE,row_count&limit=5&offset=3')
  t.match(filtered, {
    tables: COPIES + 1,
    counts: { offered: COPIES + 1 },
    pagination: { total: COPIES + 1 },
  })
  t.strictSame(
    filtered.recommendations.map(({ type }) => type),
    Array.from({ length: 5 }, () => 'UNIQUE'),
  )
  t.match(await list(source.id, '&min_confidence=0.99&type=row_count'), { pagination: { total: 0 } })
  t.match(await list(source.id, '&status=applied'), { recommendations: [], tables: 0 })
})

t.test('counts follow what changes', async t => {
  const source = await manyTables(t)
  await countAll(source.id)
  const total = async (more = '') => (await list(source.id, `&limit=1${more}`)).pagination.total
  const before = await total()
  const made = await post(`metrics/${source.id}`, { metric_type: 'row_count', table_path: 'copy_300' })
  t.equal(await total(), before - 1, 'a check was created')
  await tenant.ask('DELETE', `/api/v1/sdk/metrics/${source.id}/${String(made.body.data.id)}`)
  t.equal((await total()) + (await total('&status=removed')), before, 'and removed')
  const { recommendations } = await list(source.id, '&limit=2&offset=700')
  await post('recommendations/dismiss', { ids: recommendations.map(({ id }) => id) })
  t.equal(await total('&status=dismissed'), 2)
  await query(`update tables set is_active = false where source_id = $1 and name = 'copy_7'`, [source.id])
  const after = await list(source.id, '&limit=1')
  t.match(after, { tables: COPIES })
  await copyTables(source.id, 2, 100_000)
  t.match(await list(source.id, '&limit=1'), { tables: COPIES + 2 })
  const [left] = await query('select count(*) as changes from recommendation_changes where source_id = $1', [
    source.id,
  ])
  t.match(left, { changes: '0' })
})

t.test('a table that may be the parent of others lets them be counted again', async t => {
  const { source } = await world(
    t,
    'create table orders (id int primary key, customer_id int); create table items (id int primary key)',
  )
  const references = async () => (await list(source.id, '&type=referential')).pagination.total
  t.equal(await references(), 0)
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint)
     select gen_random_uuid(), company_id, source_id, catalog_name, schema_name, 'customers', qualified_name || '_c', kind,
       columns, constraints, fingerprint from tables where source_id = $1 and name = 'items'`,
    [source.id],
  )
  t.equal(await references(), 1)
  await query(
    `update tables set name = 'clients', qualified_name = qualified_name || 'x' where source_id = $1 and name = 'customers'`,
    [source.id],
  )
  t.equal(await references(), 0)
})

t.test('a count that is wrong is corrected by its page', async t => {
  const source = await manyTables(t)
  await countAll(source.id)
  const whole = await list(source.id, '&limit=500')
  await query(
    `update recommendation_counts set offered = 1 where source_id = $1 and table_id in (
       select id from tables where name in ('copy_1', 'copy_10', 'copy_100'))`,
    [source.id],
  )
  const page = await list(source.id, '&limit=60')
  t.strictSame(page.recommendations, whole.recommendations.slice(0, 60))
  t.equal(page.pagination.total, whole.pagination.total)
})

t.test('applying and trying compute the recommendations of a table once', async t => {
  const { source } = await world(
    t,
    `create table orders (id int primary key, total int, updated_at timestamptz);
     insert into orders select n, n, now() - make_interval(hours => n) from generate_series(1, 200) n`,
  )
  const { recommendations } = await list(source.id)
  const [unique, count, fresh] = ['UNIQUE', 'row_count', 'freshness'].map(
    type => recommendations.find(each => each.type === type)!.id,
  )
  const reads = async (work: () => Promise<{ status: number }>) =>
    (await tablesReadDuring(async () => t.equal((await work()).status, 200))).length
  t.equal(await reads(() => post('recommendations/apply', { ids: [unique] })), 1)
  t.equal(await reads(() => post('recommendations/apply', { ids: [count], check_past: true })), 1)
  t.equal(await reads(() => post(`recommendations/${fresh!}/past`, {})), 1)
  const again = await post('recommendations/apply', { ids: [unique] })
  t.match(again.body.data, { created_count: 0, existing: { UNIQUE: 1 } })
  const [stored] = await query('select count(*) as rules from checks where source_id = $1', [source.id])
  t.match(stored, { rules: '2' }, 'the past of row_count is quiet, too')
})
