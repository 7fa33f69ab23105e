/** Alerts and schema changes of the console in Chromium. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Request } from '@hapi/hapi'
import t from 'tap'
import { startStage, type Stage } from './stage.ts'
import { addLineage } from './world.ts'

const stage = await startStage(t)
if (stage) await tryConsole(stage)

async function tryConsole({ app, world, origin, openAs, ready, untilCount, violationsOf }: Stage) {
  t.test('alerts are triaged by keyboard', async t => {
    const { page } = await openAs(world.tenant, '/alerts')
    await ready(page)
    const statusOf = async (id: string) =>
      (await app.query('select status from alerts where id = $1', [id]))[0]?.status
    await page.keyboard.press('j')
    const first = new URL(page.url()).pathname.split('/')[2]!
    t.equal(await page.locator('article h2').count(), 1)
    await page.keyboard.press('a')
    await page.getByText('1 alert acknowledged.').waitFor()
    t.equal(await statusOf(first), 'acknowledged')
    await page.keyboard.press('j')
    const second = new URL(page.url()).pathname.split('/')[2]!
    t.not(second, first)
    await page.keyboard.press('s')
    await page.getByLabel('4 hours').check()
    await page.locator('dialog').getByRole('button', { name: 'Snooze' }).click()
    await page.getByText('1 alert snoozed.').waitFor()
    t.equal(await statusOf(second), 'snoozed')
    await page.keyboard.press('j')
    const third = new URL(page.url()).pathname.split('/')[2]!
    await page.keyboard.press('e')
    await page.locator('dialog textarea').fill('Reverted the release')
    await page.locator('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('1 alert resolved.').waitFor()
    t.equal(await statusOf(third), 'resolved')
    await page.getByText('Reverted the release').waitFor()
    await page.keyboard.press('Escape')
    t.match(page.url(), /\/alerts$/)
    await page.context().close()
  })

  t.test('an alert is explained without a click', async t => {
    await addLineage(app, world)
    await world.tenant.ask('PUT', '/api/v1/sdk/owners', {
      asset_id: world.table,
      owners: ['kim@example.com'],
    })
    const { body } = await world.tenant.ask(
      'GET',
      '/api/v1/sdk/alerts?event_type=validity_failure&search=total&limit=1',
    )
    const { id, title } = body.data.data[0]
    const { page } = await openAs(world.tenant, `/alerts/${id}`)
    await ready(page)
    const panel = page.locator('article')
    await panel.getByRole('heading', { name: title }).waitFor()
    for (const text of ['Last good value', /upstream/, 'Affected downstream', 'kim@example.com', 'Comment'])
      await panel.getByText(text).first().waitFor()
    await panel.getByRole('link', { name: 'recent' }).waitFor()
    await panel.getByRole('link', { name: 'Revenue' }).waitFor()
    await panel.getByLabel('Comment').fill('The loader is late')
    await panel.getByRole('button', { name: 'Add comment' }).click()
    await panel.locator('.timeline').getByText('The loader is late').waitFor()
    await panel.getByRole('button', { name: 'Check again and show invalid rows' }).click()
    await panel.getByRole('columnheader', { name: 'created_at' }).waitFor()
    await panel.getByText('SQL', { exact: true }).click()
    await panel.getByRole('button', { name: 'Copy SQL' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.context().close()
  })

  t.test('several alerts are changed at once, and filters stand in the address', async t => {
    const { page } = await openAs(world.tenant, '/alerts?severity=warning')
    await ready(page)
    const boxes = page.locator('.group input[type=checkbox]')
    const count = await boxes.count()
    t.ok(count >= 2)
    for (let n = 0; n < 2; n++) await boxes.nth(n).check()
    await page.locator('.bulk').getByRole('button', { name: 'Dismiss as expected' }).click()
    await page.locator('dialog').getByRole('button', { name: 'Dismiss as expected' }).click()
    await page.getByText('2 alerts dismissed.').waitFor()
    const dismissed = await app.query(`select reason from alert_history where to_status = 'dismissed'`)
    t.strictSame(
      dismissed,
      [{ reason: 'expected' }, { reason: 'expected' }],
      'so that learned bands include the values',
    )
    await page.getByLabel('Search alerts').fill('no such alert')
    await page.waitForURL(/search=no/)
    await page.getByText('No alert matches').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await ready(page)
    t.notMatch(page.url(), /search|severity/)
    await page.context().close()
  })

  t.test('a new alert is announced, and moves nothing', async t => {
    const { page } = await openAs(world.tenant, '/alerts')
    await page.clock.install()
    await page.reload()
    await ready(page)
    const before = await page.locator('.group li').count()
    await world.raiseAlert()
    await page.clock.fastForward(31_000)
    await page.getByRole('button', { name: 'Show 1 new alert' }).waitFor()
    t.equal(await page.locator('.group li').count(), before)
    await page.getByRole('button', { name: 'Show 1 new alert' }).click()
    await untilCount(page, '.group li', count => count > before)
    await page.context().close()
  })

  t.test(
    'an open page polls with one request, which is 304 without news, and a hidden page does not',
    async t => {
      const { page } = await openAs(world.tenant, '/alerts')
      await page.clock.install()
      await page.reload()
      await ready(page)
      // The server reports a reply after the page has it: those of the first load must not be counted.
      await page.waitForLoadState('networkidle')
      const statuses: number[] = []
      const note = ({ path, response }: Request) => {
        if (path.startsWith('/api/') && 'statusCode' in response) statuses.push(response.statusCode)
      }
      app.server.events.on('response', note)
      const isPolled = async (count: number) => {
        for (let n = 0; n < 200 && statuses.length < count; n++) await wait(25)
        return statuses
      }
      await page.clock.fastForward(31_000)
      t.strictSame(await isPolled(1), [304])
      const show = (state: string) =>
        page.evaluate(
          `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
         document.dispatchEvent(new Event('visibilitychange'))`,
        )
      await show('hidden')
      await page.clock.fastForward(300_000)
      await wait(300)
      t.strictSame(statuses, [304], 'hidden')
      await show('visible')
      t.strictSame(await isPolled(2), [304, 304], 'at once when it is seen again')
      app.server.events.removeListener('response', note)
      await page.context().close()
    },
  )

  t.test('the palette finds a table by its name, a column, and a screen', async t => {
    const { page } = await openAs(world.tenant)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('orders')
    await page.locator(`#palette-results bdi[title="${world.table}"]`).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/tables/${encodeURIComponent(world.table)}`)
    await ready(page)
    await page.keyboard.press('/')
    await page.locator('dialog').waitFor()
    await page.keyboard.type('settings')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/settings`)
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Search or go to').first().waitFor()
    await page.context().close()
  })

  t.test('a schema change is accepted, and a theme is kept', async t => {
    const { page } = await openAs(world.tenant, '/changes')
    await ready(page)
    const buttons = page.getByRole('button', { name: 'Accept', exact: true })
    const before = await buttons.count()
    await buttons.first().click()
    await untilCount(page, 'td button', count => count === before - 1)
    await page.goto(`${origin}/settings`)
    await page.getByLabel('Dark').check()
    await page.getByText('Saved.').waitFor()
    t.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    await page.reload()
    t.equal(
      await page.evaluate('document.documentElement.dataset.theme'),
      'dark',
      'before anything is loaded',
    )
    await page.getByLabel('System').check()
    await page.getByText('Saved.').waitFor()
    await page.context().close()
  })

  t.test('a table is described and tagged', async t => {
    const { page } = await openAs(world.tenant, `/tables/${encodeURIComponent(world.table)}?tab=settings`)
    await ready(page)
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('button', { name: /(Add a|Edit the) description/ }).click()
    await page.getByLabel('Description').fill('Every order of the shop')
    t.strictSame(await violationsOf(page), [])
    await page.locator('.table-header').getByRole('button', { name: 'Save' }).click()
    await page.locator('.table-header').getByText('Every order of the shop').waitFor()
    await page.getByLabel('Tag', { exact: true }).fill('pii,email')
    await page.getByLabel('Column', { exact: true }).selectOption('email')
    await page.getByRole('button', { name: 'Add a tag' }).click()
    await page.locator('.field .bad').getByText('must hold no comma').waitFor()
    t.equal(await page.getByLabel('Column', { exact: true }).inputValue(), 'email', 'nothing is lost')
    await page.getByLabel('Tag', { exact: true }).fill('pii.special')
    await page.getByRole('button', { name: 'Add a tag' }).click()
    await page.locator('.tag-list').getByText('pii.special').waitFor()
    await page.getByRole('button', { name: 'Take off pii.special' }).click()
    await untilCount(page, '[aria-label="Take off pii.special"]', count => count === 0)
    await page.context().close()
  })
}
