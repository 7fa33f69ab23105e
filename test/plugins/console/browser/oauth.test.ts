/** Signing in to the console through an OpenID provider, in Chromium. */
import t from 'tap'
import type { Page } from 'playwright-core'
import { newcomer, startIssuer } from '../../auth/oauth/world.ts'
import { startStage, type Stage } from './stage.ts'

const HOST = 'tidemark.example.com'
const BASE = `http://${HOST}`

const issuer = await startIssuer(t, ['local'], BASE)
const stage = await startStage(t, { host: HOST, settings: { BASE_URL: BASE, ...issuer.settings } })
if (stage) await tryConsole(stage)

async function tryConsole({ app, origin, open, ready }: Stage) {
  /** A page that the provider's button has led to the provider. */
  async function goToProvider(path: string): Promise<Page> {
    // Its certificate is of an authority that only this process trusts.
    const { page } = await open({ ignoreHTTPSErrors: true })
    await page.goto(origin + path)
    await page.getByRole('link', { name: 'Sign in with local' }).click()
    await page.waitForURL(url => url.origin === issuer.issuer)
    return page
  }

  t.test('a person signs in through the provider, and is where they wanted to go', async t => {
    const { login, email, person } = newcomer({ name: 'Ada <b>Lovelace</b>' })
    issuer.people.set(login, person)
    const page = await goToProvider('/catalog?search=orders')
    await page.locator('[name=login]').fill(login)
    await page.locator('[name=password]').fill('any')
    await page.locator('[type=submit]').click()
    // The provider asks whether the service may know who they are.
    await page.locator('[name=prompt][value=consent]').waitFor({ state: 'attached' })
    await page.locator('[type=submit]').click()
    await page.locator('nav.screens').waitFor()
    await ready(page)
    t.equal(page.url(), `${origin}/catalog?search=orders`, 'the ticket has left the address')
    t.equal(await page.locator('.bar summary').getAttribute('title'), 'Ada <b>Lovelace</b>')
    await page.reload()
    await ready(page)
    t.equal(await page.locator('nav.screens').count(), 1, 'the session outlives the page')
    const [user] = await app.query('select count(*) as count from users where email = $1', [email])
    t.equal(Number(user?.count), 1)
    await page.context().close()
  })

  t.test('a refusal at the provider leads to the sign-in page, which says so', async t => {
    const page = await goToProvider('/alerts')
    await page.getByRole('link', { name: /cancel/i }).click()
    await page.getByText('The sign-in through the provider failed.').waitFor()
    t.equal(page.url(), `${origin}/alerts`, 'the error has left the address')
    await page.getByLabel('Email').waitFor()
    await page.getByRole('link', { name: 'Sign in with local' }).waitFor()
    await page.context().close()
  })

  t.test('a ticket that was made up leads to the sign-in page too', async t => {
    const { page } = await open()
    await page.goto(`${origin}/?ticket=made-up`)
    await page.getByText('The sign-in link was used before or has expired.').waitFor()
    t.equal(page.url(), `${origin}/`)
    await page.context().close()
  })
}
