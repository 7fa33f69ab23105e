/** Teams and owners in the console, in Chromium. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) {
  manageTeams(stage)
  setOwners(stage)
}

function manageTeams({ world, openAs, ready, untilValue, violationsOf }: Stage) {
  t.test('a team is created, changed and removed', async t => {
    const { page, faults } = await openAs(world.tenant, '/settings/teams')
    await ready(page)
    await page.getByText('There is no team').waitFor()
    await page.getByRole('button', { name: 'Create a team' }).click()
    const dialog = page.locator('dialog[open]')
    await dialog.getByLabel('Name').fill('data@example.com')
    await dialog.getByLabel('Members').fill(`${world.tenant.email}\nsam@example.com`)
    t.strictSame(await violationsOf(page), [])
    await dialog.getByRole('button', { name: 'Create a team' }).click()
    await dialog.locator('.field .bad').getByText('without @, so that it is no address').waitFor()
    await dialog.getByLabel('Name').fill('Data Platform')
    await dialog.getByRole('button', { name: 'Create a team' }).click()
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Data Platform' }) })
    await row.getByText('sam@example.com').waitFor()
    await page.getByRole('heading', { name: '1 team', exact: true }).waitFor()
    t.strictSame(await violationsOf(page), [])

    await page.getByRole('button', { name: 'Change Data Platform' }).click()
    await untilValue(dialog.getByLabel('Name'), 'Data Platform')
    await dialog.getByLabel('Description').fill('Builds what all others use.')
    await dialog.getByLabel('Members').fill('sam@example.com')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Builds what all others use.').waitFor()
    t.notMatch(await row.innerText(), world.tenant.email)

    await page.getByRole('button', { name: 'Remove Data Platform' }).click()
    await dialog.getByText('It owns nothing from then on.').waitFor()
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('There is no team').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })
}

function setOwners({ app, world, openAs, ready, violationsOf }: Stage) {
  t.test('owners of a table, a schema and a tag are set, followed and removed', async t => {
    const { page, faults } = await openAs(world.tenant, '/settings/teams')
    await ready(page)
    await page.getByText('No owner is named yet.').waitFor()
    const dialog = page.locator('dialog[open]')
    const choose = (subject: string) => dialog.getByLabel('What is owned').selectOption({ label: subject })
    const save = () => dialog.getByRole('button', { name: 'Set owners' }).click()
    await page.getByRole('button', { name: 'Set owners' }).click()
    await dialog.getByLabel('Owners').fill('ann@example.com')
    await save()
    await dialog.getByText('Name of the source or table is needed.').waitFor()
    await dialog.getByLabel('Name of the source or table').fill('no.such.table')
    await save()
    await dialog.getByText('There is no such asset').waitFor()
    t.strictSame(await violationsOf(page), [])
    await dialog.getByLabel('Name of the source or table').fill(world.table)
    await save()
    const link = page.getByRole('link', { name: world.table })
    await link.waitFor()
    await page.getByRole('button', { name: 'Set owners' }).click()
    await choose('A schema of a source')
    await dialog.getByLabel('Schema').waitFor()
    await choose('All that carries a tag')
    await dialog.getByLabel('Tag').fill('finance')
    await dialog.getByLabel('Owners').fill('bob@example.com')
    t.equal(await dialog.getByLabel('Schema').count(), 0)
    await save()
    await page.getByRole('rowheader', { name: 'finance tag' }).waitFor()
    t.strictSame(await violationsOf(page), [])

    await link.click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Remove bob@example.com from finance' }).click()
    await page.getByRole('rowheader', { name: 'finance tag' }).waitFor({ state: 'detached' })
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a viewer sees teams and owners, and changes none', async t => {
    await world.tenant.ask('POST', '/api/v1/sdk/teams', { name: 'Finance', members: [] })
    await app.query(`update users set role = 'viewer' where company_id = $1`, [world.tenant.companyId])
    const { page } = await openAs(world.tenant, '/settings/teams')
    await ready(page)
    await page.getByRole('rowheader', { name: 'Finance' }).waitFor()
    await page.getByRole('link', { name: world.table }).waitFor()
    for (const name of ['Create a team', 'Set owners', 'Change Finance', /^Remove/])
      t.equal(await page.getByRole('button', { name }).count(), 0, String(name))
    await page.context().close()
  })
}
