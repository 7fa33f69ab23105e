import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { fromNow, listSent, WINDOWS } from '../mute/world.ts'
import { passTime, sweepStep } from '../time.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

const app = await startServer(t, { settings: { ROLE: 'web' } })
const url = 'https://127.0.0.1:9/hook'

t.beforeEach(() => app.query('delete from rate_windows'))

interface Escalating extends World {
  ruleId: string
  /** The destinations of the rule and of its two steps, after 30 and 60 minutes. */
  ids: { first: string; second: string; third: string }
}

async function makeEscalating(): Promise<Escalating> {
  const world = await makeWorld(app)
  const add = async (name: string) => (await world.addDestination({ url }, { name })).id
  const ids = { first: await add('first'), second: await add('second'), third: await add('third') }
  const { body, status } = await world.ask('POST', `${ALERTS}/rules`, {
    ...{ name: 'All', destination_ids: [ids.first] },
    escalation: [
      { after_minutes: 30, destination_ids: [ids.second] },
      { after_minutes: 60, destination_ids: [ids.third, ids.first] },
    ],
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return { ...world, ids, ruleId: body.data.id }
}

/** Lets minutes pass for a company, and takes the steps that are due. */
async function wait(companyId: string, minutes: number): Promise<number> {
  await passTime(app, companyId, minutes)
  for (const table of [
    'alert_escalations set started_at = started_at - $2, due_at = due_at - $2',
    'alert_history set at = at - $2',
  ])
    await app.query(`update ${table.replaceAll('$2', 'make_interval(mins => $2)')} where company_id = $1`, [
      companyId,
      minutes,
    ])
  return sweepStep(app.server, 'escalated')
}

async function sentTo({ ids }: Escalating): Promise<number[]> {
  return Promise.all(Object.values(ids).map(async id => (await listSent(app, id)).length))
}

t.test('an alert that no person takes goes from one destination to the next, once each', async t => {
  const world = await makeEscalating()
  await world.raise()
  t.equal(await wait(world.companyId, 29), 0)
  t.strictSame(await sentTo(world), [1, 0, 0])
  t.equal(await wait(world.companyId, 1), 1)
  t.strictSame(await sentTo(world), [1, 1, 0])
  t.equal(await wait(world.companyId, 29), 0)
  t.equal(await wait(world.companyId, 1), 1)
  t.strictSame(await sentTo(world), [1, 1, 1], 'the first one was notified before')
  t.equal(await wait(world.companyId, 1_000), 0)
  t.strictSame(await sentTo(world), [1, 1, 1])
  const [message] = await app.query('select body from deliveries where destination_id = $1', [
    world.ids.second,
  ])
  t.match(JSON.parse(String(message?.body)), {
    event_type: 'alert.triggered',
    alert: { reason: 'Not acknowledged within 30 minutes' },
  })
})

t.test('a destination that a step notified is notified of the end', async t => {
  const world = await makeEscalating()
  await world.raise()
  await wait(world.companyId, 30)
  await world.recover()
  t.strictSame(
    (await world.deliveries(world.ids.second)).map(({ event_type: type }) => type),
    ['alert.resolved', 'alert.triggered'],
  )
  t.equal((await world.deliveries(world.ids.third)).length, 0)
})

for (const [verb, body] of [
  ['acknowledge', {}],
  ['snooze', { duration_minutes: 5 }],
  ['resolve', {}],
  ['dismiss', {}],
] as const)
  t.test(`an escalation ends when a person does this: ${verb}`, async t => {
    const world = await makeEscalating()
    const { alertId } = await world.raise()
    await world.ask('POST', `${ALERTS}/${alertId}/${verb}`, body)
    await passTime(app, world.companyId, 6)
    await sweepStep(app.server, 'woken')
    t.equal(await wait(world.companyId, 30), 0)
    t.strictSame((await sentTo(world)).slice(1), [0, 0])
    const left = await app.query('select from alert_escalations where company_id = $1', [world.companyId])
    t.equal(left.length, 0)
  })

t.test('a muted alert does not escalate until the window is over', async t => {
  const world = await makeEscalating()
  await world.raise()
  const ends = { name: 'Move', starts_at: fromNow(-1), ends_at: fromNow(120) }
  const { body } = await world.ask('POST', WINDOWS, ends)
  t.equal(await wait(world.companyId, 31), 0)
  await world.ask('DELETE', `${WINDOWS}/${body.data.id}`)
  t.equal(await wait(world.companyId, 119), 0, 'the time of the step runs from the end of the window')
  t.equal(await wait(world.companyId, 31), 1)
  t.strictSame(await sentTo(world), [1, 1, 0])
})

t.test('steps that were missed while no process ran do not follow each other at once', async t => {
  const world = await makeEscalating()
  await world.raise()
  t.equal(await wait(world.companyId, 600), 1)
  t.equal(await wait(world.companyId, 29), 0)
  t.equal(await wait(world.companyId, 1), 1)
})

t.test('two processes take a step once', async t => {
  const world = await makeEscalating()
  await world.raise()
  const twin = await app.startTwin()
  await passTime(app, world.companyId, 31)
  await app.query(`update alert_escalations set due_at = now() where company_id = $1`, [world.companyId])
  await Promise.all([sweepStep(app.server, 'escalated'), sweepStep(twin, 'escalated')])
  t.strictSame(await sentTo(world), [1, 1, 0])
})

t.test('a paused or deleted rule does not escalate', async t => {
  const world = await makeEscalating()
  await world.raise()
  await world.ask('PATCH', `${ALERTS}/rules/${world.ruleId}`, { is_active: false })
  t.equal(await wait(world.companyId, 31), 0)
  t.strictSame(await sentTo(world), [1, 0, 0])
})

t.test('the steps of a rule are checked, and can be sent back as they were read', async t => {
  const { ask, ruleId, ids } = await makeEscalating()
  const rule = (await ask('GET', `${ALERTS}/rules/${ruleId}`)).body.data
  t.match(rule.escalation, [{ after_minutes: 30 }, { after_minutes: 60 }])
  const patch = (escalation: unknown) => ask('PATCH', `${ALERTS}/rules/${ruleId}`, { escalation })
  const step = (minutes: number, id = ids.second) => ({ after_minutes: minutes, destination_ids: [id] })
  t.match(await patch([step(30), step(30)]), { status: 400 })
  t.match(await patch([]), { status: 400 })
  t.match(await patch([step(30, randomUUID())]), {
    status: 404,
    body: { error: { code: 'DESTINATION_NOT_FOUND' } },
  })
  await ask('DELETE', `${ALERTS}/destinations/${ids.second}`)
  t.equal((await patch(rule.escalation)).status, 200, 'with a destination that was deleted')
  t.match((await patch(null)).body.data, { escalation: null })
})
