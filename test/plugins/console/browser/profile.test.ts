/** What the columns of a table hold, in Chromium. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await readProfiles(stage)

async function readProfiles({ world, openAs, ready, violationsOf }: Stage) {
  t.test('a profile shows what columns hold and what changed, and is made again by a button', async t => {
    const { page, faults } = await openAs(
      world.tenant,
      `/tables/${encodeURIComponent(world.table)}?tab=profile`,
    )
    await ready(page)
    const row = (name: string) => page.locator('.profile tbody tr', { hasText: name })
    t.equal(await page.getByRole('link', { name: /^Columns/ }).getAttribute('aria-current'), 'page')
    t.match(await row('email').innerText(), /email[\s\S]*1[01][\d.]* %/)
    await row('email').first().getByRole('button').click()
    t.match(await page.locator('.profile dl').innerText(), /Pattern\s+email/)
    t.strictSame(await violationsOf(page), [])
    await row('email').first().getByRole('button').click()
    t.match(await row('id').first().innerText(), /key/)
    await row('id').first().getByRole('button').click()
    await page.getByRole('link', { name: /unique\s+passing/ }).waitFor()
    await row('id').first().getByRole('button').click()
    t.match(await row('total').innerText(), /max 500 → 9,000/)
    t.match(await row('status').innerText(), /new values: lost/)
    await row('status')
      .getByRole('img', { name: /paid 99\.8 %/ })
      .waitFor()
    await page.getByLabel('Compare with').selectOption({ label: 'nothing' })
    await page.getByRole('columnheader', { name: 'Changed' }).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Profile now' }).focus()
    await page.keyboard.press('Enter')
    const earlier = page.locator('.profile-head option')
    await earlier.nth(2).waitFor({ state: 'attached' })
    t.match(await earlier.last().innerText(), 'nothing')
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a table without a profile says what one shows, and how to make it', async t => {
    const { page } = await openAs(
      world.tenant,
      `/tables/${encodeURIComponent(world.hostileTable)}?tab=profile`,
    )
    await ready(page)
    await page.getByText('This table was not profiled yet.').waitFor()
    await page.getByRole('button', { name: 'Profile now' }).click()
    await page.getByRole('columnheader', { name: 'Distribution' }).waitFor()
    t.equal(await page.evaluate('globalThis.isAttacked'), undefined)
    await page.context().close()
  })
}
