/** Signing in and out of the console in Chromium. */
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await tryConsole(stage)

async function tryConsole({ app, world, origin, open, openAs, ready, violationsOf }: Stage) {
  t.test('a person signs in with a password, reloads, and signs out', async t => {
    const { page, faults } = await open()
    await page.goto(`${origin}/catalog`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    t.equal(await page.evaluate('document.activeElement.name'), 'email', 'the first field that is missing')
    await page.getByText('Enter your password.').waitFor()
    await page.getByLabel('Email').fill(world.tenant.email)
    await page.getByLabel('Password').fill('wrong wrong wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    t.equal(await page.getByLabel('Email').inputValue(), world.tenant.email, 'nothing is lost')
    t.strictSame(await violationsOf(page), [])
    await page.getByLabel('Password').fill(world.tenant.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('nav.screens').waitFor()
    await ready(page)
    t.match(page.url(), /\/catalog$/, 'where the person wanted to go')
    await page.reload()
    await ready(page)
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    )
    t.notMatch(stored, /eyJ|tidemark_\d+=/, 'no token that a script could read later')
    await page.locator('nav.screens').waitFor()
    await page.getByLabel('Account').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Email').waitFor()
    await page.reload()
    await page.getByLabel('Email').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('two tabs keep one session when its token is exchanged', async t => {
    const { page } = await openAs(world.tenant, '/')
    const other = await page.context().newPage()
    await Promise.all([page.goto(`${origin}/catalog`), other.goto(`${origin}/sources`)])
    await Promise.all([ready(page), ready(other)])
    await app.query(`update sessions set created_at = created_at - interval '11 minutes', rotated_at = null`)
    await Promise.all([page.reload(), other.reload()])
    await Promise.all([ready(page), ready(other)])
    t.equal(await page.locator('nav.screens').count(), 1)
    t.equal(await other.locator('nav.screens').count(), 1)
    await page.context().close()
  })

  t.test('a session that was ended elsewhere comes back to where it was', async t => {
    const { page } = await openAs(world.tenant, '/catalog?search=ord')
    await ready(page)
    const frame = () =>
      page.evaluate<string>(
        `JSON.stringify(['header.bar', 'nav.screens', '#main'].map(part => {
          const { x, y, width } = document.querySelector(part).getBoundingClientRect()
          return [x, y, width]
        }))`,
      )
    const before = await frame()
    await app.query('update sessions set ended_at = now()')
    await page.getByLabel('Search tables').fill('orde')
    await page.getByText('Your session has ended').waitFor()
    t.equal(await frame(), before, 'the screen behind stays as it was')
    t.equal(await page.getByLabel('Email').inputValue(), world.tenant.email, 'who it was is known')
    t.equal(await page.evaluate('document.activeElement.name'), 'password')
    t.equal(await page.getByRole('button', { name: 'Look at the demo' }).count(), 0, 'it is no new visit')
    t.strictSame(await violationsOf(page), [])
    await page.getByLabel('Password').fill('wrong wrong wrong')
    await page.locator('dialog').getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    t.equal(
      await page.getByLabel('Email').inputValue(),
      world.tenant.email,
      'a wrong password changes nothing',
    )
    await page.getByLabel('Password').fill(world.tenant.password)
    await page.locator('dialog').getByRole('button', { name: 'Sign in' }).click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    t.equal(await page.getByLabel('Search tables').inputValue(), 'orde')
    await page.context().close()
  })

  t.test('an invited person chooses a password, and sees no button that a viewer may not use', async t => {
    const email = 'grace@example.com'
    const { password } = world.tenant
    const signedIn = await app.ask('POST', '/api/v1/auth/login', { email: world.tenant.email, password })
    const { access_token: token } = signedIn.body
    const invited = await app.ask('POST', '/api/v1/invitations', { email, role: 'viewer' }, token)
    const { page } = await open()
    await page.goto(`${origin}/invitation?token=${invited.body.token}`)
    await page.getByText(`${world.tenant.email} invited you.`).waitFor()
    t.equal(page.url(), `${origin}/invitation`, 'the token has left the address')
    t.strictSame(await violationsOf(page), [])
    t.equal(await page.getByLabel('Email').inputValue(), email)
    t.equal(await page.getByLabel('Email').isEditable(), false)
    await page.getByLabel('Password').fill('a long enough sentence 7')
    await page.getByRole('button', { name: 'Create an account' }).click()
    await page.locator('nav.screens').waitFor()
    await page.goto(`${origin}/alerts/${world.alertIds[0]}`)
    await ready(page)
    t.equal(await page.getByRole('button', { name: /Acknowledge|Resolve|Snooze|Dismiss/ }).count(), 0)
    await page.keyboard.press('a')
    await page.goto(`${origin}/changes`)
    await ready(page)
    t.equal(await page.getByRole('button', { name: 'Accept' }).count(), 0)
    const [alert] = await app.query('select status from alerts where id = $1', [world.alertIds[0]])
    t.equal(alert?.status, 'triggered')
    await page.context().close()
  })

  t.test('a viewer is offered no dry run, by a link to a form either', async t => {
    const email = 'viewer@example.com'
    const { tenant } = world
    // Tests before this one have ended the session of the tenant.
    const login = { email: tenant.email, password: tenant.password }
    const { access_token: token } = (await app.ask('POST', '/api/v1/auth/login', login)).body
    const invited = await app.ask('POST', '/api/v1/invitations', { email, role: 'viewer' }, token)
    t.equal(invited.status, 201)
    const { status } = await app.ask('POST', '/api/v1/auth/register', {
      ...{ email, password: 'a long enough sentence 7' },
      invitation_token: invited.body.token,
    })
    t.equal(status, 201)
    const [table] = await app.query('select id, source_id from tables where qualified_name = $1', [
      world.table,
    ])
    const rule = await tenant.ask('POST', `/api/v1/sdk/validity/${String(table?.source_id)}`, {
      ...{ table_path: 'public.orders', rule_type: 'CUSTOM_SQL', name: 'By hand' },
      rule_config: { sql_expression: 'select id from orders where total < 0' },
    })
    t.equal(rule.status, 201)
    const address = `/tables/${encodeURIComponent(world.table)}`
    const forms = ['?add=CUSTOM_SQL', `?edit=${rule.body.data.uuid}`]
    const dryRun = { name: 'Try it', exact: true }
    for (const form of forms) {
      const { page } = await openAs(tenant, address + form)
      await page.getByRole('button', dryRun).waitFor()
      await page.context().close()
    }
    const { page } = await openAs({ companyId: tenant.companyId, email })
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    for (const form of forms) {
      await page.goto(origin + address + form)
      await ready(page)
      await page.getByText('By hand').first().waitFor()
      t.equal(await page.getByRole('button', dryRun).count(), 0, form)
    }
    t.notOk(asked.some(url => url.includes('dry-run')))
    await page.context().close()
  })

  t.test('a link asks before it signs a person in, with the account that it opens', async t => {
    const { companyId, email } = world.tenant
    const makeLink = async () => {
      const link = await app.server.plugins.auth.createSignInLink({ companyId, email, seconds: 60 })
      return `${origin}/${new URL(link).search}`
    }
    const link = await makeLink()
    const { page, faults } = await open()
    await page.goto(link)
    await page.getByRole('heading', { name: `Sign in as ${email}?` }).waitFor()
    t.equal(page.url(), `${origin}/`, 'the ticket has left the address')
    t.strictSame(await page.context().cookies(), [], 'nothing is signed in')
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('button', { name: 'Sign in with another account' }).click()
    await page.getByLabel('Password').waitFor()
    await page.reload()
    await page.getByLabel('Password').waitFor()
    t.strictSame(await page.context().cookies(), [], 'nor later')
    await page.goto(link)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.locator('nav.screens').waitFor()
    await ready(page)
    await page.reload()
    await ready(page)
    t.equal(await page.locator('nav.screens').count(), 1, 'the session outlives the page')
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('the demo is looked at without an account', async t => {
    await app.server.plugins.auth.setDemoCompany(world.tenant.companyId)
    const { page } = await open()
    await page.goto(origin)
    await page.getByRole('button', { name: 'Look at the demo' }).click()
    await page.getByText('This is the demo').waitFor()
    await page.reload()
    await ready(page)
    await page.getByText('This is the demo').waitFor()
    await page.context().close()
  })
}
