import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await tryContracts(stage)

const TEXT = `apiVersion: v3.1.0
kind: DataContract
id: customers
version: 2.0.0
status: active
schema:
  - name: customers
    properties:
      - name: nothing_there
`

async function tryContracts({ world, openAs, ready, violationsOf }: Stage) {
  t.test('a contract is pasted, mended where it is wrong, and its clauses are shown', async t => {
    const { page, faults } = await openAs(world.tenant, '/contracts')
    await ready(page)
    await page.getByRole('link', { name: 'Add a contract' }).click()
    await page.getByLabel('Name', { exact: true }).fill('customers')
    await page.getByLabel('Document', { exact: true }).fill(TEXT.replace('active', '7'))
    await page.getByRole('button', { name: 'Show what changes' }).click()
    await page.getByText('1 error in the document').waitFor()
    t.match(await page.locator('.findings').innerText(), /Line 5.*\/status.*expected a text/s)
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'customers', 'nothing is lost')
    await page.getByLabel('Document', { exact: true }).fill(TEXT)
    await page.getByRole('button', { name: 'Show what changes' }).click()
    await page.getByText('Saving it needs no checks').waitFor()
    await page.getByRole('button', { name: 'Save and enforce' }).click()
    await page.locator('h1', { hasText: 'fails' }).waitFor()
    await page.getByText('there is no column nothing_there in customers').waitFor()
    t.match(await page.locator('h1').innerText(), /customers: 1 of \d clauses fails/)

    await page.getByRole('link', { name: 'Document', exact: true }).click()
    await page.getByLabel('Document', { exact: true }).fill(TEXT.replace('nothing_there', 'id'))
    await page.getByRole('button', { name: 'Show what changes' }).click()
    await page.getByRole('button', { name: 'Replace it' }).click()
    await page.getByText('Saved. Checks that are new run within a minute.').waitFor()
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByText('Replaced, version 2.0.0').waitFor()
    await page.getByRole('link', { name: 'Document', exact: true }).click()
    await page.getByRole('button', { name: 'Delete this contract' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete this contract' }).click()
    await page.getByText('The contract customers was deleted.').waitFor()
    await ready(page)
    t.match(await page.locator('h1').innerText(), /1 of 1 contract fails/)
    t.strictSame(
      faults.errors.filter(text => !/status of 400/.test(text)),
      [],
    )
    await page.context().close()
  })
  t.test('a contract is drafted from a table, and its checks say what manages them', async t => {
    const { page, faults } = await openAs(
      world.tenant,
      `/tables/${encodeURIComponent(world.table)}?tab=columns`,
    )
    await ready(page)
    await page.getByRole('link', { name: 'Draft a contract' }).click()
    await page.getByLabel('Document', { exact: true }).waitFor()
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), world.table.split('.').at(-1))
    t.match(await page.getByLabel('Document', { exact: true }).inputValue(), /^apiVersion: v3/)
    await page.getByLabel('Name', { exact: true }).fill('drafted')
    await page.getByRole('button', { name: 'Show what changes' }).click()
    await page.getByText(/Saving it adopts/).waitFor()
    await page.getByRole('button', { name: 'Save and enforce' }).click()
    await page.locator('h1', { hasText: 'drafted: ' }).waitFor()
    const check = page.locator('a[href*="check="]').first()
    await check.click()
    await page.getByRole('button', { name: 'Delete' }).click()
    // It is shared with the contract that made it.
    await page.getByText(/Managed by the contract/).waitFor()
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults.errors, [])
    await page.context().close()
  })
}
