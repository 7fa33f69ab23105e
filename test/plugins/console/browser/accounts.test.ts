/** Registering, choosing a new password and joining a company, in Chromium. */
import t from 'tap'
import type { Page } from 'playwright-core'
import { addCredential } from '../../../helpers/log-watch.ts'
import { startMailServer } from '../../../helpers/mail-server.ts'
import { startStage, type Stage } from './stage.ts'

const PASSWORD = 'a long enough sentence 7'
const PHONE = { viewport: { width: 360, height: 700 } }
const mailServer = await startMailServer(t)
const stage = await startStage(t, { settings: { SMTP_URL: mailServer.url } })
if (stage) await tryAccounts(stage)

/** The path and query of the link in the newest mail to an address. */
async function linkOf(email: string, path: string): Promise<string> {
  const link = () => {
    const mail = mailServer.mails.findLast(({ to, text }) => to.includes(email) && text.includes(path))
    return new RegExp(`${path}\\?token=([\\w-]+)`).exec(mail?.text ?? '')
  }
  while (!link()) await mailServer.received(mailServer.mails.length + 1)
  const [address, token] = link() as RegExpExecArray
  addCredential(token as string, 'token of a link')
  return address
}

const isWide = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')

async function tryAccounts({ app, world, origin, open, openAs, ready, violationsOf }: Stage) {
  t.test('a person without an account makes one, with what is wrong beside its field', async t => {
    const { page, faults } = await open(PHONE)
    await page.goto(origin)
    await page.getByRole('link', { name: 'Create an account' }).click()
    const send = page.getByRole('button', { name: 'Create an account' })
    await send.click()
    await page.getByText('Email is needed.').waitFor()
    t.equal(await page.evaluate('document.activeElement.name'), 'email')
    t.strictSame(await violationsOf(page), [])
    t.equal(await isWide(page), false)
    await page.getByLabel('Email').fill(world.tenant.email)
    await page.getByLabel('Password').fill('short')
    await send.click()
    await page.getByText(/at least 12 characters\./).waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await send.click()
    await page
      .locator('#email-problem')
      .getByText(/already exists/)
      .waitFor()
    await page.getByLabel('Email').fill('new@example.com')
    await page.keyboard.press('Enter')
    await page.locator('nav.screens').waitFor()
    await ready(page)
    t.equal(page.url(), `${origin}/`)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('password managers find what each field is for', async t => {
    const { page } = await open()
    const fields = async (path: string) => {
      await page.goto(origin + path)
      await page.locator('form').waitFor()
      return page.evaluate<string[]>(
        `[...document.querySelectorAll('input')].map(({ type, autocomplete }) => type + ' ' + autocomplete)`,
      )
    }
    t.strictSame(await fields('/register'), [
      ...['email username', 'text name', 'text organization', 'password new-password'],
    ])
    t.strictSame(await fields('/forgot'), ['email username'])
    t.strictSame(await fields('/reset?token=made-up'), ['password new-password'])
    await page.context().close()
  })

  t.test('a forgotten password is replaced with the link of a mail', async t => {
    const email = 'forgetful@example.com'
    await app.query('delete from rate_windows')
    await app.ask('POST', '/api/v1/auth/register', { email, password: PASSWORD })
    const { page, faults } = await open(PHONE)
    await page.goto(origin)
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByLabel('Email').fill(email)
    t.strictSame(await violationsOf(page), [])
    await page.keyboard.press('Enter')
    await page.getByText(`If ${email} has an account`).waitFor()
    t.strictSame(await violationsOf(page), [])
    const link = await linkOf(email, '/reset')
    await page.goto(origin + link)
    await page.getByLabel('New password').waitFor()
    t.equal(page.url(), `${origin}/reset`, 'the token has left the address')
    t.strictSame(await violationsOf(page), [])
    t.equal(await isWide(page), false)
    await page.getByLabel('New password').fill('password1234')
    await page.keyboard.press('Enter')
    await page.locator('#new_password-problem').waitFor()
    await page.getByLabel('New password').fill('another long sentence 8')
    await page.keyboard.press('Enter')
    await page.getByText('Your password was changed.').waitFor()
    t.strictSame(await page.context().cookies(), [], 'a link signs no person in by itself')
    t.equal(await page.getByLabel('Email').inputValue(), email)
    await page.getByLabel('Password').fill('another long sentence 8')
    await page.keyboard.press('Enter')
    await page.locator('nav.screens').waitFor()

    await page.goto(origin + link)
    await page.getByLabel('New password').fill('a third long sentence 9')
    await page.keyboard.press('Enter')
    await page.getByText('This link was used').waitFor()
    await page.getByRole('link', { name: 'Ask for a new link' }).click()
    await page.getByLabel('Email').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('an admin invites by mail, and the invited person joins', async t => {
    const email = 'grace@example.com'
    const { page } = await openAs(world.tenant, '/settings/people')
    await ready(page)
    await page.getByRole('button', { name: 'Invite', exact: false }).first().click()
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Send the invitation' }).click()
    await page.getByText(`${email} was invited`).waitFor()
    await page.getByText(/A mail with this link is on its way/).waitFor()
    await page.context().close()
    const { page: guest } = await open(PHONE)
    await guest.goto(origin + (await linkOf(email, '/invitation')))
    await guest.getByLabel('Password').fill(PASSWORD)
    t.equal(await isWide(guest), false)
    await guest.keyboard.press('Enter')
    await guest.locator('nav.screens').waitFor()
    await guest.context().close()
  })

  t.test('an invitation that has ended says what to do', async t => {
    const { page } = await open()
    for (const [path, text] of [
      ['/invitation?token=made-up', 'ask an admin of the company for a new one'],
      ['/invitation', 'The link is not complete.'],
      ['/reset', 'The link is not complete.'],
    ]) {
      await page.goto(`${origin}${path}`)
      await page.getByText(text as string).waitFor()
      t.strictSame(await violationsOf(page), [], path as string)
    }
    await page.context().close()
  })
}
