import t from 'tap'
import { mariadbAbsent, startShop } from '../../../helpers/mariadb.ts'
import { formatName } from '../../../../connectors/catalog.ts'
import { discoverJob, dispatchDiscoveries } from '../../../../plugins/catalog/discovery/jobs.ts'
import { untilBlocked } from '../../../helpers/lock-waits.ts'
import { discover, makeStage, makeWorldOn, type World } from '../../../helpers/world.ts'

const stage = await makeStage(t)

const patchSource = ({ tenant, asset }: World, body: object) =>
  tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, body)

/** The open changes of a source, and how many alerts of drift are open. */
async function openDrift({ tenant, asset, app }: World) {
  const { body } = await tenant.ask('GET', `/api/v1/assets/${asset.id}/schema-changes?limit=1000`)
  const changes = body.data.changes as {
    id: string
    acknowledged: boolean
    change_type: string
    object_name: string
  }[]
  const [alerts] = await app.query(
    `select count(*)::int as open from alerts where source_id = $1 and kind = 'schema_change'
       and status = 'triggered'`,
    [asset.id],
  )
  return {
    open: changes
      .filter(({ acknowledged }) => !acknowledged)
      .map(({ change_type: type, object_name: name }) => `${type} ${name}`)
      .toSorted(),
    alerts: alerts?.open as number,
  }
}

/** Starts a discovery that waits in the middle of its reading, until what it gives is called. */
async function reading(world: World): Promise<() => Promise<{ status: string; result: object | null }>> {
  const { app, tenant, asset, source } = world
  await source.query('begin')
  await source.query('lock table pg_catalog.pg_class in access exclusive mode')
  const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/discover`)
  const job = asked.body.data.job_id as string
  const state = async () => (await tenant.ask('GET', `/api/v1/sdk/jobs/${job}`)).body.data
  while ((await state()).status !== 'running') await new Promise(resolve => setTimeout(resolve, 50))
  return async () => {
    await source.query('rollback')
    await app.server.jobs.settled(discoverJob, data => data.run_id === job)
    return state()
  }
}

const AB = ['create table a1 (id int)', 'create table b1 (id int)']

t.test('patterns that change while a discovery reads count from then on', async t => {
  const world = await makeWorldOn(t, stage, AB)
  await discover(world)
  await patchSource(world, { include_patterns: ['a*'] })
  const end = await reading(world)
  await patchSource(world, { include_patterns: [] })
  t.match(await end(), { status: 'completed', result: { table_count: 2, changes_detected: 0 } })
  t.same(await openDrift(world), { open: [], alerts: 0 })
})

t.test('a source that is pointed elsewhere while a discovery reads is read there', async t => {
  const world = await makeWorldOn(t, stage, AB)
  const other = await makeWorldOn(t, await makeStage(t), ['create table c1 (id int)'])
  await discover(world)
  const end = await reading(world)
  await patchSource(world, { connection_config: other.source.config })
  t.match(await end(), { status: 'completed', result: { table_count: 1, changes_detected: 0 } })
  await discover(world)
  t.same(await openDrift(world), { open: [], alerts: 0 })
})

t.test('patterns that change along with a config let nothing in as an addition', async t => {
  const world = await makeWorldOn(t, stage, AB)
  await patchSource(world, { include_patterns: ['a*'] })
  await discover(world)
  await patchSource(world, {
    include_patterns: [],
    connection_config: { sslmode: 'disable', password: world.source.config.password },
  })
  t.match((await discover(world)).result, { table_count: 2, changes_detected: 0 })
})

t.test('a table that is gone and no longer named has nothing open', async t => {
  const world = await makeWorldOn(t, stage, AB)
  await discover(world)
  await world.source.query('drop table b1')
  await discover(world)
  t.same(await openDrift(world), { open: ['table_removed b1'], alerts: 1 })
  await patchSource(world, { exclude_patterns: ['b*'] })
  await discover(world)
  t.same(await openDrift(world), { open: [], alerts: 0 })
  await patchSource(world, { exclude_patterns: [] })
  await world.source.query('create table b1 (id int, other int)')
  await discover(world)
  t.same(await openDrift(world), { open: [], alerts: 0 }, 'it came back into sight as it is')
  await world.source.query('drop table b1')
  await discover(world)
  t.same(await openDrift(world), { open: ['table_removed b1'], alerts: 1 })
})

t.test('a table made after its name came back into the patterns is an addition', async t => {
  const world = await makeWorldOn(t, stage, AB)
  await discover(world)
  await patchSource(world, { exclude_patterns: ['b*'] })
  await discover(world)
  await world.source.query('drop table b1')
  await patchSource(world, { exclude_patterns: [] })
  await discover(world)
  t.same(await openDrift(world), { open: [], alerts: 0 })
  await world.source.query('create table b1 (id int)')
  await discover(world)
  t.same(await openDrift(world), { open: ['table_added b1'], alerts: 1 })
})

t.test(
  'characters that the product cannot store do not keep a catalog from being read',
  { skip: mariadbAbsent },
  async t => {
    const shop = await startShop(t)
    await shop.query(
      `create table a (id int primary key comment 'x\\0y', kind enum('p\\0q', 'r') default 'p\\0q') comment 'all\\0of'`,
    )
    const made = await stage.tenant.ask('POST', '/api/v1/sdk/assets', {
      name: 'maria',
      source_type: 'mysql',
      connection_config: shop.config,
    })
    const world = { ...stage, asset: made.body.data as World['asset'] }
    t.match(await discover(world), { status: 'completed', result: { table_count: 1 } })
    t.match(await discover(world), { result: { changes_detected: 0 } })
    await shop.query(`alter table a add column note varchar(9) default 's\\0t'`)
    t.match(await discover(world), { status: 'completed', result: { changes_detected: 1 } })
    const record = await stage.tenant.ask('GET', `/api/v1/assets/maria.${shop.name}.${shop.name}.a`)
    t.match(record.body, { columns: [{ name: 'id', description: 'x\uFFFDy' }] })
  },
)

t.test(
  'what is left of a table is accepted when it was acknowledged, and the rest is taken back',
  async t => {
    const world = await makeWorldOn(t, stage, AB)
    const { tenant, source, asset } = world
    await discover(world)
    await source.query('alter table a1 add column one int, add column two int')
    await discover(world)
    const { body } = await tenant.ask('GET', `/api/v1/assets/${asset.id}/schema-changes`)
    const one = (body.data.changes as { id: string; object_name: string }[]).find(
      change => change.object_name === 'one',
    )
    await tenant.ask('POST', `/api/v1/sdk/schema/changes/${one?.id}/acknowledge`)
    t.same(await openDrift(world), { open: ['column_added two'], alerts: 1 })
    await source.query('alter table a1 drop column two')
    await discover(world)
    t.same(await openDrift(world), { open: [], alerts: 0 })
    await source.query('alter table a1 drop column one')
    await discover(world)
    t.same(await openDrift(world), { open: ['column_removed one'], alerts: 1 }, 'it was accepted with it')
  },
)

t.test('a discovery that is cancelled waits for its source before it holds its run', async t => {
  const world = await makeWorldOn(t, stage, AB)
  const { app, tenant, asset } = world
  const end = await reading(world)
  const [run] = await app.query('select id from runs where source_id = $1', [asset.id])
  await app.query('begin')
  await app.query('select from sources where id = $1 for no key update', [asset.id])
  const cancelling = tenant.ask('POST', `/api/v1/sdk/jobs/${run?.id}/cancel`)
  await untilBlocked(app)
  await app.query('select from runs where id = $1 for update nowait', [run?.id])
  await app.query('commit')
  t.match(await cancelling, { status: 200, body: { data: { status: 'cancelled' } } })
  t.match(await end(), { status: 'cancelled' })
})

t.test('of two new names at once the tables bear the one that stays', async t => {
  const world = await makeWorldOn(t, stage, AB)
  const { app, tenant, asset } = world
  await discover(world)
  await app.query('begin')
  await app.query('select from sources where id = $1 for no key update', [asset.id])
  const names = ['a much longer name', 'x']
  const renaming = names.map(name => tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { name }))
  await untilBlocked(app, 2)
  await app.query('commit')
  await Promise.all(renaming)
  const { name } = (await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body
  const tables = await app.query('select qualified_name from tables where source_id = $1 order by name', [
    asset.id,
  ])
  t.same(
    tables.map(table => table.qualified_name),
    ['a1', 'b1'].map(table => formatName([name, world.source.name, 'public', table])),
  )
})

t.test('a sweep passes by a source that is being recorded', async t => {
  const world = await makeWorldOn(t, stage, AB)
  const { app, asset } = world
  await app.query(`update sources set retry_at = now() where id = $1`, [asset.id])
  const runs = async () => (await app.query('select from runs where source_id = $1', [asset.id])).length
  await app.query('begin')
  await app.query('select from sources where id = $1 for no key update', [asset.id])
  await dispatchDiscoveries(app.server)
  await app.query('commit')
  t.equal(await runs(), 0)
  await dispatchDiscoveries(app.server)
  t.equal(await runs(), 1)
})
