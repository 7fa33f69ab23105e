/** Profiles of tables with a window: of the last buckets, not of all rows. */
import t from 'tap'
import { profileTable } from '../../../plugins/profiles/measure.ts'
import { windowRows } from '../../../plugins/profiles/window.ts'
import type { TableContext } from '../../../plugins/catalog/api.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { profileJob } from '../../../plugins/profiles/job.ts'
import { startWorlds } from '../freshness/worlds.ts'

const { server, tenant, query, world } = await startWorlds(t)

const DAY_MS = 86_400_000

const EVENTS = `
  create table events (id int, at timestamp, kind text);
  insert into events select n, date_trunc('day', now() at time zone 'UTC') - n * interval '12 hours', 'view'
    from generate_series(1, 100) n`

t.test(
  'a table with a default window is profiled by its last seven days, and the reply says which',
  async t => {
    const { source, database } = await world(t, EVENTS)
    const [{ id } = {}] = await query(`select id from tables where source_id = $1 and name = 'events'`, [
      source.id,
    ])
    const path = `/api/v1/sdk/assets/${String(id)}`
    await tenant.ask('PATCH', path, { default_window: { time_column: 'at', window: '1d' } })
    const asked = await tenant.ask('POST', `${path}/profile`, null)
    await server.jobs.settled(profileJob, data => data.run_id === asked.body.data.job_id)
    const job = (await tenant.ask('GET', `/api/v1/sdk/jobs/${asked.body.data.job_id}`)).body.data
    t.match(job.result.findings[0].message, /^3 columns of 14 rows from /)

    const { body } = await tenant.ask('GET', `${path}/profile`)
    const { profiled_window: window, ...profile } = body.data
    t.match(window, { time_column: 'at', window: '1d' })
    const [today] = await database.query(
      `select date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' as day`,
    )
    t.equal(window.end, (today?.day as Date).toISOString())
    t.equal(Date.parse(window.end) - Date.parse(window.start), 7 * DAY_MS)
    t.match(profile, { profiled_rows: 14, is_sampled: true, is_row_count_exact: false })
    const [ids] = profile.columns
    t.match(ids, { count: 14, min: '1', max: '14' })
    t.match(profile.columns[2].top_values, [{ value: 'view', count: 14 }])
  },
)

t.test('a table that requires a condition on its partitions is profiled by them', async t => {
  const { source } = await world(t, EVENTS)
  const [{ id } = {}] = await query(`select id from tables where source_id = $1 and name = 'events'`, [
    source.id,
  ])
  const partitioning = { columns: [{ name: 'at', method: 'time' }], clustering: [], requiresFilter: true }
  await query('update tables set partitioning = $2 where id = $1', [id, partitioning])
  const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${String(id)}/profile`, null)
  await server.jobs.settled(profileJob, data => data.run_id === asked.body.data.job_id)
  const { body } = await tenant.ask('GET', `/api/v1/sdk/assets/${String(id)}/profile`)
  t.match(body.data, { profiled_rows: 14, profiled_window: { time_column: 'at' } })
})

t.test('a sample of a window is taken so that the engine still reads its partitions only', async t => {
  const { source } = await world(t, EVENTS)
  const catalog = server.plugins.catalog
  const [{ id, companyId } = {}] = await query(
    `select id, company_id as "companyId" from tables where source_id = $1 and name = 'events'`,
    [source.id],
  )
  const loaded = (await server.db.company(String(companyId), trx =>
    catalog.loadTable(trx, String(id)),
  )) as TableContext
  const window = { time_column: 'at', window: '1d', window_delay: null }
  const moment = { timezone: 'UTC', now: new Date() }
  const rows = windowRows(catalog, loaded, window, moment)!
  const text = (sample?: { fraction: number; byRow: boolean }) =>
    postgresql.dialect.render(rows.from(sample)).text
  t.match(
    text(),
    /^\(select \* from "public"\."events" where "at" >= '.*' and "at" < '.*'\) tidemark_window$/,
  )
  t.match(
    text({ fraction: 0.5, byRow: false }),
    /^\(select \* from "public"\."events" tablesample system \(.*\) repeatable \(1\) where "at" >= .*\) tidemark_window$/,
  )
  const other = { ...catalog, connectorOf: () => server.connectors.get('databricks') }
  const [first] = windowRows(other, loaded, window, moment)!
    .from({ fraction: 0.5, byRow: false })
    .render(() => '?')
    .text.split(' where ')
  t.match(first, /tablesample \(.* percent\)$/, 'on engines that write it behind a name')

  const measured = await catalog.withConnection(
    loaded.source,
    connection =>
      profileTable(connection, postgresql, catalog.tableInfo(loaded.table), {
        masked: new Set(),
        showsValues: true,
        rowLimit: 5,
        timeoutMs: 10_000,
        window: rows,
      }),
    { purpose: 'profile', timeoutMs: 10_000 },
  )
  t.match(measured, { isSampled: true, profiledWindow: { window: '1d' } }, 'beyond the row limit')
  t.ok(measured.profiledRows <= 14)
})
