import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { matchAll, recorded } from './recorded-changes.ts'

const stage = await makeStage(t)

t.test('a table that becomes a partition of a watched one is a removal of low impact', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table events (id int, day date) partition by range (day)',
    'create table of_may (id int, day date)',
    'create table of_june (id int, day date)',
    'create table years (id int, day date) partition by range (day)',
    'create schema aside',
    'create table aside.archive (id int, day date) partition by range (day)',
    'create table of_july (id int, day date)',
    'create table replaced (id int, day date)',
  ])
  const { app, source, tenant, asset } = world
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { exclude_patterns: ['aside.*'] })
  await discover(world)
  const path = (name: string) => `${source.name}.public.${name}`
  await source.query(
    `alter table events attach partition of_may for values from ('2024-05-01') to ('2024-06-01')`,
  )
  matchAll(t, await recorded(world), [
    {
      change_type: 'table_removed',
      object_name: 'of_may',
      impact: 'low',
      old_value: { name: 'of_may', type: 'table', columns: 2 },
      new_value: { partition_of: path('events') },
    },
  ])
  const alerts = await app.query(
    `select severity from alerts where source_id = $1 and kind = 'schema_change'`,
    [asset.id],
  )
  t.same(alerts, [{ severity: 'info' }])
  const { body } = await tenant.ask('GET', `/api/v1/sdk/schema/${asset.id}`)
  t.match(body.data.drift, [
    {
      impact: 'low',
      new_value: `partition of ${path('events')}`,
      new_definition: { partition_of: path('events') },
    },
  ])

  await source.query('alter table events detach partition of_may')
  matchAll(t, await recorded(world), [
    { change_type: 'table_added', object_name: 'of_may', acknowledged: true },
  ])
  await source.query(
    `alter table events attach partition of_may for values from ('2024-05-01') to ('2024-06-01')`,
  )
  await recorded(world)
  await tenant.ask('POST', `/api/v1/sdk/schema/${asset.id}/baseline`, {})
  await source.query('alter table events detach partition of_may')
  matchAll(t, await recorded(world), [
    { change_type: 'table_added', object_name: 'of_may', acknowledged: false },
  ])

  await source.query(
    `alter table years attach partition events for values from ('2024-01-01') to ('2025-01-01')`,
  )
  await source.query(
    `alter table events attach partition of_june for values from ('2024-06-01') to ('2024-07-01')`,
  )
  const low = { impact: 'low', new_value: { partition_of: path('years') } }
  matchAll(
    t,
    await recorded(world),
    [
      { object_name: 'events', ...low },
      { object_name: 'of_june', ...low },
    ],
    'a partition of a partition belongs to the outermost',
  )

  await source.query(
    `alter table aside.archive attach partition of_july for values from ('2024-07-01') to ('2024-08-01')`,
  )
  await source.query('drop table replaced')
  await source.query(
    `create table replaced partition of events for values from ('2024-08-01') to ('2024-09-01')`,
  )
  matchAll(
    t,
    await recorded(world),
    [
      { object_name: 'of_july', impact: 'high', new_value: null },
      { object_name: 'replaced', impact: 'high', new_value: null },
    ],
    'one of a table that is not watched, and a partition made in place of a table',
  )
})
