import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium, type BrowserContextOptions, type Locator, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { startServer, type Tenant, type TestServer } from '../../../helpers/server.ts'
import { makeConsoleWorld, type ConsoleWorld } from './world.ts'

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

/** A server with a company that has one of everything, and a browser before it. */
export interface Stage {
  app: TestServer
  world: ConsoleWorld
  origin: string
  open(options?: BrowserContextOptions): Promise<Opened>
  /** Opens a page that is signed in by a one-time link. */
  openAs(
    user: Pick<Tenant, 'companyId' | 'email'>,
    path?: string,
    options?: BrowserContextOptions,
  ): Promise<Opened>
  /** Waits until the screen has its data. */
  ready(page: Page): Promise<void>
  /** Waits for a number of elements. */
  untilCount(page: Page, selector: string, isReached: (count: number) => boolean): Promise<void>
  /** Waits until a field has a value. */
  untilValue(field: Locator, value: string): Promise<void>
  /** Violations of WCAG 2.2 AA that axe finds, each with the element. */
  violationsOf(page: Page): Promise<string[]>
}

/**
 * Undefined, and the tests of the file are skipped, where there is no Chromium.
 * @param options.before runs while there is no company yet
 * @param options.host the name by which the browser reaches the server, where its port must not be in addresses
 */
export async function startStage(
  t: Test,
  {
    settings = {},
    host,
    before,
  }: { settings?: Record<string, string>; host?: string; before?: (app: TestServer) => Promise<void> } = {},
): Promise<Stage | undefined> {
  if (!existsSync(EXECUTABLE)) {
    t.plan(0, `no Chromium at ${EXECUTABLE}: CHROMIUM says where one is`)
    return undefined
  }
  t.setTimeout(600_000)
  const app = await startServer(t, { settings: { DEMO_ENABLED: 'true', ...settings } })
  const server = `127.0.0.1:${app.server.info.port}`
  const origin = `http://${host ?? server}`
  await before?.(app)
  const world = await makeConsoleWorld(t, app)
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    args: ['--no-sandbox', ...(host ? [`--host-resolver-rules=MAP ${host} ${server}`] : [])],
  })
  t.teardown(() => browser.close())

  /** Forgets what limits have counted: no person opens a hundred screens in a minute. */
  const forgetLimits = () => app.query('delete from rate_windows')

  async function open(options: BrowserContextOptions = {}): Promise<Opened> {
    await forgetLimits()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    return { page, faults: watch(page, origin) }
  }

  return {
    app,
    world,
    origin,
    open,
    async openAs(user, path = '/', options = {}) {
      const opened = await open(options)
      const link = await app.server.plugins.auth.createSignInLink({ ...user, seconds: 60 })
      await opened.page.goto(`${origin}/${new URL(link).search}`)
      await opened.page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await opened.page.locator('nav.screens').waitFor()
      if (path !== '/') await opened.page.goto(origin + path)
      return opened
    },
    async ready(page) {
      await forgetLimits()
      await page
        .locator('#main h1')
        .waitFor()
        .catch(async (error: unknown) => {
          throw new Error(await page.locator('body').innerText(), { cause: error })
        })
      await untilCount(page, '.skeleton', count => count === 0)
    },
    untilCount,
    untilValue,
    violationsOf,
  }
}

function watch(page: Page, origin: string): Faults {
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

/** The policy of the page forbids what `page.waitForFunction` does. */
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

async function untilValue(field: Locator, value: string): Promise<void> {
  const until = Date.now() + TIMEOUT_MS
  while ((await field.inputValue()) !== value) {
    if (Date.now() > until) throw new Error(`the field has ${await field.inputValue()} instead of ${value}`)
    await wait(25)
  }
}

async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axeScript)
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
       .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}
