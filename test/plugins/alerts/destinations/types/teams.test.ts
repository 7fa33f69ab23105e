import t from 'tap'
import {
  answerOutcome,
  composeSample,
  unusedEgress,
  samplePayloads,
} from '../../../../../plugins/alerts/destinations/conformance.ts'
import type { DeliveryOutcome } from '../../../../../plugins/alerts/destinations/destination.ts'
import { teams } from '../../../../../plugins/alerts/destinations/types/teams.ts'
import { startReceiver } from '../../../../helpers/receiver.ts'
import { startServer } from '../../../../helpers/server.ts'
import { teamsPlace } from '../../fake-receivers.ts'
import { ALERTS, makeWorld } from '../../world.ts'

interface Element {
  style?: string
  items?: Element[]
  inlines?: { text: string }[]
}

const linesOf = ({ items, inlines = [] }: Element): string[] =>
  items ? items.flatMap(linesOf) : [inlines.map(({ text }) => text).join('')]

function cardOf(body: string): { body: Element[]; actions: { url: string }[] } {
  return JSON.parse(body).attachments[0].content
}

t.test(
  'an alert is a card in Teams, coloured by how bad it is, with what was expected and buttons',
  async t => {
    const app = await startServer(t, { settings: { BASE_URL: 'https://observe.example.com' } })
    const world = await makeWorld(app)
    const receiver = await startReceiver(t)
    receiver.answer(teamsPlace)
    const webhook_url = `${receiver.url}/workflows/1/triggers/manual/paths/invoke?sig=secret-part`
    const { id } = await world.addDestination(
      { webhook_url },
      { destination_type: 'teams', messages: 'alerts' },
    )
    const details = { column_name: 'total', value: 3, expected_value: 10.25, range: { low: 8, high: 12.5 } }
    const { alertId } = await world.raise({ type: 'metric_anomaly', severity: 'critical', details })
    const [request] = await receiver.received(1)
    const card = cardOf(request!.body)
    t.equal(card.body[0]!.style, 'attention')
    t.match(card.body.flatMap(linesOf), [
      '🔴 3 of 100 values are invalid',
      'Table: shop.shop.public.orders',
      'Column: total',
      'Rule: Total is positive',
      'Severity: Critical',
      /^Opened: /,
    ])
    t.equal(card.actions[0]!.url, `https://observe.example.com/alerts/${alertId}`)

    const { body: tested } = await world.ask('POST', `${ALERTS}/destinations/${id}/test`)
    t.match(tested.data, { success: true, status_code: 202 })
    t.equal(cardOf(receiver.requests[1]!.body).body[0]!.style, 'emphasis')
    t.notMatch(JSON.stringify(await world.deliveries(id)), 'secret-part', 'the address is shown nowhere')
  },
)

t.test('with any names, the card fits and nothing in them is parsed', async t => {
  const receiver = await startReceiver(t)
  receiver.answer(teamsPlace)
  for (const payload of samplePayloads()) {
    // The longest that can come: every fact at its limit, in characters of three bytes.
    payload.event.type = 'referential_failure'
    const long = payload.event.asset.qualified_name
    const names = ['child_column_name', 'parent_table_path', 'parent_column_name', 'orphan_count']
    payload.event.details = Object.fromEntries(names.map(name => [name, long]))
    const body = composeSample(teams, payload)
    t.equal((await fetch(receiver.url, { method: 'POST', body })).status, 202, long.slice(0, 20))
  }
})

t.test('an answer that only looks like success is a failure, and a refusal says what to do', async t => {
  const ended = async (given: DeliveryOutcome) => {
    const message = { id: '1', deliveryId: '2', attempt: 1, requestId: '3', eventType: 'alert.test' as const }
    return teams.deliver(
      { ...message, body: '{}', severity: 'info', event: null, signatures: {}, served: [] },
      {
        config: { webhook_url: 'https://teams.example.com' },
        signal: new AbortController().signal,
        post: async () => given,
        egress: unusedEgress,
      },
    )
  }
  const hidden =
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=0'
  t.match(await ended(answerOutcome(200, hidden)), {
    isDelivered: false,
    statusCode: 200,
    errorClass: 'status',
    errorMessage: /Teams did not: Microsoft Teams endpoint returned HTTP error 429/,
  })
  t.match(await ended(answerOutcome(200, '1')), { isDelivered: true }, 'as connectors say')
  t.match(await ended(answerOutcome(202, null)), { isDelivered: true }, 'as workflows say')
  for (const [status, code, expected] of [
    [400, 'WorkflowTriggerIsNotEnabled', /switch it on in Teams/],
    [404, 'WorkflowNotFound', /switched off or deleted/],
    [401, 'DirectApiAuthorizationRequired', /let anyone with the address trigger it/],
    [400, 'TriggerInputSchemaMismatch', /template that posts a card/],
    [502, 'NoResponse', /answered 502/],
  ] as const) {
    t.match(await ended(answerOutcome(status, JSON.stringify({ error: { code } }))), {
      isDelivered: false,
      errorMessage: expected,
    })
  }
})
