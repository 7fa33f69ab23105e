/** What of a table is shown to people without an account, in Chromium. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await shareTables(stage)

async function shareTables({ app, world, origin, open, openAs, ready, violationsOf }: Stage) {
  const address = `/tables/${encodeURIComponent(world.table)}`

  t.test('a badge is made, shown and revoked', async t => {
    const { page, faults } = await openAs(world.tenant, address)
    await ready(page)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = page.locator('dialog')
    await dialog.getByLabel('Text on the left').fill('orders "now"')
    await dialog.getByRole('button', { name: 'Create a badge' }).click()
    const picture = dialog.locator('img')
    await picture.waitFor()
    t.match(await picture.getAttribute('alt'), /^orders "now": (passing|failing)$/)
    t.match(await dialog.locator('code').innerText(), /^!\[orders "now"\]\(http.*\.svg\)$/)
    await dialog.getByRole('button', { name: 'Copy HTML' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    await dialog.getByRole('button', { name: 'Revoke: orders "now"' }).click()
    await page.getByText('The badge was revoked').waitFor()
    await picture.waitFor({ state: 'hidden' })
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a link shows a chart to a stranger until it is revoked', async t => {
    const { page } = await openAs(world.tenant, address)
    await ready(page)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = page.locator('dialog')
    await dialog.getByLabel(/^Check/).selectOption({ label: 'Row count of orders' })
    await dialog.getByRole('button', { name: 'Create a link' }).click()
    await dialog.getByText('Copy the link now').waitFor()
    const url = await dialog.locator('.shared code').innerText()
    t.strictSame(await violationsOf(page), [])

    for (const options of [{}, { viewport: { width: 360, height: 740 }, colorScheme: 'dark' as const }]) {
      const stranger = await open(options)
      await stranger.page.goto(origin + new URL(url).pathname)
      await stranger.page.getByRole('heading', { name: /row_count on orders/ }).waitFor()
      await stranger.page.locator('path.band').waitFor()
      await stranger.page.getByText('The numbers').click()
      t.strictSame(await violationsOf(stranger.page), [])
      t.equal(await stranger.page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
      t.strictSame(stranger.faults, { errors: [], elsewhere: [] })
      await stranger.page.context().close()
    }

    await dialog.getByRole('button', { name: /^Revoke: Row count/ }).click()
    await page.getByText('The link was revoked').waitFor()
    t.equal((await app.server.inject(new URL(url).pathname)).statusCode, 404)
    await page.context().close()
  })
}
