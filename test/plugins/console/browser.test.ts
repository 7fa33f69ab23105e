/**
 * The console as people meet it, in Chromium. SCREENSHOTS=<folder> keeps a picture of each screen, to be looked at.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import t from 'tap'
import { startServer, type Tenant, type TestServer } from '../../helpers/server.ts'
import { makeConsoleWorld, HOSTILE_NAMES, type ConsoleWorld } from './world.ts'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
const TIMEOUT_MS = 10_000
const axeScript = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What a page must not do: errors of scripts, refusals of the policy, requests to other hosts. */
interface Faults {
  errors: string[]
  elsewhere: string[]
}

interface Opened {
  page: Page
  faults: Faults
}

let app: TestServer
let world: ConsoleWorld
let browser: Browser
let origin = ''

/** Forgets what limits have counted: no person opens a hundred screens in a minute. */
const forgetLimits = () => app.query('delete from rate_windows')

async function open(options: BrowserContextOptions = {}): Promise<Opened> {
  await forgetLimits()
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  return { page, faults: watch(page) }
}

function watch(page: Page): Faults {
  const faults: Faults = { errors: [], elsewhere: [] }
  page.on('pageerror', error => faults.errors.push(String(error)))
  page.on('console', message => {
    // A reply that is no success is shown by the page, and logged by the browser.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      faults.errors.push(message.text())
  })
  page.on('request', request => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
      faults.elsewhere.push(request.url())
  })
  return faults
}

/** Opens a page that is signed in by a one-time link. */
async function openAs(
  user: Pick<Tenant, 'companyId' | 'email'>,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const opened = await open(options)
  const link = await app.server.plugins.auth.createSignInLink({ ...user, seconds: 60 })
  await opened.page.goto(`${origin}/${new URL(link).search}`)
  await opened.page.locator('nav.screens').waitFor()
  if (path !== '/') await opened.page.goto(origin + path)
  return opened
}

/** Waits until the screen has its data. */
async function ready(page: Page): Promise<void> {
  await forgetLimits()
  await page
    .locator('#main h1')
    .waitFor()
    .catch(async (error: unknown) => {
      throw new Error(await page.locator('body').innerText(), { cause: error })
    })
  await untilCount(page, '.skeleton', count => count === 0)
}

/** Waits for a number of elements. The policy of the page forbids what `page.waitForFunction` does. */
async function untilCount(
  page: Page,
  selector: string,
  isReached: (count: number) => boolean,
): Promise<void> {
  const until = Date.now() + TIMEOUT_MS
  while (!isReached(await page.locator(selector).count())) {
    if (Date.now() > until) throw new Error(`${selector}: there are ${await page.locator(selector).count()}`)
    await wait(25)
  }
}

/** Violations of WCAG 2.2 AA that axe finds, each with the element. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axeScript)
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
       .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}

const SIZES = [
  [360, 'light'],
  [1280, 'light'],
  [360, 'dark'],
  [1280, 'dark'],
] as const

if (!existsSync(EXECUTABLE)) t.plan(0, `no Chromium at ${EXECUTABLE}: CHROMIUM says where one is`)
else await tryConsole()

async function tryConsole() {
  t.setTimeout(600_000)
  app = await startServer(t, { settings: { DEMO_ENABLED: 'true' } })
  origin = `http://127.0.0.1:${app.server.info.port}`
  world = await makeConsoleWorld(t, app)
  browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  await eachScreen()
  await signingIn()
  await triage()
  await trouble()
}

async function eachScreen() {
  const table = `/tables/${encodeURIComponent(world.table)}`
  const screens = {
    overview: '/',
    alerts: '/alerts',
    alert: `/alerts/${world.alertIds[0]}`,
    catalog: '/catalog',
    health: table,
    check: `${table}?check=${world.metricId}`,
    columns: `${table}?tab=columns`,
    changes: `${table}?tab=changes`,
    freshness: `${table}?tab=freshness`,
    lineage: `${table}?tab=lineage`,
    hostile: `/tables/${encodeURIComponent(world.hostileTable)}?tab=columns`,
    sources: '/sources',
    source: `/sources/${world.source}`,
    drift: '/changes',
    routing: '/routing',
    settings: '/settings',
    missing: '/nothing-here/at-all',
  }
  for (const [width, colorScheme] of SIZES)
    t.test(
      `every screen fits ${width} px in ${colorScheme}, is accessible, and keeps the policy`,
      async t => {
        const { page, faults } = await openAs(world.tenant, '/', {
          viewport: { width, height: 800 },
          colorScheme,
        })
        for (const [name, path] of Object.entries(screens)) {
          if (name === 'missing')
            await page.evaluate(
              `history.pushState(null, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`,
            )
          else await page.goto(origin + path)
          await ready(page)
          if (process.env.SCREENSHOTS)
            await page.screenshot({
              path: join(process.env.SCREENSHOTS, `${name}-${width}-${colorScheme}.png`),
            })
          const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          t.ok(overflow <= 0, `${name}: no scrolling sideways`)
          t.strictSame(await violationsOf(page), [], `${name}: axe`)
          const [headings, title] = [await page.locator('h1').count(), await page.title()]
          t.ok(headings <= 1 && title !== '', `${name}: one heading, and a title`)
        }
        t.strictSame(faults, { errors: [], elsewhere: [] })
        await page.context().close()
      },
    )

  t.test('names from a database are text, whatever they hold', async t => {
    const { page } = await openAs(
      world.tenant,
      `/tables/${encodeURIComponent(world.hostileTable)}?tab=columns`,
    )
    await ready(page)
    t.match(await page.locator('h1').innerText(), '<script>')
    for (const name of HOSTILE_NAMES)
      t.ok(await page.getByText(name, { exact: true }).first().isVisible(), name)
    t.equal(await page.evaluate('globalThis.isAttacked'), undefined)
    await page.context().close()
  })

  t.test('a screen takes at most three requests of the API', async t => {
    const { page } = await openAs(world.tenant)
    const asked: string[] = []
    page.on('request', request => {
      const { pathname } = new URL(request.url())
      // The count of open alerts belongs to the frame.
      if (pathname.startsWith('/api/') && !pathname.endsWith('/alerts/summary')) asked.push(pathname)
    })
    for (const [name, path] of Object.entries(screens)) {
      if (name === 'missing') continue
      asked.splice(0)
      await page.goto(origin + path)
      await ready(page)
      // With its chart a check is a screen of its own.
      const most = name === 'check' ? 4 : 3
      t.ok(asked.length <= most, `${name}: ${asked.join(' ')}`)
    }
    await page.context().close()
  })
}

async function signingIn() {
  t.test('a person signs in with a password, reloads, and signs out', async t => {
    const { page, faults } = await open()
    await page.goto(`${origin}/catalog`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    t.equal(await page.evaluate('document.activeElement.name'), 'email', 'the first field that is missing')
    t.ok(await page.getByText('Enter your password.').isVisible())
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
    await app.query('update sessions set ended_at = now()')
    await page.getByLabel('Search tables').fill('orde')
    await page.getByText('Your session has ended').waitFor()
    await page.getByLabel('Email').fill(world.tenant.email)
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
    await page.getByLabel('Email').waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill('a long enough sentence 7')
    await page.getByRole('button', { name: 'Create account' }).click()
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

  t.test('the demo is looked at without an account', async t => {
    await app.server.plugins.auth.setDemoCompany(world.tenant.companyId)
    const { page } = await open()
    await page.goto(origin)
    await page.getByRole('button', { name: 'Look at the demo' }).click()
    await ready(page)
    await page.reload()
    await ready(page)
    t.ok(await page.getByText('This is the demo').isVisible())
    await page.context().close()
  })
}

async function triage() {
  t.test('alerts are triaged by keyboard', async t => {
    const { page } = await openAs(world.tenant, '/alerts')
    await ready(page)
    const statusOf = async (id: string) =>
      (await app.query('select status from alerts where id = $1', [id]))[0]?.status
    await page.keyboard.press('j')
    const first = new URL(page.url()).pathname.split('/')[2]!
    t.equal(await page.locator('article h2').count(), 1)
    await page.keyboard.press('a')
    await page.getByText('1 alert acknowledged.').waitFor()
    t.equal(await statusOf(first), 'acknowledged')
    await page.keyboard.press('j')
    const second = new URL(page.url()).pathname.split('/')[2]!
    t.not(second, first)
    await page.keyboard.press('s')
    await page.getByLabel('4 hours').check()
    await page.locator('dialog').getByRole('button', { name: 'Snooze' }).click()
    await page.getByText('1 alert snoozed.').waitFor()
    t.equal(await statusOf(second), 'snoozed')
    await page.keyboard.press('j')
    const third = new URL(page.url()).pathname.split('/')[2]!
    await page.keyboard.press('e')
    await page.locator('dialog textarea').fill('Reverted the release')
    await page.locator('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('1 alert resolved.').waitFor()
    t.equal(await statusOf(third), 'resolved')
    await page.getByText('Reverted the release').waitFor()
    await page.keyboard.press('Escape')
    t.match(page.url(), /\/alerts$/)
    await page.context().close()
  })

  t.test('several alerts are changed at once, and filters stand in the address', async t => {
    const { page } = await openAs(world.tenant, '/alerts?severity=warning')
    await ready(page)
    const boxes = page.locator('.group input[type=checkbox]')
    const count = await boxes.count()
    t.ok(count >= 2)
    for (let n = 0; n < 2; n++) await boxes.nth(n).check()
    await page.locator('.bulk').getByRole('button', { name: 'Dismiss as expected' }).click()
    await page.locator('dialog').getByRole('button', { name: 'Dismiss as expected' }).click()
    await page.getByText('2 alerts dismissed.').waitFor()
    const dismissed = await app.query(`select reason from alert_history where to_status = 'dismissed'`)
    t.strictSame(
      dismissed,
      [{ reason: 'expected' }, { reason: 'expected' }],
      'so that learned bands include the values',
    )
    await page.getByLabel('Search alerts').fill('no such alert')
    await page.waitForURL(/search=no/)
    await page.getByText('No alert matches').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await ready(page)
    t.notMatch(page.url(), /search|severity/)
    await page.context().close()
  })

  t.test('a new alert is announced, and moves nothing', async t => {
    const { page } = await openAs(world.tenant, '/alerts')
    await page.clock.install()
    await page.reload()
    await ready(page)
    const before = await page.locator('.group li').count()
    await world.raiseAlert()
    await page.clock.fastForward(31_000)
    await page.getByRole('button', { name: 'Show 1 new alert' }).waitFor()
    t.equal(await page.locator('.group li').count(), before)
    await page.getByRole('button', { name: 'Show 1 new alert' }).click()
    await untilCount(page, '.group li', count => count > before)
    await page.context().close()
  })

  t.test('the palette finds a table by its name, a column, and a screen', async t => {
    const { page } = await openAs(world.tenant)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('orders')
    await page.locator('#palette-results').getByText(world.table, { exact: true }).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/tables/${encodeURIComponent(world.table)}`)
    await ready(page)
    await page.keyboard.press('/')
    await page.locator('dialog').waitFor()
    await page.keyboard.type('settings')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/settings`)
    await page.keyboard.press('?')
    t.ok(await page.getByRole('dialog').getByText('Search or go to').first().isVisible())
    await page.context().close()
  })

  t.test('a schema change is accepted, and a theme is kept', async t => {
    const { page } = await openAs(world.tenant, '/changes')
    await ready(page)
    const buttons = page.getByRole('button', { name: 'Accept', exact: true })
    const before = await buttons.count()
    await buttons.first().click()
    await untilCount(page, 'td button', count => count === before - 1)
    await page.goto(`${origin}/settings`)
    await page.getByLabel('Dark').check()
    await page.getByText('Saved.').waitFor()
    t.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    await page.reload()
    t.equal(
      await page.evaluate('document.documentElement.dataset.theme'),
      'dark',
      'before anything is loaded',
    )
    await page.getByLabel('System').check()
    await page.getByText('Saved.').waitFor()
    await page.context().close()
  })
}

async function trouble() {
  t.test('a server that is away is said to be, and a retry goes on', async t => {
    const { page } = await openAs(world.tenant, '/catalog')
    await ready(page)
    await page.context().setOffline(true)
    await page.locator('nav.screens a[href="/sources"]').click()
    await page.getByText('The server is away').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await ready(page)
    await page.context().setOffline(true)
    await page.locator('nav.screens a[href="/catalog"]').click()
    await page.getByText('The server did not answer').first().waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.getByRole('rowheader').first().waitFor()
    await page.context().close()
  })

  t.test('someone new is led to the first source', async t => {
    const { page } = await openAs(await app.signUp('Newcomers'))
    await page.getByText('No source is connected yet').waitFor()
    t.ok(await page.getByRole('link', { name: 'How to add a source' }).isVisible())
    t.strictSame(await violationsOf(page), [])
    for (const path of ['/alerts', '/catalog', '/sources', '/changes', '/routing']) {
      await page.goto(origin + path)
      await page.locator('.empty').first().waitFor()
      t.strictSame(await violationsOf(page), [], path)
    }
    await page.context().close()
  })
}
