import t from 'tap'
import { startServer } from '../../helpers/server.ts'
import { discover, makeWorldOn } from '../../helpers/world.ts'

const app = await startServer(t)
const tenant = await app.signUp()

t.test('every type of rule and metric comes with its settings', async t => {
  const { status, body } = await tenant.ask('GET', '/api/v1/sdk/check-types')
  t.equal(status, 200)
  const types = body.data.items as { type: string; family: string; settings: object }[]
  t.strictSame(types.map(({ type }) => type).toSorted(), app.server.checks.names().toSorted())
  t.match(
    types.find(({ type }) => type === 'RANGE')!,
    {
      family: 'rule',
      column: 'required',
      settings: { properties: { min: Object, max: Object } },
    },
  )
  t.match(
    types.find(({ type }) => type === 'percentile')!,
    {
      family: 'metric',
      settings: { properties: { percentile_value: Object } },
    },
  )
})

t.test('of an asset: the types that its engine can measure, with the columns that each takes', async t => {
  const world = await makeWorldOn(t, { app, tenant }, [
    'create table orders (id int primary key, email text, total numeric, created_at timestamptz)',
  ])
  await discover(world)
  const found = await tenant.ask('GET', '/api/v1/assets?search=orders&asset_type=table')
  const { id } = found.body.data[0]
  await tenant.ask('POST', '/api/v1/sdk/tags/apply', {
    asset_id: id,
    tag_names: ['pii'],
    object_paths: ['email'],
  })
  const { status, body } = await tenant.ask('GET', `/api/v1/sdk/check-types?asset_id=${id}`)
  t.equal(status, 200)
  const columns = Object.fromEntries(
    body.data.items.map(({ type, columns }: { type: string; columns: string[] }) => [type, columns]),
  )
  t.strictSame(columns.mean, ['id', 'total'])
  t.strictSame(columns.max_value, ['id', 'total'], 'no value of personal data is shown')
  t.strictSame(columns.REGEX, ['id', 'email', 'total'])
  t.strictSame(columns.NOT_NULL, ['id', 'email', 'total', 'created_at'])
  const source = await tenant.ask('GET', `/api/v1/sdk/check-types?asset_id=${world.asset.id}`)
  t.ok(source.body.data.items.every(({ columns: ofSource }: { columns: null }) => ofSource === null))
  t.match(await tenant.ask('GET', '/api/v1/sdk/check-types?asset_id=nothing'), { status: 404 })
})
