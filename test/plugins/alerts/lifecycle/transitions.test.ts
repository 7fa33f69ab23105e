import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

const app = await startServer(t, { settings: { ROLE: 'web' } })

const resolution = {
  action_category: 'code_change',
  action_detail: 'Reverted the release',
  root_cause_category: 'pipeline_failure',
  root_cause_detail: 'A file arrived LATE',
  pr_url: 'https://example.com/pull/7',
  job_run_id: 'run-7',
  external_link: 'https://example.com/tickets/7',
}
const none = Object.fromEntries(Object.keys(resolution).map(field => [field, null]))

const idsOf = async (world: World, query: string) =>
  (await world.ask('GET', `${ALERTS}?${query}`)).body.data.data.map(({ id }: { id: string }) => id)

for (const [verb, status] of [
  ['resolve', 'resolved'],
  ['dismiss', 'dismissed'],
] as const)
  t.test(`${verb} stores what is stated about the end, and lists find it`, async t => {
    const [world, theirs] = [await makeWorld(app), await makeWorld(app)]
    const { alertId: id } = await world.raise()
    await world.raise({ cause: 'rule:2' })
    await theirs.raise()
    t.match((await world.ask('GET', `${ALERTS}/${id}`)).body.data, { notes: null, ...none })
    await world.ask('POST', `${ALERTS}/${id}/acknowledge`, { notes: 'On it' })
    t.match((await world.ask('GET', `${ALERTS}/${id}`)).body.data, { notes: 'On it', ...none })
    const ended = await world.ask('POST', `${ALERTS}/${id}/${verb}`, { notes: 'Fixed it', ...resolution })
    const shown = { id, status, notes: 'Fixed it', ...resolution }
    t.match(ended, { status: 200, body: { data: shown } })
    t.match((await world.ask('GET', `${ALERTS}/${id}`)).body.data, shown)

    const { data, history } = (await world.ask('GET', `${ALERTS}/${id}/history`)).body.data
    t.match(data, [
      { to_status: status, reason: 'Fixed it', ...resolution },
      { to_status: 'acknowledged', reason: 'On it', ...none },
      { to_status: 'triggered', reason: null, ...none },
    ])
    t.match(history, [
      { action: status, notes: 'Fixed it', user_id: null, ...resolution },
      { action: 'acknowledged', notes: 'On it', timestamp: data[1].at },
      { action: 'triggered' },
    ])

    for (const query of [
      'search=fixed%20IT',
      'search=arrived%20late',
      'search=tickets/7',
      'root_cause_category=pipeline_failure',
      'action_category=code_change&root_cause_category=pipeline_failure',
    ]) {
      t.strictSame(await idsOf(world, query), [id], query)
      t.strictSame(await idsOf(theirs, query), [], query)
    }
    t.strictSame(await idsOf(world, 'root_cause_category=pipeline'), [])
  })

t.test('a recovery keeps the notes of people', async t => {
  const world = await makeWorld(app)
  const { alertId: id } = await world.raise()
  await world.ask('POST', `${ALERTS}/${id}/acknowledge`, { reason: 'On it' })
  await world.recover()
  t.match((await world.ask('GET', `${ALERTS}/${id}`)).body.data, { status: 'resolved', notes: 'On it' })
})

t.test('a snooze takes hours', async t => {
  const world = await makeWorld(app)
  const { alertId: id } = await world.raise()
  const snooze = (body: object) => world.ask('POST', `${ALERTS}/${id}/snooze`, body)
  const { status, body } = await snooze({ duration_hours: 24, notes: 'After the release' })
  t.equal(status, 200)
  t.match(body.data, { id, status: 'snoozed', notes: 'After the release' })
  const hours = (Date.parse(body.data.snoozed_until) - Date.now()) / 3_600_000
  t.ok(hours > 23.9 && hours <= 24, `${hours} hours`)
  for (const bad of [
    { duration_hours: 0 },
    { duration_hours: 1.5 },
    { duration_hours: 8_761 },
    { duration_hours: 1, duration_minutes: 60 },
    { notes: 'x' },
  ])
    t.equal((await snooze(bad)).status, 400, JSON.stringify(bad))
})

t.test('what is stated is checked', async t => {
  const world = await makeWorld(app)
  const { alertId: id } = await world.raise()
  for (const bad of [
    { notes: 'x', reason: 'y' },
    { notes: 'x'.repeat(2_001) },
    { action_category: 'x'.repeat(101) },
    { pr_url: 'not a link' },
    { pr_url: 'javascript:alert(1)' },
    { root_cause: 'x' },
  ])
    t.equal((await world.ask('POST', `${ALERTS}/${id}/resolve`, bad)).status, 400, JSON.stringify(bad))
  t.equal((await world.ask('POST', `${ALERTS}/${id}/acknowledge`, { pr_url: resolution.pr_url })).status, 400)
  t.equal((await world.ask('POST', `${ALERTS}/${id}/resolve`, { notes: '', pr_url: null })).status, 200)
})
