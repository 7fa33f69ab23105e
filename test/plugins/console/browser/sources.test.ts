/** Setting up a source in the console, in Chromium. */
import t from 'tap'
import { startSource } from '../../../helpers/source.ts'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await setUpSources(stage)

async function setUpSources({ app, world, origin, openAs, ready, untilValue, violationsOf }: Stage) {
  t.test('a source is connected, its tables are chosen, and it is discovered', async t => {
    const source = await startSource(t)
    for (const statement of ['create table orders (id int)', 'create table tmp_orders (id int)'])
      await source.query(statement)
    const { page, faults } = await openAs(world.tenant, '/sources')
    await ready(page)
    await page.getByRole('link', { name: 'Add a source' }).click()
    await page.getByRole('link', { name: 'PostgreSQL' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('link', { name: 'PostgreSQL' }).click()
    await page.getByRole('button', { name: 'Add and test' }).click()
    await page.getByText('Name is needed.', { exact: true }).waitFor()
    t.equal(await page.evaluate('document.activeElement.name'), 'name', 'the first field that is wrong')
    t.strictSame(await violationsOf(page), [])
    const { host, port, database, username, password } = source.config
    const fields = { Name: 'warehouse', Host: host, Port: 'many', Database: database, Username: username }
    for (const [label, value] of Object.entries(fields))
      await page.getByLabel(label, { exact: true }).fill(String(value))
    await page.getByRole('button', { name: 'Add and test' }).click()
    await page.getByText('Port must be a number.').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'PostgreSQL' }).click()
    await untilValue(page.getByLabel('Name', { exact: true }), 'warehouse')
    await page.getByLabel('Port').fill(String(port))
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Add and test' }).click()

    const stages = page.locator('.stages')
    await stages.getByText('Sign in', { exact: true }).waitFor()
    t.match(await stages.innerText(), /password/i, 'what failed')
    t.strictSame(await violationsOf(page), [])
    t.equal(await page.getByLabel('Password').inputValue(), '', 'a secret does not come back')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Save and test' }).click()
    await stages.getByText(/Connected in \d+ ms/).waitFor()
    await page.getByRole('link', { name: 'Next: choose the tables' }).click()

    await page.getByText('2 of 2 tables').waitFor()
    await page.getByLabel('Tables to leave out').fill('a.b.c.d')
    await page.getByRole('button', { name: 'Save and discover' }).click()
    await page.locator('.field .bad').getByText('must be table, schema.table').waitFor()
    await page.getByLabel('Tables to leave out').fill('tmp_*')
    await page.getByText('1 of 2 tables').waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('button', { name: 'Save and discover' }).click()
    await page.getByText('Found 1 table with 1 column.').waitFor()
    await page.getByRole('link', { name: 'Look at the tables' }).click()
    await page.getByRole('rowheader', { name: /orders/ }).waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('an engine of an extension has a form of its own settings', async t => {
    const { page } = await openAs(world.tenant, '/sources?add=sqlite')
    await page.getByLabel('Name', { exact: true }).fill('a file')
    await page.getByLabel('Path').fill('/etc/passwd')
    await page.getByRole('button', { name: 'Add and test' }).click()
    await page.locator('.stages').waitFor()
    t.match(await page.locator('.stages').innerText(), /FILE_SOURCES/, 'what an operator has to allow')
    await page.context().close()
  })

  t.test('a source is removed by who types its name', async t => {
    const { page } = await openAs(world.tenant, `/sources/${encodeURIComponent('a file')}?tab=connection`)
    await page.getByRole('button', { name: 'Remove this source' }).click()
    const dialog = page.locator('dialog')
    await dialog.getByLabel('Type the name').fill('the shop')
    await dialog.getByRole('button', { name: 'Remove this source' }).click()
    await dialog.getByText('That is not its name.').waitFor()
    t.strictSame(await violationsOf(page), [])
    await dialog.getByLabel('Type the name').fill('a file')
    await dialog.getByRole('button', { name: 'Remove this source' }).click()
    await page.getByText('The source a file was removed.').waitFor()
    t.strictSame(await app.query(`select id from sources where name = 'a file'`), [])
    await page.context().close()
  })

  t.test('a viewer changes no source', async t => {
    await app.query(`update users set role = 'viewer' where company_id = $1`, [world.tenant.companyId])
    const { page } = await openAs(world.tenant, '/sources')
    await ready(page)
    t.equal(await page.getByRole('link', { name: 'Add a source' }).count(), 0)
    await page.goto(`${origin}/sources?add=postgresql`)
    await page.getByText('Only members, admins and owners change sources.').waitFor()
    await page.goto(`${origin}/sources/${world.source}?tab=connection`)
    await page.getByText('Only members, admins and owners change sources.').waitFor()
    t.equal(await page.locator('#main form').count(), 0)
    await page.context().close()
  })
}
