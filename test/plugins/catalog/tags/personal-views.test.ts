import t from 'tap'
import { profileJob } from '../../../../plugins/profiles/job.ts'
import { startWorlds } from '../../freshness/worlds.ts'

const { server, tenant, query, world, discover } = await startWorlds(t)

const SHOP = `
  create table people (id int primary key, secret text, city text, updated_at timestamptz default now());
  insert into people select n, 'SECRET-' || n % 2, 'Oslo' from generate_series(1, 40) n;
  create view shown as select id, secret as handle, upper(secret) as loud, city, updated_at from people;
  create view again as select handle as note, city as place from shown;
  create materialized view kept as select note || '!' as remark, place from again;
  create view counted as select city, id from people where secret <> 'x'`

const put = async (body: object) => {
  const { status, body: reply } = await tenant.ask('POST', '/api/v1/sdk/tags', body)
  t.equal(status, 201, JSON.stringify(reply))
  return String(reply.data.id)
}

async function makeShop() {
  const shop = await world(t, SHOP)
  const tables = await query('select id, name from tables where source_id = $1', [shop.source.id])
  const idOf = (name: string) => String(tables.find(table => table.name === name)?.id)
  /** Columns whose values a profile hides, and all that it shows. */
  const profile = async (name: string) => {
    const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${idOf(name)}/profile`)
    await server.jobs.settled(profileJob, data => data.run_id === asked.body.data.job_id)
    const { body } = await tenant.ask('GET', `/api/v1/sdk/assets/${idOf(name)}/profile`)
    const columns = body.data.columns as { name: string; is_masked: boolean }[]
    return {
      masked: columns.flatMap(column => (column.is_masked ? [column.name] : [])),
      text: JSON.stringify(body),
    }
  }
  const masked = async () => {
    const found: Record<string, string[]> = {}
    for (const name of ['shown', 'again', 'kept', 'counted']) found[name] = (await profile(name)).masked
    return found
  }
  return { ...shop, idOf, profile, masked }
}

const NONE = { shown: [], again: [], kept: [], counted: [] }
const ALL = { shown: ['handle', 'loud'], again: ['note'], kept: ['remark'], counted: [] }

t.test(
  'a view shows no value of a column that is tagged as personal data, nor does a view of that view',
  async t => {
    const { source, profile, masked } = await makeShop()
    t.match((await profile('again')).text, /SECRET-1/)
    t.strictSame(await masked(), NONE)

    const tag = await put({
      asset_id: source.id,
      name: 'pii',
      object_path: 'people.secret',
      object_type: 'column',
    })
    t.strictSame(await masked(), ALL)
    for (const name of ['shown', 'again', 'kept']) t.notMatch((await profile(name)).text, /SECRET/i, name)

    const metric = {
      ...{ asset_id: source.id, table_path: 'again', metric_type: 'row_count' },
      ...{ group_by_columns: ['note'], lookback_days: 7 },
    }
    const grouped = await tenant.ask('POST', '/api/v1/sdk/metrics/dry-run', metric)
    t.match(grouped, { status: 400, body: { error: { message: /note is tagged as personal data/ } } })
    const rule = {
      ...{ table_path: 'again', rule_type: 'REGEX', column_name: 'note' },
      ...{ rule_config: { pattern: '^x' }, name: 'note' },
    }
    const made = await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, rule)
    t.equal(made.status, 201, JSON.stringify(made.body))
    const ran = await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}/${made.body.data.id}/check`)
    t.equal(ran.status, 200)
    t.match(ran.body.data.invalid_samples.samples[0], { value: null, is_hidden: true })
    t.notMatch(JSON.stringify(ran.body), /SECRET/)
    t.equal((await tenant.ask('DELETE', `/api/v1/sdk/tags/${tag}`)).status, 200)
    t.strictSame(await masked(), NONE)
  },
)

t.test('a view that shows something else, or is made later, is masked after the next discovery', async t => {
  const { source, database, masked } = await makeShop()
  const asked = {
    asset_id: source.id,
    tag_names: ['pii.name'],
    object_paths: ['people.secret'],
    object_type: 'column',
  }
  t.match((await tenant.ask('POST', '/api/v1/sdk/tags/apply', asked)).body.data, { applied: 1, failed: 0 })
  t.strictSame(await masked(), ALL)
  await database.query(`
    drop view shown cascade;
    create view shown as select id, city as handle, upper(city) as loud, city, updated_at from people;
    create view again as select handle as note, secret as place from people join shown using (id);
    create materialized view kept as select note || '!' as remark, place from again`)
  await discover(source.id)
  t.strictSame(await masked(), { ...NONE, again: ['place'], kept: ['place'] })
})

t.test(
  'where a whole table is tagged, all that views show of it is masked, but not when it was written',
  async t => {
    const { source, masked, watch } = await makeShop()
    await put({ asset_id: source.id, name: 'sensitive', object_path: 'people' })
    t.strictSame(await masked(), {
      shown: ['id', 'handle', 'loud', 'city', 'updated_at'],
      again: ['note', 'place'],
      kept: ['remark', 'place'],
      counted: ['city', 'id'],
    })
    t.match(await watch('shown'), { freshness_column: 'updated_at' })
  },
)

t.test('where the columns of a view are not known, those of the same name are masked', async t => {
  const { source, masked, idOf } = await makeShop()
  await server.db.company(tenant.companyId, trx =>
    server.plugins.lineage.recordEdges(trx, {
      ...{ origin: 'view', sourceId: source.id, isComplete: true, downstreamIds: [idOf('counted')] },
      edges: [
        {
          ...{ upstream: { tableId: idOf('people') }, downstream: { tableId: idOf('counted') } },
          ...{ detail: 'public.counted', confidence: 0.8 },
        },
      ],
    }),
  )
  await put({ asset_id: source.id, name: 'pii', object_path: 'people.city', object_type: 'column' })
  t.strictSame(await masked(), { shown: ['city'], again: ['place'], kept: ['place'], counted: ['city'] })
})
