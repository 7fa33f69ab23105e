/** The lineage of a table in Chromium: the picture, what it leads to, and the list in its place. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'
import { addLineage } from './world.ts'

const stage = await startStage(t)
if (stage) await lookAtLineage(stage)

async function lookAtLineage({ app, world, openAs, ready, violationsOf }: Stage) {
  const ids = await addLineage(app, world)
  const path = `/tables/${encodeURIComponent(world.table)}?tab=lineage`
  const node = (name: string) => `#node-${ids[name]}`

  t.test('the picture shows each node with its health, and leads by keys from node to node', async t => {
    const { page, faults } = await openAs(world.tenant, path)
    await ready(page)
    await page.getByText('orders is made from 2 others').waitFor()
    t.match(await page.locator(node('orders')).textContent(), /orders[\s\S]*stale · table/)
    t.match(await page.locator(node('Revenue')).textContent(), /Revenue[\s\S]*dashboard/)
    t.equal(await page.locator('.drawing').getAttribute('data-level'), 'words', 'all words can be read')
    for (let n = 0; n < 2; n++) await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.getByText('not seen since').first().waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('button', { name: 'Details' }).click()
    await page.locator('.lineage-panel').waitFor({ state: 'detached' })
    t.equal(await page.locator('.edge.foreign-key').count(), 1)
    await page.getByLabel('Foreign keys').uncheck()
    await page.locator('.edge.foreign-key').waitFor({ state: 'detached' })
    await page.locator(node('orders')).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.locator('.lineage-panel h2', { hasText: 'recent' }).waitFor()
    t.match(page.url(), `node=${ids.recent}`, 'the address has what is looked at')
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a column is followed to the columns that it reaches', async t => {
    const { page } = await openAs(world.tenant, path)
    await ready(page)
    await page.locator('.lineage-panel button', { hasText: 'total' }).click()
    await page.getByText('Following orders.total').waitFor()
    t.equal(await page.locator('.column.reached').count(), 2)
    t.equal(await page.locator('.column-line').count(), 1)
    t.equal(await page.locator('.node.faded').count(), 1, 'what the column does not reach')
    await page.getByRole('button', { name: 'List' }).click()
    t.match(await page.locator('tr', { hasText: 'Revenue' }).innerText(), 'not known by column')
    await page.context().close()
  })

  t.test('neighbours that are not shown are loaded, and a node is found by its name', async t => {
    const { page } = await openAs(world.tenant, `${path}&steps=1`)
    await ready(page)
    t.equal(await page.locator(node('Revenue')).count(), 0)
    await page.locator(node('recent')).click()
    await page.getByRole('button', { name: 'Show 1 more that use it' }).click()
    await page.locator(node('Revenue')).waitFor()
    await page.getByLabel('Find in this lineage').fill('reven')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Open the dashboard' }).waitFor()
    await page.context().close()
  })

  t.test('the picture is moved by dragging and zoomed by keys and the wheel', async t => {
    const { page } = await openAs(world.tenant, path)
    await ready(page)
    const svg = page.locator('.lineage-picture > .drawing')
    const view = async () => (await svg.getAttribute('viewBox'))!.split(' ').map(Number)
    const [left = 0, , wide = 0] = await view()
    const { x, y, width, height } = (await svg.boundingBox())!
    await page.mouse.move(x + width / 2, y + height - 8)
    await page.mouse.down()
    await page.mouse.move(x + width / 2 + 100, y + height - 8, { steps: 3 })
    await page.mouse.up()
    t.ok((await view())[0]! < left - 50, 'dragged')
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -200)
    await page.keyboard.up('Control')
    await page.locator(node('orders')).focus()
    await page.keyboard.press('+')
    t.ok((await view())[2]! < wide / 1.5, 'zoomed')
    await page.keyboard.press('0')
    t.ok((await view())[2]! >= wide - 1, 'all is shown again')
    await page.context().close()
  })

  t.test('a schema change shows what it hits, and the owners of a table are set in its settings', async t => {
    const { page } = await openAs(world.tenant, `${path.replace('lineage', 'settings')}`)
    await ready(page)
    await page.locator('#owners').fill('Data Platform')
    await page.getByRole('button', { name: 'Set owners' }).click()
    await page.locator('#owners-problem').waitFor()
    await page.locator('#owners').fill('ada@example.com')
    await page.getByRole('button', { name: 'Set owners' }).click()
    await page.locator('.table-header', { hasText: 'ada@example.com' }).waitFor()
    await page.getByRole('link', { name: 'Changes', exact: true }).last().click()
    await page.getByRole('button', { name: 'column type changed' }).click()
    // No column of the view is made from it, so the check of it is all that it hits.
    await page.locator('.opened .hit', { hasText: 'ENUM' }).waitFor()
    t.notMatch(await page.locator('.opened').innerText(), 'Revenue')
    t.strictSame(await violationsOf(page), [])
    await page.context().close()
  })
}
