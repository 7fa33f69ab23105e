import t from 'tap'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { sweepStep } from '../time.ts'
import { ALERTS, makeWorld } from '../world.ts'

const app = await startServer(t, { settings: { ROLE: 'web', BASE_URL: 'https://watch.example.com' } })
const url = 'https://127.0.0.1:9/hook'
const DIGESTS = `${ALERTS}/digests`

t.beforeEach(() => app.query('delete from rate_windows'))

async function makeDigest(more: object = {}, destination: object = {}) {
  const world = await makeWorld(app)
  const { id: destinationId } = await world.addDestination({ url }, destination)
  const { status, body } = await world.ask('POST', DIGESTS, {
    ...{ name: 'Last week', destination_id: destinationId },
    ...more,
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return { world, destinationId, digest: body.data }
}

/** The contents of the digests that a destination got, oldest first. */
async function listDigests(destinationId: string) {
  const found = await app.query(
    `select body from deliveries where destination_id = $1 and event_type = 'digest' order by id`,
    [destinationId],
  )
  return found.map(({ body }) => JSON.parse(String(body)).digest)
}

const makeDue = (id: string, hours: number) =>
  app.query(`update digests set next_run_at = now() - make_interval(hours => $2) where id = $1`, [id, hours])

const sectionOf = (content: { sections: { name: string; lines: { text: string }[] }[] }, name: string) =>
  content.sections.find(section => section.name === name)?.lines.map(({ text }) => text)

t.test('a digest is sent once for each period, also where several processes look', async t => {
  const { world, destinationId, digest } = await makeDigest({ frequency: 'daily' })
  t.ok(Date.parse(digest.next_run_at) > Date.now())
  t.equal(await sweepStep(app.server, 'digested'), 0)
  await makeDue(digest.id, 60)
  const counts = await Promise.all([1, 2, 3].map(() => sweepStep(app.server, 'digested')))
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    1,
  )
  t.equal(await sweepStep(app.server, 'digested'), 0)
  t.equal((await listDigests(destinationId)).length, 1, 'times that were missed become one')
  const { body } = await world.ask('GET', `${DIGESTS}/${digest.id}`)
  t.ok(Date.parse(body.data.next_run_at) > Date.now())
  const [first] = await listDigests(destinationId)
  t.equal(first.until, body.data.covered_until)
  await app.query(`update digests set covered_until = covered_until - interval '3 days' where id = $1`, [
    digest.id,
  ])
  await makeDue(digest.id, 1)
  await sweepStep(app.server, 'digested')
  const [, second] = await listDigests(destinationId)
  t.equal(
    Date.parse(second.since),
    Date.parse(first.until) - 3 * 86_400_000,
    'it begins where the last ended',
  )
})

t.test('a paused digest is not sent', async t => {
  const { destinationId, digest } = await makeDigest({ is_active: false })
  await makeDue(digest.id, 1)
  t.equal(await sweepStep(app.server, 'digested'), 0)
  t.strictSame(await listDigests(destinationId), [])
})

t.test('a digest says what broke, by table, and which checks are noisy', async t => {
  const { world, destinationId, digest } = await makeDigest()
  for (const turn of [1, 2]) {
    const { alertId } = await world.raise()
    if (turn === 1) await world.ask('POST', `${ALERTS}/${alertId}/dismiss`, {})
    await world.recover()
  }
  await world.raise({ cause: 'rule:2', ruleName: 'Id is unique' })
  const { body, status } = await world.ask('POST', `${DIGESTS}/preview`, { frequency: 'weekly' })
  t.equal(status, 200, JSON.stringify(body))
  t.match(
    body.data.heading,
    /^Weekly digest: \d incidents?, 3 alerts, 1 still open$|, 3 alerts, 1 still open$/,
  )
  t.strictSame(sectionOf(body.data, 'tables'), ['shop.shop.public.orders: 3 alerts, 1 still open'])
  t.strictSame(sectionOf(body.data, 'noisy'), [
    'Total is positive on shop.shop.public.orders: 2 alerts, 50 % dismissed',
  ])
  t.strictSame(await listDigests(destinationId), [], 'a preview sends nothing')
  const { status: sent } = await world.ask('POST', `${DIGESTS}/${digest.id}/send`)
  t.equal(sent, 200)
  t.match(await listDigests(destinationId), [{ name: 'Last week', heading: body.data.heading }])
})

t.test('a digest of a team is about what the team owns', async t => {
  const { world } = await makeDigest()
  const { body: team } = await world.ask('POST', '/api/v1/sdk/teams', { name: 'Sales' })
  const other = await world.addSource('other')
  await world.ask('PUT', '/api/v1/sdk/owners', { asset_id: other, owners: ['Sales'] })
  await world.raise()
  await world.raise({
    cause: 'source:2',
    sourceId: other,
    asset: { id: other, qualifiedName: 'other', assetType: 'source' },
  })
  const { body } = await world.ask('POST', `${DIGESTS}/preview`, { owner: 'Sales' })
  t.strictSame(sectionOf(body.data, 'tables'), ['other: 1 alert, 1 still open'], JSON.stringify(team))
  const { status } = await world.ask('POST', `${DIGESTS}/preview`, { owner: 'Marketing' })
  t.equal(status, 400)
})

t.test('what was noticed an hour or more after it began is late', async t => {
  const { world } = await makeDigest()
  await app.query(
    `insert into incidents (id, company_id, status, severity, title, event_type, cause, alert_count, started_at)
     select gen_random_uuid(), $1, 'open', 'warning', title, 'freshness_violation', '{}', 1, now() - age
       from (values ('orders are stale', interval '5 hours'), ('prompt', interval '5 minutes')) as i (title, age)`,
    [world.companyId],
  )
  const { body } = await world.ask('POST', `${DIGESTS}/preview`, {})
  t.strictSame(sectionOf(body.data, 'late'), ['orders are stale: 5 hours after it began'])
  t.equal(sectionOf(body.data, 'incidents')?.length, 2)
})

t.test('a type that takes no digests cannot be chosen, and the error says which can', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination(
    { routing_key: 'a'.repeat(32) },
    { destination_type: 'pagerduty' },
  )
  const { status, body } = await world.ask('POST', DIGESTS, { name: 'x', destination_id: id })
  t.equal(status, 400)
  t.match(JSON.stringify(body), /type pagerduty, which takes no digests: give one of type .*slack/)
})

t.test('a digest pauses with its destination or its owner', async t => {
  const { world, destinationId, digest } = await makeDigest()
  await world.ask('DELETE', `${ALERTS}/destinations/${destinationId}`)
  t.match((await world.ask('GET', `${DIGESTS}/${digest.id}`)).body.data, { is_active: false })
  const { status } = await world.ask('PATCH', `${DIGESTS}/${digest.id}`, { is_active: true })
  t.equal(status, 404)
  const owned = await makeDigest()
  const { body: team } = await owned.world.ask('POST', '/api/v1/sdk/teams', { name: 'Sales' })
  const path = `${DIGESTS}/${owned.digest.id}`
  const { body: changed } = await owned.world.ask('PATCH', path, { owner: 'Sales' })
  const teamId = (team.data ?? team).id
  t.equal(changed.data.owner, teamId)
  await owned.world.ask('DELETE', `/api/v1/sdk/teams/${teamId}`)
  t.match((await owned.world.ask('GET', path)).body.data, { is_active: false })
})

t.test('receivers get digests as their types write them', async t => {
  const worker = await startServer(t, { isOwn: true, settings: { BASE_URL: 'https://watch.example.com' } })
  const world = await makeWorld(worker)
  await world.raise()
  const receiver = await startReceiver(t)
  const { id } = await world.addDestination({ url: receiver.url })
  const { body } = await world.ask('POST', DIGESTS, { name: 'Last week', destination_id: id })
  await world.ask('POST', `${DIGESTS}/${body.data.id}/send`)
  const requests = await receiver.received(1)
  const digest = requests.map(request => JSON.parse(request.body)).find(each => each.event_type === 'digest')
  t.match(digest, { event_type: 'digest', digest: { name: 'Last week' } })
})

t.test('a digest counts the tables that lack freshness, volume or keys, by owner too', async t => {
  const { world } = await makeDigest()
  const key = JSON.stringify([{ type: 'primary_key', name: 'k', columns: ['id'] }])
  await app.query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns, constraints, fingerprint)
     select gen_random_uuid(), $1, $2, 'shop', 'public', name, 'shop.shop.public.' || name, kind, '[]', cast($3 as jsonb), ''
       from (values ('orders', 'table'), ('totals', 'view')) as t (name, kind)`,
    [world.companyId, world.sourceId, key],
  )
  await world.addSource('other')
  await world.ask('POST', '/api/v1/sdk/teams', { name: 'Sales' })
  const { body } = await world.ask('POST', `${DIGESTS}/preview`, {})
  t.strictSame(sectionOf(body.data, 'unwatched'), [
    'Freshness of 2 of 2 tables',
    'Volume of 2 of 2 tables',
    'Keys of 1 of 2 tables',
    'shop.shop.public.orders: no check',
    'shop.shop.public.totals: no check',
  ])
  const { body: owned } = await world.ask('POST', `${DIGESTS}/preview`, { owner: 'Sales' })
  t.equal(sectionOf(owned.data, 'unwatched'), undefined)
})
