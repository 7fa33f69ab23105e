import t from 'tap'
import { sentDuring } from '../../helpers/sent-statements.ts'
import { makeStage } from '../../helpers/world.ts'
import { metricWorld } from './world.ts'

t.test('a thousand groups are learned in batches, and reported in one short message', async t => {
  const world = await metricWorld(
    t,
    await makeStage(t),
    [
      `create table sales (region text)`,
      `insert into sales select 'r' || n from generate_series(1000, 1999) n, generate_series(1, 3)`,
    ],
    { metric_type: 'row_count', sensitivity: 10, group_by_columns: ['region'] },
  )
  const first = await sentDuring(() => world.capture(1))
  t.same(
    first.filter(({ text }) => text.includes('from "alerts"')),
    [],
    'no alert is looked for where there can be none',
  )
  await world.repeat(1, 20)
  const sent = await sentDuring(() => world.capture(21))
  const ofStates = sent.filter(({ text }) => text.includes('check_states'))
  t.equal(ofStates.filter(({ text }) => text.includes('insert into')).length, 20)
  const [sizes] = await world.app.query(
    `select sum(length(state::text))::int as total, max(length(state::text))::int as one from check_states`,
  )
  const { total, one } = sizes as { total: number; one: number }
  const longest = Math.max(...ofStates.map(item => item.longest))
  t.ok(longest < 60 * one && longest < total / 10, `${longest} of ${total} characters in one statement`)
  await world.source.query('truncate sales')
  await world.capture(22)
  const [alert] = await world.alerts()
  t.match(alert, {
    title: /^sales: no rows of 1,000 groups: region r\d+, region r\d+, region r\d+ and 997 more$/,
    details: { group_count: 1_000 },
  })
  t.equal(alert!.details.groups.length, 20)
})
