/** The first paint of the console in Chromium: the server's frame, and that nothing moves afterwards. */
import t from 'tap'
import type { Page } from 'playwright-core'
import { startStage, type Stage } from './stage.ts'
import { untilIncident } from './world.ts'

/** A quarter of what web.dev calls good is the most that all moves of a page may come to. */
const MAX_SHIFT = 0.02
const WIDTHS = [360, 1280]

interface Shift {
  value: number
  moved: string[]
}

/** Adds up from the first paint on. Moves after a key or click count too: there are none here. */
const OBSERVER = `
  globalThis.shifts = []
  new PerformanceObserver(list => {
    for (const { value, sources } of list.getEntries())
      shifts.push({ value, moved: sources.map(({ node, previousRect: a, currentRect: b }) =>
        [node?.nodeName, node?.className, a.y, b.y, a.height, b.height].join(' ')) })
  }).observe({ type: 'layout-shift', buffered: true })
`
const FRAME = '.skip, .bar, .bar > *, .bar summary > *, .screens, .screens a, .screens .icon, #main'
const BOXES = `[...document.querySelectorAll('${FRAME}')].map(element => {
  const { x, y, width, height } = element.getBoundingClientRect()
  return [element.tagName, element.getAttribute('class'), x, y, width, element.id === 'main' ? 0 : height].join(' ')
})`

const stage = await startStage(t)
if (stage) await tryConsole(stage)

async function tryConsole({ app, world, origin, openAs, ready, violationsOf }: Stage) {
  const screens = {
    overview: '/',
    alerts: '/alerts',
    alert: `/alerts/${world.alertIds[0]}`,
    incident: `/incidents/${await untilIncident(world)}`,
    catalog: '/catalog',
    table: `/tables/${encodeURIComponent(world.table)}`,
    sources: '/sources',
    changes: '/changes',
  }
  await app.query(`update users set full_name = 'Ada <b>Lovelace</b>' where email = $1`, [world.tenant.email])

  for (const width of WIDTHS) {
    t.test(`nothing moves at ${width} px while a screen gets its data`, async t => {
      const { page } = await openAs(world.tenant, '/', { viewport: { width, height: 800 } })
      await page.addInitScript(OBSERVER)
      for (const [name, path] of Object.entries(screens)) {
        await page.goto(origin + path)
        await ready(page)
        await settle(page)
        const shifts = await page.evaluate<Shift[]>('shifts')
        const sum = shifts.reduce((sum, { value }) => sum + value, 0)
        t.ok(sum < MAX_SHIFT, `${name}: ${sum.toFixed(4)}`, { shifts })
        if (process.env.SHOW) console.log(name, JSON.stringify(shifts))
      }
      await page.context().close()
    })

    t.test(`the frame of the server stands where that of the script does, at ${width} px`, async t => {
      const { page } = await openAs(world.tenant, '/', { viewport: { width, height: 800 } })
      await ready(page)
      const { page: before } = { page: await page.context().newPage() }
      await before.route(/\/client\/main\.[tj]sx?$/, route => route.abort())
      for (const path of ['/', '/catalog']) {
        await page.goto(origin + path)
        await ready(page)
        await before.goto(origin + path)
        t.strictSame(await before.evaluate(BOXES), await page.evaluate(BOXES), path)
        t.equal(
          await before.locator('.bar summary').innerText(),
          await page.locator('.bar summary').innerText(),
        )
      }
      t.match(await before.locator('.bar summary').textContent(), 'Ada <b>Lovelace</b>', 'as text')
      t.strictSame(
        (await violationsOf(before)).filter(found => !/heading|region/.test(found)),
        [],
        'accessible before the script, but for its heading',
      )
      await page.context().close()
    })
  }

  t.test('without JavaScript the page says that it needs it', async t => {
    const { page } = await openAs(world.tenant)
    const storageState = await page.context().storageState()
    const context = await page.context().browser()!.newContext({ javaScriptEnabled: false, storageState })
    const other = await context.newPage()
    await other.goto(origin)
    const { y, height } = (await other.locator('.noscript').boundingBox())!
    t.ok(height > 0 && y < 100, 'above everything else')
    t.match(await other.content(), 'The console needs JavaScript')
    await context.close()
    await page.context().close()
  })
}

/** Waits until two pictures of the screen have been painted, so that moves of the last data are counted. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 150))))',
  )
}
