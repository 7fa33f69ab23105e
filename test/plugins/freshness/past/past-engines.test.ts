import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { pastJob } from '../../../../plugins/freshness/past/past-job.ts'
import { startWorlds } from '../worlds.ts'

const folder = await mkdtemp(join(tmpdir(), 'tidemark-past-'))
t.teardown(() => rm(folder, { recursive: true }))
const { server, tenant, addSource } = await startWorlds(t, { settings: { FILE_SOURCES: folder } })

t.test('the past of a file of SQLite is read, of timestamps and of dates', async t => {
  const path = join(folder, 'shop.db')
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  database.exec(`create table orders (id integer, loaded_at timestamp, day date)`)
  const insert = database.prepare(`insert into orders values (?, datetime('now', ?), date('now', ?))`)
  for (let n = 0; n < 30; n++) insert.run(n, `-${n * 24 + 1} hours`, `-${n} days`)
  const source = await addSource('sqlite', { path })
  const detail = async () =>
    (await tenant.ask('GET', `/api/v1/sdk/freshness/${source.name}.main.main.orders?clock_timezone=UTC`)).body
      .data
  const made = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: source.id,
    table_path: 'orders',
    freshness_column: 'loaded_at',
  })
  const settled = () => server.jobs.settled(pastJob, data => data.source_id === source.id)
  await settled()
  t.match(await detail(), { learning: null, status: 'fresh', update_clock: { updates: 30 } })
  server.jobs.forgetSettled()
  const day = { freshness_column: 'day' }
  await tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${made.body.data.id}`, day)
  await settled()
  const found = await detail()
  t.match(found, { learning: null, status: 'fresh', update_clock: { updates: 30 } })
  t.ok(found.staleness_threshold_hours >= 48, 'the data of a day may come until the day after')
})
