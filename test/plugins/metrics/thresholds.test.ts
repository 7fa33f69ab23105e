import t from 'tap'
import { countAnomalies, replayPoints } from '../../../plugins/metrics/replay.ts'
import { startState } from '../../../plugins/metrics/judge.ts'
import {
  countCompared,
  describeAllowed,
  describeBreach,
  describeExcess,
  findBreach,
  settingsOf,
} from '../../../plugins/metrics/thresholds.ts'
import { makeStage } from '../../helpers/world.ts'
import { metricWorld, momentOf } from './world.ts'

const stage = await makeStage(t)

const DAY = 86_400
const HOUR = 3_600
/** A Monday at 06:00 UTC. */
const MONDAY = Date.UTC(2024, 5, 3, 6) / 1_000

const limited = (body: object) =>
  settingsOf({ metric_type: 'row_count', capture_interval: 'daily', sensitivity: 3, ...body } as {
    metric_type: string
  })

t.test(
  'min and max are inclusive, and the nearer one is named with how far beyond it a value is',
  async t => {
    const settings = limited({ min: 10, max: 20 })
    const at = MONDAY
    t.equal(findBreach(settings, { at, value: 10 }, []), null)
    t.equal(findBreach(settings, { at, value: 20 }, []), null)
    t.same(findBreach(settings, { at, value: 7 }, []), { threshold: 'min', limit: 10, excess: 3 })
    t.same(findBreach(settings, { at, value: 21.3 }, []), { threshold: 'max', limit: 20, excess: 1.3 })
    t.equal(
      findBreach({ ...settings, detection: 'anomaly' }, { at, value: 99 }, []),
      null,
      'nothing is limited',
    )
  },
)

t.test('a change is measured against the previous value or that of the weekday before', async t => {
  const daily = Array.from({ length: 14 }, (_, day) => ({ at: MONDAY - (14 - day) * DAY, value: 100 + day }))
  const previous = limited({ max_change_percent: 20 })
  const now = (value: number) => ({ at: MONDAY, value })
  t.equal(findBreach(previous, now(113 * 1.2), daily), null, 'twenty percent are allowed')
  t.match(findBreach(previous, now(226), daily), { limit: 20, excess: 80, before: 113 })
  t.match(findBreach(previous, now(0), daily), { excess: 80 })
  t.equal(findBreach(previous, now(5), []), null, 'the first value has nothing to differ from')
  const weekly = limited({ max_change_percent: 0, change_against: 'same_weekday' })
  t.match(findBreach(weekly, now(200), daily), { before: 107 }, 'seven days before')
  const twice = [...daily, { at: MONDAY - HOUR, value: 1 }]
  t.match(findBreach(weekly, now(200), twice), { before: 107 }, 'not of the same day')
  const hourly = limited({
    max_change_percent: 0,
    change_against: 'same_weekday',
    capture_interval: 'hourly',
  })
  const hours = [6, 7].map(hour => ({ at: MONDAY - 7 * DAY + (hour - 6) * HOUR, value: hour }))
  t.match(findBreach(hourly, now(200), hours), { before: 6 }, 'of the same hour')
  t.same([previous, weekly, hourly, limited({ max: 1 })].map(countCompared), [1, 14, 336, 0])
})

t.test('buckets of time are compared with those of a week before, whatever the interval is', async t => {
  const of = (window: string) =>
    limited({
      ...{ max_change_percent: 0, change_against: 'same_weekday' },
      ...{ time_column: 'at', window },
    })
  const before = (window: string, past: number[], at = 0) =>
    findBreach(
      of(window),
      { at: MONDAY + at, value: -1 },
      past.map(hours => ({ at: MONDAY + hours * HOUR, value: hours })),
    )?.before
  const hours = Array.from({ length: 400 }, (_, place) => place - 400)
  t.equal(before('1h', hours), -168, 'of the same hour')
  t.equal(before('12h', [-180, -168, -156, -12]), -168)
  t.equal(before('1d', [-192, -168, -144, -24]), -168)
  t.equal(before('1d', [-193, -169, -145, -24]), -169, 'clocks went back, as in London across midnight')
  t.equal(before('1d', [-191, -167, -143, -24]), -167, 'clocks went forward')
  t.equal(before('2d', [-336, -288, -240, -192, -144, -96, -48]), -336)
  t.equal(before('1w', [-336, -168]), -168)
  t.equal(before('1d', [-144, -24]), undefined)
  t.same(['1h', '6h', '12h', '1d', '1w'].map(of).map(countCompared), [336, 56, 28, 14, 14])
})

t.test('a change from zero is none of percent, and a direction lets the other one pass', async t => {
  const settings = limited({ max_change_percent: 20 })
  const zero = [{ at: MONDAY - DAY, value: 0 }]
  t.equal(findBreach(settings, { at: MONDAY, value: 0 }, zero), null)
  t.match(findBreach(settings, { at: MONDAY, value: 3 }, zero), { excess: null, before: 0 })
  const hundred = [{ at: MONDAY - DAY, value: 100 }]
  const drop = limited({ max_change_percent: 20, direction: 'drop' })
  t.equal(findBreach(drop, { at: MONDAY, value: 900 }, hundred), null)
  t.match(findBreach(drop, { at: MONDAY, value: 70 }, hundred), { excess: 10 })
})

t.test('a breach is described as the value, the limit and the excess', async t => {
  const describe = (body: object, value: number, before?: number) => {
    const settings = limited(body)
    const past = before === undefined ? [] : [{ at: MONDAY - 7 * DAY, value: before }]
    const breach = findBreach(settings, { at: MONDAY, value }, past)!
    return [
      describeBreach(settings, value, breach),
      describeAllowed(settings.type, breach),
      describeExcess(settings.type, breach),
    ]
  }
  t.same(describe({ metric_type: 'null_percent', max: 10 }, 40), [
    '40 % null, expected at most 10 %',
    'at most 10 %',
    '30 %',
  ])
  t.same(describe({ min: 1000 }, 120), ['120 rows, expected at least 1,000 (−88 %)', 'at least 1,000', '880'])
  t.same(describe({ max_change_percent: 20 }, 120, 1000), [
    '120 rows, expected within 20 % of the 1,000 before (−88 %)',
    'at most 20 % of change',
    '68 %',
  ])
  t.match(describe({ max_change_percent: 20, change_against: 'same_weekday' }, 3000, 1000), [
    '3,000 rows, expected within 20 % of the 1,000 a week before (+200 %)',
  ])
  t.match(describe({ max_change_percent: 20 }, 5, 0), [
    '5 rows, expected within 20 % of the 0 before',
    String,
    null,
  ])
})

const ROWS = [`create table sales as select n as id, 'x' as note from generate_series(1, 100) n`]

t.test(
  'a threshold alerts from the first capture, in numbers and words, and a return resolves it',
  async t => {
    const body = { metric_type: 'null_percent', column_name: 'note', max: 10, sensitivity: 3 }
    const world = await metricWorld(t, stage, ROWS, body)
    t.match(world.metric, { detection: 'threshold', max: 10, min: null, direction: 'both', consecutive: 1 })
    await world.source.query('update sales set note = null where id <= 40')
    await world.capture(0)
    const [alert] = await world.alerts()
    t.match(alert, {
      status: 'triggered',
      severity: 'warning',
      title: 'sales.note: 40 % null, expected at most 10 %',
      details: {
        value: 40,
        breach: { threshold: 'max', limit: 10, excess: 30, before: null },
        allowed: 'at most 10 %',
        beyond: '30 %',
        explanation: 'It is above the maximum that was set',
      },
    })
    const snapshots = async () =>
      (await world.tenant.ask('GET', `${world.path}/snapshots`)).body.data.items as Record<string, unknown>[]
    t.match((await snapshots())[0], {
      status: 'FAIL',
      is_anomaly: false,
      z_score: 0,
      learning: false,
      breach: { threshold: 'max', limit: 10, excess: 30, allowed: 'at most 10 %', beyond: '30 %' },
      explanation: '40 % null, expected at most 10 %',
    })
    await world.source.query(`update sales set note = 'x' where id > 10`)
    await world.capture(1)
    t.match(await world.alerts(), [{ status: 'resolved' }])
    t.match((await snapshots())[0], { status: 'PASS', breach: null, learning: false })
  },
)

t.test('an anomaly stays one by its score, whatever the thresholds make of it', async t => {
  const world = await metricWorld(t, stage, ROWS, { metric_type: 'row_count', sensitivity: 3, min: 1 })
  await world.capture(0)
  await world.repeat(0, 13)
  await world.source.query('delete from sales where id > 50')
  await world.capture(14)
  const snapshot = async () => (await world.tenant.ask('GET', `${world.path}/snapshots`)).body.data.items[0]
  t.match(await snapshot(), { status: 'PASS', is_anomaly: true, breach: null })
  t.same(await world.alerts(), [])
  const patched = await world.tenant.ask('PATCH', world.path, { detection: 'both' })
  t.match(patched.body.data, { detection: 'both' })
  await world.source.query('delete from sales')
  await world.capture(15)
  t.match(await snapshot(), { status: 'FAIL', is_anomaly: true, breach: { threshold: 'min' } })
  t.match(await world.alerts(), [{ title: /: 0 rows, expected at least 1 \(−100 %\)$/ }])
})

t.test('with anomalies of one direction, the other one passes', async t => {
  const world = await metricWorld(t, stage, ROWS, {
    metric_type: 'row_count',
    sensitivity: 3,
    direction: 'drop',
  })
  await world.capture(0)
  await world.repeat(0, 13)
  await world.source.query(`insert into sales select n, 'x' from generate_series(101, 1000) n`)
  await world.capture(14)
  t.same(await world.alerts(), [])
  await world.source.query('delete from sales where id > 5')
  await world.capture(15)
  t.match(await world.alerts(), [{ status: 'triggered' }])
})

t.test('a change against the day before is read from the snapshots, of each group its own', async t => {
  const statements = [
    `create table sales as select n as id, case when n <= 50 then 'north' else 'south' end as region
       from generate_series(1, 100) n`,
  ]
  const body = { metric_type: 'row_count', group_by_columns: ['region'], max_change_percent: 10 }
  const world = await metricWorld(t, stage, statements, body)
  t.match(world.metric, { detection: 'threshold', change_against: 'previous' })
  await world.capture(0)
  await world.source.query(`delete from sales where region = 'south' and id > 90`)
  await world.capture(1)
  const items = (await world.tenant.ask('GET', `${world.path}/snapshots`)).body.data.items
  const south = items.find(
    (item: { group_values: { region: string } }) => item.group_values.region === 'south',
  )
  t.match(south, { value: 40, status: 'FAIL', breach: { before: 50, excess: 10 } })
  t.match(await world.alerts(), [
    { title: /region south: 40 rows, expected within 10 % of the 50 before \(−20 %\)$/ },
  ])
})

t.test('thresholds that contradict each other or the type are refused with a sentence', async t => {
  const world = await metricWorld(t, stage, ROWS, { metric_type: 'row_count' })
  const { tenant, asset } = world
  const base = `/api/v1/sdk/metrics/${asset.id}`
  const cases: [object, string, RegExp][] = [
    [{ min: 5, max: 4 }, 'min', /min 5 is above max 4/],
    [{ metric_type: 'null_percent', column_name: 'note', min: 101 }, 'min', /0 to 100/],
    [{ max: -1 }, 'max', /never below 0/],
    [{ max_change_percent: -1 }, 'max_change_percent', /0/],
    [{ change_against: 'previous' }, 'change_against', /needs max_change_percent/],
    [{ detection: 'threshold' }, 'detection', /needs a threshold/],
    [{ detection: 'both' }, 'detection', /needs a threshold/],
    [{ detection: 'anomaly', max: 5 }, 'detection', /would ignore/],
    [{ consecutive: 11 }, 'consecutive', /10/],
    [{ direction: 'up' }, 'direction', /rise/],
  ]
  for (const [body, field, message] of cases) {
    const refused = await tenant.ask('POST', base, { metric_type: 'row_count', table_path: 'sales', ...body })
    t.match(refused, { status: 400, body: { error: { message, details: { field } } } }, JSON.stringify(body))
  }
  t.equal((await tenant.ask('PATCH', world.path, { min: 5 })).status, 200)
  t.match(await tenant.ask('PATCH', world.path, { max: 4 }), { status: 400 }, 'with what is stored')
  t.equal((await tenant.ask('PATCH', world.path, { detection: 'both' })).status, 200)
  t.match((await tenant.ask('PATCH', world.path, { min: null })).body.data, {
    detection: 'anomaly',
    min: null,
  })
})

t.test('a dry run counts the alerts of thresholds, directions and failures in a row', async t => {
  const points = [100, 100, 5, 5, 5, 100, 5, 100].map((value, day) => ({
    at: momentOf(day).getTime() / 1_000,
    value,
    total: null,
  }))
  const count = (body: object) => {
    const settings = limited({ min: 10, ...body })
    const { replayed } = replayPoints(startState(settings, 'rows'), points, { settings })
    const { anomalies, alerts } = countAnomalies(replayed, 3, settings)
    return [anomalies, alerts]
  }
  t.same(count({}), [4, 2])
  t.same(count({ consecutive: 2 }), [4, 1])
  t.same(count({ consecutive: 4 }), [4, 0])
  t.same(count({ min: null, max_change_percent: 50 }), [4, 2], 'down, up, down and up')
  t.same(count({ min: null, max_change_percent: 50, direction: 'drop' }), [2, 2])

  const world = await metricWorld(t, stage, ROWS, { metric_type: 'row_count' })
  const tried = await world.tenant.ask('POST', '/api/v1/sdk/metrics/dry-run', {
    ...{ asset_id: world.asset.id, table_path: 'sales', metric_type: 'row_count', min: 1_000 },
  })
  t.match(tried.body.data, {
    status: 'FAIL',
    is_anomaly: false,
    learning: false,
    breach: { threshold: 'min', allowed: 'at least 1,000', beyond: '900' },
    threshold_type: 'min',
    threshold_value: 1_000,
  })
})

t.test('a metric that was stored without these settings has their defaults', async t => {
  const world = await metricWorld(t, stage, ROWS, { metric_type: 'row_count', sensitivity: 3 })
  await world.app.query(`update checks set settings = '{}' where id = $1`, [world.metric.internal_id])
  await world.capture(0)
  const defaults = {
    detection: 'anomaly',
    direction: 'both',
    consecutive: 1,
    min: null,
    change_against: null,
  }
  t.match((await world.tenant.ask('GET', world.path)).body.data, { ...defaults, last_status: 'PASS' })
})
