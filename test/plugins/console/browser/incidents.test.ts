/** Incidents in Chromium: from an alert to its incident, its cause, and what people do with it. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'
import { addLineage, untilIncident } from './world.ts'

const stage = await startStage(t)
if (stage) await handleIncidents(stage)

async function handleIncidents({ app, world, openAs, ready, violationsOf }: Stage) {
  await addLineage(app, world)
  const { tenant } = world
  const listIncidents = async (query = '') =>
    (await tenant.ask('GET', `/api/v1/sdk/incidents${query}`)).body.data.incidents
  await untilIncident(world)

  t.test('an alert leads to its incident, which has the cause, the alerts and what is affected', async t => {
    const { page, faults } = await openAs(tenant, `/alerts/${world.alertIds[0]}`)
    await ready(page)
    await page.getByRole('link', { name: 'Incident', exact: true }).click()
    await page.getByRole('heading', { name: 'Cause' }).waitFor()
    t.match(page.url(), /\/incidents\/[0-9a-f-]{36}$/)
    await page.locator(`a[href="/alerts/${world.alertIds[0]}"]`).first().waitFor()
    await page.getByText('What is affected downstream').waitFor()
    t.match(await page.locator('.timeline').allInnerTexts(), [/./, /./])
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('an incident is assigned, commented, written up and resolved', async t => {
    const { page } = await openAs(tenant, '/incidents')
    await ready(page)
    t.match(await page.locator('h1').innerText(), /incidents? (is|are) open/)
    t.same(await page.locator('.incidents thead th').allInnerTexts(), [
      'Incident',
      'State',
      'Alerts',
      'Tables',
      'Assigned to',
      'Age',
    ])
    await page.locator('.incidents a').first().click()
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('are acknowledged').waitFor()
    await page.getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('dialog').getByLabel('Assigned to').selectOption({ index: 1 })
    await page.getByRole('dialog').getByRole('button', { name: 'Assign' }).click()
    await page.locator('.timeline strong', { hasText: 'assigned' }).waitFor()
    await page.getByRole('button', { name: 'Add comment' }).click()
    t.ok(await page.locator('#comment[aria-invalid=true]').count(), 'an empty comment is not sent')
    await page.locator('#comment').fill('The loader was restarted')
    await page.getByRole('button', { name: 'Add comment' }).click()
    await page.locator('.timeline', { hasText: 'The loader was restarted' }).waitFor()
    await page.getByRole('button', { name: 'Change' }).click()
    await page.locator('#post_mortem').fill('It ran before its files had arrived.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.prose', { hasText: 'before its files' }).waitFor()
    await page.getByRole('button', { name: 'Resolve' }).click()
    await page.locator('#pr_url').fill('no address')
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.locator('#pr_url-problem').waitFor()
    await page.locator('#pr_url').fill('https://git.example.com/pull/1')
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('are resolved').waitFor()
    await page.getByRole('button', { name: 'Resolve' }).waitFor({ state: 'detached' })
    const id = page.url().split('/').at(-1)!
    const [closed] = await listIncidents('?status=resolved')
    t.match(closed, {
      id,
      assignee: { email: tenant.email },
      post_mortem: 'It ran before its files had arrived.',
    })
    await page.context().close()
  })

  t.test('a viewer reads an incident, and has no buttons', async t => {
    const [incident] = await listIncidents()
    await app.query(`update users set role = 'viewer' where email = $1`, [tenant.email])
    const { page } = await openAs(tenant, `/incidents/${incident.id}`)
    await ready(page)
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    for (const name of ['Acknowledge', 'Resolve', 'Assign', 'Add comment', 'Change'])
      t.equal(await page.getByRole('button', { name }).count(), 0, name)
    await page.context().close()
  })
}
