import t from 'tap'
import { isActive } from '../../../checks/detector.ts'
import { discover, makeStage } from '../../helpers/world.ts'
import { pastRules } from './past.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const DAY = 86_400_000
const HOUR = 3_600_000
/** A Monday. */
const MONDAY = Date.UTC(2024, 5, 3, 6)

/** So many daily moments that end a day before `end`, oldest first. */
const daysBefore = (end: number, count: number) =>
  Array.from({ length: count }, (_, index) => end - (count - index) * DAY)

/** A rate of five to six percent, as that of a column with a form that few fill in. */
const usual = (moments: readonly number[]) =>
  moments.map((at, index) => ({ at, invalid: 50 + ((index * 7) % 11) }))

const AUTO = { detection_mode: 'auto', sensitivity: 3 }

t.test('NULL rows are skipped or invalid, as the rule says, but those of NOT_NULL are always', async t => {
  const { make, check, source } = await pastRules(t, stage)
  await source.query(`update orders set email = case when id <= 30 then null when id <= 50 then 'bad' end
    where id <= 50`)
  const invalid = async (body: object) => (await check(await make(body))).invalid_count
  const pattern = { rule_type: 'REGEX', rule_config: { pattern: '@' } }
  t.equal(await invalid({ ...pattern, treat_null_as_valid: false }), 50)
  t.equal(await invalid({ ...pattern, treat_null_as_valid: true }), 20)
  t.equal(await invalid({ treat_null_as_valid: false }), 30)
  t.equal(await invalid({ treat_null_as_valid: true }), 30)
})

t.test('auto mode passes the rate that a rule usually has, and fails one that is higher only', async t => {
  const { make, remember, check, spoil, alerts } = await pastRules(t, stage)
  const rule = await make(AUTO)
  await remember(rule, usual(daysBefore(Date.now(), 30)))
  await spoil(55)
  t.match(await check(rule), { status: 'pass', invalid_count: 55, invalid_percent: 5.5, learning: false })
  await spoil(0)
  t.match(await check(rule), { status: 'pass', invalid_count: 0 }, 'fewer invalid rows are no trouble')
  t.same(await alerts(), [])
  await spoil(300)
  const failed = await check(rule)
  t.match(failed, { status: 'fail', invalid_percent: 30 })
  t.ok(failed.expected_range_low <= 5.5 && failed.expected_value < 8 && failed.expected_range_high < 30)
  t.match(await alerts(), [{ status: 'triggered', occurrences: 1 }])
})

t.test('auto mode says nothing with six results behind it, and judges with seven', async t => {
  const { make, remember, check, spoil, alerts } = await pastRules(t, stage)
  const rule = await make(AUTO)
  await remember(rule, usual(daysBefore(Date.now(), 6)))
  await spoil(900)
  const learning = { status: 'pass', learning: true, expected_value: null, expected_range_high: null }
  t.match(await check(rule), learning)
  t.same(await alerts(), [])

  const other = await make(AUTO)
  await remember(other, usual(daysBefore(Date.now(), 7)))
  t.match(await check(other), { status: 'fail', learning: false })
  t.equal((await alerts()).length, 1)
})

t.test('what is usual on a Sunday is no news on a Sunday, and on a Monday it is', async t => {
  const { make, remember, checkAt, spoil } = await pastRules(t, stage)
  const rule = await make(AUTO)
  const past = daysBefore(MONDAY - DAY, 8 * 7)
  await remember(
    rule,
    past.map((at, index) => ({ at, invalid: (new Date(at).getUTCDay() === 0 ? 300 : 20) + (index % 5) })),
  )
  await spoil(300)
  t.match(await checkAt(rule, MONDAY - DAY), { status: 'pass', invalid_percent: 30 })
  t.match(await checkAt(rule, MONDAY), { status: 'fail', invalid_percent: 30 })
})

t.test('without operating periods all checks are one baseline', async t => {
  const { make, remember, checkAt, spoil } = await pastRules(t, stage)
  const rule = await make({ ...AUTO, check_interval: 'weekly' })
  const weeks = Array.from({ length: 20 }, (_, index) => MONDAY - (20 - index) * 7 * DAY)
  await remember(
    rule,
    weeks.map((at, index) => ({ at, invalid: index % 2 ? 200 : 0 })),
  )
  await spoil(210)
  t.match(await checkAt(rule, MONDAY), { status: 'pass', was_active: null })
  await spoil(900)
  t.match(await checkAt(rule, MONDAY + 7 * DAY), { status: 'fail' })
})

const OFFICE = {
  name: 'office hours',
  timezone: 'Europe/Berlin',
  rules: [{ days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' }],
}
/** The hours of Berlin's office, in UTC, of a summer day. */
const isOffice = (at: number) => {
  const [day, hour] = [new Date(at).getUTCDay(), new Date(at).getUTCHours()]
  return day >= 1 && day <= 5 && hour >= 7 && hour < 15
}
/** A fifth of the rows is invalid while the office works, and next to none while it rests. */
const officeHours = (moments: readonly number[]) =>
  moments.map((at, index) => ({ at, invalid: isOffice(at) ? 190 + ((index * 7) % 23) : 0 }))

const MIDNIGHT = MONDAY - 6 * HOUR
const hoursBefore = (end: number, count: number) =>
  Array.from({ length: count }, (_, index) => end - (count - index) * HOUR)

t.test(
  'by a schedule, active checks are compared with active ones, and dormant ones with a floor',
  async t => {
    const { make, remember, checkAt, spoil, schedule } = await pastRules(t, stage)
    const hours = await schedule(OFFICE)
    const rule = await make({
      ...AUTO,
      check_interval: 'hourly',
      operating_period_mode: 'schedule',
      operating_schedule_id: hours,
    })
    await remember(rule, officeHours(hoursBefore(MIDNIGHT, 14 * 24)))
    const verdicts: [string, number, number, object][] = [
      ['dormant, with nothing to see', 3, 0, { status: 'pass', was_active: false }],
      ['dormant, below the floor', 4, 4, { status: 'pass', was_active: false }],
      ['dormant, with the activity of the day', 5, 200, { status: 'fail', was_active: false }],
      ['active, as usual', 8, 200, { status: 'pass', was_active: true, learning: false }],
      ['active, with nothing to see', 9, 0, { status: 'pass', was_active: true }],
      ['active, far above', 10, 600, { status: 'fail', was_active: true }],
    ]
    for (const [what, hour, invalid, expected] of verdicts) {
      await spoil(invalid)
      const found = await checkAt(rule, MIDNIGHT + hour * HOUR)
      t.match(found, expected, `${what}: ${JSON.stringify(found)}`)
    }
  },
)

t.test('a schedule takes effect once there are seven active results, and learns until then', async t => {
  const { make, remember, checkAt, spoil, schedule } = await pastRules(t, stage)
  const rule = await make({
    ...AUTO,
    check_interval: 'hourly',
    operating_period_mode: 'schedule',
    operating_schedule_id: await schedule(OFFICE),
  })
  // Nine hours of the night, and six of the day.
  const morning = MIDNIGHT + 13 * HOUR
  await remember(rule, officeHours(hoursBefore(morning, 15)))
  await spoil(900)
  t.match(await checkAt(rule, morning), { status: 'pass', learning: true, was_active: true })
  await spoil(200)
  t.match(await checkAt(rule, morning + HOUR), { status: 'pass', learning: false, was_active: true })
})

t.test('in mode auto, the calendar is learned, and takes effect once it is known', async t => {
  const { make, remember, checkAt, spoil } = await pastRules(t, stage)
  const isWorkday = (at: number) => ![0, 6].includes(new Date(at).getUTCDay())
  const workdays = (moments: readonly number[]) =>
    moments.map((at, index) => ({ at, invalid: isWorkday(at) ? 190 + ((index * 7) % 23) : 0 }))
  const rule = await make({ ...AUTO, operating_period_mode: 'auto' })
  const saturday = MONDAY - 2 * DAY
  await remember(rule, workdays(daysBefore(saturday, 8 * 7)))
  await spoil(200)
  t.match(await checkAt(rule, saturday), { status: 'fail' }, 'activity while it rests')
  await spoil(4)
  t.match(await checkAt(rule, saturday + DAY), { status: 'pass' }, 'below the floor')
  await spoil(200)
  t.match(await checkAt(rule, MONDAY), { status: 'pass' }, 'a day as others')
  await spoil(0)
  t.match(await checkAt(rule, MONDAY + DAY), { status: 'pass' }, 'a low rate is no trouble')
  await spoil(600)
  t.match(await checkAt(rule, MONDAY + 2 * DAY), { status: 'fail' })

  const young = await make({ ...AUTO, operating_period_mode: 'auto' })
  await remember(young, workdays(daysBefore(saturday, 8)))
  await spoil(200)
  t.match(await checkAt(young, saturday), { status: 'pass' }, 'one Saturday makes no calendar')
})

t.test('results keep the segment of their time when the hours of a schedule change', async t => {
  const { make, remember, checkAt, spoil, schedule, tenant, results, learned } = await pastRules(t, stage)
  const hours = await schedule(OFFICE)
  const scheduled = {
    ...AUTO,
    check_interval: 'hourly',
    operating_period_mode: 'schedule',
    operating_schedule_id: hours,
  }
  const past = officeHours(hoursBefore(MIDNIGHT, 14 * 24))
  const [rule, older] = [await make(scheduled), await make({ ...scheduled, name: 'made before' })]
  await remember(
    rule,
    past.map(result => ({ ...result, was_active: isOffice(result.at) })),
  )
  await remember(older, past)
  await spoil(0)
  await checkAt(rule, MIDNIGHT)
  t.notMatch(JSON.stringify(await learned(rule)), 'Berlin', 'no state holds a schedule')

  const night = { timezone: 'UTC', rules: [{ days: [1, 2, 3, 4, 5, 6, 7], start: '20:00', end: '22:00' }] }
  t.equal((await tenant.ask('PATCH', `/api/v1/operating-schedules/${hours}`, night)).status, 200)
  await spoil(200)
  t.match(
    await checkAt(rule, MIDNIGHT + 20 * HOUR),
    { status: 'pass', was_active: true, expected_value: Number },
    'an active result like the active ones of the hours before',
  )
  const [judged] = await results(older)
  t.match(judged, { status: 'fail', was_active: true, learning: false })
  t.ok(judged.expected_value < 1, 'stored without, they are judged by the hours of now: evenings were quiet')
  t.match(await checkAt(rule, MIDNIGHT + 34 * HOUR), { status: 'fail', was_active: false }, 'dormant by now')
})

t.test('a past that is computed has the segments of its schedule', async t => {
  const world = await pastRules(t, stage)
  const { make, schedule, results, source } = world
  await source.query('alter table orders add column created_at timestamptz')
  await source.query(`update orders set created_at = now() - (id % 200) * interval '1 hour'`)
  await discover(world)
  const rule = await make({
    ...AUTO,
    check_interval: 'hourly',
    operating_period_mode: 'schedule',
    operating_schedule_id: await schedule(OFFICE),
    backfill_days: 7,
  })
  const found: { checked_at: string; was_active: boolean }[] = await results(rule)
  t.equal(found.length, 7 * 24)
  const active = found.filter(result => result.was_active)
  t.equal(active.length, 5 * 8)
  t.ok(active.every(result => isActive(OFFICE, Date.parse(result.checked_at) / 1_000)))
})

t.test('auto mode can fail a rate that is lower, too, or lower only', async t => {
  const { make, remember, check, spoil, alerts } = await pastRules(t, stage)
  const drop = await make({ ...AUTO, direction: 'drop' })
  const both = await make({ ...AUTO, direction: 'both' })
  const past = usual(daysBefore(Date.now(), 30))
  for (const rule of [drop, both]) await remember(rule, past)
  await spoil(300)
  t.match(await check(drop), { status: 'pass' })
  t.same(await alerts(), [])
  t.match(await check(both), { status: 'fail' })
  await spoil(0)
  const low = await check(drop)
  t.match(low, { status: 'fail', invalid_count: 0 })
  t.ok(low.expected_range_low > 0)
})

t.test('a direction is for auto mode: a manual rule is refused with it, and shows none', async t => {
  const { make, base, tenant } = await pastRules(t, stage)
  await t.rejects(make({ direction: 'drop' }), /direction needs detection_mode auto/)
  const rule = await make({})
  const path = `${base}/${rule}`
  t.match((await tenant.ask('GET', path)).body.data, { direction: null, consecutive: 1, failing_runs: 0 })
  t.match(await tenant.ask('PATCH', path, { direction: 'both' }), { status: 400 })
  const patched = await tenant.ask('PATCH', path, { detection_mode: 'auto' })
  t.match(patched.body.data, { direction: 'rise' })
})
