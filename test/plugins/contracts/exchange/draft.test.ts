import t from 'tap'
import { parse } from 'yaml'
import { makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { contractsOf } from '../enforcement/world.ts'

const stage = await makeStage(t)

const TABLES = [
  'create table orders (id bigint, code text not null unique, status text, amount numeric(10,2), note text)',
  `insert into orders select n, 'c' || n, (array['new', 'paid', 'shipped'])[n % 3 + 1], n, null from generate_series(1, 300) n`,
]

t.test('a draft promises what the latest profile shows, and repeats no promise', async t => {
  const world = await makeWorldOn(t, stage, TABLES)
  const { ask, rediscover } = contractsOf(world)
  const { app, tenant, asset } = world
  await rediscover()
  const table = 'shop.shop.public.orders'
  const draft = async () => {
    const { body } = await ask('GET', `/api/v1/sdk/assets/${asset.id}/contract-draft?mode=odcs-pure`)
    const { schema } = parse(body.data.contract) as {
      schema: { properties: { name: string; [promise: string]: unknown }[] }[]
    }
    const properties = schema[0]!.properties
    return {
      text: body.data.contract as string,
      columns: new Map(properties.map(({ name, ...promised }) => [name, promised])),
    }
  }
  const before = (await draft()).columns
  t.match(before.get('code'), { required: true, unique: true })
  t.notOk(before.get('id')?.required, 'nothing is known of the rows')
  t.notOk(before.get('status')?.quality)

  for (const column of ['code', 'id'])
    await ask('POST', `/api/v1/sdk/validity/${asset.id}`, {
      ...{ rule_type: 'NOT_NULL', table_path: 'orders', column_name: column },
    })
  await app.server.plugins.profiles.profileAsset(
    { companyId: tenant.companyId, sourceId: asset.id },
    { signal: new AbortController().signal },
  )
  const { columns, text } = await draft()
  t.match(
    columns.get('id'),
    { unique: true, quality: [{ metric: 'nullValues' }] },
    'by its profile and its check',
  )
  t.notOk(columns.get('code')?.quality, 'the schema promises what its check finds')
  t.match(columns.get('status'), {
    required: true,
    quality: [{ metric: 'invalidValues', arguments: { validValues: ['new', 'paid', 'shipped'] } }],
  })
  t.match(columns.get('amount'), { logicalTypeOptions: { minimum: 0 } })
  t.notOk(columns.get('note')?.required)

  const test = async () =>
    (await app.server.plugins.contracts.test(
      tenant.companyId,
      { source: 'shop', text, extraColumns: 'allow' },
      new AbortController().signal,
    )) as { status: string; counts: object; clauses: { key: string; status: string }[] }
  const held = await test()
  t.match(held, { status: 'pass', counts: { failing: 0, pending: 0, not_enforced: 0 } })
  await world.source.query(`update orders set status = 'lost', amount = -1 where id = 7`)
  const broken = await test()
  t.strictSame(
    broken.clauses.filter(({ status }) => status === 'failing').map(({ key }) => key),
    ['public.orders/status/quality/invalidValues', 'public.orders/amount/option/minimum'],
    table,
  )
})
