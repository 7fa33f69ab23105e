import t from 'tap'
import { pastJob } from '../../../../plugins/freshness/past/past-job.ts'
import { startSource } from '../../../helpers/source.ts'
import { discoverJob } from '../../../../plugins/catalog/discovery/jobs.ts'
import { startStage } from './stage.ts'

const stage = await startStage(t)

if (stage) {
  const { app, world, openAs, ready } = stage
  const { tenant } = world
  const database = await startSource(t)
  await database.query(`create table loads (id int primary key, loaded_at timestamptz);
    insert into loads select n, now() - interval '20 minutes' - n * interval '1 day' from generate_series(0, 50) n;
    create table plain (id int); insert into plain values (1);
    create table fewer (id int, loaded_at timestamptz); insert into fewer values (1, now()), (2, now() - interval '1 day')`)
  const source = (
    await tenant.ask('POST', '/api/v1/sdk/assets', {
      name: 'known',
      source_type: 'postgresql',
      connection_config: database.config,
    })
  ).body.data
  const found = await tenant.ask('POST', `/api/v1/sdk/assets/${source.id}/discover`)
  await app.server.jobs.settled(discoverJob, data => data.run_id === found.body.data.job_id)
  const watch = async (table: string) => {
    await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', { asset_id: source.id, table_path: table })
    await app.server.jobs.settled(pastJob, data => data.source_id === source.id)
    app.server.jobs.forgetSettled()
    const metric = await tenant.ask('POST', `/api/v1/sdk/metrics/${source.id}`, {
      metric_type: 'row_count',
      table_path: table,
    })
    await tenant.ask('POST', `/api/v1/sdk/metrics/${source.id}/${metric.body.data.id}/capture`)
  }
  await watch('loads')
  // As after a week of row counts, when nothing is learning.
  await app.query(
    `update checks set is_learning = false where source_id = $1 and table_id in (select id from tables where name = 'loads')`,
    [source.id],
  )
  await watch('fewer')
  const pathOf = (table: string, tab = '') => `/tables/known.${database.name}.public.${table}${tab}`

  const folder = process.env.SCREENSHOTS
  if (folder)
    for (const width of [360, 1280])
      for (const colorScheme of ['light', 'dark'] as const)
        for (const [name, path] of [
          ['table', pathOf('loads')],
          ['fewer', pathOf('fewer')],
          ['plain', pathOf('plain')],
          ['freshness', pathOf('loads', '?tab=freshness')],
          ['learning', pathOf('fewer', '?tab=freshness')],
          ['unwatched', pathOf('plain', '?tab=freshness')],
          ['catalog', '/catalog'],
          ['overview', '/'],
          ['source', '/sources/known'],
        ] as const) {
          const { page } = await openAs(tenant, path, { viewport: { width, height: 900 }, colorScheme })
          await ready(page)
          await page.waitForTimeout(700)
          await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true })
          await page.context().close()
        }

  t.test('a table is called fine only where its freshness, volume and keys are known', async t => {
    const { page } = await openAs(tenant, pathOf('loads'))
    await ready(page)
    t.match(await page.locator('h1').innerText(), /loads is fine/)
    t.equal(await page.locator('h1 .shape.ok').count(), 1)
    await page.goto(new URL(pathOf('plain'), page.url()).href)
    await ready(page)
    t.match(
      await page.locator('h1').innerText(),
      /plain: no check watches it; freshness and volume are not watched/,
    )
    t.equal(await page.locator('h1 .shape.unknown').count(), 1)
    await page.goto(new URL(pathOf('fewer'), page.url()).href)
    await ready(page)
    t.match(await page.locator('h1').innerText(), /fewer: 1 learning; freshness is learning, 2 of 7 updates/)
  })

  t.test('a table that was just watched has a threshold, a chart and a clock', async t => {
    const { page } = await openAs(tenant, pathOf('loads', '?tab=freshness'))
    await ready(page)
    const text = await page.locator('#main').innerText()
    t.match(text, /51 updates/)
    t.notMatch(text, /Threshold[^\n]*\n–/)
    await page.getByRole('img', { name: /Time between .* updates/ }).waitFor()
  })

  t.test('the freshness of a table that is not watched asks for nothing that fails', async t => {
    const { page } = await openAs(tenant, pathOf('plain'))
    await ready(page)
    const failed: string[] = []
    page.on('response', reply => void (reply.status() >= 400 && failed.push(reply.url())))
    await page.goto(new URL(pathOf('plain', '?tab=freshness'), page.url()).href)
    await ready(page)
    t.match(await page.locator('#main').innerText(), /No freshness schedule watches this table/)
    t.same(failed, [])
  })
}
