/** Destinations and alert rules of the console in Chromium, with a receiver that answers. */
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startReceiver, type Receiver } from '../../../helpers/receiver.ts'
import { startStage, type Stage } from './stage.ts'

// Before the server, which settles whom it trusts when it first dials.
const receiver = await startReceiver(t)
const stage = await startStage(t, { settings: { EGRESS_ALLOW: '127.0.0.0/8' } })
if (stage) await tryRouting(stage, receiver)

async function tryRouting(
  { app, world, origin, openAs, ready, violationsOf }: Stage,
  { url, requests, answer }: Receiver,
) {
  const { tenant } = world
  const ask = async (method: string, path: string, payload?: object) =>
    (await tenant.ask(method, `/api/v1/sdk/alerts${path}`, payload)).body.data
  const addDestination = (name: string, more: object = {}): Promise<{ id: string }> =>
    ask('POST', '/destinations', {
      name,
      destination_type: 'webhook',
      config: { url: `${url}/${name}` },
      ...more,
    })
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })

  t.test(
    'a destination is added, its secret shown once, and a test shows what the receiver answered',
    async t => {
      const { page, faults } = await openAs(tenant, '/routing')
      await page.getByRole('link', { name: 'Add a destination' }).click()
      await page.getByText('the operator has to set SMTP_URL').waitFor()
      t.equal(await page.getByRole('link', { name: 'Email' }).count(), 0, 'there is no mail server')
      await page.getByRole('link', { name: 'Webhook' }).click()
      await button(page, 'Create destination').click()
      await page.getByText('Name is needed.').waitFor()
      await page.getByLabel('Name').fill('On call')
      await page.getByRole('textbox', { name: /^URL/ }).fill('http://127.0.0.1/hook')
      await page.getByRole('textbox', { name: /^Headers/ }).fill('X-Team: data')
      await button(page, 'Create destination').click()
      await page.getByText('must start with https://').waitFor()
      t.match(
        await page.getByRole('textbox', { name: /^URL/ }).getAttribute('aria-invalid'),
        'true',
        'beside its field',
      )
      t.equal(await page.getByLabel('Name').inputValue(), 'On call', 'nothing is lost')
      t.equal(await page.getByRole('textbox', { name: /^Headers/ }).inputValue(), 'X-Team: data')
      await page.goBack()
      await page.goForward()
      t.equal(
        await page.getByRole('textbox', { name: /^URL/ }).inputValue(),
        'http://127.0.0.1/hook',
        'not by Back either',
      )
      await page.getByRole('textbox', { name: /^URL/ }).fill(`${url}/hook`)
      await page.getByRole('textbox', { name: /^Headers/ }).fill('X-Team: data')
      await page.getByLabel('Auth type').selectOption('bearer')
      await page.getByLabel('Auth value').fill('bearer-secret')
      await button(page, 'Create destination').click()
      const secret = await page.locator('.secret-once code').innerText()
      t.match(secret, /^whsec_/)
      t.strictSame(await violationsOf(page), [])
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await wait(100)
      t.ok(await page.locator('.secret-once code').isVisible(), 'no key closes it unread')
      await inDialog(page, 'Done').click()
      await page.getByText('On call has not accepted a message yet').waitFor()

      answer((_request, response) => response.writeHead(503).end('<b>down</b> for maintenance'))
      await button(page, 'Send a test').click()
      const outcome = page.locator('.outcome')
      await outcome.getByText('not accepted').waitFor()
      t.match(await outcome.innerText(), /Status 503[\s\S]*\d ms[\s\S]*<b>down<\/b> for maintenance/)
      t.strictSame(await violationsOf(page), [])
      answer(200)
      await button(page, 'Send a test').click()
      await outcome.getByText('accepted', { exact: true }).waitFor()
      await page.getByText('On call takes messages').waitFor()
      const { body, headers } = requests.at(-1)!
      t.match(headers, { authorization: 'Bearer bearer-secret', 'x-team': 'data' })
      const signature = createHmac('sha256', secret).update(body).digest('hex')
      t.equal(headers['x-service-signature'], `sha256=${signature}`, 'signed with the secret that was shown')
      t.strictSame(faults, { errors: [], elsewhere: [] })
      await page.context().close()
    },
  )

  t.test('a failed delivery is found, its attempts are read, and it is sent again', async t => {
    const { id } = await addDestination('pager')
    answer(500)
    await ask('POST', `/destinations/${id}/test`, {})
    answer(200)
    await ask('POST', `/destinations/${id}/test`, {})
    await app.query(`update destinations set failing_since = now() - interval '2 hours' where id = $1`, [id])
    const { page } = await openAs(tenant, '/routing')
    await ready(page)
    await page.getByText('pager takes no messages.').waitFor()
    await page.getByRole('link', { name: 'See why: pager' }).first().click()
    await page.waitForURL(`${origin}/routing/${id}?status=failed`)
    await ready(page)
    t.equal(await page.locator('.deliveries tbody tr').count(), 1, 'only what failed')
    await page.getByRole('button', { name: /^test/ }).click()
    await page.locator('.attempts').getByText('Status 500').waitFor()
    t.match(page.url(), /delivery=/, 'the open one stands in the address')
    await button(page, 'Redeliver').click()
    await page.getByText('The message is on its way again.').waitFor()
    await page.locator('.attempts').getByText('Attempt 2').waitFor()
    await page.getByText('pager takes messages').waitFor()
    await page.getByLabel('Message', { exact: true }).selectOption('alert.triggered')
    await page.getByText('No message matches').waitFor()
    await page.context().close()
  })

  t.test('a destination is changed, paused, given a new secret, and deleted', async t => {
    const { id } = await addDestination('chat', {
      config: { url: `${url}/chat`, headers: { 'X-One': '1', 'X-Two': '2' } },
    })
    const { id: ruleId } = await ask('POST', '/rules', { name: 'Only chat', destination_ids: [id] })
    const { page } = await openAs(tenant, `/routing/${id}?tab=settings`)
    await ready(page)
    await page.getByLabel('Name').fill('team chat')
    await page.getByRole('textbox', { name: /^Headers/ }).fill('X-One: ********\nX-Three: 3')
    await page.getByRole('textbox', { name: /^URL/ }).fill('https://10.0.0.1/hook')
    await button(page, 'Save').click()
    await page.locator('[id="config.headers-problem"]').getByText('has to be given again').waitFor()
    t.equal(await page.getByLabel('Name').inputValue(), 'team chat')
    await page.getByRole('textbox', { name: /^URL/ }).fill(`${url}/chat`)
    await button(page, 'Save').click()
    await page.getByText('The destination was changed.').waitFor()
    await ask('POST', `/destinations/${id}/test`, {})
    const { headers } = requests.at(-1)!
    t.match(headers, { 'x-one': '1', 'x-three': '3' }, 'a placeholder keeps the secret')
    t.equal(headers['x-two'], undefined, 'a line that is gone is a header that is gone')

    await button(page, 'Pause').click()
    await page.getByText('team chat is paused').waitFor()
    await button(page, 'Resume').click()
    await page.getByText('team chat takes messages').waitFor()

    await button(page, 'Rotate secret').click()
    await inDialog(page, 'Rotate secret').click()
    const secret = await page.locator('.secret-once code').innerText()
    await inDialog(page, 'Done').click()
    await ask('POST', `/destinations/${id}/test`, {})
    const { body, headers: signed } = requests.at(-1)!
    t.equal(
      signed['x-service-signature'],
      `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    )

    await button(page, 'Delete destination').click()
    await page.getByRole('dialog').getByText('Only chat').waitFor()
    await inDialog(page, 'Delete destination').click()
    await page.getByText('Only chat has no other destination and is switched off').waitFor()
    await page.waitForURL(`${origin}/routing`)
    await page.goto(`${origin}/routing/${id}`)
    await page.getByText('There is no such destination').waitFor()
    await ask('DELETE', `/rules/${ruleId}`)
    await page.context().close()
  })

  t.test('a rule is made beside a preview of last week, changed, paused and deleted', async t => {
    const { id } = await addDestination('rules')
    const { matched } = await ask('POST', '/preview', { severities: ['critical'], limit: 1 })
    t.ok(matched > 0)
    const { page, faults } = await openAs(tenant, '/routing?tab=rules')
    await page.getByRole('link', { name: 'Add a rule' }).click()
    const preview = page.locator('.preview')
    await page.getByLabel('critical').check()
    await page.getByLabel('rules', { exact: true }).check()
    await preview.getByText(new RegExp(`^${matched} of ${matched} matching alert`)).waitFor()
    await preview.locator('.counts').getByText(String(matched), { exact: true }).waitFor()
    await page.getByLabel('Cooldown in minutes').fill('an hour')
    await button(page, 'Create rule').click()
    await page.getByText('Name is needed.').waitFor()
    await page.getByText('Cooldown in minutes must be a number.').waitFor()
    t.ok(await page.getByLabel('critical').isChecked(), 'nothing is lost')
    await page.goBack()
    await page.goForward()
    t.ok(await page.getByLabel('critical').isChecked(), 'not by Back either')
    t.equal(await page.getByLabel('Cooldown in minutes').inputValue(), 'an hour')
    await page.getByLabel('Cooldown in minutes').fill('60')
    await page.getByLabel('Name').fill('Urgent')
    await page.getByText('Sources and tables: all').click()
    await page.getByLabel('shop', { exact: true }).check()
    await page.getByLabel('Add a table').fill('orders')
    await page.locator('.results').getByRole('button').first().click()
    await page.getByLabel(/^Tags/).fill('money')
    await preview.getByText('Nothing: no alert matches.').waitFor()
    await page.getByLabel(/^Tags/).fill('')
    await button(page, 'Create rule').click()
    await page.getByText('The rule was created.').waitFor()
    const [rule] = (await ask('GET', '/rules')).data
    t.match(rule, {
      name: 'Urgent',
      severities: ['critical'],
      event_types: null,
      tag_filter_tags: null,
      destination_ids: [id],
      cooldown_minutes: 60,
      is_active: true,
    })
    t.equal(rule.asset_ids.length, 2)

    await page.getByRole('link', { name: 'Urgent' }).click()
    await page.getByText('Sources and tables: 2').click()
    await page.getByLabel(world.table).uncheck()
    await page.getByLabel('stale table').check()
    await button(page, 'Save').click()
    await page.getByText('The rule was changed.').waitFor()
    t.match((await ask('GET', '/rules')).data[0], {
      event_types: ['freshness_violation'],
      severities: ['critical'],
      asset_ids: { length: 1 },
    })
    await button(page, 'Pause').click()
    await button(page, 'Resume').waitFor()
    t.equal((await ask('GET', '/rules')).data[0].is_active, false)
    await button(page, 'Delete rule').click()
    await inDialog(page, 'Delete rule').click()
    await page.getByText('The rule was deleted.').waitFor()
    t.strictSame((await ask('GET', '/rules')).data, [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a message of an alert leads to its destination', async t => {
    await addDestination('linked')
    await world.raiseAlert()
    const { page } = await openAs(tenant, '/alerts')
    await ready(page)
    await page
      .getByRole('link', { name: /One more rule fails/ })
      .first()
      .click()
    await page.getByText('Messages', { exact: true }).click()
    await page.getByRole('link', { name: 'linked' }).click()
    await page.waitForURL(/\/routing\/.+\?delivery=/)
    await page.locator('.attempts, td[colspan]').first().waitFor()
    await page.context().close()
  })

  t.test('a viewer sees everything and no button that would change something', async t => {
    const { id } = await addDestination('seen')
    await ask('POST', `/destinations/${id}/test`, {})
    const { id: ruleId } = await ask('POST', '/rules', { name: 'Seen', destination_ids: [id] })
    const viewer = { companyId: tenant.companyId, email: `viewer-${randomUUID()}@example.com` }
    await app.server.plugins.auth.createUser({ ...viewer, role: 'viewer', password: randomUUID() })
    const { page } = await openAs(viewer, '/routing')
    const FORBIDDEN = /Add|Pause|Resume|Send a test|Redeliver|Rotate|Delete|Save|Create/
    for (const path of [
      '/routing',
      '/routing?tab=rules',
      `/routing?tab=rules&rule=${ruleId}`,
      `/routing/${id}`,
      `/routing/${id}?tab=settings`,
    ]) {
      await page.goto(origin + path)
      await ready(page)
      const main = page.locator('#main')
      t.equal(await main.getByRole('button', { name: FORBIDDEN }).count(), 0, path)
      t.equal(await main.getByRole('link', { name: FORBIDDEN }).count(), 0, path)
      t.equal(await main.locator('form').count(), 0, path)
      t.strictSame(await violationsOf(page), [], path)
    }
    await page.context().close()
  })
}
