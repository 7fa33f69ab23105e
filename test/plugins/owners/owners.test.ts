import t from 'tap'
import { startMailServer } from '../../helpers/mail-server.ts'
import { discover, makeWorld } from '../../helpers/world.ts'

const mailServer = await startMailServer(t)
const world = await makeWorld(
  t,
  [
    'create schema sales',
    'create table orders (id int primary key, customer_id int)',
    'create table payments (id int primary key)',
    'create table sales.daily (id int primary key)',
    `comment on table payments is 'Money. owner: Data Platform, Lee@example.com'`,
  ],
  { settings: { SMTP_URL: mailServer.url, SMTP_FROM: 'alerts@example.com', BASE_URL: 'https://t.example' } },
)
const { app, tenant, asset } = world
await discover(world)
const tables = (await tenant.ask('GET', '/api/v1/assets?asset_type=table')).body.data as {
  id: string
  name: string
  qualified_name: string
}[]
const idOf = (name: string) => tables.find(table => table.name === name)!.id
const [{ id: me } = {}] = (await app.query('select id from users where email = $1', [tenant.email])) as {
  id: string
}[]

async function send(method: string, path: string, body?: object, status = 200) {
  const reply = await tenant.ask(method, `/api/v1/sdk${path}`, body)
  if (reply.status !== status) t.fail(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply.body.data
}
const set = (body: object) => send('PUT', '/owners', body)
const ownersOf = async (id: string) => (await send('GET', `/assets/${id}/owners`)).owners as object[]
const ownedBy = async (owner: string) =>
  (await send('GET', `/owners/assets?owner=${encodeURIComponent(owner)}`)).assets.map(
    ({ qualified_name: name }: { qualified_name: string }) => name.replace(/^shop\.[^.]+\./, ''),
  ) as string[]
const refused = async (method: string, path: string, body: object, field: string) =>
  t.match(await tenant.ask(method, `/api/v1/sdk${path}`, body), {
    status: 400,
    body: { error: { details: { field } } },
  })

t.test('a team has users and addresses as members', async t => {
  const team = await send(
    'POST',
    '/teams',
    { name: 'Finance', members: [tenant.email, 'Eve@example.com'] },
    201,
  )
  t.match(team.members.map(({ type, email }: { type: string; email: string }) => [type, email]).sort(), [
    ['email', 'eve@example.com'],
    ['user', tenant.email],
  ])
  t.equal((await tenant.ask('POST', '/api/v1/sdk/teams', { name: 'finance' })).status, 409)
  await refused('PATCH', `/teams/${team.id}`, { members: [team.id] }, 'members.0')
  await refused('PATCH', `/teams/${team.id}`, { members: ['nothing'] }, 'members')
  const changed = await send('PATCH', `/teams/${team.id}`, {
    description: 'Books',
    members: ['eve@example.com'],
  })
  t.match(changed, { name: 'Finance', description: 'Books', members: { length: 1 } })
  t.match(await send('GET', '/teams'), { teams: [{ id: team.id }], pagination: { total: 1 } })
  await send('DELETE', `/teams/${team.id}`)
  await send('GET', `/teams/${team.id}`, undefined, 404)
})

t.test('the most specific object that has owners decides', async t => {
  const orders = idOf('orders')
  t.strictSame(await ownersOf(orders), [])
  const tag = 'money'
  await send('POST', '/tags', { asset_id: orders, name: tag }, 201)
  await send('POST', '/tags', { asset_id: asset.id, name: 'all' }, 201)
  const steps = [
    [{ tag: 'all' }, 'one@example.com', { type: 'tag', name: 'all' }],
    [{ asset_id: asset.id }, 'two@example.com', { type: 'source', name: 'shop' }],
    [{ asset_id: asset.id, schema: 'public' }, 'three@example.com', { type: 'schema' }],
    [{ tag }, 'four@example.com', { type: 'tag', name: tag }],
    [{ asset_id: orders }, 'five@example.com', null],
  ] as const
  for (const [subject, email, inherited_from] of steps) {
    t.match(await set({ ...subject, owners: [email] }), {
      ownerships: [{ owner: { email }, origin: 'manual' }],
    })
    t.match(await ownersOf(orders), [{ type: 'email', email, inherited_from }])
  }
  t.match(await ownersOf(asset.id), [{ email: 'two@example.com', inherited_from: null }], 'the source')
  t.match(await ownersOf(idOf('daily')), [{ email: 'two@example.com', inherited_from: { type: 'source' } }])
  const { applicable } = await send('GET', `/assets/${orders}/owners`)
  t.equal(applicable.length, 5)
  t.strictSame(
    applicable.map((each: { is_in_force: boolean }) => each.is_in_force),
    [true, ...Array(4).fill(false)],
  )
  t.strictSame(await ownedBy('five@example.com'), ['public.orders'])
  t.strictSame(await ownedBy('four@example.com'), [], 'the table has owners of its own')
  t.strictSame(await ownedBy('two@example.com'), ['shop', 'sales.daily'])
  const record = (await tenant.ask('GET', `/api/v1/sdk/assets/${orders}`)).body.data
  t.match(record.owners, [{ email: 'five@example.com', origin: 'manual', inherited_from: null }])
  const source = (await tenant.ask('GET', `/api/v1/sdk/assets/${asset.id}`)).body.data
  t.match(source.owners, [{ email: 'two@example.com', inherited_from: null }])

  t.match(await set({ asset_id: orders, owners: ['a@example.com', 'b@example.com'] }), {
    ownerships: { length: 2 },
  })
  t.equal((await ownersOf(orders)).length, 2)
  const { ownerships } = await send('GET', `/owners?asset_id=${orders}`)
  for (const { id } of ownerships) await send('DELETE', `/owners/${id}`)
  t.match(await ownersOf(orders), [{ email: 'four@example.com' }])
  await send('DELETE', `/owners/${ownerships[0].id}`, undefined, 404)
  for (const [subject] of steps) t.match(await set({ ...subject, owners: [] }), { ownerships: [] })
  t.strictSame(await ownersOf(orders), [])
})

t.test('what cannot be owned, or cannot own, is refused by field', async t => {
  await refused('PUT', '/owners', { asset_id: asset.id, schema: 'nope', owners: [] }, 'schema')
  await refused('PUT', '/owners', { asset_id: idOf('orders'), schema: 'public', owners: [] }, 'schema')
  await refused('PUT', '/owners', { asset_id: asset.id, owners: ['No such team'] }, 'owners')
  await refused('PUT', '/owners', { owners: [] }, 'body')
  const theirs = await app.signUp()
  const { body } = await theirs.ask('POST', '/api/v1/sdk/teams', { name: 'Theirs' })
  for (const owner of [body.data.id, 'Theirs'])
    await refused('PUT', '/owners', { asset_id: asset.id, owners: [owner] }, 'owners')
  t.equal((await tenant.ask('GET', `/api/v1/sdk/teams/${body.data.id}`)).status, 404)
  t.equal((await theirs.ask('GET', `/api/v1/sdk/assets/${asset.id}/owners`)).status, 404)
})

t.test('dbt and comments name owners, and a person goes before them', async t => {
  const payments = idOf('payments')
  const [lee, platform] = [
    { type: 'email', email: 'lee@example.com', origin: 'comment' },
    { type: 'name', name: 'Data Platform', origin: 'comment' },
  ]
  t.match(await ownersOf(payments), [platform, lee])
  const { id } = await send('POST', '/teams', { name: 'data platform' }, 201)
  t.match(await ownersOf(payments), [{ type: 'team', id, origin: 'comment' }, lee])
  const { ownerships } = await send('GET', '/owners?origin=comment&owner=data%20platform')
  t.match(ownerships, [{ reported_by: asset.id, subject: { asset_id: payments } }])
  await send('DELETE', `/owners/${ownerships[0].id}`, undefined, 409)

  const report = (owners: object[], origin: 'dbt' | 'openlineage' = 'dbt') =>
    app.server.db.company(tenant.companyId, trx =>
      app.server.plugins.owners.replaceFrom(trx, origin, 'shop', [{ tableId: payments, owners }]),
    )
  await report([{ name: 'Airflow' }], 'openlineage')
  t.match(
    await ownersOf(payments),
    [{ name: 'Airflow', origin: 'openlineage' }],
    'a pipeline goes before comments',
  )
  t.match(await send('GET', `/assets/${payments}`), { owners: [{ name: 'Airflow', origin: 'openlineage' }] })
  await report([], 'openlineage')
  t.strictSame(await report([{ email: 'Dan@example.com' }, { name: 'x' }]), { added: 2, removed: 0 })
  t.strictSame(await report([{ email: 'dan@example.com' }]), { added: 0, removed: 1 })
  t.match(await ownersOf(payments), [{ email: 'dan@example.com', origin: 'dbt' }])
  await set({ asset_id: payments, owners: [me!] })
  t.match(await ownersOf(payments), [{ type: 'user', id: me, email: tenant.email, origin: 'manual' }])
  await set({ asset_id: payments, owners: [] })
  await report([])
  t.match(await ownersOf(payments), [{ type: 'team' }, lee])
  await send('DELETE', `/teams/${id}`)
  await world.source.query(`comment on table payments is 'Money'`)
  await discover(world)
  t.strictSame(await ownersOf(payments), [])
})

/** Raises an alert about a table. */
async function raise(name: string, cause: string) {
  const table = tables.find(each => each.name === name)!
  const { alertId } = await app.server.db.company(tenant.companyId, trx =>
    app.server.plugins.alerts.raise(trx, {
      type: 'validity_failure',
      cause,
      severity: 'critical',
      sourceId: asset.id,
      asset: { id: table.id, qualifiedName: table.qualified_name, assetType: 'table' },
      ruleName: 'Rule',
      title: 'Wrong',
      details: {},
    }),
  )
  return alertId
}

t.test('rules, lists and mail go by owner', async t => {
  const team = await send(
    'POST',
    '/teams',
    { name: 'Sales', members: [tenant.email, 'sam@example.com'] },
    201,
  )
  await set({ asset_id: asset.id, schema: 'sales', owners: ['Sales'] })
  await set({ asset_id: idOf('orders'), owners: ['ola@example.com'] })
  const destination = await send(
    'POST',
    '/alerts/destinations',
    {
      name: 'Owners',
      destination_type: 'email',
      config: { to: ['all@example.com'], to_owners: true },
      messages: 'alerts',
    },
    201,
  )
  const rule = (owners: string[]) =>
    send('POST', '/alerts/rules', { name: 'R', owners, destination_ids: [destination.id] }, 201)
  const bySales = await rule(['sales'])
  t.strictSame(bySales.owners, [team.id])
  const byMe = await rule([tenant.email])
  t.strictSame(byMe.owners, [me], 'the address of a user is the user')
  const byOla = await rule(['OLA@example.com'])
  await refused('PATCH', `/alerts/rules/${bySales.id}`, { owners: ['Unknown team'] }, 'owners')
  const daily = await raise('daily', '1')
  await raise('payments', '2')
  const matched = async (id: string) =>
    (await send('POST', '/alerts/preview', { rule_id: id })).alerts.map((alert: { id: string }) => alert.id)
  t.strictSame(await matched(bySales.id), [daily])
  t.strictSame(await matched(byMe.id), [daily], 'as a member of the team')
  t.strictSame(await matched(byOla.id), [])
  const listed = async (path: string, owner: string) =>
    (await tenant.ask('GET', `/api/v1/sdk/alerts${path}?owner=${encodeURIComponent(owner)}`)).body.data
      .pagination.total as number
  t.equal(await listed('', 'Sales'), 1)
  t.equal(await listed('/inbox', tenant.email), 1)
  t.equal(await listed('/inbox', 'ola@example.com'), 0)
  await refused('GET', '/alerts?owner=none', {}, 'owner')
  const readers = async (count: number) => (await mailServer.received(count)).flatMap(({ to }) => to).sort()
  t.strictSame(
    await readers(2),
    [tenant.email, 'sam@example.com'].sort(),
    'only daily has an owner with a rule',
  )
  await raise('orders', '3')
  t.ok((await readers(3)).includes('ola@example.com'))

  // An owner that is gone is taken out of rules.
  const two = await send('PATCH', `/alerts/rules/${bySales.id}`, { owners: [team.id, 'ola@example.com'] })
  t.strictSame(two.owners, [team.id, 'ola@example.com'])
  const only = await rule(['Sales'])
  await send('DELETE', `/teams/${team.id}`)
  t.match(await send('GET', `/alerts/rules/${bySales.id}`), { owners: ['ola@example.com'], is_active: true })
  t.match(await send('GET', `/alerts/rules/${only.id}`), { owners: [], is_active: false })
  await refused('PATCH', `/alerts/rules/${only.id}`, { is_active: true }, 'owners')
  t.match(await send('PATCH', `/alerts/rules/${only.id}`, { is_active: true, owners: null }), {
    is_active: true,
  })
  t.strictSame(await ownersOf(idOf('daily')), [])
})

t.test('what a removed user owned is without that owner', async t => {
  const email = 'leaves@example.com'
  const invited = await app.ask('POST', '/api/v1/invitations', { email, role: 'member' }, tenant.token)
  await app.ask('POST', '/api/v1/auth/register', {
    email,
    password: 'correct horse battery 9',
    invitation_token: invited.body.token,
  })
  const users = (await app.ask('GET', '/api/v1/users', undefined, tenant.token)).body.data
  const { id } = users.find((user: { email: string }) => user.email === email)
  await set({ asset_id: idOf('orders'), owners: [email] })
  t.match(await ownersOf(idOf('orders')), [{ type: 'user', id }])
  const { id: ruleId } = await send(
    'POST',
    '/alerts/rules',
    {
      name: 'R',
      owners: [id],
      destination_ids: [(await send('GET', '/alerts/destinations')).destinations[0].id],
    },
    201,
  )
  t.equal((await app.ask('DELETE', `/api/v1/users/${id}`, undefined, tenant.token)).status, 204)
  t.strictSame(await ownersOf(idOf('orders')), [])
  t.match(await send('GET', `/alerts/rules/${ruleId}`), { owners: [], is_active: false })
})
