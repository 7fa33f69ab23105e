import fc from 'fast-check'
import t from 'tap'
import { replaySeries as verdictsOf, startDetector } from '../../../checks/detector.ts'
import { domainOfSeries } from '../../../checks/series-domains.ts'
import { replayPoints, countAnomalies } from '../../../plugins/metrics/replay.ts'
import { settingsOf } from '../../../plugins/metrics/thresholds.ts'
import { makeStage } from '../../helpers/world.ts'
import { metricWorld, type MetricWorld } from './world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const SALES = [`create table sales (id int, region text, created_at timestamptz)`]
/** Without a column that says when rows were added. */
const UNDATED = [`create table sales (id int, region text, taken timestamptz)`]
const DAY_MS = 86_400_000

/** Twenty days of row counts around ten, three times out of line: one day, two days running, one day. */
const COUNTS = [10, 11, 10, 12, 11, 10, 11, 12, 10, 11, 40, 11, 10, 60, 61, 11, 12, 10, 90, 11]

/** Captures the counts, the last a day before now. */
async function captured(world: MetricWorld): Promise<void> {
  const now = Date.now()
  for (const [index, count] of COUNTS.entries()) {
    await world.source.query('truncate sales')
    await world.source.query(
      `insert into sales select n, case when n % 5 = 0 then 'south' else 'north' end, now()
       from generate_series(1, ${count}) n`,
    )
    await world.captureAt(new Date(now - (COUNTS.length - index) * DAY_MS))
  }
}

const dryRun = async ({ tenant, asset }: MetricWorld, body: object) => {
  const asked = { asset_id: asset.id, table_path: 'sales', metric_type: 'row_count', sensitivity: 3, ...body }
  const said = await tenant.ask('POST', '/api/v1/sdk/metrics/dry-run', asked)
  if (said.status !== 200) throw new Error(JSON.stringify(said.body))
  return said.body.data
}

t.test('a dry run replays the snapshots of an equal metric where no past can be computed', async t => {
  const world = await metricWorld(t, stage, UNDATED, { metric_type: 'row_count', sensitivity: 3 })
  await captured(world)
  const { history, ...now } = await dryRun(world, {})
  const [stored] = await world.app.query(
    `select count(*) filter (where status = 'fail')::int as anomalies, count(distinct alert_id)::int as alerts from check_results`,
  )
  t.match(history, { source: 'snapshots', points: 20, timestamp_column: null, ...stored })
  t.ok(history.anomalies >= 3 && history.alerts >= 2)
  t.match(
    history.message,
    /Of 20 daily values in the last 30 days, stored, \d would have been anomalies at sensitivity 3, in \d alerts?/,
  )
  t.same(
    history.by_sensitivity.map(({ sensitivity }: { sensitivity: number }) => sensitivity),
    [1, 2, 3, 4],
  )
  t.match(history.by_sensitivity[2], stored)
  t.match(now, { value: 11, learning: false, is_anomaly: false })

  t.match(now, {
    metric_id: world.metric.id,
    metric_type: 'row_count',
    threshold_type: 'z_score',
    threshold_value: 3,
    lookback_days: 30,
    total_snapshots: 20,
    would_alert_count: 3,
    alert_rate_percent: 15,
    min_value: 10,
    max_value: 90,
    recommendation: /^Sensitivity 3 would have raised 3 alerts in the last 30 days/,
  })
  t.equal(
    Math.round(now.avg_value * 1_000),
    Math.round((1_000 * COUNTS.reduce((a, b) => a + b)) / COUNTS.length),
  )
  t.match(
    now.sample_alerts,
    [90, 60, 40].map(value => ({ captured_at: /Z$/, value, threshold_value: 3, would_alert: true })),
    'newest first',
  )

  const looser = (await dryRun(world, { sensitivity: 1 })).history
  t.match(looser, {
    anomalies: history.by_sensitivity[0].anomalies,
    alerts: history.by_sensitivity[0].alerts,
  })
  const short = (await dryRun(world, { lookback_days: 3 })).history
  t.match(short, { points: 2, anomalies: 1, alerts: 1 }, 'judged by what was learned before')
  t.same(await world.app.query('select count(*)::int as count from check_results'), [{ count: 20 }])
})

t.test('the past comes with the band at each sensitivity, for a chart', async t => {
  const world = await metricWorld(t, stage, UNDATED, { metric_type: 'row_count', sensitivity: 3 })
  await captured(world)
  const { history } = await dryRun(world, { sensitivity: 2.5 })
  const series = history.series as PastPoint[]
  t.strictSame(
    series.map(({ value }) => value),
    COUNTS,
    'oldest first',
  )
  const last = series.at(-1)!
  t.strictSame(
    last.bands.map(({ sensitivity }) => sensitivity),
    [1, 2, 2.5, 3, 4],
  )
  for (const { value, z_score: z, bands } of series)
    for (const { sensitivity, low, high } of bands)
      t.equal(value < low || value > high, Math.abs(z) > sensitivity, 'outside exactly when it is an anomaly')
  for (const { sensitivity, anomalies } of history.by_sensitivity)
    t.equal(series.filter(({ z_score: z }) => Math.abs(z) > sensitivity).length, anomalies)
  t.same((await dryRun(world, { group_by_columns: ['region'] })).history.series, [])
})

interface PastPoint {
  value: number
  z_score: number
  bands: { sensitivity: number; low: number; high: number }[]
}

t.test('the past is computed from the timestamps, also of a metric that exists, which is named', async t => {
  const world = await metricWorld(t, stage, SALES, { metric_type: 'row_count', sensitivity: 3 })
  await captured(world)
  const { tenant, asset, metric } = world
  const tried = await dryRun(world, {})
  t.match(tried, {
    history: { source: 'timestamps', timestamp_column: 'created_at' },
    existing: { id: metric.id, kind: 'metric', is_active: true },
    warnings: [/^This check exists: .+/],
    outlook: {
      alerts_now: Number,
      alerts_before: Number,
      days: 30,
      message: / now, \d+ in the 30 days before$/,
    },
  })
  const path = `/api/v1/sdk/metrics/${asset.id}`
  const body = { table_path: 'sales', metric_type: 'row_count', sensitivity: 2 }
  const refused = await tenant.ask('POST', `${path}?if_equal=refuse`, body)
  t.match(refused, { status: 409, body: { error: { details: { existing: { id: metric.id } } } } })
  const made = await tenant.ask('POST', path, body)
  t.match(made, { status: 201, body: { data: { warnings: [/^This check exists/] } } })
  const other = await tenant.ask('POST', `${path}?if_equal=refuse`, { ...body, min: 3 })
  t.equal(other.status, 201, 'another limit is another check')
  t.notOk(other.body.data.warnings)
  t.equal((await dryRun(world, { min: 5 })).existing, null)
})

t.test('days before the first row are gaps', async t => {
  const world = await metricWorld(t, stage, SALES, { metric_type: 'row_count', sensitivity: 3 })
  await world.source.query(
    `insert into sales select n, 'north', now() - make_interval(days => n) from generate_series(0, 9) n`,
  )
  const { history, total_snapshots: count, min_value: least } = await dryRun(world, {})
  const values = (history.series as { value: number | null }[]).map(({ value }) => value)
  t.equal(values.length, 30)
  t.strictSame(values.slice(0, 20), Array(20).fill(null))
  t.equal(values.filter(value => value === null).length + count, 30)
  t.ok(least > 0, 'a day without rows is no value')
})

t.test('the past of another definition is derived from the timestamps', async t => {
  const world = await metricWorld(t, stage, SALES, { metric_type: 'row_count', sensitivity: 3 })
  await captured(world)
  for (const other of [
    { metric_type: 'distinct_count', column_name: 'region' },
    { capture_interval: 'weekly' },
  ])
    t.match((await dryRun(world, other)).history, { source: 'timestamps', timestamp_column: 'created_at' })
  const grouped = await dryRun(world, { group_by_columns: ['region'] })
  t.match(grouped.history, { source: null, points: 0, anomalies: 0, alerts: 0, message: /not known/ })
  t.ok(grouped.learning)
  t.match(grouped, {
    metric_id: 'new',
    total_snapshots: 0,
    would_alert_count: 0,
    alert_rate_percent: 0,
    avg_value: null,
    min_value: null,
    max_value: null,
    sample_alerts: [],
    recommendation: /not known/,
  })
})

t.test('groups are replayed apart, their alerts counted together', async t => {
  const world = await metricWorld(t, stage, SALES, {
    metric_type: 'row_count',
    sensitivity: 3,
    group_by_columns: ['region'],
  })
  await captured(world)
  const said = await dryRun(world, { group_by_columns: ['region'] })
  const [stored] = await world.app.query(
    `select count(*) filter (where status = 'fail')::int as anomalies, count(distinct alert_id)::int as alerts from check_results`,
  )
  t.match(said.history, { source: 'snapshots', points: 40, groups: 2, groups_replayed: 2, ...stored })
  t.ok(said.history.anomalies > said.history.alerts)
  t.match(said, {
    learning: false,
    value: null,
    groups: [
      { learning: false, is_anomaly: false },
      { learning: false, is_anomaly: false },
    ],
  })
  await world.source.query(`delete from sales where region = 'south'`)
  await world.source.query(`insert into sales select n, 'south', now() from generate_series(1, 500) n`)
  const odd = await dryRun(world, { group_by_columns: ['region'] })
  t.match(odd, { status: 'FAIL', is_anomaly: true })
  const flags = odd.groups.map((group: { group_values: { region: string }; is_anomaly: boolean }) => [
    group.group_values.region,
    group.is_anomaly,
  ])
  t.same(Object.fromEntries(flags), { north: false, south: true })
})

t.test('of very many long pasts, those of the groups with the most rows are replayed', async t => {
  const world = await metricWorld(t, stage, SALES, {
    metric_type: 'row_count',
    sensitivity: 3,
    group_by_columns: ['region'],
  })
  await world.app.query(
    `insert into check_results (company_id, check_id, series, value, total_rows, status, at)
     select company_id, id, jsonb_build_object('region', 'r' || g), g, g, 'pass',
       now() - make_interval(days => n, hours => -1)
     from checks, generate_series(1, 120) g, generate_series(1, 401) n`,
  )
  const { history } = await dryRun(world, { group_by_columns: ['region'], lookback_days: 1 })
  t.match(history, { points: 50, groups: 120, groups_replayed: 50 })
})

const series = fc
  .array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 40 })
  .map(values =>
    values.map((value, n) => ({ at: 86_400 * n, value: value < 50 ? 100 + value : 20 * value, total: 500 })),
  )
/** The settings of a metric that has none of its own. */
const plain = settingsOf({ metric_type: 'row_count' })

const sensitivity = fc.double({ min: 0.1, max: 10, noNaN: true })
const options = fc.constantFrom('row_count', 'null_percent', 'mean').map(name => ({
  series: name,
  domain: domainOfSeries(name),
  interval: 'daily' as const,
  direction: 'both' as const,
}))

t.test('one replay counts for every sensitivity what the detector says at that one', async t => {
  fc.assert(
    fc.property(series, options, sensitivity, (points, chosen, limit) => {
      const { replayed } = replayPoints(startDetector(chosen), points)
      const said = verdictsOf(points, { ...chosen, sensitivity: limit })
      return (
        countAnomalies(replayed, limit, plain).anomalies === said.filter(({ isAnomaly }) => isAnomaly).length
      )
    }),
    { numRuns: 30 },
  )
})

t.test(
  'an alert lasts until the first capture without an anomaly, and none opens while learning',
  async t => {
    const at = (moment: number, zScore: number, isLearning = false) => ({
      at: moment,
      value: 0,
      zScore,
      isLearning,
    })
    const counted = (...values: ReturnType<typeof at>[]) => {
      const { anomalies, alerts } = countAnomalies(values, 3, plain)
      return [anomalies, alerts]
    }
    t.same(counted(), [0, 0])
    t.same(counted(at(1, 3), at(2, -3)), [0, 0], 'the sensitivity itself is not beyond')
    t.same(counted(at(1, 4), at(2, -5), at(3, 0), at(4, 4)), [3, 2])
    t.same(counted(at(1, 4, true), at(2, 4, true)), [2, 0])
    t.same(counted(at(1, 4), at(2, 4, true), at(3, 4)), [3, 1], 'an anomaly that is learning closes nothing')
    t.same(counted(at(1, 4), at(2, 0), at(1, 0), at(2, 4), at(3, 0)), [2, 1], 'groups share an alert')
  },
)
