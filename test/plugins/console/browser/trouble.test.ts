/** The console in Chromium without its server, and without any data. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await tryConsole(stage)

async function tryConsole({ app, world, origin, openAs, ready, violationsOf }: Stage) {
  t.test('a server that is away is said to be, and a retry goes on', async t => {
    const { page } = await openAs(world.tenant, '/catalog')
    await ready(page)
    await page.context().setOffline(true)
    await page.locator('nav.screens a[href="/sources"]').click()
    await page.getByText('The server is away').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await ready(page)
    await page.context().setOffline(true)
    await page.locator('nav.screens a[href="/catalog"]').click()
    await page.getByText('The server did not answer').first().waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.getByRole('rowheader').first().waitFor()
    await page.context().close()
  })

  t.test('someone new is led to the first source', async t => {
    const { page } = await openAs(await app.signUp('Newcomers'))
    await page.getByText('No source is connected yet').waitFor()
    await page.getByRole('link', { name: 'Add a source' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    for (const path of ['/alerts', '/catalog', '/checks', '/sources', '/changes', '/routing']) {
      await page.goto(origin + path)
      await page.locator('.empty').first().waitFor()
      t.strictSame(await violationsOf(page), [], path)
    }
    await page.context().close()
  })
}
