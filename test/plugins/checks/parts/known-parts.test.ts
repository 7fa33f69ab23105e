/** Large tables are not read again where they did not change, from one scan to the next, and what is kept is verified. */
import t, { type Test } from 'tap'
import type { AssetCheckResult } from '../../../../plugins/checks/types.ts'
import { logPostgresql } from '../../../helpers/statement-log.ts'
import { discover, makeStage, makeWorldOn, type World } from '../../../helpers/world.ts'

const stage = await makeStage(t)

const EVENTS = [
  `create table events (id int, day int, amount int) partition by list (day)`,
  ...[1, 2, 3].map(day => `create table events_${day} partition of events for values in (${day})`),
  `insert into events select n, 1 + n % 3, n from generate_series(1, 300) n`,
]

interface Monitored extends World {
  tableId: string
  run(): Promise<Pick<AssetCheckResult, 'parts'>>
  change(...statements: string[]): Promise<void>
  parts(patch?: object): Promise<Record<string, unknown>>
}

async function makeEvents(t: Test, statements = EVENTS): Promise<Monitored> {
  const world = await makeWorldOn(t, stage, statements)
  const { app, tenant, asset, source } = world
  await source.query('select pg_stat_force_next_flush()')
  await discover(world)
  const [table] = await app.query(`select id from tables where source_id = $1 and name = 'events'`, [
    asset.id,
  ])
  const tableId = String(table?.id)
  const make = async (path: string, body: object) => {
    const made = await tenant.ask('POST', `/api/v1/sdk/${path}/${asset.id}`, {
      table_path: 'public.events',
      ...body,
    })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  }
  await make('metrics', { metric_type: 'row_count' })
  await make('metrics', { metric_type: 'sum', column_name: 'amount' })
  await make('validity', {
    rule_type: 'RANGE',
    column_name: 'amount',
    rule_config: { max: 299 },
    name: 'range',
  })
  const path = `/api/v1/sdk/assets/${tableId}/parts`
  return {
    ...world,
    tableId,
    async run() {
      const found = await app.server.plugins.checks.checkAsset(
        { companyId: tenant.companyId, sourceId: asset.id, tableId },
        { signal: AbortSignal.timeout(30_000) },
      )
      return found!
    },
    async change(...changes) {
      for (const statement of changes) await source.query(statement)
      await source.query('select pg_stat_force_next_flush()')
    },
    async parts(patch) {
      const replied = patch ? await tenant.ask('PATCH', path, patch) : await tenant.ask('GET', path)
      return replied.body.data ?? replied.body
    },
  }
}

const numbers = ({ app }: Monitored) =>
  app.query(
    `select distinct on (c.id) c.type, r.value, r.total_rows as total, r.details ->> 'invalidCount' as invalid
     from checks c join check_results r on r.check_id = c.id and r.company_id = c.company_id
     where c.source_id = (select max(s.id::text)::uuid from sources s where s.name = 'shop' and s.company_id = c.company_id)
     order by c.id, r.at desc, r.id desc`,
  )

t.test('a table is read by parts when asked for, and the reply says what was read', async t => {
  const events = await makeEvents(t)
  t.equal((await events.run()).parts, null, 'a small table is read whole')
  t.match(await events.parts(), { reads: 'auto', is_supported: true, known_parts: 0, differed_at: null })
  t.match(await events.parts({ reads: 'changed' }), { reads: 'changed', rescan_days: null })
  t.strictSame((await events.run()).parts, { total: 3, read: 3, rows_read: 300, rows_known: 0 })
  t.match(await events.parts(), { known_parts: 3, known_rows: 300 })
  await events.change('insert into events values (301, 2, 500)')
  const log = await logPostgresql(events.source)
  t.strictSame((await events.run()).parts, { total: 3, read: 1, rows_read: 101, rows_known: 200 })
  const read = (await log.take()).statements.filter(({ text }) => text.includes('from only'))
  t.equal(read.length, 1)
  t.notMatch(read[0]?.text, /events_[13]/)
  t.match(await numbers(events), [
    { type: 'row_count', value: 301 },
    { type: 'sum', value: 45_650 },
    { type: 'RANGE', total: '301', invalid: '2' },
  ])
  const { last_scan: last } = (await events.tenant.ask('GET', `/api/v1/sdk/assets/${events.tableId}`)).body
    .data
  t.strictSame(last.parts, { total: 3, read: 1, rows_read: 101, rows_known: 200 })
  const costs = await events.tenant.ask('GET', `/api/v1/sdk/usage/tables?asset_id=${events.tableId}`)
  t.strictSame(costs.body.data.items[0].parts, { total: 6, read: 4, rows_read: 401, rows_known: 200 })
})

t.test('a partition that is gone is forgotten', async t => {
  const events = await makeEvents(t)
  await events.parts({ reads: 'changed' })
  await events.run()
  await events.change('drop table events_2')
  t.match((await events.run()).parts, { total: 2, read: 0, rows_known: 200 })
  t.match(await events.parts(), { known_parts: 2, known_rows: 200 })
})

t.test('the check of a single rule keeps the numbers of the others', async t => {
  const events = await makeEvents(t)
  await events.parts({ reads: 'changed' })
  await events.run()
  const { asset, tenant } = events
  const [rule] = (await tenant.ask('GET', `/api/v1/sdk/validity/${asset.id}`)).body.data.items
  const checked = await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}/${rule.uuid}/check`)
  t.match(checked, { status: 200, body: { data: { parts: { total: 3, read: 0, rows_known: 300 } } } })
  t.match((await events.run()).parts, { read: 0, rows_known: 300 })
})

async function plant({ app, tableId }: Monitored) {
  await app.query(
    `update table_parts set states = (select jsonb_object_agg(key, jsonb_build_array(77, 0)) from jsonb_each(states))
     where table_id = $1 and part = 'public.events_1'`,
    [tableId],
  )
}

t.test(
  'a number that differs at the same version ends reading by parts, once the source had time to count',
  async t => {
    const events = await makeEvents(t)
    const { app, tenant, tableId } = events
    await events.parts({ reads: 'changed', rescan_days: 1 })
    await events.run()
    await plant(events)
    t.match((await events.run()).parts, { read: 1 }, 'old numbers are read again')
    t.match((await numbers(events))[0], { value: 300 }, 'and what was read counts')
    t.match(await events.parts(), { reads: 'changed', differed_at: null }, 'a change may not be counted yet')
    await app.query(
      `update table_parts set differed_at = differed_at - interval '3 minutes' where table_id = $1`,
      [tableId],
    )
    await events.run()
    t.match(await events.parts(), {
      reads: 'whole',
      differed_at: /^\d{4}/,
      differed_parts: ['public.events_1'],
      known_parts: 0,
    })
    const alerts = async () =>
      (await tenant.ask('GET', '/api/v1/sdk/alerts?event_type=part_mismatch&status=triggered')).body.data.data
    t.match(await alerts(), [
      { message: /^events: rows changed in 1 partition that the source reported unchanged/ },
    ])
    t.match(
      (await app.server.telemetry.expose()).text,
      /tidemark_part_mismatches_total\{engine="postgresql"\} 1/,
    )
    t.equal((await events.run()).parts, null, 'all is read each time')
    t.match(await events.parts({ reads: 'changed' }), {
      reads: 'changed',
      differed_at: null,
      differed_parts: [],
    })
    t.strictSame(await alerts(), [], 'the alert is over')
    t.match((await events.run()).parts, { read: 3 }, 'and everything is read anew')
  },
)

t.test('a difference that a late count explains is none', async t => {
  const events = await makeEvents(t)
  await events.parts({ reads: 'changed' })
  await events.run()
  await plant(events)
  await events.run()
  await events.app.query(`update table_parts set differed_at = differed_at - interval '3 minutes'`)
  await events.change('update events_1 set amount = amount')
  await events.run()
  t.match(await events.parts(), { reads: 'changed', differed_at: null })
  await events.run()
  t.match(await events.parts(), { reads: 'changed', differed_at: null })
})

t.test('two scans at once store no mix of two versions', async t => {
  const events = await makeEvents(t)
  await events.parts({ reads: 'changed' })
  await events.run()
  for (let round = 0; round < 5; round += 1) {
    const writing = events.change(`insert into events select n, 1 + n % 3, 1 from generate_series(1, 30) n`)
    await Promise.all([events.run(), writing, events.run()])
    await events.run()
    const [count] = await numbers(events)
    t.equal(count?.value, 300 + 30 * (round + 1))
  }
})

t.test('a company sees and sets nothing of the tables of another', async t => {
  const events = await makeEvents(t)
  await events.parts({ reads: 'changed' })
  await events.run()
  const other = await stage.app.signUp()
  const path = `/api/v1/sdk/assets/${events.tableId}/parts`
  t.equal((await other.ask('GET', path)).status, 404)
  t.equal((await other.ask('PATCH', path, { reads: 'whole' })).status, 404)
  const seen = await stage.app.server.db.company(other.companyId, trx =>
    trx.raw('select (select count(*) from table_parts) + (select count(*) from table_part_settings) as n'),
  )
  t.equal(Number(seen.rows[0].n), 0)
  t.match(await events.parts(), { reads: 'changed', known_parts: 3 })
})

t.test('a table as large as the setting says is read by parts without being asked', async t => {
  const large = await makeStage(t, { settings: { PARTS_FROM_ROWS: '300' } })
  const world = await makeWorldOn(t, large, [...EVENTS, 'analyze events'])
  await discover(world)
  const { asset, tenant, app } = world
  await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}`, {
    table_path: 'public.events',
    metric_type: 'row_count',
  })
  const run = () =>
    app.server.plugins.checks.checkAsset(
      { companyId: tenant.companyId, sourceId: asset.id },
      { signal: AbortSignal.timeout(30_000) },
    )
  t.match(await run(), { parts: { total: 3, read: 3 } })
  t.match(await run(), { parts: { total: 3, read: 0 } })
})
