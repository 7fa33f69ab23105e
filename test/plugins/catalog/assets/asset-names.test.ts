/** Every query that names an asset takes its UUID and its qualified name, as paths do. */
import t from 'tap'
import { openApi } from '../../../../server/openapi/openapi.ts'
import { withoutReferences } from '../../../helpers/references.ts'
import { discover, makeWorld } from '../../../helpers/world.ts'

const world = await makeWorld(t, ['create table orders (id int, updated_at timestamptz default now())'])
const { app, tenant, asset } = world
await discover(world)
const [table] = (await tenant.ask('GET', '/api/v1/sdk/assets?asset_type=table')).body.data.data as {
  id: string
  qualified_name: string
}[]
await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
  asset_id: asset.id,
  table_path: 'orders',
  sla_threshold: '24h',
})

/** Replies without what differs between two requests of the same. */
const settled = (body: unknown) =>
  JSON.stringify(body, (key, value: unknown) =>
    /_at$|_minutes$|^(until|since|request_id)$/.test(key) ? '' : value,
  )

for (const [path, { get }] of Object.entries(withoutReferences(openApi(app.server, '')).paths)) {
  const parameters = (get?.parameters ?? []) as { name: string; in: string }[]
  for (const { name } of parameters.filter(
    ({ in: place, name }) => place === 'query' && /^asset(_id)?$/.test(name),
  )) {
    t.test(`${name} of ${path}`, async t => {
      const url = path.replaceAll(/\{asset_id\}/g, asset.id)
      const ask = async (value: string) => {
        const { status, body } = await tenant.ask('GET', `${url}?${name}=${encodeURIComponent(value)}`)
        return { status, body: settled(body) }
      }
      const assets = [
        [asset.id, 'shop'],
        [table!.id, table!.qualified_name],
      ] as const
      for (const [id, qualifiedName] of assets) {
        const byId = await ask(id)
        t.equal(byId.status, 200, byId.body)
        t.strictSame(await ask(qualifiedName), byId, qualifiedName)
        t.strictSame(await ask(id.toUpperCase()), byId, 'in capitals')
      }
      const unknown = await ask('nothing.of.this.name')
      t.match(unknown, { status: 404, body: /"ASSET_NOT_FOUND"/ })
    })
  }
}
