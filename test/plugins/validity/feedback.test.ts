import t from 'tap'
import { untilBlocked } from '../../helpers/lock-waits.ts'
import { makeStage } from '../../helpers/world.ts'
import { pastRules } from './past.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const DAY = 86_400_000

/** A rate of five to six percent on each of the last days. */
const usual = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    at: Date.now() - (count - index) * DAY,
    invalid: 50 + ((index * 7) % 11),
  }))

/** An automatic rule with a month behind it, whose column is then spoiled. */
async function failing(t: Parameters<typeof pastRules>[0], body: object = {}) {
  const world = await pastRules(t, stage)
  const rule = await world.make({ detection_mode: 'auto', sensitivity: 3, ...body })
  await world.remember(rule, usual(30))
  await world.spoil(300)
  const { status } = await world.check(rule)
  if (status !== 'fail') throw new Error(`it is to fail, and gave ${status}`)
  const [alert] = await world.alerts()
  const dismiss = (reason: string) =>
    world.tenant.ask('POST', `/api/v1/sdk/alerts/${String(alert?.id)}/dismiss`, { reason })
  const confirmed = async () =>
    (await world.results(rule)).filter((result: { is_confirmed: boolean }) => result.is_confirmed)
  return { ...world, rule, dismiss, confirmed, details: () => details(world) }
}

/** What the only alert says. */
async function details({ tenant, alerts }: Awaited<ReturnType<typeof pastRules>>) {
  const [{ id } = {}] = await alerts()
  const { body } = await tenant.ask('GET', `/api/v1/sdk/alerts/${String(id)}`)
  return body.data.event.details as {
    explanation: string
    history: { checked_at: string; value: number; total_rows: number }[]
    band: object
  }
}

t.test('a rate confirmed as expected passes from then on, and one beyond it fails', async t => {
  const { rule, check, spoil, dismiss, confirmed, alerts } = await failing(t)
  await check(rule)
  t.match(await alerts(), [{ status: 'triggered', occurrences: 2 }])
  t.match(await dismiss('expected'), { status: 200, body: { data: { status: 'dismissed' } } })
  t.match(await confirmed(), [{ invalid_count: 300 }, { invalid_count: 300 }], 'all that counted on it')
  const passed = await check(rule)
  t.match(passed, { status: 'pass', invalid_percent: 30, learning: false })
  t.ok(passed.expected_range_high >= 30)
  await spoil(55)
  t.match(await check(rule), { status: 'pass' }, 'and so does the rate of before')
  await spoil(700)
  t.match(await check(rule), { status: 'fail' })
  t.match(await alerts(), [{ status: 'dismissed' }, { status: 'triggered', occurrences: 1 }])
})

t.test('another reason changes nothing of what is expected', async t => {
  const { rule, check, spoil, dismiss, confirmed, learned, alerts } = await failing(t)
  const before = await learned(rule)
  t.equal((await dismiss('being worked on')).status, 200)
  t.same(await learned(rule), before)
  t.same(await confirmed(), [])
  t.match(await check(rule), { status: 'fail' })
  t.match(await alerts(), [{ status: 'dismissed', occurrences: 2 }], 'the dismissal lasts')
  await spoil(55)
  t.match(await check(rule), { status: 'pass' })
  await spoil(300)
  t.match(await check(rule), { status: 'fail' })
  t.match(await alerts(), [{ status: 'dismissed' }, { status: 'triggered' }], 'until it passes once')
})

t.test('what goes beyond a rate that was expected is a new alert, also without a pass between', async t => {
  const { rule, check, spoil, dismiss, alerts } = await failing(t)
  await dismiss('expected')
  await spoil(700)
  t.match(await check(rule), { status: 'fail' })
  t.match(await alerts(), [{ status: 'dismissed' }, { status: 'triggered' }])
})

t.test('feedback does not change the threshold of a manual rule', async t => {
  const { rule, check, dismiss, confirmed, alerts } = await failing(t, {
    detection_mode: 'manual',
    alert_threshold_percent: 10,
  })
  t.equal((await dismiss('expected')).status, 200)
  t.equal((await confirmed()).length, 1, 'it is marked')
  t.match(await check(rule), { status: 'fail' })
  t.match(await alerts(), [{ status: 'dismissed', occurrences: 2 }], 'the dismissal lasts')
})

t.test('an alert that is over confirms nothing', async t => {
  const { rule, check, spoil, dismiss, confirmed } = await failing(t)
  await spoil(55)
  t.match(await check(rule), { status: 'pass' })
  t.match(await dismiss('expected'), { status: 409 })
  t.same(await confirmed(), [])
})

t.test('a dismissal waits for the scan that holds its rule, and not with the alert in hand', async t => {
  const { dismiss, confirmed, app, tenant } = await failing(t)
  const { companyId } = tenant
  const dismissed = await app.server.db.company(companyId, async trx => {
    // As a scan does before it comes to the alert.
    await trx.raw('select 1 from checks for update')
    const asked = dismiss('expected')
    await untilBlocked(app)
    await trx.raw('select 1 from alerts for update nowait')
    return { asked }
  })
  t.equal((await dismissed.asked).status, 200)
  t.equal((await confirmed()).length, 1)
})

t.test('a dismissal and scans of its rule at once are all answered', async t => {
  const { rule, base, dismiss, tenant } = await failing(t)
  const ask = () => tenant.ask('POST', `${base}/${rule}/check`)
  const [dismissed, ...checks] = await Promise.all([dismiss('expected'), ask(), ask(), ask(), ask()])
  t.equal(dismissed.status, 200)
  t.same(
    checks.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  t.match((await ask()).body.data, { status: 'pass' })
})

t.test('an alert of a learned band says why, and shows the values that it rests on', async t => {
  const { explanation, history, band } = await (await failing(t)).details()
  t.match(explanation, /^Judged by the last of \d+ earlier values; z = \d/)
  t.ok(history.length >= 1 && history.length <= 14)
  for (const value of history) t.match(value, { checked_at: /Z$/, value: Number, total_rows: 1000 })
  const times = history.map(({ checked_at: at }) => at)
  t.same(times, times.toSorted(), 'oldest first')
  t.match(band, { expected: Number, low: Number, high: Number })
})

t.test('an alert of an active check shows active checks only', async t => {
  const world = await pastRules(t, stage)
  const { make, remember, spoil, schedule, checkAt } = world
  const monday = Date.UTC(2024, 5, 3)
  const rules = [{ days: [1, 2, 3, 4, 5], start: '08:00', end: '16:00' }]
  const rule = await make({
    detection_mode: 'auto',
    check_interval: 'hourly',
    operating_period_mode: 'schedule',
    operating_schedule_id: await schedule({ name: 'day', timezone: 'UTC', rules }),
  })
  const isActive = (at: number) => [8, 9, 10, 11, 12, 13, 14, 15].includes(new Date(at).getUTCHours())
  const hours = Array.from({ length: 96 }, (_, index) => monday - 72 * 3_600_000 + index * 3_600_000)
  const workdays = hours.filter(at => ![0, 6].includes(new Date(at).getUTCDay()))
  await remember(
    rule,
    workdays.map((at, index) => ({ at, invalid: isActive(at) ? 200 + (index % 9) : 0 })),
  )
  await spoil(900)
  t.match(await checkAt(rule, monday + 34 * 3_600_000), { status: 'fail', was_active: true })
  const { history } = await details(world)
  t.ok(history.length >= 1 && history.every(({ value }) => value >= 20), JSON.stringify(history))
})

t.test('a rule that is switched off can be checked, and opens no alert', async t => {
  const { make, patch, spoil, check, alerts } = await pastRules(t, stage)
  const rule = await make({})
  await patch(rule, { is_active: false })
  await spoil(5)
  t.match(await check(rule), { status: 'fail', invalid_count: 5 })
  t.same(await alerts(), [])
  await patch(rule, { is_active: true })
  await check(rule)
  t.match(await alerts(), [{ status: 'triggered' }])
})

t.test('an alert of a threshold has none of that', async t => {
  const manual = { detection_mode: 'manual', alert_threshold_percent: 10 }
  const said = await (await failing(t, manual)).details()
  t.match(said, { threshold: 10 })
  t.notOk('history' in said || 'explanation' in said)
})
