/**
 * The pictures of the documentation, made of the demo. `PICTURES=write` writes them anew, after a change of what they show.
 */
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { pageNames } from '../../../../plugins/public/doc-pages.ts'
import { PICTURE_SIZE } from '../../../../plugins/public/docs-site.ts'
import { packageRoot } from '../../../../server/settings/config.ts'
import { pageText } from '../../public/docs-blocks.ts'
import { startStage } from './stage.ts'

const FOLDER = join(packageRoot, 'plugins/public/docs/pictures')
const MAX_BYTES = 80_000
const QUALITY = 50

const printed: string[] = []
const stage = await startStage(t, {
  settings: { DATA_DIR: t.testdir({ demo: {} }) },
  before: ({ server }) => server.plugins.demo.runDemo(line => printed.push(line)),
})
if (stage) await takePictures(stage)

async function takePictures({ app, openAs, ready }: NonNullable<typeof stage>) {
  const [, email = ''] = /^sign-in: (\S+)/m.exec(printed.join('\n')) ?? []
  const [source] = await app.query(`select company_id from sources where name = 'demo_shop'`)
  const [alert] = await app.query(
    `select id from alerts where title like '%partner_imports%' and kind = 'metric_anomaly' order by created_at limit 1`,
  )
  const [incident] = await app.query(
    `select i.incident_id as id from incident_alerts i where i.alert_id = $1`,
    [alert?.id],
  )
  /** By the name of the file. */
  const screens: Record<string, string> = {
    overview: '/',
    incident: `/incidents/${String(incident?.id)}`,
    alert: `/alerts/${String(alert?.id)}`,
    table: '/tables/demo_shop.main.main.orders',
    lineage: '/tables/demo_shop.main.main.orders?tab=lineage',
    checks: '/checks',
    watch: '/sources/demo_shop?tab=watch',
    routing: '/routing',
  }
  const user = { companyId: String(source?.company_id), email }
  const { page, faults } = await openAs(user, '/', { viewport: PICTURE_SIZE, colorScheme: 'light' })
  const devtools = await page.context().newCDPSession(page)

  for (const [name, path] of Object.entries(screens)) {
    t.test(`the picture ${name} is of a screen that opens without a fault`, async t => {
      await page.goto(new URL(path, page.url()).href)
      await ready(page)
      await page.waitForLoadState('networkidle')
      const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
      const picture = Buffer.from(data, 'base64')
      t.ok(picture.length < MAX_BYTES, `${picture.length} bytes`)
      t.strictSame(faults, { errors: [], elsewhere: [] })
      if (process.env.PICTURES === 'write') await writeFile(join(FOLDER, `${name}.webp`), picture)
    })
  }

  t.test('each picture is shown on a page, and no page shows another', async t => {
    const shown = pageNames.flatMap(name =>
      [...pageText(name).matchAll(/!\[[^\]]+\]\(pictures\/([a-z]+\.webp)\)/g)].map(match => match[1]),
    )
    const made = Object.keys(screens).map(name => `${name}.webp`)
    t.strictSame([...new Set(shown)].sort(), made.toSorted())
    t.strictSame((await readdir(FOLDER)).sort(), made.toSorted())
  })
}
