import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import type { AlertEvent } from '../../../../plugins/alerts/api.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

// Before the server: its trust is settled when it first sends.
const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
const app = await startServer(t)
const { server, query } = app
const url = 'https://receiver.invalid/hook'

const ids = (count: number) => Array.from({ length: count }, (_, at) => `rule:${at}`)
const about = (count: number, changes: Partial<AlertEvent> = {}) =>
  ids(count).map(cause => ({ ...changes, cause }))

/** What a company has of each kind of row. */
async function counts({ companyId }: World) {
  const [found] = await query(
    `select (select count(*) from alerts where company_id = $1)::int as alerts,
            (select count(*) from alert_history where company_id = $1)::int as moves,
            (select count(*) from deliveries where company_id = $1)::int as deliveries,
            (select count(*) from pgboss.job where data ->> 'company_id' = $1::text)::int as jobs`,
    [companyId],
  )
  return found
}

/** Works in a transaction that is rolled back. @returns the statements it sent */
async function statementsOf(world: World, work: (trx: never) => Promise<unknown>): Promise<string[]> {
  const statements: string[] = []
  const failing = server.db.company(world.companyId, async trx => {
    // The verb and the table identify a statement; the number of rows may differ.
    trx.on('query', ({ sql }: { sql: string }) => statements.push(sql.trim().slice(0, 40)))
    await work(trx as never)
    throw new Error('rolled back')
  })
  await t.rejects(failing, { message: 'rolled back' })
  return statements
}

/** Every alert of a company in the order of its causes, as far as it can be foretold. */
const alertsOf = ({ companyId }: World) =>
  query(
    `select a.kind, a.cause, a.severity, a.status, a.occurrences, a.title, a.resolved_at is not null as is_closed,
            (select array_agg(concat_ws(' ', from_status, to_status, reason) order by id)
               from alert_history where alert_id = a.id) as moves,
            (select array_agg(concat_ws(' ', d.event_type, array_length(d.rule_ids, 1)) order by d.id)
               from deliveries d where alert_id = a.id) as sent
       from alerts a where company_id = $1 order by kind, cause, id`,
    [companyId],
  )

/** The causes of the messages that a destination was sent, with their types; not of those that wait for a cooldown. */
const sentTo = async (destination: { id: string }) => {
  const sent = await query(
    `select a.cause, d.event_type from deliveries d join alerts a on a.id = d.alert_id
      where d.destination_id = $1 and (d.job_id is not null or d.attempt > 0 or d.event_type = 'alert.resolved')
      order by d.id`,
    [destination.id],
  )
  return sent.map(row => `${String(row.event_type)} ${String(row.cause)}`)
}

t.test('a call sends as many statements for hundreds of events as for three', async t => {
  const world = await makeWorld(app)
  const [one, two] = [await world.addDestination({ url }), await world.addDestination({ url })]
  for (const cooldown_minutes of [0, 30])
    await world.ask('POST', `${ALERTS}/rules`, {
      name: `every ${cooldown_minutes}`,
      destination_ids: [one.id, two.id],
      cooldown_minutes,
    })
  const { raiseAll, resolveAll } = server.plugins.alerts
  const opening = (count: number) => statementsOf(world, trx => raiseAll(trx, about(count).map(world.event)))
  const changing = (count: number) =>
    statementsOf(world, async trx => {
      await raiseAll(trx, about(count).map(world.event))
      const worse = about(count, { severity: 'critical' }).map(world.event)
      t.equal((await raiseAll(trx, worse)).filter(({ isNew }) => isNew).length, count)
      t.equal(await resolveAll(trx, 'validity_failure', ids(count)), count)
    })
  const few = await opening(3)
  t.ok(few.length <= 10, few.join('\n'))
  t.same(await opening(300), few)
  t.ok((await opening(1_200)).length <= 2 * few.length, 'and a few more for each thousand')
  // Four messages of each event: these are fewer than a thousand.
  t.same(await changing(200), await changing(3))
  t.strictSame(
    await counts(world),
    { alerts: 0, moves: 0, deliveries: 0, jobs: 0 },
    'what is rolled back leaves nothing',
  )
})

t.test('each of many alerts reaches each destination once, signed, and so does its end', async t => {
  const world = await makeWorld(app)
  const made = await Promise.all(receivers.map(({ url }) => world.addDestination({ url })))
  const count = 12
  const events = ids(count).map(cause => ({ cause, details: { cause } }))
  const raised = await world.raiseAll(events)
  const idOf = new Map(raised.map(({ alertId, isNew }, at) => [alertId, isNew && `rule:${at}`]))
  t.equal(idOf.size, count)

  const check = async (sent: number, type: string, status: string) => {
    for (const [at, receiver] of receivers.entries()) {
      const requests = (await receiver.received(sent)).slice(sent - count)
      const { signing_secret: secret } = made[at]!
      for (const { body, headers } of requests) {
        const payload = JSON.parse(body)
        t.match(payload, { event_type: type, alert: { status } })
        t.equal(idOf.get(payload.alert.id), payload.event.details.cause, 'with what it is about')
        t.strictSame(new Webhook(secret).verify(body, headers), payload)
        t.equal(
          headers['x-service-signature'],
          `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        )
      }
      t.equal(new Set(requests.map(({ headers }) => headers['webhook-id'])).size, count)
    }
  }
  await check(count, 'alert.triggered', 'triggered')
  t.equal(await world.recoverAll([...ids(count), 'rule:0', 'nothing'], 'It was put right'), count)
  await check(2 * count, 'alert.resolved', 'resolved')
  t.equal(await world.recoverAll(ids(count)), 0)
  t.equal(await world.recoverAll([]), 0)
  for (const alert of await alertsOf(world))
    t.match(alert, { status: 'resolved', moves: ['triggered', 'triggered resolved It was put right'] })
})

t.test('in one call repeats count, what got worse is opened anew, and the rest is new', async t => {
  const world = await makeWorld(app)
  const destination = await world.addDestination({ url })
  const before = await world.raiseAll([
    { cause: 'same' },
    { cause: 'worse' },
    { cause: 'better', severity: 'critical' },
    { cause: 'snoozed' },
    { cause: 'gone' },
  ])
  await world.ask('POST', `${ALERTS}/${before[3]?.alertId}/snooze`, { duration_minutes: 60 })
  await world.ask('POST', `${ALERTS}/${before[4]?.alertId}/dismiss`)
  const after = await world.raiseAll([
    { cause: 'new' },
    { cause: 'worse', severity: 'critical', title: 'It is worse' },
    { cause: 'same' },
    { cause: 'snoozed' },
    { cause: 'gone' },
    { cause: 'better' },
    { cause: 'run', type: 'discovery_complete', severity: 'info', isNews: true },
    { cause: 'same', type: 'metric_anomaly' },
  ])
  t.strictSame(
    after.map(({ isNew }) => isNew),
    [true, true, false, false, false, false, true, true],
  )
  t.strictSame(
    [after[2], after[3], after[4], after[5]].map(raised => raised?.alertId),
    [before[0], before[3], before[4], before[2]].map(raised => raised?.alertId),
  )
  const sent = ['alert.triggered']
  const opened = { status: 'triggered', occurrences: 1, moves: ['triggered'], sent }
  t.match(await alertsOf(world), [
    {
      kind: 'discovery_complete',
      cause: 'run',
      status: 'resolved',
      is_closed: true,
      moves: ['resolved'],
      sent: null,
    },
    { ...opened, kind: 'metric_anomaly', cause: 'same' },
    { cause: 'better', severity: 'critical', occurrences: 2, moves: ['triggered'], sent },
    { cause: 'gone', status: 'dismissed', occurrences: 2 },
    { ...opened, cause: 'new' },
    { ...opened, cause: 'same', occurrences: 2 },
    { cause: 'snoozed', status: 'snoozed', occurrences: 2, sent },
    {
      cause: 'worse',
      severity: 'warning',
      status: 'resolved',
      occurrences: 1,
      is_closed: true,
      moves: ['triggered', 'triggered resolved It got worse: critical'],
      sent,
    },
    { ...opened, cause: 'worse', severity: 'critical', title: 'It is worse' },
  ])
  t.strictSame(
    (await sentTo(destination)).slice(before.length),
    [
      'alert.resolved gone',
      'alert.resolved worse',
      ...['new', 'worse', 'same'].map(cause => `alert.triggered ${cause}`),
    ],
    'what was dismissed or got worse is over, and new ones are sent in the order in which they were raised',
  )
  t.strictSame(await world.raiseAll([]), [])
})

t.test('raised together, events come to the same as one by one', async t => {
  const rounds: Partial<AlertEvent>[][] = [
    about(6, { severity: 'info' }),
    [
      ...about(3),
      { cause: 'rule:5', severity: 'critical' },
      { cause: 'it\'s; {odd}, "quoted" ? :x \\ ü 🦉' },
    ],
    about(6, { severity: 'warning', title: 'once more', contextData: { seen: 2 } }),
  ]
  const worlds = [await makeWorld(app), await makeWorld(app)]
  for (const world of worlds) {
    const { id } = await world.addDestination({ url })
    const rules = [
      { name: 'all', destination_ids: [id] },
      { name: 'calm', destination_ids: [id], cooldown_minutes: 5, severities: ['warning', 'critical'] },
    ]
    for (const rule of rules) await world.ask('POST', `${ALERTS}/rules`, rule)
  }
  const [together, apart] = worlds
  for (const [at, events] of rounds.entries()) {
    const raised = [await together!.raiseAll(events), [] as { isNew: boolean }[]]
    for (const event of events) raised[1]!.push(await apart!.raise(event))
    t.same(
      raised[0]!.map(({ isNew }) => isNew),
      raised[1]!.map(({ isNew }) => isNew),
    )
    if (at > 0) continue
    await together!.recoverAll(ids(2))
    for (const cause of ids(2)) await apart!.recover(cause)
  }
  const found = await alertsOf(together!)
  t.equal(found.length, 6 + 5 + 2)
  t.strictSame(found, await alertsOf(apart!))
})

t.test('a cooldown holds for each cause by itself', async t => {
  const [world, other] = [await makeWorld(app), await makeWorld(app)]
  const [calm, eager] = [await world.addDestination({ url }), await world.addDestination({ url })]
  const rule = (destination: { id: string }, cooldown_minutes: number) =>
    world.ask('POST', `${ALERTS}/rules`, { name: 'r', destination_ids: [destination.id], cooldown_minutes })
  await rule(calm, 30)
  await rule(eager, 0)
  await other.raiseAll(about(4))
  await world.raiseAll(about(2))
  await world.recoverAll(ids(2))
  await world.raiseAll([...about(3), { cause: 'rule:0', type: 'metric_anomaly' }])
  const triggered = (causes: number[]) => causes.map(at => `alert.triggered rule:${at}`)
  const first = [...triggered([0, 1]), ...['rule:0', 'rule:1'].map(cause => `alert.resolved ${cause}`)]
  t.same((await sentTo(calm)).slice(0, 4).sort(), [...first].sort(), 'a resolved alert is always sent')
  t.strictSame((await sentTo(calm)).slice(4), triggered([2, 0]), 'a new cause, and one of another type')
  t.strictSame((await sentTo(eager)).slice(4), triggered([0, 1, 2, 0]))
  await query(`update deliveries set created_at = created_at - interval '31 minutes' where company_id = $1`, [
    world.companyId,
  ])
  await world.recoverAll(ids(3))
  await world.raiseAll(about(3))
  t.strictSame((await sentTo(calm)).slice(-3), triggered([0, 1, 2]), 'after it all are sent again')
})

t.test('a rule sees the tags, the severity and the asset of each event', async t => {
  const world = await makeWorld(app)
  const { asset } = world.event()
  const tagged = (cause: string, ...tags: string[]) => ({ cause, asset: { ...asset, tags } })
  const [any, all, critical] = [
    await world.addDestination({ url }),
    await world.addDestination({ url }),
    await world.addDestination({ url }),
  ]
  const rule = (destination: { id: string }, filters: object) =>
    world.ask('POST', `${ALERTS}/rules`, { name: 'r', destination_ids: [destination.id], ...filters })
  await rule(any, { tag_filter_mode: 'any', tag_filter_tags: ['PII', 'money'] })
  await rule(all, { tag_filter_mode: 'all', tag_filter_tags: ['PII', 'money'] })
  await rule(critical, { severities: ['critical'] })
  await world.raiseAll([
    tagged('none'),
    tagged('one', 'PII'),
    tagged('both', 'money', 'PII', 'more'),
    { ...tagged('loud', 'other'), severity: 'critical' },
  ])
  t.strictSame(await sentTo(any), ['alert.triggered one', 'alert.triggered both'])
  t.strictSame(await sentTo(all), ['alert.triggered both'])
  t.strictSame(await sentTo(critical), ['alert.triggered loud'])
})

t.test('two events of one type and cause in a call are a mistake, and nothing is raised', async t => {
  const world = await makeWorld(app)
  await t.rejects(world.raiseAll([{ cause: 'a' }, { cause: 'b' }, { cause: 'a' }]), {
    name: 'AssertionError',
    message: 'Two events of validity_failure a are raised in one call',
  })
  t.strictSame(await alertsOf(world), [])
})

t.test(
  'concurrent raises and resolutions of the same causes in other orders wait, without deadlock',
  async t => {
    const world = await makeWorld(app)
    const events = about(150)
    for (let round = 0; round < 2; round += 1) {
      const worse = events.toReversed().map(event => ({ ...event, severity: 'critical' as const }))
      const raised = await Promise.all([
        world.raiseAll(events),
        world.raiseAll(events.toReversed()),
        world.raiseAll(worse),
        world.raiseAll([...events.slice(75), ...events.slice(0, 75)]),
        world.recoverAll(ids(150).toReversed()).then(() => []),
        world.recoverAll(ids(150)).then(() => []),
      ])
      t.ok(raised.flat().filter(({ isNew }) => isNew).length >= events.length)
      // What is still open would not be new in the next round.
      if (round === 0) await world.recoverAll(ids(150))
    }
    const open = (await alertsOf(world)).filter(({ status }) => status === 'triggered')
    t.equal(new Set(open.map(({ cause }) => cause)).size, open.length, 'a cause has one open alert at most')
  },
)
