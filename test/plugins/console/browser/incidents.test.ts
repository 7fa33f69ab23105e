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
    await page.locator('article a[href^="/incidents/"]').click()
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    t.match(page.url(), /\/incidents\/[0-9a-f-]{36}$/)
    await page.locator(`a[href="/alerts/${world.alertIds[0]}"]`).first().waitFor()
    t.match(await page.locator('h1').innerText(), /INC-\d+ /)
    t.match(await page.locator('.timeline').allInnerTexts(), [/./, /./])
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('the cause is seen at once: its numbers, its chart and where its data goes', async t => {
    const id = await untilIncident(world)
    const { body } = await tenant.ask('GET', `/api/v1/sdk/incidents/${id}`)
    const { alerts, cause_alert: cause } = body.data
    const { page, faults } = await openAs(tenant, `/incidents/${id}`)
    const asked: string[] = []
    page.on('request', request => {
      const { pathname } = new URL(request.url())
      if (pathname.includes('/impact') || pathname.includes('/health/events/')) asked.push(pathname)
    })
    await ready(page)
    for (const name of ['Acknowledge', 'Resolve', 'Assign', 'Send to…', 'Copy link'])
      await page.getByRole('button', { name, exact: true }).waitFor()
    t.ok(cause, 'an alert is the cause')
    await page.locator('.incident-cause a', { hasText: 'Open the alert' }).waitFor()
    const box = page.locator('.strip-box a', { hasText: 'cause' })
    t.match(await box.getAttribute('class'), /tone-(critical|warning)/)
    await page.locator('.strip-node', { hasText: 'Revenue' }).waitFor()
    t.equal(await page.locator('.alert-group li').count(), Math.min(alerts.length, 200))
    const whys = (await page.locator('.alert-group h3').allInnerTexts()).join()
    t.match(whys, 'the cause', 'each table says why it is here')
    t.notMatch(asked.join(), '/health/events/', 'marks come with the incident')
    t.match(
      await page.locator('.reach').innerText(),
      /2 tables[^]*orders[^]*recent[^]*1 dashboard[^]*Revenue[^]*Ada/,
    )
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('on a phone the strip scrolls in its box, and the page does not', async t => {
    const id = await untilIncident(world)
    const { page } = await openAs(tenant, `/incidents/${id}`, { viewport: { width: 360, height: 780 } })
    await ready(page)
    await page.locator('.strip-box > svg').waitFor()
    const widths = await page.evaluate<number[]>(
      `[document.documentElement.scrollWidth, document.querySelector('.strip-box').scrollWidth]`,
    )
    t.ok(widths[0]! <= 360, `the page is ${widths[0]} wide`)
    t.ok(widths[1]! > 360, `the strip is ${widths[1]} wide`)
    t.strictSame(await violationsOf(page), [])
    await page.context().close()
  })

  t.test('an incident is sent to a destination that a person chooses', async t => {
    const id = await untilIncident(world)
    const { page } = await openAs(tenant, `/incidents/${id}`)
    await ready(page)
    await page.getByRole('button', { name: 'Send to…' }).click()
    await page.getByText('There is no destination that is switched on').waitFor()
    await page.keyboard.press('Escape')
    await tenant.ask('POST', '/api/v1/sdk/alerts/destinations', {
      ...{ name: 'Colleague', destination_type: 'webhook', config: { url: 'https://hooks.example.com/x' } },
    })
    await page.getByRole('button', { name: 'Send to…' }).click()
    await page.locator('#destination_id').selectOption({ label: 'Colleague' })
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('The incident is on its way').waitFor()
    const entry = page.locator('.timeline li', { has: page.locator('strong', { hasText: /^sent$/ }) })
    await entry.getByRole('link', { name: 'Colleague' }).waitFor()
    t.equal(await page.locator('.timeline a', { hasText: 'Colleague' }).count(), 1, 'it stands there once')
    await page.context().close()
  })

  t.test('an incident is assigned, commented, written up and resolved', async t => {
    const { page } = await openAs(tenant, '/incidents')
    await ready(page)
    t.match(await page.locator('h1').innerText(), /incidents? (is|are) open/)
    const heads = await page.locator('.incidents thead th').allInnerTexts()
    t.same(
      heads.map(head => head.replace(/\s*[↕↑↓]$/, '')),
      ['Incident', 'State', 'Alerts', 'Reach', 'Owner', 'Assigned to', 'Age'],
    )
    await page.locator('.incidents a').first().click()
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('are acknowledged').waitFor()
    await page.getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('dialog').getByLabel('Assigned to').selectOption({ index: 1 })
    await page.getByRole('dialog').getByRole('button', { name: 'Assign' }).click()
    await page.locator('.timeline strong', { hasText: 'assigned' }).waitFor()
    await page.locator('.incident-head', { hasText: tenant.email }).waitFor()
    await page.getByRole('button', { name: 'Add comment' }).click()
    t.ok(await page.locator('#comment[aria-invalid=true]').count(), 'an empty comment is not sent')
    await page.locator('#comment').fill('The loader was restarted')
    await page.getByRole('button', { name: 'Add comment' }).click()
    await page.locator('.timeline', { hasText: 'The loader was restarted' }).waitFor()
    await page.getByRole('button', { name: 'Resolve' }).click()
    await page.getByLabel('What it came from').selectOption('pipeline_failure')
    await page.locator('#external_link').fill('no address')
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.locator('#external_link-problem').waitFor()
    await page.locator('#external_link').fill('https://git.example.com/pull/1')
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('are resolved').waitFor()
    await page.getByRole('button', { name: 'Resolve' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Write' }).click()
    await page.locator('#post_mortem').fill('It ran before its files had arrived.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.prose', { hasText: 'before its files' }).waitFor()
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
    await page.getByRole('button', { name: 'Copy link' }).waitFor()
    for (const name of ['Acknowledge', 'Resolve', 'Assign', 'Send to…', 'Add comment', 'Change', 'Write'])
      t.equal(await page.getByRole('button', { name }).count(), 0, name)
    await page.context().close()
  })
}
