/** Who takes an alert, what people write about it, mute windows and escalation, in Chromium. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await tryNotifications(stage)

async function tryNotifications({ world, openAs, ready, violationsOf }: Stage) {
  const { tenant } = world
  const ask = async (method: string, path: string, payload?: object) =>
    (await tenant.ask(method, `/api/v1/sdk/alerts${path}`, payload)).body.data
  const hook = { destination_type: 'webhook', config: { url: 'https://127.0.0.1:9/hook' } }
  await ask('POST', '/destinations', { name: 'On call', ...hook })
  await ask('POST', '/destinations', { name: 'Lead', ...hook })
  const [alertId = ''] = world.alertIds

  t.test('an alert is assigned to a user, commented, and found among the reader’s alerts', async t => {
    const { page, faults } = await openAs(tenant, `/alerts/${alertId}`)
    await ready(page)
    await page.getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('dialog').getByLabel('Assigned to').selectOption({ index: 1 })
    await page.getByRole('dialog').getByRole('button', { name: 'Assign' }).click()
    await page.locator('.timeline strong', { hasText: 'assigned' }).waitFor()
    await page.locator('#comment').fill('The loader ran twice')
    await page.getByRole('button', { name: 'Add comment' }).click()
    await page.locator('.timeline', { hasText: 'The loader ran twice' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('combobox', { name: 'Assigned to' }).selectOption('me')
    await page.waitForURL(/assignee=me/)
    await ready(page)
    await page.locator('.inbox-list h1', { hasText: '1 alert' }).waitFor()
    t.match(await page.locator('.inbox-list li').innerText(), tenant.email.split('@')[0]!)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a mute window is made, changed and deleted, and its alerts say that they are muted', async t => {
    const { page, faults } = await openAs(tenant, '/routing?tab=mute')
    await ready(page)
    await page.getByRole('link', { name: 'Add a mute window' }).click()
    await page.getByLabel('Name').fill('Move to new disks')
    await page.getByRole('radio', { name: 'every week' }).check()
    await page.getByRole('button', { name: 'Take out period 1' }).click()
    await page.getByRole('button', { name: 'Add a mute window' }).click()
    await page.getByText('Give at least one period').waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('radio', { name: 'once' }).check()
    await page.getByRole('button', { name: 'Add a mute window' }).click()
    await page.locator('.rules', { hasText: 'until' }).waitFor()
    t.match(await ask('GET', '/mute-windows'), { mute_windows: [{ name: 'Move to new disks', rules: null }] })
    t.strictSame(await violationsOf(page), [])
    await page.goto(new URL(`/alerts/${alertId}`, page.url()).href)
    await page.getByText('muted until').waitFor()
    await page.goto(new URL('/routing?tab=mute', page.url()).href)
    await page.getByRole('link', { name: 'Move to new disks' }).click()
    await page.getByRole('button', { name: 'Delete mute window' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete mute window' }).click()
    await page.getByText('There are no mute windows').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a rule escalates in steps, each with its time and its destinations', async t => {
    const { page, faults } = await openAs(tenant, '/routing?tab=rules&rule=new')
    await ready(page)
    await page.locator('summary', { hasText: 'Escalation' }).click()
    await page.getByRole('button', { name: 'Add a step' }).click()
    t.strictSame(await violationsOf(page), [])
    await page.getByLabel('Name').fill('Critical')
    await page.getByRole('group', { name: 'Send to' }).getByLabel('On call').check()
    await page.getByRole('button', { name: 'Create rule' }).click()
    await page.getByText('Each step needs a destination.').waitFor()
    await page.getByRole('group', { name: 'Step 1' }).getByLabel('Lead').check()
    await page.getByRole('button', { name: 'Create rule' }).click()
    await page.getByText('The rule was created.').waitFor()
    const { data } = await ask('GET', '/rules')
    t.match(data, [{ name: 'Critical', escalation: [{ after_minutes: 30, destination_ids: [String] }] }])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })
}
