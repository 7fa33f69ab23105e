import { ServerResponse } from 'node:http'
import t from 'tap'
import {
  composeSample,
  samplePayloads,
  testDestination,
} from '../../../../../plugins/alerts/destinations/conformance.ts'
import { jira } from '../../../../../plugins/alerts/destinations/types/jira.ts'
import { startReceiver } from '../../../../helpers/receiver.ts'
import { startServer } from '../../../../helpers/server.ts'
import { jiraService } from '../../fake-services.ts'
import { makePipeline } from '../../incidents/world.ts'
import { ALERTS, makeWorld } from '../../world.ts'

const account = { email: 'ada@example.com', api_token: 's3cret-token' }
const app = await startServer(t, {
  settings: { BASE_URL: 'https://observe.example.com', WEBHOOK_DELAYS: '0,0', INCIDENT_DELAY_SECONDS: '0' },
})

async function start(t: Parameters<typeof startServer>[0], more: object = {}) {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const service = jiraService(`${account.email}:${account.api_token}`)
  receiver.answer(service.behaviour)
  const config = { ...account, url: receiver.url, project: 'DATA', ...more }
  const { id } = await world.addDestination(config, { destination_type: 'jira', messages: 'alerts' })
  const test = async () => (await world.ask('POST', `${ALERTS}/destinations/${id}/test`)).body.data
  return { world, receiver, service, test, id }
}

t.test('Jira conforms', async t => {
  const found = {
    id: '10000',
    key: 'DATA-1',
    transitions: [{ id: '31', name: 'Close', to: { statusCategory: { key: 'done' } } }],
  }
  const config = { ...account, url: 'https://acme.atlassian.net', project: 'DATA' }
  await testDestination(t, {
    type: jira,
    config,
    refused: { 'no token': { ...config, api_token: undefined }, 'no key': { ...config, project: 'My data' } },
    answer: { status: 200, body: JSON.stringify({ ...found, issues: [found] }) },
  })
})

t.test('an alert becomes an issue, and its end comments on it and closes it', async t => {
  const { world, receiver, service, id } = await start(t)
  const { alertId } = await world.raise()
  await receiver.received(2)
  t.match(service.issues, [
    { key: 'DATA-1', status: 'new', labels: ['tidemark', `tidemark-${alertId}`], comments: [] },
  ])
  await world.recover()
  await receiver.received(5)
  t.match(service.issues, [{ status: 'done', comments: [{ type: 'doc' }] }])
  t.notMatch(JSON.stringify(await world.deliveries(id)), 's3cret')
  const { body } = await world.ask('GET', `${ALERTS}/destinations/${id}`)
  t.match(body.data.config, { api_token: '********', issue_type: 'Task', project: 'DATA' })
})

t.test('a retry after a lost answer finds the issue and creates no other', async t => {
  const { world, receiver, service } = await start(t)
  receiver.answer(
    service.behaviour,
    (request, response, raw) => {
      const unsent = new ServerResponse(raw)
      if (typeof service.behaviour !== 'number') service.behaviour(request, unsent, raw)
      response.destroy()
    },
    service.behaviour,
  )
  await world.raise()
  await receiver.received(3)
  t.equal(service.issues.length, 1)
})

t.test('an incident that comes back after its issue was closed becomes another issue', async t => {
  const { raise, recover, ask } = await makePipeline(app, ['raw'], [])
  const receiver = await startReceiver(t)
  const service = jiraService(`${account.email}:${account.api_token}`)
  receiver.answer(service.behaviour)
  const config = { ...account, url: receiver.url, project: 'DATA' }
  const body = { name: 'j', destination_type: 'jira', messages: 'incidents', config }
  t.equal((await ask('POST', `${ALERTS}/destinations`, body)).status, 201)
  await raise('raw stale')
  await receiver.received(2)
  await recover('raw stale')
  await receiver.received(5)
  t.match(service.issues, [{ status: 'done' }])
  await raise('raw stale')
  await receiver.received(7)
  t.match(service.issues, [{ status: 'done' }, { key: 'DATA-2', status: 'new', comments: [] }])
})

t.test('a test closes the issue that it created', async t => {
  const { service, test } = await start(t)
  t.match(await test(), { success: true, status_code: 201 })
  t.match(service.issues, [{ status: 'done' }])
})

t.test('a refusal says what to do: wrong token, project, type or transition', async t => {
  for (const [config, expected] of [
    [{ api_token: 'wrong' }, /check email and api_token \(401\)/],
    [{ issue_type: 'Bug' }, /issuetype: The issue type selected is invalid. \(400\)/],
    [{ transition: 'Done' }, /close it in Jira. DATA-1 has no transition "Done".*\(Start, Close\)/],
  ] as const) {
    const { test } = await start(t, config)
    t.match(await test(), { success: false, error_message: expected })
  }
})

t.test('with any names, Jira takes the issue', async t => {
  const receiver = await startReceiver(t)
  receiver.answer(jiraService('a:b').behaviour)
  for (const payload of samplePayloads()) {
    const { fields } = JSON.parse(composeSample(jira, payload))
    const body = JSON.stringify({
      fields: { ...fields, project: { key: 'DATA' }, issuetype: { name: 'Task' } },
    })
    const headers = { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` }
    const answer = await fetch(`${receiver.url}/rest/api/3/issue`, { method: 'POST', headers, body })
    t.equal(answer.status, 201, payload.alert.rule_name.slice(0, 20))
  }
})
