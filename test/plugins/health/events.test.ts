import t from 'tap'
import { startServer } from '../../helpers/server.ts'
import { makePipeline } from '../alerts/incidents/world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })

t.test(
  'what happened to a table is listed: its changes, runs and incidents, and those of no other',
  async t => {
    const { raise, ids, source, tenant } = await makePipeline(app, ['raw', 'orders'], ['raw > orders'])
    await raise('orders stale')
    const [orders, raw] = [ids.get('orders')!, ids.get('raw')!]
    await app.query(
      `insert into schema_changes (id, company_id, source_id, table_id, table_path, discovery_id, change_type, object_type, object_name, impact, detected_at)
     select gen_random_uuid(), company_id, source_id, id, qualified_name, gen_random_uuid(), 'column_removed', 'column', 'total', 'high', now() - make_interval(days => d)
       from tables, unnest(array[2, 91]) d where id = $1`,
      [orders],
    )
    const events = async (id: string, search = '') =>
      (await tenant.ask('GET', `/api/v1/sdk/health/events/${id}${search}`)).body.data.events
    t.match(await events(orders), [
      { type: 'change', name: 'total', state: 'column_removed' },
      { type: 'incident', name: 'orders stale', state: 'open' },
    ])
    t.match(await events(orders, '?days=1'), [{ type: 'incident' }])
    t.strictSame(await events(raw), [])
    const refused = await tenant.ask('GET', `/api/v1/sdk/health/events/${source}`)
    t.match(refused, {
      status: 400,
      body: { error: { details: { field: 'asset_id', error: /must be a table/ } } },
    })
    const stranger = await app.signUp()
    const { status, body } = await stranger.ask('GET', `/api/v1/sdk/health/events/${orders}`)
    t.match({ status, body }, { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } })
  },
)
