/** Digests of the console in Chromium. */
import t from 'tap'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startStage, type Stage } from './stage.ts'

// Before the server, which settles whom it trusts when it first dials.
const { url } = await startReceiver(t)
const stage = await startStage(t, { settings: { EGRESS_ALLOW: '127.0.0.0/8' } })
if (stage) await tryDigests(stage)

async function tryDigests({ app, world, origin, openAs, ready, violationsOf }: Stage) {
  const { tenant } = world
  const ask = async (method: string, path: string, payload?: object) =>
    (await tenant.ask(method, `/api/v1/sdk${path}`, payload)).body.data
  const hook = { destination_type: 'webhook', config: { url } }
  const { id: destinationId } = await ask('POST', '/alerts/destinations', { name: 'Team room', ...hook })
  const { id: teamId } = await ask('POST', '/teams', { name: 'Sales' })

  t.test('a digest is made beside what it would say, changed, sent, paused and deleted', async t => {
    const { page, faults } = await openAs(tenant, '/routing')
    await page.getByRole('link', { name: 'Digests' }).click()
    await page.getByText('There are no digests').waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('link', { name: 'Add a digest' }).click()
    await page.getByRole('heading', { name: 'What it would say now' }).waitFor()
    await page.getByText(/^Weekly digest/).waitFor()
    await page.getByRole('button', { name: 'Add a digest' }).click()
    await page.getByText('Name is needed.').waitFor()
    await page.getByLabel('Name').fill('Monday morning')
    await page.getByLabel('Send to').selectOption({ label: 'Team room' })
    await page.getByLabel('About').selectOption({ label: 'Sales' })
    await page.getByLabel('Day').selectOption({ label: 'Tuesday' })
    await page.getByLabel('At', { exact: true }).fill('25:00')
    await page.getByRole('button', { name: 'Add a digest' }).click()
    await page.locator('#send_at-problem').waitFor()
    t.equal(await page.getByLabel('Name').inputValue(), 'Monday morning', 'nothing is lost')
    await page.getByLabel('At', { exact: true }).fill('07:30')
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('button', { name: 'Add a digest' }).click()
    await page.getByText(/Tuesday 07:30/).waitFor()
    t.strictSame(await violationsOf(page), [])
    const [digest] = (await ask('GET', '/alerts/digests')).digests
    t.match(digest, {
      ...{ name: 'Monday morning', destination_id: destinationId, owner: teamId },
      ...{ frequency: 'weekly', weekday: 2, send_at: '07:30', is_active: true },
    })

    await page.getByRole('link', { name: 'Monday morning' }).click()
    await page.getByRole('button', { name: 'Send now' }).click()
    await page.getByText('The digest is on its way.').waitFor()
    await page.getByLabel('When').selectOption({ label: 'every day' })
    await page.getByText(/^Daily digest/).waitFor()
    t.equal(await page.getByLabel('Day', { exact: true }).count(), 0, 'a daily one has no day')
    await page.getByLabel('About').selectOption({ label: 'everything' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/every day 07:30/).waitFor()
    t.match((await ask('GET', '/alerts/digests')).digests, [{ frequency: 'daily', owner: null }])
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    t.match((await ask('GET', '/alerts/digests')).digests, [{ is_active: false }])
    await page.getByRole('link', { name: 'Monday morning' }).click()
    await page.getByRole('button', { name: 'Delete digest' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete digest' }).click()
    await page.getByText('There are no digests').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a viewer reads digests, and finds no button that would change one', async t => {
    const fields = { name: 'Seen', destination_id: destinationId }
    const { id } = await ask('POST', '/alerts/digests', fields)
    const viewer = { companyId: tenant.companyId, email: 'viewer-of-digests@example.com' }
    await app.server.plugins.auth.createUser({ ...viewer, role: 'viewer', password: 'a long sentence 7' })
    const { page } = await openAs(viewer, '/routing?tab=digests')
    for (const path of ['/routing?tab=digests', `/routing?tab=digests&digest=${id}`]) {
      await page.goto(origin + path)
      await ready(page)
      await page.getByText(/Monday 08:00/).waitFor()
      const main = page.locator('#main')
      t.equal(await main.getByRole('button', { name: /Add|Pause|Send|Delete|Save/ }).count(), 0, path)
      t.equal(await main.locator('form').count(), 0, path)
      t.strictSame(await violationsOf(page), [], path)
    }
    await page.context().close()
  })
}
