import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS } from '../world.ts'
import { INCIDENTS, makePipeline } from '../incidents/world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })

t.beforeEach(() => app.query('delete from rate_windows'))

async function userOf(companyId: string): Promise<string> {
  const [user] = await app.query('select id from users where company_id = $1', [companyId])
  return String(user?.id)
}

t.test('an alert has an assignee, by whom lists are filtered', async t => {
  const { raise, ask, tenant } = await makePipeline(app, ['orders', 'sales'], [])
  const [orders, sales] = await raise('orders quality', 'sales quality')
  const userId = await userOf(tenant.companyId)
  const assigned = await ask('PATCH', `${ALERTS}/${orders}`, { assignee_id: userId })
  const assignee = { id: userId, email: tenant.email, full_name: null }
  t.match(assigned, { status: 200, body: { data: { id: orders, status: 'triggered', assignee } } })
  t.match((await ask('GET', `${ALERTS}/${orders}`)).body.data, { assignee })
  t.match((await ask('GET', `${ALERTS}/${sales}`)).body.data, { assignee: null })
  t.match((await ask('POST', `${ALERTS}/${orders}/acknowledge`)).body.data, { assignee })
  const found = async (query: string, path = ALERTS) => {
    const { body } = await app.ask('GET', `${path}?${query}`, undefined, tenant.token)
    return (body.data.data ?? body.data.alerts).map(({ id }: { id: string }) => id)
  }
  t.strictSame(await found(`assignee_id=${userId}`), [orders])
  t.strictSame(await found('assignee_id=me'), [orders])
  t.strictSame(await found('assignee_id=none'), [sales])
  t.strictSame(await found('assignee_id=me', `${ALERTS}/inbox`), [orders])
  t.match((await ask('PATCH', `${ALERTS}/${orders}`, { assignee_id: null })).body.data, { assignee: null })
  t.strictSame(await found('assignee_id=me'), [])
})

t.test('the filter for the caller asks for a user, for alerts and incidents', async t => {
  const { ask, tenant } = await makePipeline(app, ['orders'], [])
  for (const path of [ALERTS, INCIDENTS]) {
    t.match(await ask('GET', `${path}?assignee_id=me`), {
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR' } },
    })
    t.equal((await app.ask('GET', `${path}?assignee_id=me`, undefined, tenant.token)).status, 200)
  }
})

t.test('the timeline has transitions, assignments and comments, newest first', async t => {
  const { raise, ask, tenant } = await makePipeline(app, ['orders'], [])
  const [id] = await raise('orders quality')
  const userId = await userOf(tenant.companyId)
  await ask('PATCH', `${ALERTS}/${id}`, { assignee_id: userId })
  await ask('PATCH', `${ALERTS}/${id}`, { assignee_id: userId })
  const comment = await app.ask(
    'POST',
    `${ALERTS}/${id}/comment`,
    { comment: ' The loader ran twice ' },
    tenant.token,
  )
  t.match(comment, {
    status: 201,
    body: {
      data: {
        ...{ activity_type: 'comment', actor_type: 'user', actor_name: tenant.email },
        metadata: { comment: 'The loader ran twice' },
      },
    },
  })
  await ask('POST', `${ALERTS}/${id}/resolve`, { notes: 'Reran it', action_category: 'reran_job' })
  const { activities, pagination } = (await ask('GET', `${ALERTS}/${id}/activities`)).body.data
  t.match(activities, [
    {
      activity_type: 'resolved',
      actor_type: 'key',
      metadata: { reason: 'Reran it', action_category: 'reran_job' },
    },
    comment.body.data,
    { activity_type: 'assigned', metadata: { assignee_id: userId, assignee: tenant.email } },
    { activity_type: 'opened', actor_type: 'system', actor_name: null, metadata: {} },
  ])
  t.equal(pagination.total, 4, 'the same assignee again is no change')
  const second = await ask('GET', `${ALERTS}/${id}/activities?limit=1&offset=1`)
  t.match(second.body.data, {
    activities: [{ activity_type: 'comment' }],
    pagination: { total: 4, has_more: true },
  })
})

t.test('messages name the assignee, for programs and for people', async t => {
  const { raise, ask, recover, tenant } = await makePipeline(app, ['orders'], [])
  const destinationOf = async (type: string, config: object) =>
    (
      await ask('POST', `${ALERTS}/destinations`, {
        ...{ name: type, destination_type: type, messages: 'alerts', config },
      })
    ).body.data.id as string
  const webhook = await destinationOf('webhook', { url: 'https://127.0.0.1:9/hook' })
  const slack = await destinationOf('slack', { webhook_url: 'https://127.0.0.1:9/hook' })
  const [id] = await raise('orders quality')
  const userId = await userOf(tenant.companyId)
  await ask('PATCH', `${ALERTS}/${id}`, { assignee_id: userId })
  await recover('orders quality')
  const bodyOf = async (destinationId: string, event: string) => {
    const [row] = await app.query(
      'select body from deliveries where destination_id = $1 and event_type = $2',
      [destinationId, event],
    )
    return String(row?.body)
  }
  t.notOk('assignee' in JSON.parse(await bodyOf(webhook, 'alert.triggered')).alert)
  t.match(JSON.parse(await bodyOf(webhook, 'alert.resolved')).alert, {
    assignee: { id: userId, email: tenant.email, full_name: null },
  })
  t.match(await bodyOf(slack, 'alert.resolved'), tenant.email)
})

t.test('what is not there is named: the alert, the user', async t => {
  const { raise, ask } = await makePipeline(app, ['orders'], [])
  const [id] = await raise('orders quality')
  t.match(await ask('PATCH', `${ALERTS}/${id}`, { assignee_id: randomUUID() }), {
    status: 404,
    body: { error: { code: 'USER_NOT_FOUND' } },
  })
  const missing = { status: 404, body: { error: { code: 'ALERT_NOT_FOUND' } } }
  const other = `${ALERTS}/${randomUUID()}`
  t.match(await ask('PATCH', other, { assignee_id: null }), missing)
  t.match(await ask('POST', `${other}/comment`, { comment: 'x' }), missing)
  t.match(await ask('GET', `${other}/activities`), missing)
  t.match(await ask('PATCH', `${ALERTS}/${id}`, {}), { status: 400 })
  t.match(await ask('POST', `${ALERTS}/${id}/comment`, { comment: ' ' }), { status: 400 })
})

t.test('an alert stays when its assignee is deleted', async t => {
  const { raise, ask, tenant } = await makePipeline(app, ['orders'], [])
  const [id] = await raise('orders quality')
  const userId = randomUUID()
  await app.query(
    `insert into users (id, company_id, email, role, password_hash) values ($1, $2, $3, 'member', 'x')`,
    [userId, tenant.companyId, `${userId}@example.com`],
  )
  await ask('PATCH', `${ALERTS}/${id}`, { assignee_id: userId })
  await app.query('delete from users where id = $1', [userId])
  t.match((await ask('GET', `${ALERTS}/${id}`)).body.data, { status: 'triggered', assignee: null })
})
