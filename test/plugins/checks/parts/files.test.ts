/** Data files as a source: discovered, profiled and checked, and of those that did not change nothing is read again. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { profileJob } from '../../../../plugins/profiles/job.ts'
import { discover, makeStage } from '../../../helpers/world.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lake-')))
t.teardown(() => rmSync(folder, { recursive: true }))
const lake = join(folder, 'lake')
const stage = await makeStage(t, { settings: { FILE_SOURCES: folder } })
const { app, tenant } = stage
const instance = await DuckDBInstance.create(':memory:')
const writer = await instance.connect()

async function writeDay(day: number, rows: number): Promise<string> {
  const path = join(lake, `events/day=2024-01-0${day}/part-0.parquet`)
  mkdirSync(dirname(path), { recursive: true })
  // As a loader does it: a file has its name when it is whole.
  await writer.run(
    `copy (select range as id, 'user' || range || '@example.com' as email, range % 100 as amount from range(${rows}))
     to '${lake}/loading' (format parquet)`,
  )
  renameSync(join(lake, 'loading'), path)
  return path
}

async function addSource(path: string, name = 'lake') {
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name,
    source_type: 'duckdb',
    connection_config: { path },
  })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body.data as { id: string }
}

t.test('a folder of Parquet files, from discovery to the one file that is new', async t => {
  for (const day of [1, 2, 3, 4]) await writeDay(day, day * 1000)
  const asset = await addSource(lake)
  const world = { ...stage, asset }
  const tested = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`)
  t.match(tested.body.data, { success: true }, JSON.stringify(tested.body))
  t.match(await discover(world), { status: 'completed' })
  const [table] = await app.query(
    'select id, kind, estimated_rows as rows from tables where source_id = $1',
    [asset.id],
  )
  t.match(table, { kind: 'external_table', rows: '10000' })
  const tableId = String(table?.id)

  const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${tableId}/profile`)
  await app.server.jobs.settled(profileJob, data => data.run_id === asked.body.data.job_id)
  const [profile] = await app.query('select row_count as rows from profiles where table_id = $1', [tableId])
  t.match(profile, { rows: '10000' })

  const make = async (path: string, body: object) => {
    const made = await tenant.ask('POST', `/api/v1/sdk/${path}`, body)
    t.equal(made.status, 201, JSON.stringify(made.body))
    return made.body.data
  }
  const of = { table_path: 'lake.events' }
  await make(`metrics/${asset.id}`, { ...of, metric_type: 'row_count' })
  await make(`metrics/${asset.id}`, { ...of, metric_type: 'sum', column_name: 'amount' })
  await make(`metrics/${asset.id}`, { ...of, metric_type: 'distinct_count', column_name: 'id' })
  await make(`validity/${asset.id}`, {
    ...of,
    rule_type: 'RANGE',
    column_name: 'amount',
    rule_config: { max: 89 },
    name: 'amount',
  })
  const run = async () =>
    app.server.plugins.checks.checkAsset(
      { companyId: tenant.companyId, sourceId: asset.id, tableId },
      { signal: AbortSignal.timeout(30_000) },
    )
  const numbers = () =>
    app.query(
      `select distinct on (c.id) c.type, r.value, r.details ->> 'invalidCount' as invalid
       from checks c join check_results r on r.check_id = c.id and r.company_id = c.company_id
       where c.source_id = $1 and c.kind in ('metric', 'validity') order by c.id, r.at desc, r.id desc`,
      [asset.id],
    )
  const patched = await tenant.ask('PATCH', `/api/v1/sdk/assets/${tableId}/parts`, { reads: 'changed' })
  t.match(patched.body.data ?? patched.body, { is_supported: true, reads: 'changed' })
  t.strictSame((await run())?.parts, { total: 4, read: 4, rows_read: 10_000, rows_known: 0 })
  t.match(await numbers(), [
    { type: 'row_count', value: 10_000 },
    { type: 'sum', value: 495_000 },
    { type: 'distinct_count', value: 4000 },
    { type: 'RANGE', invalid: '1000' },
  ])
  const added = await writeDay(5, 500)
  t.strictSame(
    (await run())?.parts,
    { total: 5, read: 1, rows_read: 500, rows_known: 10_000 },
    'one file is read',
  )
  t.match(await numbers(), [
    { type: 'row_count', value: 10_500 },
    { type: 'sum', value: 519_750 },
    { type: 'distinct_count', value: 4000 },
    { type: 'RANGE', invalid: '1050' },
  ])

  const scheduled = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: asset.id,
    ...of,
    freshness_signal: 'last_modified',
    monitoring_mode: 'explicit',
    sla_threshold: '10h',
  })
  t.equal(scheduled.status, 201, JSON.stringify(scheduled.body))

  const whole = readFileSync(added)
  writeFileSync(added, whole.subarray(0, 700))
  t.match(await discover(world), { status: 'completed' })
  const [kept] = await app.query('select is_active as active from tables where id = $1', [tableId])
  t.same(kept, { active: true }, 'a file that is half written takes nothing away')
  const shown = await tenant.ask('GET', `/api/v1/sdk/assets/${tableId}`)
  t.equal(shown.body.data.columns.length, 4)
  writeFileSync(added, whole)
})

t.test('a database that is being written is busy: no outage, and no alert', async t => {
  const path = join(folder, 'busy.duckdb')
  const other = await DuckDBInstance.create(path)
  const holder = await other.connect()
  await holder.run('create table t as select 1 as a')
  const asset = await addSource(path, 'busy')
  const world = { ...stage, asset }
  const run = await discover(world)
  t.match(run, { status: 'failed', error: { code: 'busy', message: /open for writing/ } })
  const [source] = await app.query(
    'select connection_status as status, retry_at as retry from sources where id = $1',
    [asset.id],
  )
  t.match(source, { status: 'untested', retry: Date }, 'it is tried again')
  t.same(await app.query('select title from alerts where source_id = $1', [asset.id]), [])
  holder.closeSync()
  other.closeSync()
  t.match(await discover(world), { status: 'completed' })
})
