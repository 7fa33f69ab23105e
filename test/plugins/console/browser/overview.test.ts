/** The overviews of a company and of a source, in Chromium. */
import t from 'tap'
import type { Page } from 'playwright-core'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await showOverviews(stage)

async function showOverviews({ app, world, openAs, ready, violationsOf }: Stage) {
  const { tenant } = world
  await app.server.db.company(tenant.companyId, trx =>
    app.server.plugins.alerts.incidents.update(trx, world.alertIds),
  )
  const section = (page: Page, title: string) => page.locator('#main section', { hasText: title }).first()
  /** The number that the title of the list of alerts states. */
  const listed = async (page: Page) => {
    await page.waitForURL(/\/alerts\?/)
    await ready(page)
    return Number(/^\d+/.exec(await page.locator('h1').innerText())?.[0])
  }

  t.test('the overview answers with two requests, and shows the open incidents with their reach', async t => {
    const { page, faults } = await openAs(tenant)
    const asked: string[] = []
    page.on('request', request => {
      if (/\/api\/v1\/sdk\/health\//.test(request.url())) asked.push(request.url())
    })
    await page.reload()
    await ready(page)
    t.equal(asked.length, 2)
    const incidents = section(page, 'Open incidents')
    t.ok((await incidents.locator('tbody tr').count()) > 0)
    t.match(await incidents.innerText(), /\d tables?/)
    await incidents.locator('tbody a').first().click()
    await page.waitForURL(/\/incidents\//)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a bar leads to the alerts of its day, and a pill to the open ones that it counts', async t => {
    const { page } = await openAs(tenant)
    await ready(page)
    const bar = section(page, 'Alerts opened').locator('ol a').last()
    const label = String(await bar.getAttribute('aria-label'))
    const opened = [...label.replace(/^[^:]*:/, '').matchAll(/\d+/g)].reduce((sum, [n]) => sum + Number(n), 0)
    await bar.click()
    t.equal(await listed(page), opened)
    await page.getByRole('button', { name: /opened on/ }).click()
    t.notMatch(page.url(), /since|until/)
    await page.goBack()
    await page.goto(new URL('/', page.url()).href)
    await ready(page)
    const pill = section(page, 'What is open').locator('.open-pill').first()
    const count = Number(/\d+/.exec(await pill.innerText())?.[0])
    await pill.click()
    t.equal(await listed(page), count)
    await page.context().close()
  })

  t.test('the quality score is shown with its history, and help explains it', async t => {
    const { page } = await openAs(tenant)
    await ready(page)
    const score = section(page, 'Quality score')
    t.match(await score.innerText(), /[\d.]+ %\n.* watched tables? (has|have) an alert today/)
    t.equal(await score.locator('.score-line').count(), 1)
    t.match(
      await score.locator('a.help').getAttribute('href'),
      /\/guide\/coverage#overview-and-quality-score$/,
    )
    await page.context().close()
  })

  t.test('a source shows its state, discovery, coverage, cost and what is open, on a phone, too', async t => {
    for (const width of [360, 1280]) {
      const { page } = await openAs(tenant, `/sources/${world.source}`, { viewport: { width, height: 800 } })
      await ready(page)
      const facts = await page.locator('.source-facts').innerText()
      for (const fact of [
        'Connection',
        'Discovery',
        'Freshness',
        'Checks',
        'Open alerts',
        'Coverage',
        'Cost a day',
      ])
        t.match(facts, fact)
      await section(page, 'Open incidents').waitFor()
      await section(page, 'Schema changes to review').waitFor()
      t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
      t.strictSame(await violationsOf(page), [])
      await page.context().close()
    }
  })

  t.test('in a company without sources, empty lists say what to do next', async t => {
    const newcomer = await app.signUp('Empty')
    const { page } = await openAs(newcomer)
    for (const path of ['/', '/alerts', '/incidents', '/checks']) {
      await page.goto(new URL(path, page.url()).href)
      await page.getByText('No source is connected yet').waitFor()
      await page.getByRole('link', { name: 'Add a source' }).waitFor()
      t.equal(await page.getByText('Nothing is wrong').count(), 0, path)
      t.strictSame(await violationsOf(page), [], path)
    }
    await page.context().close()
  })
}
