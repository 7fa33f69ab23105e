import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../../helpers/world.ts'

const stage = await makeStage(t)

t.test('an unknown table is refused with up to five names that are near', async t => {
  const world = await makeWorldOn(t, stage, [
    'create schema archive',
    'create schema "Dotted.Schema"',
    'create table orders (id int)',
    'create table "ORDERS_2024" (id int)',
    'create table archive.orders (id int)',
    'create table "Dotted.Schema".customers (id int)',
    'create table shipments (id int)',
    ...[1, 2, 3, 4, 5, 6, 7].map(number => `create table region${number} (id int)`),
  ])
  const { tenant, source, asset } = world
  const ask = (path: string, id = asset.id) =>
    tenant.ask('POST', '/api/v1/sdk/freshness/schedules', { asset_id: id, table_path: path })
  const near = (...paths: string[]) => paths.map(path => `${source.name}.${path}`)
  t.match((await ask('order')).body.error.message, 'run a discovery first')
  await discover(world)

  for (const [path, candidates] of [
    ['order', near('archive.orders', 'public.orders')],
    ['Orders', near('archive.orders', 'public.orders')],
    ['nowhere.orders', near('archive.orders', 'public.orders')],
    ['elsewhere.public.orders', near('archive.orders', 'public.orders')],
    ['oders', near('archive.orders', 'public.orders')],
    ['orders_2024', near('public.ORDERS_2024')],
    ['custommers', near('"Dotted.Schema".customers')],
    ['region', near(...[1, 2, 3, 4, 5].map(number => `public.region${number}`))],
    ['regoin7', near('public.region7')],
  ] as [string, string[]][]) {
    const { status, body } = await ask(path)
    t.equal(status, 400, path)
    const names = candidates.map(candidate => `\`${candidate}\``).join(' or ')
    const message = `there is no table \`${path}\` in the source shop; did you mean ${names}?`
    t.equal(body.error.details.error, message, path)
    t.same(body.error.details.candidates, candidates, path)
    for (const candidate of candidates) t.not((await ask(candidate)).status, 400, `${candidate} is known`)
  }
  for (const path of ['zzz', 'x', 'ord', `${'o'.repeat(900)}`]) {
    const { body } = await ask(path)
    t.match(body.error.details, { error: /check the spelling, or run a discovery$/ }, path.slice(0, 20))
    t.notOk(Object.hasOwn(body.error.details, 'candidates'))
  }

  await source.query('drop table shipments')
  await discover(world)
  t.match(
    (await ask('shipment')).body.error.details,
    { error: /check the spelling/ },
    'a table that is gone is not near',
  )
})

t.test('nothing is suggested of another company', async t => {
  const world = await makeWorldOn(t, stage, ['create table orders (id int)'])
  await discover(world)
  const other = await stage.app.signUp('Other')
  const stranger = await makeWorldOn(t, { app: stage.app, tenant: other }, [
    'create table secret_orders (id int)',
  ])
  await discover(stranger)
  const reply = await world.tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: world.asset.id,
    table_path: 'secret_order',
  })
  t.match(reply.body.error.details, { error: /check the spelling/ })
})
