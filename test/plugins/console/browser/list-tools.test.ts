/** Views of lists, the choice of their columns, and their files, in Chromium. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { startStage, type Stage } from './stage.ts'
import { addLineage } from './world.ts'

const stage = await startStage(t)
if (stage) await tryConsole(stage)

async function tryConsole({ app, world, origin, openAs, ready, untilCount, violationsOf }: Stage) {
  t.test('checks have titles that people say, and are found by them', async t => {
    const { page } = await openAs(world.tenant, '/checks')
    await ready(page)
    const titles = await page.locator('tbody th a').allInnerTexts()
    t.strictSame(titles.toSorted(), [
      'Allowed values on orders.status',
      'Not null on orders.email',
      'Range on orders.total',
      'Row count of orders',
      'Unique on orders.id',
    ])
    await page.getByLabel('Search checks').fill('allowed values')
    await untilCount(page, 'tbody tr', count => count === 1)
    t.match(await page.locator('tbody th').innerText(), 'Allowed values on orders.status')
    await page.context().close()
  })

  t.test('states are words in pills, and shapes are for severities', async t => {
    const { page } = await openAs(world.tenant, '/checks')
    await ready(page)
    t.equal(await page.locator('tbody .status').count(), 5)
    t.equal(await page.locator('tbody .shape').count(), 0)
    await page.goto(`${origin}/changes`)
    await ready(page)
    t.ok((await page.locator('tbody .severity .shape').count()) > 0)
    t.strictSame(await violationsOf(page), [])
    await page.context().close()
  })

  t.test('a column that is hidden stays hidden, until all are shown', async t => {
    const { page, faults } = await openAs(world.tenant, '/checks')
    await ready(page)
    const head = page.getByRole('columnheader', { name: 'Interval' })
    const columns = page.locator('summary', { hasText: 'Columns' })
    await columns.click()
    await page.getByLabel('Interval').uncheck()
    await head.waitFor({ state: 'detached' })
    t.equal(await page.getByText('daily', { exact: true }).count(), 0)
    t.strictSame(await violationsOf(page), [])
    await page.keyboard.press('Escape')
    await page.reload()
    await ready(page)
    await page.getByRole('columnheader', { name: 'Checked' }).waitFor()
    t.equal(await head.count(), 0)
    await page.goto(`${origin}/catalog`)
    await ready(page)
    t.equal(await page.getByRole('columnheader', { name: 'Schema changes' }).count(), 1, 'of one list only')
    await page.goto(`${origin}/checks`)
    await ready(page)
    await columns.click()
    await page.getByRole('button', { name: 'Show all' }).click()
    await head.waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a view keeps the filters and the order of a list under a name, for the user', async t => {
    const { page } = await openAs(world.tenant, '/checks?status=failing,error&sort=status&order=asc')
    await ready(page)
    const views = page.locator('summary', { hasText: 'Views' })
    await views.click()
    await page.getByLabel('Name of a new view').fill('To repair')
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByRole('link', { name: 'To repair' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.context().close()

    const { page: elsewhere } = await openAs(world.tenant, '/checks')
    await ready(elsewhere)
    await elsewhere.locator('summary', { hasText: 'Views' }).click()
    await elsewhere.getByRole('link', { name: 'To repair' }).click()
    await elsewhere.waitForURL(/\/checks\?.*status=failing/)
    await untilCount(elsewhere, 'tbody tr', count => count === 3)
    await elsewhere.locator('th[aria-sort=ascending]').waitFor()
    await elsewhere.goto(`${origin}/catalog`)
    await ready(elsewhere)
    await elsewhere.locator('summary', { hasText: 'Views' }).click()
    await elsewhere.getByLabel('Name of a new view').waitFor()
    t.equal(await elsewhere.getByRole('link', { name: 'To repair' }).count(), 0, 'of one list only')
    await elsewhere.goto(`${origin}/checks`)
    await ready(elsewhere)
    await elsewhere.locator('summary', { hasText: 'Views' }).click()
    await elsewhere.getByRole('button', { name: 'Delete the view To repair' }).click()
    await elsewhere.getByRole('link', { name: 'To repair' }).waitFor({ state: 'detached' })
    await elsewhere.context().close()
  })

  t.test('a file has what the filters show', async t => {
    const { page, faults } = await openAs(world.tenant, '/checks?status=failing,error')
    await ready(page)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    const file = await download
    t.match(file.suggestedFilename(), /^tidemark-checks-\d{4}-\d{2}-\d{2}\.csv$/)
    await page.getByRole('dialog').getByText('3 rows saved.').waitFor()
    t.strictSame(await violationsOf(page), [])
    const lines = readFileSync(await file.path(), 'utf8').split('\r\n')
    t.equal(lines.length, 5, 'a head, three rows, and nothing after the last one')
    t.match(lines[0], /^id,check,name,kind,type,table,/)
    t.equal(lines.filter(line => line.includes(',failing,')).length, 3)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('rows stay where they are when one is selected', async t => {
    const { page } = await openAs(world.tenant, '/checks')
    await ready(page)
    const top = async () => (await page.locator('tbody tr').first().boundingBox())?.y
    const before = await top()
    await page.getByLabel('Select:').first().check()
    await page.getByText('1 selected').waitFor()
    t.equal(await top(), before)
    await page.context().close()
  })

  t.test('on a phone the tools of a list stay within the page', async t => {
    const { page } = await openAs(world.tenant, '/checks', { viewport: { width: 360, height: 780 } })
    await ready(page)
    for (const name of ['Views', 'Columns']) {
      await page.locator('summary', { hasText: name }).click()
      await page.locator('.list-tools .menu[open] :is(input, button)').first().waitFor()
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, name)
    }
    await page.context().close()
  })

  t.test('on a phone no list is scrolled sideways', async t => {
    const table = `/tables/${encodeURIComponent(world.table)}`
    const { page } = await openAs(world.tenant, table, { viewport: { width: 360, height: 780 } })
    const { body } = await world.tenant.ask('GET', '/api/v1/sdk/checks?search=allowed&limit=1')
    await addLineage(app, world)
    const paths = [
      ...[table, `${table}?check=${body.data.items[0].id}`, `${table}?tab=lineage`, '/recommendations'],
      ...['/settings/people', '/settings/keys', '/settings/audit', '/contracts'],
    ]
    for (const path of paths) {
      await page.goto(origin + path)
      await ready(page)
      await page.locator('.scroll').first().waitFor()
      const excess = await page
        .locator('.scroll:has(> table)')
        .evaluateAll(lists => lists.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
      t.ok(excess.length > 0 && excess.every(width => width === 0), `${path}: ${excess.join(', ')}`)
      for (const tab of await page.locator('.tabs [aria-current]').all()) {
        const { x, width } = (await tab.boundingBox())!
        t.ok(x >= 0 && x + width <= 360, `${path}: the chosen tab is seen`)
      }
    }
    await page.context().close()
  })
}
