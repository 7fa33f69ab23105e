/** The console over a catalog of many tables: pages, search, palette and overview. */
import t from 'tap'
import { fillCatalog } from '../../../bench/lists-world.ts'
import { startStage, type Stage } from './stage.ts'

/** Filling 100,000 takes half a minute; `npm run bench:console` has them. */
const TABLES = 21_000
/** Tables whose name has the word: one in seven, but for the one that is named after zebras. */
const ORDERS = Math.floor(TABLES / 7) - 1

const stage = await startStage(t)
if (stage) await tryConsole(stage)

async function tryConsole({ app, origin, openAs, ready, untilCount }: Stage) {
  const company = await app.signUp('Large')
  await fillCatalog(app, company, { tables: TABLES, sources: 3 })
  await app.query('analyze')

  t.test('the overview counts all tables and loads none of them', async t => {
    const { page, faults } = await openAs(company)
    await ready(page)
    t.match(await page.locator('main').innerText(), /1,050\s+of 21,000 tables/)
    t.equal(await page.locator('main table tbody tr').count(), 3, 'sources only')
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('the catalog is read page by page, and a link leads to any of them', async t => {
    const { page } = await openAs(company, '/catalog')
    await ready(page)
    t.match(await page.locator('h1').innerText(), '21,000')
    await untilCount(page, 'main tbody tr', count => count === 50)
    const first = await page.locator('main tbody tr').first().innerText()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.waitForURL(/offset=50/)
    await ready(page)
    t.not(await page.locator('main tbody tr').first().innerText(), first)
    await page.goto(`${origin}/catalog?offset=${TABLES - 20}`)
    await ready(page)
    t.equal(await page.locator('main tbody tr').count(), 20, 'the last page')
    t.ok(await page.getByRole('button', { name: 'Next' }).isDisabled())
    await page.context().close()
  })

  t.test('a search narrows the catalog as a person types', async t => {
    const { page } = await openAs(company, '/catalog')
    await ready(page)
    const search = page.getByLabel('Search tables')
    await search.pressSequentially('orders', { delay: 30 })
    await page.waitForURL(/search=orders/)
    await ready(page)
    t.match(await page.locator('h1').innerText(), ORDERS.toLocaleString('en'))
    await search.fill('zebra_crossings_77')
    await page.waitForURL(/search=zebra/)
    await untilCount(page, 'main tbody tr', count => count === 1)
    await search.fill('no such table')
    await page.getByText('No table matches').waitFor()
    await page.context().close()
  })

  t.test('the palette finds one table, and a column that all tables have', async t => {
    const { page } = await openAs(company)
    await ready(page)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('zebra')
    const results = page.locator('#palette-results')
    await results.getByText('zebra_crossings_77').waitFor()
    await page.locator('dialog input').fill('column_7')
    await results.getByText('.column_7').first().waitFor()
    t.ok((await results.getByRole('option').count()) <= 24, 'a few of each kind')
    await page.locator('dialog input').fill('zebra_crossings_77')
    await results.getByText('zebra_crossings_77', { exact: false }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/tables\/.*zebra_crossings_77/)
    await ready(page)
    t.match(await page.locator('h1').innerText(), 'zebra_crossings_77')
    await page.context().close()
  })
}
