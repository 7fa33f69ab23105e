import t from 'tap'
import { makeStage } from '../../../helpers/world.ts'
import { metricWorld, momentOf } from '../../metrics/world.ts'

const stage = await makeStage(t)
const SALES = [`create table sales as select n as id from generate_series(1, 100) n`]
const HOUR_MS = 3_600_000

/** A metric that has been near 100 rows for twenty days. */
async function learnedWorld(t: Parameters<typeof metricWorld>[0]) {
  const world = await metricWorld(t, stage, SALES, { metric_type: 'row_count', sensitivity: 3 })
  await world.capture(0)
  await world.app.query(
    `insert into check_results (company_id, check_id, series, value, total_rows, status, at)
     select company_id, check_id, series, value + n % 4, total_rows, status, at + make_interval(days => n)
     from check_results, generate_series(1, 20) n where check_id = $1`,
    [world.metric.internal_id],
  )
  await world.app.query(`update check_states set state = '{"version": 0}' where check_id = $1`, [
    world.metric.internal_id,
  ])
  const band = async () => {
    const { body } = await world.tenant.ask('GET', `${world.path}/snapshots?limit=5`)
    const [last] = body.data.items as Record<string, number>[]
    return [last?.expected_range_low, last?.expected_range_high, last?.z_score, last?.explanation]
  }
  /** @param n how many hours after the first bad value */
  const captureAfter = (n: number) => world.captureAt(new Date(momentOf(21).getTime() + n * HOUR_MS))
  return { ...world, band, captureAfter }
}

t.test('a later run of the same bad value shows the band that the alert was raised with', async t => {
  const { source, alerts, band, captureAfter } = await learnedWorld(t)
  await source.query('insert into sales select 0 from generate_series(1, 60)')
  await captureAfter(0)
  const [raised] = await alerts()
  const shown = await band()
  t.same(shown.slice(0, 2), [raised?.details.range.low, raised?.details.range.high])
  for (const hours of [1, 2]) {
    await captureAfter(hours)
    t.same(await band(), shown, `${hours} runs later`)
  }
  t.match(await alerts(), [{ title: raised?.title, occurrences: 3, details: raised?.details }])
})

t.test('another bad value has a band of its own, and a later alert too', async t => {
  const { source, alerts, band, captureAfter } = await learnedWorld(t)
  await source.query('insert into sales select 0 from generate_series(1, 60)')
  await captureAfter(0)
  const [, first] = await band()
  await source.query('insert into sales select 0 from generate_series(1, 90)')
  await captureAfter(1)
  const [, other] = await band()
  t.not(other, first)
  await source.query('delete from sales where id = 0')
  await captureAfter(2)
  t.match(await alerts(), [{ status: 'resolved' }])
  await source.query('insert into sales select 0 from generate_series(1, 60)')
  await captureAfter(3)
  const found = await alerts()
  t.equal(found.length, 2)
  t.equal((await band())[1], found[1]?.details.range.high)
})
