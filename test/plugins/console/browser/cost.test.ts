/** What a source costs, in Chromium. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await showCosts(stage)

async function showCosts({ app, world, openAs, ready, violationsOf }: Stage) {
  const { tenant } = world

  t.test('a table shows what its last scan used', async t => {
    const { page } = await openAs(tenant, `/tables/${encodeURIComponent(world.table)}`)
    await ready(page)
    const fact = page.locator('.facts > div', { hasText: 'Last scan' })
    t.match(
      await fact.getByRole('link').getAttribute('title'),
      /5 checks, \d+ statements?, \d+ rows?, [\d.]+ s/,
    )
    await page.context().close()
  })

  t.test('a source shows its use by day and purpose, and its most expensive tables', async t => {
    const { page, faults } = await openAs(tenant, `/sources/${world.source}?tab=cost`)
    await ready(page)
    t.match(await page.locator('.costs > h2').first().innerText(), /^\d+ statements in 30 days$/)
    t.equal(await page.locator('.day-chart g').count(), 30)
    await page.getByRole('rowheader', { name: 'Discovery' }).waitFor()
    await page.getByText('The numbers by day').click()
    t.equal(await page.getByRole('region', { name: 'The numbers by day' }).locator('tbody tr').count(), 1)
    t.strictSame(await violationsOf(page), [])
    await page.getByLabel('Days').selectOption('7')
    await page.getByLabel('Measure').selectOption('rows')
    await page.getByText('Rows by day, UTC').waitFor()
    t.match(page.url(), /days=7.*measure=rows/)
    t.equal(await page.locator('.day-chart g').count(), 7)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('the checks of an expensive table are paused and resumed', async t => {
    const { page } = await openAs(tenant, `/sources/${world.source}?tab=cost`)
    await ready(page)
    const active = async () =>
      (await tenant.ask('GET', `/api/v1/sdk/checks/${world.table}?is_active=true`)).body.pagination.total
    const before = await active()
    t.ok(before > 1)
    await page.getByRole('button', { name: /^Pause its checks: .*orders$/ }).click()
    await page.getByText(new RegExp(`${before} checks of .*orders are paused`)).waitFor()
    t.equal(await active(), 0)
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('button', { name: /^Resume its checks: .*orders$/ }).click()
    await page.getByText(new RegExp(`${before} checks of .*orders run again`)).waitFor()
    t.equal(await active(), before)
    await page.context().close()
  })

  t.test('a viewer reads costs and pauses nothing; on a phone in the dark, too', async t => {
    await app.query(`update users set role = 'viewer' where email = $1`, [tenant.email])
    const { page } = await openAs(tenant, `/sources/${world.source}?tab=cost`, {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
    })
    await ready(page)
    await page.getByRole('link', { name: /orders$/ }).waitFor()
    t.equal(await page.getByRole('button', { name: /^Pause/ }).count(), 0)
    t.strictSame(await violationsOf(page), [])
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      true,
      'nothing is cut off',
    )
    await page.context().close()
  })
}
