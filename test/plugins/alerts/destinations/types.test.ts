import t from 'tap'
import Joi from 'joi'
import {
  composeSample,
  samplePayloads,
  testDestination,
} from '../../../../plugins/alerts/destinations/conformance.ts'
import { describePayload } from '../../../../plugins/alerts/destinations/describe.ts'
import {
  failedOutcome,
  shorten,
  type DestinationType,
} from '../../../../plugins/alerts/destinations/destination.ts'
import { factsOf } from '../../../../plugins/alerts/destinations/facts.ts'
import { pagerduty } from '../../../../plugins/alerts/destinations/types/pagerduty.ts'
import { slack } from '../../../../plugins/alerts/destinations/types/slack.ts'
import { teams } from '../../../../plugins/alerts/destinations/types/teams.ts'
import { createDestinationRegistry } from '../../../../plugins/alerts/destinations/registry.ts'
import { webhook } from '../../../../plugins/alerts/destinations/webhook.ts'
import { alertKinds } from '../../../../plugins/catalog/alert-kinds.ts'
import { freshnessViolation } from '../../../../plugins/freshness/alert-kind.ts'
import { metricAnomaly } from '../../../../plugins/metrics/alert-kind.ts'
import { referentialFailure } from '../../../../plugins/referential/alert-kind.ts'
import { validityFailure } from '../../../../plugins/validity/alert-kind.ts'
import { startServer } from '../../../helpers/server.ts'
import { ROUTING_KEY } from '../fake-receivers.ts'
import { ALERTS } from '../world.ts'

const url = 'https://hooks.example.com/x'
const app = await startServer(t, { settings: { ROLE: 'web', SMTP_URL: 'smtp://127.0.0.1:1' } })

t.test('the built-in types conform', async t => {
  await testDestination(t, {
    type: webhook,
    config: { url, auth: { type: 'bearer', value: 'x' } },
    refused: { none: {} },
  })
  await testDestination(t, { type: slack, config: { webhook_url: url }, refused: { none: {} } })
  await testDestination(t, {
    type: teams,
    config: { webhook_url: url },
    refused: { http: { webhook_url: 'http://x.example' } },
  })
  await testDestination(t, {
    type: pagerduty,
    config: { routing_key: ROUTING_KEY },
    answer: { status: 202, body: '{}' },
  })
})

interface Broken {
  to: string
}

/** Which promises of the kit a type breaks. */
async function broken(
  changes: Partial<DestinationType<Broken>>,
  answer?: { status: number; body: string },
): Promise<string[]> {
  const type: DestinationType<Broken> = {
    name: 'broken',
    label: 'Broken',
    config: Joi.object<Broken>({ to: Joi.string().required() }),
    deliver: (message, { post }) => post(url, { headers: {}, body: message.body }),
    ...changes,
  }
  const failed: string[] = []
  const test = async (name: string, run: () => Promise<void>) =>
    run().catch(() => void failed.push(name.slice(8)))
  await testDestination({ test }, { type, config: { to: 'x' }, ...(answer && { answer }) })
  return failed
}

t.test('the conformance suite finds what a type does wrong', async t => {
  t.same(await broken({}), [])
  t.match(await broken({ name: 'Not A Name' }), [/registry/])
  t.match(await broken({ config: Joi.object<Broken>({ to: Joi.string() }).unknown() }), [/unknown field/])
  t.match(await broken({ urlField: 'to' }), [/its config is accepted/])
  t.match(await broken({ compose: () => `${Math.random()}` }), [/a body is deterministic/, /same bytes/])
  t.match(await broken({ compose: ({ alert }) => alert.rule_name.slice(0, 3) + alert.title }), [
    /a body is deterministic/,
  ])
  t.match(
    await broken({ deliver: (m, { post }) => post('http://x.example', { headers: {}, body: m.body }) }),
    [/over https/],
  )
  const split: DestinationType<Broken>['deliver'] = (m, { post }) =>
    post(url, { headers: { title: m.body }, body: m.body })
  t.match(
    await broken({ deliver: split, compose: ({ alert }) => alert.title.replaceAll('\0', '').toWellFormed() }),
    [/over https/],
  )
  const silent = { ...failedOutcome('x', 'y'), isDelivered: true, errorClass: null }
  t.equal((await broken({ deliver: async () => silent })).length, 10, 'a type that always reports success')
  const throwing: DestinationType<Broken>['deliver'] = async (m, { post }) => {
    const outcome = await post(url, { headers: {}, body: m.body })
    JSON.parse(outcome.responseBody ?? '')
    return outcome
  }
  t.match(await broken({ deliver: throwing }, { status: 200, body: '{}' }), [
    /address/,
    /silence/,
    /redirect/,
  ])
  const attempts: DestinationType<Broken>['deliver'] = (m, { post }) =>
    post(url, { headers: {}, body: `${m.attempt} ${m.body}` })
  t.match(await broken({ deliver: attempts }), [/same bytes/])
})

t.test('texts are cut between characters, whichever way they are counted', async t => {
  t.equal(shorten('short', 5), 'short')
  t.equal(shorten('longer', 5), 'long…')
  t.equal(shorten('😀😀😀', 5), '😀😀…')
  t.equal(shorten('😀😀😀', 4), '😀…')
  t.equal(shorten('a\r\n\tb\u0000c', 10), 'a b c')
  t.equal(shorten('half \ud83d', 10), 'half \ufffd')
})

t.test('no name can change the direction of a message for people', async t => {
  const controls = ['\u061c', '\u200e', '\u200f', ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)]
  const composing = app.server.destinations.all().filter(({ compose }) => compose)
  t.ok(composing.length >= 5, 'Slack, Teams, mail, PagerDuty and the one of the template')
  for (const type of composing)
    for (const control of controls)
      for (const payload of samplePayloads().slice(0, 3)) {
        const turned = everyText(payload, text => `${control}${text.slice(0, 2)}${control}${text.slice(2)}`)
        const { alert, event } = payload
        const body = composeSample(type, {
          ...payload,
          // Ids, times and our own words are not names.
          alert: { ...alert, rule_name: turned.alert.rule_name, title: turned.alert.title },
          event: {
            ...event,
            asset: { ...event.asset, qualified_name: turned.event.asset.qualified_name },
            details: turned.event.details,
          },
        })
        t.notOk(body.includes(control), `${type.name}, U+${control.charCodeAt(0).toString(16)}`)
        t.equal(body, composeSample(type, payload), 'and nothing else is removed')
      }
})

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, place) => String.fromCharCode(from + place))
}

/** A value with each text in it changed. */
function everyText<Value>(value: Value, change: (text: string) => string): Value {
  return JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
    typeof part === 'string' ? change(part) : part,
  ) as Value
}

t.test('a message of each kind states what its title does not say', async t => {
  const kinds = [...alertKinds, freshnessViolation, metricAnomaly, referentialFailure, validityFailure]
  const facts = (type: string, details: object) => {
    const [payload] = samplePayloads()
    const kind = kinds.find(({ name }) => name === type) ?? { name: type, label: type }
    const described = describePayload(payload!, factsOf(kind, details))
    return described.facts.slice(1, -3).map(({ name, value }) => `${name}: ${value}`)
  }
  t.same(facts('validity_failure', { column_name: null, invalid_count: 0, total_rows: 4, threshold: 2 }), [
    'Invalid: 0 of 4 rows',
  ])
  t.same(facts('metric_anomaly', { column_name: 'total', value: 5, anomalous_groups: 1 }), ['Column: total'])
  t.same(facts('metric_anomaly', { anomalous_groups: 3 }), ['Groups: 3 are unusual'])
  t.same(
    facts('freshness_violation', {
      timestamp_column: 'at',
      last_updated: '2026-01-01T00:00:00Z',
      sla_threshold: '1h',
    }),
    ['Column: at', 'Newest data: 2026-01-01T00:00:00Z'],
  )
  t.same(
    facts('referential_failure', {
      child_column_name: 'customer_id',
      parent_table_path: 'public.customers',
      parent_column_name: 'id',
      orphan_count: 2,
      total_child_rows: 9,
    }),
    ['Column: customer_id', 'Parent: public.customers.id', 'Without a match: 2 of 9 rows'],
  )
  const changes = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => ({
    change_type: 'column_added',
    object_name: name,
  }))
  t.same(
    facts('schema_change', {
      changes,
      change_count: 60,
      old_value: { data_type: 'text' },
      new_value: { data_type: 'int' },
    }),
    [
      'Changes: column added a, column added b, column added c, column added d, column added e, and 55 more',
      'Was: text',
      'Is: int',
    ],
  )
  t.same(facts('connection_failed', { error_code: 'auth' }), ['Error: auth'])
  t.same(facts('of an extension', { anything: 1 }), [])
})

t.test('a type whose name is taken, or that cannot deliver, stops the start', async t => {
  const types = createDestinationRegistry()
  types.add(slack as DestinationType)
  t.throws(() => types.add(slack as DestinationType), /"slack": the name is taken/)
  t.throws(
    () => types.add({ name: 'dull', label: 'Dull', config: Joi.object({}) } as never),
    /"dull".*deliver/,
  )
})

t.test('an unknown type is answered with the names of the known ones', async t => {
  const { ask, signUp } = app
  const { key } = await signUp()
  const payload = { name: 'x', destination_type: 'pigeon', config: {} }
  const { status, body } = await ask('POST', `${ALERTS}/destinations`, payload, key)
  t.equal(status, 400)
  for (const name of ['pagerduty', 'slack', 'teams', 'webhook']) t.match(JSON.stringify(body), name)
})

t.test('names of headers that differ only in case are refused', async t => {
  const problem = (headers: object) => webhook.config.validate({ url, headers }).error?.message
  t.equal(
    problem({ 'X-Team': 'a', other: 'b', 'x-team': 'c' }),
    'headers.X-Team and headers.x-team are the same header, since case does not count: remove one of them',
  )
  t.equal(problem({ 'X-Team': 'a', 'X-Teams': 'b' }), undefined)
})
