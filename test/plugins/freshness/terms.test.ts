import t from 'tap'
import { startWorlds } from './worlds.ts'

const { tenant, world } = await startWorlds(t)

const SCHEDULES = '/api/v1/sdk/freshness/schedules'
const SOURCES = '/api/v1/sdk/assets'

const two = `create table a (id int, updated_at timestamptz); create table b (id int, updated_at timestamptz)`

t.test('a threshold without a mode makes a schedule explicit', async t => {
  for (const defaults of [null, { monitoring_mode: 'auto_learn' }, { check_interval: '30m' }]) {
    for (const threshold of [{ sla_threshold: '6h' }, { expected_interval_hours: 6 }]) {
      const input = `${JSON.stringify(threshold)} with defaults ${JSON.stringify(defaults)}`
      const { source, watch } = await world(t, two)
      await tenant.ask('PATCH', `${SOURCES}/${source.id}`, { freshness_defaults: defaults })
      const explicit = { monitoring_mode: 'explicit', sla_threshold: '6h', expected_interval_hours: 6 }
      const made = await watch('a', threshold)
      t.match(made, explicit, `POST ${input}`)
      const bulk = await tenant.ask('POST', `${SCHEDULES}/bulk`, { asset_id: source.id, ...threshold })
      t.match(bulk.body.data, { created: 1, existing: 1 }, `bulk ${input}`)
      const listed = await tenant.ask('GET', `${SCHEDULES}?asset_id=${source.id}`)
      t.match(listed.body.data.data, [explicit, explicit], `bulk ${input}`)

      const path = `${SCHEDULES}/${made.id}`
      const learning = await tenant.ask('PATCH', path, { monitoring_mode: 'auto_learn' })
      t.match(learning.body.data, { monitoring_mode: 'auto_learn' })
      t.match((await tenant.ask('PATCH', path, threshold)).body.data, explicit, `PATCH ${input}`)
      const named = await tenant.ask('PATCH', path, { ...threshold, monitoring_mode: 'auto_learn' })
      t.match(named.body.data, { monitoring_mode: 'auto_learn' }, 'a mode that is given is kept')
    }
  }
})

t.test('a duration is stored and shown without leading zeros', async t => {
  const { source, watch, freshness } = await world(t, two)
  const made = await watch('a', { sla_threshold: '01h', check_interval: '0015m' })
  t.has(made, { sla_threshold: '1h', check_interval: '15m', expected_interval_hours: 1 })
  t.has((await freshness('a')).data, { sla_threshold: '1h' })
  const patched = await tenant.ask('PATCH', `${SCHEDULES}/${made.id}`, { sla_threshold: '090m' })
  t.has(patched.body.data, { sla_threshold: '90m' })
  const changed = await tenant.ask('PATCH', `${SOURCES}/${source.id}`, {
    freshness_defaults: { sla_threshold: '007d', check_interval: '01h' },
  })
  t.has(changed.body.data.freshness_defaults, { sla_threshold: '7d', check_interval: '1h' })
  t.equal((await tenant.ask('PATCH', `${SCHEDULES}/${made.id}`, { sla_threshold: '00h' })).status, 400)
})

t.test('a schedule of a table without a signal is created with a warning', async t => {
  const { source, watch } = await world(
    t,
    'create table bare (id int); create view seen as select id from bare; create table timed (id int, updated_at date)',
  )
  const warning = (table: string) =>
    new RegExp(
      `^Nothing shows when ${source.name}\\..*\\.public\\.${table} was updated: .*freshness_column or freshness_expression`,
    )
  const bare = await watch('bare', { sla_threshold: '24h' })
  t.match(bare.warnings, [warning('bare')])
  t.equal(bare.warnings.length, 1)
  t.match((await watch('seen', {})).warnings, [warning('seen')])
  t.same((await watch('timed', {})).warnings, [])
  const warningsAfter = async (patch: object) => {
    const reply = await tenant.ask('PATCH', `${SCHEDULES}/${bare.id}`, patch)
    return reply.body.data.warnings
  }
  t.match(await warningsAfter({ check_interval: '30m' }), [warning('bare')], 'while it applies')
  t.same(await warningsAfter({ freshness_column: 'id' }), [])
  t.match(await warningsAfter({ freshness_column: null }), [warning('bare')])
  const bulk = await tenant.ask('POST', `${SCHEDULES}/bulk`, { asset_id: source.id, dry_run: true })
  t.match(bulk.body.data, { existing: 3 })
})
