import { join } from 'node:path'
import t from 'tap'
import { deliverJob } from '../../../plugins/alerts/delivery/job-kinds.ts'
import { startServer, type Tenant } from '../../helpers/server.ts'

const ONBOARDING = '/api/v1/auth/preferences/onboarding'
const ALERTS = '/api/v1/sdk/alerts'
const DESTINATIONS = `${ALERTS}/destinations`
const dataDir = t.testdir({ demo: {} })
const { server, ask, query, signUp } = await startServer(t, {
  settings: { DATA_DIR: dataDir, DEMO_ENABLED: 'true', FILE_SOURCES: join(dataDir, 'demo') },
})

t.beforeEach(() => query('delete from rate_windows'))

/** Asks for something to look at. @returns its id */
async function make({ token }: Tenant, what: 'demo-asset' | 'demo-alert' | 'demo-destination') {
  const { body } = await ask('POST', `${ONBOARDING}/${what}`, undefined, token)
  t.equal(body.success, true, JSON.stringify(body))
  return String(body.data.id)
}

/** The data of a reply that has to be 200. */
async function dataOf(who: Tenant, method: string, path: string, payload?: unknown) {
  const { status, body } = await who.ask(method, path, payload)
  t.ok([200, 202].includes(status), `${method} ${path}: ${status} ${JSON.stringify(body)}`)
  return body.data
}

t.test('the demo destination looks like any other of its type', async t => {
  const tenant = await signUp()
  const id = await make(tenant, 'demo-destination')
  const listed = await dataOf(tenant, 'GET', DESTINATIONS)
  t.match(listed, { destinations: [{ id, name: 'Demo chat' }], pagination: { total: 1 } })
  const shown = await dataOf(tenant, 'GET', `${DESTINATIONS}/${id}`)
  t.strictSame(shown, listed.destinations[0])
  t.match(shown, {
    destination_type: 'slack',
    is_active: true,
    is_verified: true,
    config: { webhook_url: '********' },
  })
  t.notMatch(JSON.stringify(shown), /is_demo/)
})

t.test('it is changed, tested, sent to again and deleted like any other, and nothing is sent', async t => {
  const tenant = await signUp()
  const id = await make(tenant, 'demo-destination')
  const one = `${DESTINATIONS}/${id}`
  t.match(await dataOf(tenant, 'PATCH', one, { name: 'Mine', config: { webhook_url: '********' } }), {
    name: 'Mine',
    is_verified: true,
  })
  const tested = await dataOf(tenant, 'POST', `${one}/test`)
  t.match(tested, { success: true, address: null, response_body: /nothing was sent/ })
  t.match(await tenant.ask('POST', `${one}/rotate-secret`), { status: 409 }, 'chat messages are not signed')
  await dataOf(tenant, 'POST', `${ALERTS}/deliveries/${tested.delivery_id}/redeliver`)
  await server.jobs.settled(deliverJob, job => job.delivery_id === tested.delivery_id)
  t.match((await dataOf(tenant, 'GET', `${one}/deliveries`)).data, [
    { id: tested.delivery_id, status: 'delivered', attempts: [{ n: 1 }, { n: 2, status_code: 200 }] },
  ])
  await dataOf(tenant, 'DELETE', one)
  t.strictSame((await dataOf(tenant, 'GET', DESTINATIONS)).destinations, [])
  t.not(await make(tenant, 'demo-destination'), id)
})

t.test('it takes no address, at which alerts would seem to arrive', async t => {
  const tenant = await signUp()
  const one = `${DESTINATIONS}/${await make(tenant, 'demo-destination')}`
  for (const config of [{ webhook_url: 'https://127.0.0.1:9/hook' }, { webhook_url: null }, { other: 1 }]) {
    const { status, body } = await tenant.ask('PATCH', one, { config })
    t.match([status, body.error], [409, { code: 'CONFLICT', message: /only simulates/ }])
  }
  t.equal((await dataOf(tenant, 'GET', one)).updated_at, (await dataOf(tenant, 'GET', one)).created_at)
})

t.test('another company neither sees nor changes it', async t => {
  const [tenant, stranger] = [await signUp(), await signUp('Other')]
  const one = `${DESTINATIONS}/${await make(tenant, 'demo-destination')}`
  t.strictSame((await dataOf(stranger, 'GET', DESTINATIONS)).destinations, [])
  for (const [method, path] of [
    ['GET', one],
    ['DELETE', one],
    ['POST', `${one}/test`],
    ['GET', `${one}/deliveries`],
  ] as const)
    t.equal((await stranger.ask(method, path)).status, 404, `${method} ${path}`)
})

t.test(
  'the demo alert is listed, but counts neither in trends nor in what a rule would have sent',
  async t => {
    const tenant = await signUp()
    const id = await make(tenant, 'demo-alert')
    await dataOf(tenant, 'POST', `${ALERTS}/${id}/acknowledge`)
    await dataOf(tenant, 'POST', `${ALERTS}/${id}/resolve`)
    t.match((await dataOf(tenant, 'GET', ALERTS)).data, [{ id, status: 'resolved' }])
    t.match(await dataOf(tenant, 'GET', `${ALERTS}/trends?days=2`), {
      opened: 0,
      resolved: 0,
      mean_minutes_to_acknowledge: null,
      mean_minutes_to_resolve: null,
      noisiest_assets: [],
      noisiest_rules: [],
    })
    t.match(await dataOf(tenant, 'POST', `${ALERTS}/preview`, {}), { matched: 0, told: 0, alerts: [] })
  },
)

t.test('a demo alert from before the demo asset gets its table when it is asked for again', async t => {
  const tenant = await signUp()
  const id = await make(tenant, 'demo-alert')
  await make(tenant, 'demo-asset')
  await ask('POST', `${ONBOARDING}/demo-lineage`, undefined, tenant.token)
  t.equal(await make(tenant, 'demo-alert'), id)
  const { asset } = await dataOf(tenant, 'GET', `${ALERTS}/${id}`)
  t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, { name: 'inventory' })
})

t.test('with its source gone the demo alert is over, and a new one can be opened', async t => {
  const tenant = await signUp()
  await make(tenant, 'demo-destination')
  const source = await make(tenant, 'demo-asset')
  const id = await make(tenant, 'demo-alert')
  await tenant.ask('DELETE', `/api/v1/sdk/assets/${source}`)
  t.equal((await dataOf(tenant, 'GET', `${ALERTS}/${id}`)).status, 'resolved')
  t.not(await make(tenant, 'demo-alert'), id)
  t.strictSame((await dataOf(tenant, 'GET', `${ALERTS}/${id}/deliveries`)).data, [])
})
