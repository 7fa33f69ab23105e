import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const app = await startServer(t, { settings: { ROLE: 'web' } })
const path = `${ALERTS}/destinations/bulk`
const hook = (name: string, more: object = {}) => ({
  name,
  destination_type: 'webhook',
  config: { url: 'https://127.0.0.1:9/hook' },
  ...more,
})

t.test('destinations are created together, each with a secret of its own', async t => {
  const [world, theirs] = [await makeWorld(app), await makeWorld(app)]
  const pager = {
    name: 'Pager',
    destination_type: 'pagerduty',
    config: { api_token: 'abc', routing_key: '0123456789abcdef0123456789abcdef' },
  }
  const reply = await world.ask('POST', path, { destinations: [hook('One', { is_active: false }), pager] })
  t.equal(reply.status, 201)
  const { destinations } = reply.body.data
  t.match(destinations, [
    { name: 'One', is_active: false, signing_secret: /^whsec_/ },
    { name: 'Pager', destination_type: 'pagerduty', config: { routing_key: '********' } },
  ])
  t.notOk('api_token' in destinations[1].config, 'what no message needs is not stored')
  t.not(destinations[0].signing_secret, destinations[1].signing_secret)
  t.equal((await world.ask('GET', `${ALERTS}/destinations`)).body.data.pagination.total, 2)
  t.equal((await theirs.ask('GET', `${ALERTS}/destinations`)).body.data.pagination.total, 0)
  const [{ count }] = (await app.query(
    `select count(*)::int as count from audit_log where company_id = $1 and action = 'destination.created'`,
    [world.companyId],
  )) as [{ count: number }]
  t.equal(count, 2)
})

t.test('one that cannot be created keeps the others from it, and each error has its place', async t => {
  const world = await makeWorld(app)
  const destinations = [
    hook('Fine'),
    hook('Plain', { config: { url: 'http://example.com' } }),
    hook('Odd', { destination_type: 'pigeon' }),
    { name: 'Mail', destination_type: 'email', config: { email: 'ann@example.com' } },
  ]
  const { status, body } = await world.ask('POST', path, { destinations })
  t.equal(status, 400)
  t.strictSame(
    body.error.details.errors.map(({ field }: { field: string }) => field),
    ['destinations.1.config.url', 'destinations.2.destination_type', 'destinations.3.destination_type'],
  )
  t.equal((await world.ask('GET', `${ALERTS}/destinations`)).body.data.pagination.total, 0)
})

t.test('a request creates 1 to 20', async t => {
  const world = await makeWorld(app)
  const make = async (count: number) => {
    const destinations = Array.from({ length: count }, (_, place) => hook(`Hook ${place}`))
    return (await world.ask('POST', path, { destinations })).status
  }
  t.equal(await make(0), 400)
  t.equal(await make(21), 400)
  t.equal(await make(20), 201)
})
