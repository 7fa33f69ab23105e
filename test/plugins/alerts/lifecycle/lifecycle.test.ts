import t from 'tap'
import type { AlertEvent } from '../../../../plugins/alerts/api.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { ROUTING_KEY } from '../fake-receivers.ts'
import { passTime, runSweep } from '../time.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

// Before the server: its trust is settled when it first sends.
const receiver = await startReceiver(t)
const app = await startServer(t)
const url = 'https://receiver.invalid/hook'
const [began, ended] = ['alert.triggered', 'alert.resolved']

const sweepOnce = (server = app.server) => runSweep(app, server)
const pass = ({ companyId }: World, minutes: number) => passTime(app, companyId, minutes)

/** The messages to a destination that were sent or are on their way, oldest first: their types and severities. */
async function sentTo(destination: { id: string }): Promise<string[]> {
  const found = await app.query(
    `select event_type, a.severity from deliveries d join alerts a on a.id = d.alert_id
      where destination_id = $1 and (job_id is not null or attempt > 0 or event_type = 'alert.resolved') order by d.id`,
    [destination.id],
  )
  return found.map(row => `${String(row.event_type)} ${String(row.severity)}`)
}

async function addRule(world: World, destinations: { id: string }[], more: object = {}): Promise<string> {
  const rule = { name: 'r', destination_ids: destinations.map(({ id }) => id), ...more }
  const { status, body } = await world.ask('POST', `${ALERTS}/rules`, rule)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.data.id
}

const critical: Partial<AlertEvent> = { severity: 'critical' }

t.test('an alert that gets worse is sent in the cooldown too', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  await world.raise()
  await world.raise(critical)
  t.strictSame(await sentTo(destination), [`${began} warning`, `${ended} warning`, `${began} critical`])
  await world.recover()
  t.strictSame((await sentTo(destination)).slice(3), [`${ended} critical`])
})

t.test('a failure that is worse than what the rule sent is sent in the cooldown too', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  await world.raise()
  await world.recover()
  await world.raise(critical)
  await world.recover()
  await world.raise()
  t.strictSame(await sentTo(destination), [
    `${began} warning`,
    `${ended} warning`,
    `${began} critical`,
    `${ended} critical`,
  ])
})

t.test('an incident at PagerDuty is open as long as the trouble is', { timeout: 30_000 }, async t => {
  const pagers = await startReceiver(t)
  pagers.answer(202)
  const world = await makeWorld(app)
  const config = { routing_key: ROUTING_KEY, url: pagers.url }
  const destination = await world.addDestination(config, {
    destination_type: 'pagerduty',
    messages: 'alerts',
  })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  const open = async (requests: number) => {
    const incidents = new Set<string>()
    for (const { body } of await pagers.received(requests)) {
      const { event_action: action, dedup_key: key } = JSON.parse(body)
      if (action === 'trigger') incidents.add(key)
      else incidents.delete(key)
    }
    return [...incidents]
  }
  const { alertId: warning } = await world.raise()
  t.strictSame(await open(1), [warning])
  const { alertId: worse } = await world.raise(critical)
  t.strictSame(await open(3), [worse])
  await world.recover()
  t.strictSame(await open(4), [])
})

t.test('what a cooldown postpones is sent once when it ends, if the trouble lasts', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url: receiver.url })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  await world.raise()
  await world.recover()
  const { alertId } = await world.raise()
  await world.raise()
  const first = [`${began} warning`, `${ended} warning`]
  t.strictSame(await sentTo(destination), first)
  const [waiting] = (await world.ask('GET', `${ALERTS}/${alertId}/deliveries`)).body.data.data
  t.match(waiting, { event_type: began, status: 'pending', attempt_count: 0, next_attempt_at: String })
  const minutes = (Date.parse(waiting.next_attempt_at) - Date.now()) / 60_000
  t.ok(minutes > 55 && minutes <= 60, 'it shows when it will be sent')
  await pass(world, 58)
  await sweepOnce()
  t.strictSame(await sentTo(destination), first, 'not before the cooldown is over')
  await pass(world, 3)
  const twin = await app.startTwin()
  await Promise.all([sweepOnce(), sweepOnce(twin)])
  await sweepOnce()
  t.strictSame(await sentTo(destination), [...first, `${began} warning`])
  const requests = await receiver.received(3)
  t.match(JSON.parse(requests[2]!.body), { event_type: began, alert: { id: alertId } })
  await world.recover()
  t.strictSame((await sentTo(destination)).slice(3), [`${ended} warning`])
  await world.raise()
  await pass(world, 30)
  await sweepOnce()
  t.strictSame((await sentTo(destination)).length, 4, 'the cooldown began anew with what was postponed')
})

t.test('what is over, dismissed or got worse before the cooldown ends is not sent', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  const causes = ['recovers', 'resolved', 'dismissed', 'worse']
  for (const cause of causes) {
    await world.raise({ cause })
    await world.recover(cause)
  }
  const sent = (await sentTo(destination)).length
  const raised = await world.raiseAll(causes.map(cause => ({ cause })))
  await world.recover('recovers')
  for (const [at, move] of [
    [1, 'resolve'],
    [2, 'dismiss'],
  ] as const)
    await world.ask('POST', `${ALERTS}/${raised[at]?.alertId}/${move}`)
  await world.raise({ cause: 'worse', ...critical })
  await pass(world, 61)
  await sweepOnce()
  t.strictSame((await sentTo(destination)).slice(sent), [`${began} critical`], 'nor is its end')
  for (const { alertId } of raised) {
    const { data } = (await world.ask('GET', `${ALERTS}/${alertId}/deliveries`)).body.data
    t.match(data, [{ status: 'stopped', stopped_reason: String, attempts: [] }])
    t.equal(data.length, 1)
  }
})

t.test('rules with other cooldowns that send to one destination send it one message', async t => {
  const world = await makeWorld(app)
  const [one, two] = [await world.addDestination({ url }), await world.addDestination({ url })]
  const [slow, fast] = [
    await addRule(world, [one, two], { cooldown_minutes: 60 }),
    await addRule(world, [one], { cooldown_minutes: 20 }),
  ]
  await world.raise()
  await world.recover()
  await world.raise()
  await pass(world, 21)
  await sweepOnce()
  t.strictSame((await sentTo(one)).slice(2), [`${began} warning`], 'as soon as one of them lets it through')
  const [row] = await app.query(
    `select rule_ids from deliveries where destination_id = $1 order by id desc limit 1`,
    [one.id],
  )
  t.strictSame(row?.rule_ids, [fast])
  t.strictSame((await sentTo(two)).slice(2), [])
  await pass(world, 40)
  await sweepOnce()
  t.strictSame((await sentTo(one)).length, 3)
  t.strictSame((await sentTo(two)).slice(2), [`${began} warning`])
  t.ok(slow)
})

t.test('a rule or destination that is changed while a message is postponed counts as it is then', async t => {
  const changes: [string, (world: World, rule: string, destination: string) => Promise<unknown>, boolean][] =
    [
      ['nothing', async () => undefined, false],
      ['rule off', (w, rule) => w.ask('PATCH', `${ALERTS}/rules/${rule}`, { is_active: false }), false],
      ['rule deleted', (w, rule) => w.ask('DELETE', `${ALERTS}/rules/${rule}`), false],
      [
        'rule narrowed',
        (w, rule) => w.ask('PATCH', `${ALERTS}/rules/${rule}`, { severities: ['critical'] }),
        false,
      ],
      [
        'cooldown gone',
        (w, rule) => w.ask('PATCH', `${ALERTS}/rules/${rule}`, { cooldown_minutes: 0 }),
        true,
      ],
      [
        'cooldown shorter',
        (w, rule) => w.ask('PATCH', `${ALERTS}/rules/${rule}`, { cooldown_minutes: 5 }),
        true,
      ],
      [
        'destination off',
        (w, _, id) => w.ask('PATCH', `${ALERTS}/destinations/${id}`, { is_active: false }),
        false,
      ],
      ['destination deleted', (w, _, id) => w.ask('DELETE', `${ALERTS}/destinations/${id}`), false],
    ]
  for (const [name, change, isSentAtOnce] of changes) {
    const world = await makeWorld(app)
    const destination = await world.addDestination({ url })
    const rule = await addRule(world, [destination], { cooldown_minutes: 60 })
    await addRule(world, [await world.addDestination({ url })], { severities: ['info'] })
    await world.raise()
    await world.recover()
    const { alertId } = await world.raise()
    await pass(world, 10)
    await change(world, rule, destination.id)
    await sweepOnce()
    t.equal((await sentTo(destination)).length, isSentAtOnce ? 3 : 2, name)
    await pass(world, 60)
    await sweepOnce()
    t.equal((await sentTo(destination)).length, isSentAtOnce || name === 'nothing' ? 3 : 2, name)
    const [{ status }] = (await world.ask('GET', `${ALERTS}/${alertId}/deliveries`)).body.data.data
    t.equal(status === 'stopped', !isSentAtOnce && name !== 'nothing', name)
  }
})

t.test('who was notified of the beginning is notified of the end, and nothing else is', async t => {
  const changes: [string, (world: World, rule: string, other: string) => Promise<unknown>][] = [
    ['rule off', (w, rule) => w.ask('PATCH', `${ALERTS}/rules/${rule}`, { is_active: false })],
    ['rule deleted', (w, rule) => w.ask('DELETE', `${ALERTS}/rules/${rule}`)],
    ['rule narrowed', (w, rule) => w.ask('PATCH', `${ALERTS}/rules/${rule}`, { severities: ['critical'] })],
    [
      'another destination',
      (w, rule, id) => w.ask('PATCH', `${ALERTS}/rules/${rule}`, { destination_ids: [id] }),
    ],
    ['a rule more', (w, _, id) => addRule(w, [{ id }])],
  ]
  const ends: [string, (world: World, alertId: string) => Promise<unknown>][] = [
    ['recovered', world => world.recover()],
    ['resolved', (world, alertId) => world.ask('POST', `${ALERTS}/${alertId}/resolve`)],
    ['dismissed', (world, alertId) => world.ask('POST', `${ALERTS}/${alertId}/dismiss`)],
  ]
  for (const [name, change] of changes)
    for (const [way, end] of ends) {
      const world = await makeWorld(app)
      const destination = await world.addDestination({ url })
      const rule = await addRule(world, [destination])
      const { alertId } = await world.raise()
      const other = await world.addDestination({ url })
      await change(world, rule, other.id)
      await end(world, alertId)
      t.strictSame(await sentTo(destination), [`${began} warning`, `${ended} warning`], `${name}, ${way}`)
      t.strictSame(await sentTo(other), [], `${name}, ${way}`)
    }
})

t.test('without rules, a destination that came later is not notified of an end', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  await world.raise()
  const later = await world.addDestination({ url })
  await world.recover()
  t.strictSame(await sentTo(destination), [`${began} warning`, `${ended} warning`])
  t.strictSame(await sentTo(later), [])
})

t.test('who does not want what an alert became hears its end when the trouble is over', async t => {
  const world = await makeWorld(app)
  const [low, high] = [await world.addDestination({ url }), await world.addDestination({ url })]
  await addRule(world, [low], { severities: ['warning'] })
  await addRule(world, [high], { severities: ['critical'] })
  const { alertId } = await world.raise()
  await world.raise(critical)
  t.strictSame(await sentTo(low), [`${began} warning`], 'nothing is resolved there while the trouble lasts')
  t.strictSame(await sentTo(high), [`${began} critical`])
  await world.recover()
  t.strictSame(await sentTo(low), [`${began} warning`, `${ended} warning`])
  t.strictSame(await sentTo(high), [`${began} critical`, `${ended} critical`])
  const [message] = await app.query(
    `select alert_id, body from deliveries where destination_id = $1 and event_type = $2`,
    [low.id, ended],
  )
  t.equal(message?.alert_id, alertId)
  t.match(JSON.parse(String(message?.body)), {
    alert: { id: alertId, reason: 'It recovered', superseded_by: undefined },
  })
})

t.test(
  'a destination that is off when the trouble ends has a message that can be sent later',
  { timeout: 20_000 },
  async t => {
    const world = await makeWorld(app)
    const [off, gone] = [
      await world.addDestination({ url: receiver.url }),
      await world.addDestination({ url }),
    ]
    const { alertId } = await world.raise()
    const statuses = async () => (await world.deliveries(off.id)).map(({ status }) => status)
    while ((await statuses())[0] !== 'delivered') await new Promise(resolve => setTimeout(resolve, 20))
    await world.ask('PATCH', `${ALERTS}/destinations/${off.id}`, { is_active: false })
    await world.ask('DELETE', `${ALERTS}/destinations/${gone.id}`)
    await world.recover()
    t.strictSame(await sentTo(gone), [`${began} warning`], 'a deleted one has none')
    const stopped = async () => {
      const { data } = (await world.ask('GET', `${ALERTS}/${alertId}/deliveries`)).body.data
      return data.find(
        (one: { event_type: string; status: string }) => one.event_type === ended && one.status === 'stopped',
      )
    }
    while (!(await stopped())) await new Promise(resolve => setTimeout(resolve, 20))
    const message = await stopped()
    t.match(message, { destination_id: off.id, stopped_reason: 'The destination is switched off' })
    await world.ask('PATCH', `${ALERTS}/destinations/${off.id}`, { is_active: true })
    t.equal((await world.ask('POST', `${ALERTS}/deliveries/${message.id}/redeliver`)).status, 202)
  },
)

t.test('when a snooze ends and the trouble lasts, who was notified is notified again', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url: receiver.url })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  const { alertId } = await world.raise()
  await world.raise({ cause: 'over' })
  const other = await world.addDestination({ url })
  await addRule(world, [other])
  for (const id of [alertId]) await world.ask('POST', `${ALERTS}/${id}/snooze`, { duration_minutes: 10 })
  await world.recover('over')
  const before = await sentTo(destination)
  await sweepOnce()
  t.strictSame(await sentTo(destination), before)
  await pass(world, 11)
  const twin = await app.startTwin()
  await Promise.all([sweepOnce(), sweepOnce(twin)])
  await sweepOnce()
  t.strictSame((await sentTo(destination)).slice(before.length), [`${began} warning`])
  t.strictSame(await sentTo(other), [], 'it is not notified again that was not notified before')
  t.match((await world.ask('GET', `${ALERTS}/${alertId}`)).body.data, {
    status: 'triggered',
    snoozed_until: null,
  })
  const [again] = await app.query(
    `select body from deliveries where destination_id = $1 order by id desc limit 1`,
    [destination.id],
  )
  t.match(JSON.parse(String(again?.body)), {
    event_type: began,
    alert: { id: alertId, reason: 'The snooze is over', reminded_at: String },
  })
  await world.recover()
  t.strictSame(
    (await sentTo(destination)).slice(before.length + 1),
    [`${ended} warning`],
    'its end is sent once',
  )
})

t.test('what is postponed is not sent in a snooze, and once after it', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  await world.raise()
  await world.recover()
  const { alertId } = await world.raise()
  await world.ask('POST', `${ALERTS}/${alertId}/snooze`, { duration_minutes: 90 })
  await pass(world, 61)
  await sweepOnce()
  t.equal((await sentTo(destination)).length, 2)
  await pass(world, 30)
  await sweepOnce()
  await sweepOnce()
  t.strictSame((await sentTo(destination)).slice(2), [`${began} warning`])
})

t.test('a dismissal lasts until the check recovers once', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  const { alertId } = await world.raise()
  await world.ask('POST', `${ALERTS}/${alertId}/dismiss`)
  const sent = [`${began} warning`, `${ended} warning`]
  for (let round = 0; round < 2; round += 1)
    t.strictSame(await world.raise(), { alertId, isNew: false }, 'while it fails there is no new alert')
  t.match((await world.ask('GET', `${ALERTS}/${alertId}`)).body.data, { status: 'dismissed', occurrences: 3 })
  t.match((await world.ask('GET', `${ALERTS}/inbox`)).body.data, { alerts: [] })
  t.strictSame(await sentTo(destination), sent)
  t.equal(await world.recover(), false, 'no alert is open')
  t.match((await world.ask('GET', `${ALERTS}/${alertId}`)).body.data, { status: 'dismissed' })
  const next = await world.raise()
  t.equal(next.isNew, true)
  t.not(next.alertId, alertId)
  t.strictSame(await sentTo(destination), [...sent, `${began} warning`])
})

t.test('what was dismissed and gets worse is a new alert', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  const { alertId } = await world.raise()
  await world.ask('POST', `${ALERTS}/${alertId}/dismiss`)
  t.match(await world.raise(critical), { isNew: true })
  t.match(await world.raise(), { isNew: false })
  t.strictSame(await sentTo(destination), [`${began} warning`, `${ended} warning`, `${began} critical`])
  await world.recover()
  t.match(await world.raise(), { isNew: true })
})

t.test(
  'a dismissal ends with what is no longer watched, and does not hide another change of a schema',
  async t => {
    const world = await makeWorld(app)
    const { alertId } = await world.raise()
    await world.ask('POST', `${ALERTS}/${alertId}/dismiss`)
    await app.server.db.company(world.companyId, trx =>
      app.server.plugins.alerts.resolveOrphaned(trx, { type: 'validity_failure', causes: ['rule:1'] }),
    )
    t.match(await world.raise(), { isNew: true })
    const drift = { type: 'schema_change', cause: 'table:1' } as const
    const changed = await world.raise(drift)
    await world.ask('POST', `${ALERTS}/${changed.alertId}/dismiss`)
    t.match(await world.raise(drift), { isNew: true })
  },
)

t.test('of many that raise what is being dismissed, none opens another', async t => {
  const world = await makeWorld(app)
  for (let round = 0; round < 5; round += 1) {
    const { alertId } = await world.raise({ cause: `rule:${round}` })
    const raises = Array.from({ length: 6 }, () => world.raise({ cause: `rule:${round}` }))
    await Promise.all([...raises, world.ask('POST', `${ALERTS}/${alertId}/dismiss`)])
    t.strictSame(await world.raise({ cause: `rule:${round}` }), { alertId, isNew: false })
  }
})

t.test('the end of an alert older than the record of what was sent goes by the rules', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  const { alertId } = await world.raise()
  await app.query('delete from deliveries where alert_id = $1', [alertId])
  await app.query(`update alerts set created_at = now() - interval '401 days' where id = $1`, [alertId])
  await world.recover()
  t.strictSame(await sentTo(destination), [`${ended} warning`])
})

t.test('what is postponed of an alert that is over is stopped', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  await addRule(world, [destination], { cooldown_minutes: 60 })
  await world.raise()
  await world.recover()
  const { alertId } = await world.raise()
  await app.query(`update alerts set status = 'resolved', resolved_at = now() where id = $1`, [alertId])
  await pass(world, 61)
  await sweepOnce()
  t.equal((await sentTo(destination)).length, 2)
  t.match((await world.ask('GET', `${ALERTS}/${alertId}/deliveries`)).body.data.data, [{ status: 'stopped' }])
})
