import t from 'tap'
import { composeSample, samplePayloads } from '../../../../../plugins/alerts/destinations/conformance.ts'
import { slack } from '../../../../../plugins/alerts/destinations/types/slack.ts'
import { startReceiver } from '../../../../helpers/receiver.ts'
import { startServer } from '../../../../helpers/server.ts'
import { slackPlace } from '../../fake-receivers.ts'
import { ALERTS, makeWorld } from '../../world.ts'

interface Element {
  text?: string
  url?: string
}

/** What a message shows, line by line. */
function shown(body: string): string[] {
  const { blocks } = JSON.parse(body) as {
    blocks: { text?: Element; elements?: { elements: Element[] }[] }[]
  }
  return blocks.flatMap(({ text, elements = [] }) =>
    text
      ? [text.text]
      : elements[0]!.elements
          .map(element => element.text)
          .join('')
          .split('\n'),
  ) as string[]
}

const app = await startServer(t, { settings: { BASE_URL: 'https://observe.example.com' } })

t.test('Slack gets the subject of an alert, what was expected and links; its end too', async t => {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  receiver.answer(slackPlace)
  const webhook_url = `${receiver.url}/services/T0/B0/secret-part`
  const { id } = await world.addDestination(
    { webhook_url },
    { destination_type: 'slack', messages: 'alerts' },
  )
  const details = { column_name: 'total', invalid_count: 3, total_rows: 100, threshold: 0 }
  const { alertId } = await world.raise({ details })
  await receiver.received(1)
  await world.recover()
  const [opened, closed] = await receiver.received(2)
  t.equal(opened!.path, '/services/T0/B0/secret-part')
  const [heading, ...facts] = shown(opened!.body)
  t.equal(heading, '🟠 3 of 100 values are invalid')
  t.match(facts, [
    'Table: shop.shop.public.orders',
    'Column: total',
    'Invalid: 3 of 100 rows',
    'Rule: Total is positive',
    'Severity: Warning',
    /^Opened: \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
    'Open the alert · See the asset',
  ])
  t.match(opened!.body, `https://observe.example.com/alerts/${alertId}`)
  t.same(shown(closed!.body).slice(0, 2), ['✅ Resolved: 3 of 100 values are invalid', 'It recovered'])

  const { body: tested } = await world.ask('POST', `${ALERTS}/destinations/${id}/test`)
  t.match(tested.data, { success: true, status_code: 200 })
  const { body } = await world.ask('GET', `${ALERTS}/destinations/${id}`)
  t.match(body.data, { is_verified: true, config: { webhook_url: '********' } })
  const deliveries = JSON.stringify(await world.deliveries(id))
  t.notMatch(deliveries, 'secret-part', 'the address is shown nowhere')
})

t.test(
  'with any names, Slack accepts the message, mentions no person and shows names as they are',
  async t => {
    const receiver = await startReceiver(t)
    receiver.answer(slackPlace)
    for (const payload of samplePayloads()) {
      const body = composeSample(slack, payload!)
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(receiver.url, { method: 'POST', headers, body })
      t.equal(await response.text(), 'ok', payload.alert.rule_name.slice(0, 20))
    }
    const name = '<!channel> *b* _id_ &amp;'
    const [payload] = samplePayloads()
    payload!.event.asset.qualified_name = name
    payload!.alert.title = name
    t.match(shown(composeSample(slack, payload!)), [`🔴 ${name}`, `Table: ${name}`])
  },
)

t.test('a refusal by Slack is explained with what to do about it', async t => {
  const { ask, signUp } = app
  const { key } = await signUp()
  const receiver = await startReceiver(t)
  const payload = {
    name: 'Slack',
    destination_type: 'slack',
    config: { webhook_url: `${receiver.url}/s3cret` },
  }
  const { body: made } = await ask('POST', `${ALERTS}/destinations`, payload, key)
  const test = async (status: number, said: string) => {
    receiver.answer((_request, response) => void response.writeHead(status).end(said))
    const { body } = await ask('POST', `${ALERTS}/destinations/${made.data.id}/test`, undefined, key)
    return body.data
  }
  for (const [status, said, expected] of [
    [404, 'no_service', /create a new one in Slack and change webhook_url \(404 no_service\)/],
    [403, 'invalid_token', /create a new one/],
    [404, 'channel_not_found', /deleted or archived/],
    [410, 'channel_is_archived', /deleted or archived/],
    [403, 'action_prohibited', /administrator/],
    [400, 'invalid_blocks', /did not understand the message/],
    [500, 'rollup_error', /answered 500/],
    [302, '<html>sign in</html>', /answered 302/],
  ] as const) {
    t.match(await test(status, said), {
      success: false,
      status_code: status,
      error_class: 'status',
      error_message: expected,
    })
  }
})

t.test('a webhook_url that is none, or not https, is refused by name', async t => {
  const { ask, signUp } = app
  const { key } = await signUp()
  for (const [config, problem] of [
    [{}, /webhook_url is required/],
    [{ webhook_url: 'http://hooks.slack.com/services/x' }, /https/],
    [{ webhook_url: 'https://user:pw@hooks.slack.com/x' }, /user or password/],
    [{ webhook_url: 'https://169.254.169.254/x' }, /webhook_url|sent to|address/],
    [{ webhook_url: 'https://hooks.slack.com/x', channel: '#general' }, /unknown field `config\.channel`/],
  ] as const) {
    const payload = { name: 'Slack', destination_type: 'slack', config }
    const { status, body } = await ask('POST', `${ALERTS}/destinations`, payload, key)
    t.equal(status, 400)
    t.match(JSON.stringify(body), problem)
  }
})
