import fc from 'fast-check'
import t from 'tap'
import { replayResults } from '../../../plugins/validity/replay.ts'
import { pastRules, type Remembered } from './past.ts'
import { logPostgresql } from '../../helpers/statement-log.ts'
import { discover, makeStage } from '../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const DAY = 86_400_000
const AUTO = { detection_mode: 'auto', sensitivity: 3 }

/** So many daily results until now, of five to six percent, but those of the days that are named. */
const past = (count: number, spoiled: Record<number, number> = {}): Remembered[] =>
  Array.from({ length: count }, (_, index) => ({
    at: Date.now() - (count - index) * DAY + DAY / 4,
    invalid: spoiled[index] ?? 50 + ((index * 7) % 11),
  }))

async function trying(t: Parameters<typeof pastRules>[0]) {
  const world = await pastRules(t, stage)
  const { tenant, asset } = world
  return {
    ...world,
    async dryRun(body: object) {
      const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'email', ...body }
      const path = '/api/v1/sdk/validity/dry-run'
      const { status, body: reply } = await tenant.ask('POST', path, { asset_id: asset.id, ...rule })
      if (status !== 200) throw new Error(JSON.stringify(reply))
      return reply.data
    },
  }
}

t.test('a dry run judges the results of a rule that measures the same', async t => {
  const { make, remember, dryRun, spoil, app, results, learned } = await trying(t)
  const rule = await make({ detection_mode: 'manual', alert_threshold_percent: 90 })
  await remember(rule, past(30, { 20: 300, 21: 310, 25: 400 }))
  await spoil(55)
  const before = [await results(rule), await learned(rule)]
  const { status, expected_value: expected, learning, history } = await dryRun(AUTO)
  t.match({ status, learning }, { status: 'pass', learning: false })
  t.ok(expected > 4 && expected < 7)
  t.match(history, {
    lookback_days: 30,
    source: 'results',
    timestamp_column: null,
    points: 30,
    failing: 3,
    alerts: 2,
    message: 'Of 30 daily checks in the last 30 days, 3 would have failed and raised 2 alerts',
  })
  t.same([await results(rule), await learned(rule)], before, 'and stores nothing')
  t.equal((await app.query('select from checks')).length, 1)
  t.same(await app.query(`select from alerts where kind = 'validity_failure'`), [])

  const { learning: isShort, history: short } = await dryRun({ ...AUTO, lookback_days: 7 })
  t.match(short, { points: 7, failing: 1, alerts: 1 }, 'judged by what was learned before')
  t.notOk(isShort)
  t.match((await dryRun({ ...AUTO, lookback_days: 2 })).history, { points: 2, failing: 0 })
  const manual = (await dryRun({ alert_threshold_percent: 20, lookback_days: 7 })).history
  t.match(manual, { points: 7, failing: 1, alerts: 1 })
})

t.test('the past comes with its values, and with the band at each sensitivity in auto mode', async t => {
  const { make, remember, dryRun } = await trying(t)
  const rule = await make({})
  await remember(rule, past(30, { 20: 300, 25: 70 }))
  const { history } = await dryRun(AUTO)
  t.equal(history.series.length, 30)
  t.match(history.series[20], { value: 30, learning: false })
  for (const { value, z_score: z, bands } of history.series)
    for (const { sensitivity, high } of bands) t.equal(value > high, z > sensitivity)
  for (const { sensitivity, failing } of history.by_sensitivity)
    t.equal(
      history.series.filter(
        ({ z_score: z, learning }: { z_score: number; learning: boolean }) => !learning && z > sensitivity,
      ).length,
      failing,
    )
  const manual = (await dryRun({ alert_threshold_percent: 20 })).history
  t.match(manual.series[20], { value: 30, expected_value: null, z_score: null, bands: [] })
})

t.test('a dry run asks the engine about CUSTOM_SQL once', async t => {
  const { dryRun, source } = await trying(t)
  const log = await logPostgresql(source)
  const rule = (sql_expression: string) => ({
    ...{ rule_type: 'CUSTOM_SQL', column_name: undefined, rule_config: { sql_expression } },
  })
  t.match(await dryRun(rule('id > abs(0)')), { status: 'pass' })
  const { statements } = await log.take()
  t.match(
    statements.map(({ text }) => text),
    [/pg_catalog\.pg_proc/, /^explain (?![^]*abs)/, /pg_relation_size/, /count\(\*\)[^]*abs/],
    'which functions are volatile, what it costs, and the number: what its names mean is parsed alone',
  )
  t.equal(statements.length, 4)
})

t.test('one replay of all sensitivities gives each the result of a replay of its own', async t => {
  const { make, remember, dryRun } = await trying(t)
  const rule = await make({})
  // From a little to far off.
  await remember(rule, past(60, { 30: 62, 36: 66, 42: 72, 48: 80, 54: 300 }))
  const body = { ...AUTO, lookback_days: 90 }
  const { history } = await dryRun(body)
  const bySensitivity = history.by_sensitivity as { sensitivity: number; failing: number; alerts: number }[]
  t.same(
    bySensitivity.map(({ sensitivity }) => sensitivity),
    [1, 2, 3, 4],
  )
  for (const { sensitivity, failing, alerts } of bySensitivity)
    t.match((await dryRun({ ...body, sensitivity })).history, { points: 60, failing, alerts })
  const counts = bySensitivity.map(({ failing }) => failing)
  t.same(
    counts,
    counts.toSorted((a, b) => b - a),
  )
  t.ok(counts[0]! > counts[3]! && counts[3]! >= 1, JSON.stringify(counts))
})

t.test('a threshold has no sensitivities, and failures in a row are one alert', async t => {
  const { make, remember, dryRun } = await trying(t)
  const rule = await make(AUTO)
  await remember(rule, past(10, { 2: 300, 3: 300, 5: 300, 9: 300 }))
  const { history } = await dryRun({ alert_threshold_percent: 20 })
  t.match(history, { source: 'results', points: 10, failing: 4, alerts: 3 })
  t.notOk('by_sensitivity' in history)
})

t.test('what was measured otherwise is no past of a rule', async t => {
  const { make, remember, dryRun, patch, check } = await trying(t)
  const none = async (body: object) => {
    const { history } = await dryRun({ ...AUTO, ...body })
    t.match(history, { source: null, points: 0, failing: 0, alerts: 0 }, JSON.stringify(body))
    t.match(history.message, /Its past is not known: .*timestamp column/)
  }
  const pattern = { rule_type: 'REGEX', rule_config: { pattern: '@' } }
  const rule = await make(pattern)
  await remember(rule, past(10))
  t.match((await dryRun({ ...AUTO, ...pattern })).history, { source: 'results', points: 10 })
  await none({})
  await none({ ...pattern, rule_config: { pattern: 'x' } })
  await none({ ...pattern, column_name: 'status' })
  await none({ ...pattern, treat_null_as_valid: true })
  await none({ ...pattern, check_interval: 'weekly' })

  await patch(rule, { treat_null_as_valid: true })
  await none({ ...pattern, treat_null_as_valid: true })
  await check(rule)
  t.match((await dryRun({ ...AUTO, ...pattern, treat_null_as_valid: true })).history, { points: 1 })
})

t.test('of rules that measure the same, the one with the longest past is looked at', async t => {
  const { make, remember, dryRun, app } = await trying(t)
  const [short, long] = [await make({}), await make(AUTO)]
  await remember(short, past(3))
  await remember(long, past(20))
  t.match((await dryRun(AUTO)).history, { points: 20 })
  await app.query(`update check_results set status = 'error' where id % 2 = 0`)
  t.match((await dryRun(AUTO)).history, { points: 10 }, 'errors are none of it')
})

t.test(
  'the past is derived from the timestamps of the table, also where a rule measures the same',
  async t => {
    const world = await trying(t)
    const { make, remember, dryRun, source } = world
    await source.query('alter table orders add column created_at timestamptz')
    await source.query(`update orders set created_at = now() - interval '1 hour' - (id % 40) * interval '1 day',
    email = case when id % 5 > 0 then email end`)
    await discover(world)
    const { history } = await dryRun(AUTO)
    t.match(history, {
      source: 'timestamps',
      timestamp_column: 'created_at',
      points: 30,
      failing: 0,
      alerts: 0,
    })
    t.equal(history.by_sensitivity.length, 4)
    await remember(await make(AUTO), past(3))
    t.match(await dryRun(AUTO), {
      history: { source: 'timestamps', points: 30 },
      existing: { kind: 'validity', is_active: true },
      outlook: { alerts_before: 0, days: 30 },
    })
  },
)

t.test('for any past, each sensitivity gets what a rule of that sensitivity would have found', t => {
  const hour = 3_600_000
  const pasts = fc.array(
    fc.record({ invalid: fc.integer({ min: 0, max: 1000 }), isConfirmed: fc.boolean() }),
    { maxLength: 40 },
  )
  const modes = fc.constantFrom('off' as const, 'schedule' as const, 'auto' as const)
  const schedule = { timezone: 'UTC', rules: [{ days: [1, 2, 3, 4, 5], start: '06:00', end: '18:00' }] }
  fc.assert(
    fc.property(pasts, modes, (found, mode) => {
      const replayed = (sensitivity: number) =>
        replayResults(
          {
            detectionMode: 'auto',
            checkInterval: 'hourly',
            operatingPeriodMode: mode,
            alertThresholdPercent: null,
            sensitivity,
          },
          found.map(({ invalid, isConfirmed }, index) => ({
            at: new Date(Date.UTC(2024, 5, 3) + index * hour),
            outcome: {
              ...{ id: '', durationMs: 0, samples: [], measured: {} },
              ...{ status: 'counted', total: 1000, invalid },
            },
            isConfirmed,
          })),
          mode === 'schedule' ? schedule : undefined,
        )
      for (const { sensitivity, failing, alerts } of replayed(2).bySensitivity ?? []) {
        const alone = replayed(sensitivity)
        if (alone.failing !== failing || alone.alerts !== alerts || alerts > failing) return false
      }
      return true
    }),
    { numRuns: 30 },
  )
  t.end()
})

t.test('a dry run tries out the schedule that it names on the results of another', async t => {
  const { make, remember, dryRun, schedule } = await trying(t)
  const hours = (name: string, start: string, end: string) =>
    schedule({ name, timezone: 'UTC', rules: [{ days: [1, 2, 3, 4, 5, 6, 7], start, end }] })
  const [early, late] = [await hours('early', '06:00', '12:00'), await hours('late', '12:00', '18:00')]
  const scheduled = { ...AUTO, check_interval: 'hourly', operating_period_mode: 'schedule' }
  const rule = await make({ ...scheduled, operating_schedule_id: early })
  const midnight = Math.floor(Date.now() / DAY) * DAY
  const isEarly = (at: number) => [6, 7, 8, 9, 10, 11].includes(new Date(at).getUTCHours())
  await remember(
    rule,
    Array.from({ length: 10 * 24 }, (_, index) => midnight - (10 * 24 - index) * 3_600_000).map(
      (at, index) => ({ at, invalid: isEarly(at) ? 200 + (index % 9) : 0, was_active: isEarly(at) }),
    ),
  )
  const failing = async (id: string) =>
    (await dryRun({ ...scheduled, operating_schedule_id: id })).history.failing as number
  t.equal(await failing(early), 0)
  t.ok((await failing(late)) > 0, 'the mornings would be dormant')
})
