/** People and access in the console, in Chromium. */
import type { Page } from 'playwright-core'
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) {
  managePeople(stage)
  manageKeys(stage)
  readAuditLog(stage)
  changeOwnUser(stage)
  limitViewers(stage)
}

/** The row of a table that begins with a name. */
const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })

function managePeople({ app, world, openAs, ready, untilValue, violationsOf }: Stage) {
  const email = 'grace@example.com'

  t.test('someone is invited by a link that is shown once, joins, is changed and removed', async t => {
    const { page, faults } = await openAs(world.tenant, '/settings/people')
    await ready(page)
    await page.getByText('No invitation is open.').waitFor()
    await page.getByRole('button', { name: 'Invite someone' }).click()
    const dialog = page.locator('dialog[open]')
    await dialog.getByRole('button', { name: 'Create the link' }).click()
    await dialog.getByText('Email is needed.').waitFor()
    await dialog.getByLabel('Email').fill('grace at example')
    await dialog.getByLabel('Role').selectOption('viewer')
    await dialog.getByRole('button', { name: 'Create the link' }).click()
    await dialog.locator('.field .bad').getByText('must be an email address').waitFor()
    await untilValue(dialog.getByLabel('Role'), 'viewer')
    t.strictSame(await violationsOf(page), [])
    await dialog.getByLabel('Email').fill(world.tenant.email)
    await dialog.getByRole('button', { name: 'Create the link' }).click()
    await dialog.locator('.field .bad').getByText('A user of your company already has this email').waitFor()
    await dialog.getByLabel('Email').fill(email)
    await dialog.getByRole('button', { name: 'Create the link' }).click()

    await page.getByRole('heading', { name: `Send this link to ${email}` }).waitFor()
    t.strictSame(await violationsOf(page), [])
    const link = await dialog.locator('code').innerText()
    const token = new URL(link).searchParams.get('token')!
    await page.keyboard.press('Escape')
    t.ok(await dialog.isVisible(), 'it is closed by its button only')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('rowheader', { name: email }).waitFor()
    t.notMatch(await page.content(), token, 'it is not shown again')
    const joined = { email, password: 'a walk in the long grass', invitation_token: token }
    t.equal((await app.ask('POST', '/api/v1/auth/register', joined)).status, 201)

    await page.reload()
    await page.getByText('2 users').waitFor()
    await page.getByText('No invitation is open.').waitFor()
    await page.getByRole('button', { name: `Change ${email}` }).click()
    await dialog.getByLabel('Role').selectOption('member')
    await dialog.getByLabel('May sign in').uncheck()
    t.strictSame(await violationsOf(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await rowOf(page, email).getByText('disabled', { exact: true }).waitFor()
    t.match(await rowOf(page, email).innerText(), 'member')
    t.equal(
      await page.getByRole('button', { name: `Remove ${world.tenant.email}` }).count(),
      0,
      'not oneself',
    )

    const makeOwner = (owner: string) =>
      app
        .query(`update users set role = 'admin' where role = 'owner'`)
        .then(() => app.query(`update users set role = 'owner' where email = $1`, [owner]))
    await makeOwner(email)
    await page.getByRole('button', { name: `Remove ${email}` }).click()
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await dialog.getByText('This user owns the company').waitFor()
    t.strictSame(await violationsOf(page), [])
    await makeOwner(world.tenant.email)
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('1 user', { exact: true }).waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('an invitation is revoked, and one that has expired is sent again', async t => {
    const { page } = await openAs(world.tenant, '/settings/people')
    await page.getByRole('button', { name: 'Invite someone' }).click()
    const dialog = page.locator('dialog[open]')
    await dialog.getByLabel('Email').fill(email)
    await dialog.getByRole('button', { name: 'Create the link' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await app.query(
      `update invitations set expires_at = now() - interval '1 minute' where accepted_at is null`,
    )
    await page.reload()
    await page.getByRole('button', { name: 'Invite again' }).click()
    await untilValue(dialog.getByLabel('Email'), email)
    await dialog.getByRole('button', { name: 'Create the link' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: `Revoke ${email}` }).click()
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('button', { name: `Revoke ${email}` }).waitFor({ state: 'detached' })
    const [open] = await app.query(
      'select count(*)::int as n from invitations where revoked_at is null and expires_at > now() and accepted_at is null',
    )
    t.equal(open?.n, 0)
    await page.context().close()
  })
}

function manageKeys({ app, world, openAs, ready, violationsOf }: Stage) {
  t.test('an API key is created, shown once, and revoked', async t => {
    await app.query(`update companies set plan = 'growth' where company_id = $1`, [world.tenant.companyId])
    const { page, faults } = await openAs(world.tenant, '/settings/keys')
    await ready(page)
    await page.getByText('1 of 10 API keys in use').waitFor()
    await page.getByRole('button', { name: 'Create a key' }).click()
    const dialog = page.locator('dialog[open]')
    const create = dialog.getByRole('button', { name: 'Create', exact: true })
    await create.click()
    await dialog.getByText('Name is needed.').waitFor()
    await dialog.getByLabel('Name').fill('Air\u0007flow')
    await create.click()
    await dialog.locator('.field .bad').getByText('control characters').waitFor()
    t.strictSame(await violationsOf(page), [])
    await dialog.getByLabel('Name').fill('Airflow')
    await dialog.getByLabel('Expires').selectOption('30')
    await create.click()

    await page.getByRole('heading', { name: 'The key of Airflow' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    const [key = '', example] = await dialog.locator('code').allInnerTexts()
    t.match(key, /^aa_live_\w{40}$/)
    t.match(example, `Bearer ${key}`)
    t.equal((await app.ask('GET', '/api/v1/assets', undefined, key)).status, 200)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await rowOf(page, 'Airflow').waitFor()
    t.match(await rowOf(page, 'Airflow').innerText(), /read-only[^]*in \d+ d/)
    t.notMatch(await page.content(), key, 'it is not shown again')

    await page.getByRole('button', { name: 'Revoke Airflow' }).click()
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
    await rowOf(page, 'Airflow').waitFor({ state: 'detached' })
    t.equal((await app.ask('GET', '/api/v1/assets', undefined, key)).status, 401)
    await page.getByLabel('Show revoked keys').check()
    await rowOf(page, 'Airflow').getByText('revoked').waitFor()
    t.equal(new URL(page.url()).search, '?tab=all')
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a plan that allows no further key says so', async t => {
    await app.query(`update companies set plan = 'starter' where company_id = $1`, [world.tenant.companyId])
    const { page } = await openAs(world.tenant, '/settings/keys')
    await page.getByText('Your plan allows no further key').waitFor()
    t.equal(await page.getByRole('button', { name: 'Create a key' }).count(), 0)
    await app.query(`update companies set plan = 'growth' where company_id = $1`, [world.tenant.companyId])
    await page.context().close()
  })
}

function readAuditLog({ app, world, openAs, ready, violationsOf }: Stage) {
  t.test('the audit log is filtered by its address, paged, and verified', async t => {
    const { email, password } = world.tenant
    const login = await app.ask('POST', '/api/v1/auth/login', { email, password })
    const size = { table_page_size: 10 }
    await app.ask('PATCH', '/api/v1/auth/preferences', size, login.body.access_token as string)
    const { page, faults } = await openAs(world.tenant, '/settings/audit')
    await ready(page)
    await page.getByLabel('Action').selectOption('api_key.revoked')
    await page.getByText('revoked the API key Airflow').waitFor()
    t.equal(new URL(page.url()).search, '?action=api_key.revoked')
    await page.getByText(/^Entry \d+$/).click()
    await page.locator('dd').getByText('read-only').waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('link', { name: 'All about the same' }).click()
    await page.getByText('created the API key Airflow').waitFor()
    await page.locator('.audit tbody a').first().click()
    await page.waitForURL(/actor=user/)
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByLabel('To').fill('2020-01-01')
    await page.getByText('No entry matches').waitFor()
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Older entries' }).click()
    await page.waitForURL(/before=\d+/)
    await page.getByRole('button', { name: 'Newest entries' }).click()
    await page.getByRole('button', { name: 'Verify the log' }).click()
    await page.getByText(/^The log is whole/).waitFor()
    t.strictSame(await violationsOf(page), [])
    await app.query('set session_replication_role = replica')
    try {
      await app.query(`update audit_log set actor = 'cli' where company_id = $1 and sequence = 3`, [
        world.tenant.companyId,
      ])
    } finally {
      await app.query('set session_replication_role = origin')
    }
    await page.getByRole('button', { name: 'Verify the log' }).click()
    await page.getByText('The log was tampered with at entry 3').waitFor()
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })
}

function changeOwnUser({ app, world, openAs, ready, untilValue, violationsOf }: Stage) {
  t.test('a user changes their name and password, and stays signed in', async t => {
    const { page, faults } = await openAs(world.tenant, '/settings')
    await ready(page)
    await page.getByLabel('Full name').fill('Ada Lovelace')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const asked: string[] = []
    page.on('request', request => asked.push(new URL(request.url()).pathname))
    await page.getByRole('button', { name: 'Change password' }).click()
    const dialog = page.locator('dialog[open]')
    const change = dialog.getByRole('button', { name: 'Change password' })
    await dialog.getByLabel('Your password now').fill('not the password')
    await dialog.getByLabel('New password').fill('short')
    await change.click()
    const problem = dialog.locator('.field .bad')
    await problem.getByText('The old password is wrong').waitFor()
    t.strictSame(await violationsOf(page), [])
    await untilValue(dialog.getByLabel('New password'), 'short')
    await dialog.getByLabel('Your password now').fill(world.tenant.password)
    await change.click()
    await problem.getByText('12').waitFor()
    t.equal(asked.filter(path => path.endsWith('/change-password')).length, 2, 'each is sent once')
    await dialog.getByLabel('New password').fill('a longer walk at dusk')
    await change.click()
    await page.getByText('Your password was changed.').waitFor()
    await page.goto(new URL('/settings', page.url()).href)
    await ready(page)
    await untilValue(page.getByLabel('Full name'), 'Ada Lovelace')
    const login = { email: world.tenant.email, password: 'a longer walk at dusk' }
    t.equal((await app.ask('POST', '/api/v1/auth/login', login)).status, 200)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a new company is led through its setup, whose steps tick themselves', async t => {
    const tenant = await app.signUp()
    const { page, faults } = await openAs(tenant)
    await page.getByText('Get started: 0 of 5 done').waitFor()
    await page.getByRole('button', { name: 'Try it with a demo shop' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('link', { name: 'Connect a source' }).click()
    await page.waitForURL(/\/sources\?add=/)
    await page.goBack()
    await page.getByRole('button', { name: 'Try it with a demo shop' }).click()
    await page.waitForURL(/\/sources\/demo_shop/)
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await page.getByText('Get started: 2 of 5 done').waitFor()
    await page.getByRole('button', { name: 'Hide the checklist' }).click()
    await page.locator('.checklist').waitFor({ state: 'detached' })
    await page.reload()
    await ready(page)
    t.equal(await page.locator('.checklist').count(), 0, 'it stays hidden')
    await page.goto(new URL('/settings', page.url()).href)
    await page.getByRole('button', { name: 'Show the checklist' }).click()
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await page.getByText('Get started: 2 of 5 done').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })
}

function limitViewers({ app, world, openAs, ready, violationsOf }: Stage) {
  t.test('a viewer has preferences and a profile, and sees nothing of others', async t => {
    await app.query(`update users set role = 'viewer' where company_id = $1`, [world.tenant.companyId])
    const { page } = await openAs(world.tenant, '/settings')
    const refused: string[] = []
    page.on('response', response => response.status() === 403 && refused.push(response.url()))
    await ready(page)
    const parts = page.getByRole('navigation', { name: 'Parts of the settings' }).getByRole('link')
    t.strictSame(await parts.allInnerTexts(), ['Your account', 'Teams and owners'])
    for (const part of ['people', 'keys', 'audit']) {
      await page.goto(new URL(`/settings/${part}`, page.url()).href)
      await page.getByText('Only admins and owners see this').waitFor()
    }
    t.strictSame(await violationsOf(page), [])
    await page.keyboard.press('/')
    await page.getByRole('combobox').fill('audit')
    const found = page.getByRole('option')
    await found.first().waitFor()
    const places = (await found.allInnerTexts()).filter(text => !text.includes('documentation'))
    t.strictSame(places, [], 'only the documentation has it')
    await page.goto(new URL('/', page.url()).href)
    await ready(page)
    t.equal(await page.locator('.checklist').count(), 0, 'who may not set up is not asked to')
    t.strictSame(refused, [])
    await page.context().close()
  })
}
