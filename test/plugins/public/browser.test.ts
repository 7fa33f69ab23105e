/**
 * The pages as people meet them, in Chromium. SCREENSHOTS=<folder> keeps a picture of each, to be looked at.
 */
import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import t from 'tap'
import { pageNames } from '../../../plugins/public/doc-pages.ts'
import { SECRET_KEY, startServer } from '../../helpers/server.ts'
import { pageText } from './docs-blocks.ts'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
const WIDTHS = [360, 1280]
/** As of a person: one that names a headless browser is taken for a program that looks at links. */
const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'
const SCHEMES = ['light', 'dark'] as const
/** Starting a browser and drawing a reference of two hundred requests takes long where much else runs. */
const PAGE_TIMEOUT_MS = 120_000

if (!existsSync(EXECUTABLE)) t.plan(0, `no Chromium at ${EXECUTABLE}: CHROMIUM says where one is`)
else await tryPages()

async function tryPages() {
  t.setTimeout(600_000)
  const { server, query } = await startServer(t)
  const origin = `http://127.0.0.1:${server.info.port}`
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())

  const email = 'ada+alerts@example.com'
  const token = createHmac('sha256', Buffer.from(SECRET_KEY, 'base64')).update(email).digest('hex')
  const unsubscribe = `/api/public/unsubscribe?${new URLSearchParams({ email, token }).toString()}`
  const pages = {
    start: { path: '/guide', ready: 'h1' },
    documentation: { path: '/guide/operations', ready: '.copy >> nth=0' },
    contents: { path: '/guide/index', ready: 'search:not([hidden])' },
    docs: { path: '/docs', ready: '.opblock-tag-section >> nth=0' },
    redoc: { path: '/redoc', ready: '[role=menu] >> nth=0' },
    unsubscribe: { path: unsubscribe, ready: '[role=switch]' },
    magic: { path: '/api/public/magic-login?token=made-up', ready: 'button' },
    missing: { path: '/nope', ready: 'h1', status: 404, said: /status of 404/ },
    refusal: { path: `${unsubscribe}x`, ready: 'h1', status: 403, said: /status of 403/ },
  }

  for (const [name, { path, ready, ...more }] of Object.entries(pages)) {
    t.test(`${name} fits every screen, in light and dark, and loads nothing from another host`, async t => {
      for (const width of WIDTHS) {
        for (const colorScheme of SCHEMES) {
          // The references take seconds to draw: each width and each scheme once, unless pictures are wanted.
          const isReference = name === 'docs' || name === 'redoc'
          if (isReference && !process.env.SCREENSHOTS && (width === 360) !== (colorScheme === 'dark'))
            continue
          const what = `${name} ${width} ${colorScheme}`
          const { page, seen } = await open(browser, { viewport: { width, height: 800 }, colorScheme })
          const reply = await page.goto(origin + path)
          t.equal(reply?.status(), 'status' in more ? more.status : 200, what)
          await page.locator(ready).waitFor({ timeout: PAGE_TIMEOUT_MS, state: 'attached' })
          await page.evaluate('document.fonts.ready.then(() => true)')
          if (process.env.SCREENSHOTS)
            await page.screenshot({ path: join(process.env.SCREENSHOTS, `${what.replaceAll(' ', '-')}.png`) })
          const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          t.ok(overflow <= 0, `${what}: no scrolling sideways`)
          const { said = null } = more as { said?: RegExp }
          t.strictSame(
            [...seen.loaded].filter(url => !url.startsWith(origin)),
            [],
            `${what}: only from here`,
          )
          t.strictSame(
            seen.errors.filter(text => !said?.test(text)),
            [],
            `${what}: nothing in the console`,
          )
          if (!isReference) {
            t.strictSame(await page.evaluate('faults.contrast()'), [], `${what}: contrast`)
            t.strictSame(await page.evaluate('faults.structure()'), [], `${what}: structure`)
          }
          await page.context().close()
        }
      }
    })
  }

  for (const [name, path] of Object.entries({ start: '/guide', documentation: '/guide/badges' }))
    t.test(
      `what can be used on the page ${name} is reached by keyboard and seen to be, and leads somewhere`,
      async t => {
        const { page } = await open(browser)
        await page.goto(origin + path)
        await page.locator('search:not([hidden])').waitFor()
        const stops = await page.locator('a:visible, button:visible, input:visible').count()
        for (let place = 0; place < stops; place++) {
          await page.keyboard.press('Tab')
          t.strictSame(await page.evaluate('faults.focus()'), [], `stop ${place}`)
          const href = await page.evaluate<string | undefined>('document.activeElement.href')
          if (href) t.equal((await page.request.get(href)).status(), 200, href)
        }
        await page.context().close()
      },
    )

  t.test('pages have the theme that was chosen in the console, and follow it', async t => {
    const { page } = await open(browser, { colorScheme: 'light' })
    const themeOf = (of: Page) =>
      of.evaluate('[document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]')
    const dark = ['dark', 'rgb(17, 20, 24)']
    await page.goto(`${origin}/guide`)
    t.strictSame(await themeOf(page), [undefined, 'rgb(246, 247, 249)'], 'by default that of the system')
    await page.evaluate(`localStorage.setItem('tidemark.theme', 'dark')`)
    const other = await page.context().newPage()
    await other.goto(`${origin}/guide/drift`)
    t.strictSame(await themeOf(other), dark)
    // A storage event comes to all pages but the one that changed it.
    await other.evaluate(`localStorage.setItem('tidemark.theme', 'light')`)
    await page.locator('html[data-theme=light]').waitFor()
    await page.evaluate(`localStorage.setItem('tidemark.theme', 'dark')`)
    await page.goto(`${origin}/docs`)
    await page.locator('html.dark-mode').waitFor({ timeout: PAGE_TIMEOUT_MS })
    await page.context().close()
  })

  t.test('a page fits a window with a scrollbar that takes room', async t => {
    const { page } = await open(browser, { viewport: { width: 1265, height: 800 } })
    await page.goto(`${origin}/guide/drift`)
    t.ok((await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0)
    await page.context().close()
  })

  t.test('the bar leads back to the console', async t => {
    const { page } = await open(browser)
    await page.goto(`${origin}/guide/drift`)
    await page.getByRole('link', { name: 'Open the console' }).click()
    await page.waitForURL(`${origin}/`)
    t.match(await page.title(), /Tidemark$/)
    await page.context().close()
  })

  t.test('the first stop skips to the content', async t => {
    const { page } = await open(browser)
    await page.goto(`${origin}/guide/drift`)
    await page.keyboard.press('Tab')
    t.equal(await page.evaluate('document.activeElement.getBoundingClientRect().top >= 0'), true, 'is seen')
    await page.keyboard.press('Enter')
    // The key is answered before the page has followed the link.
    await page.waitForURL('**/drift#main')
    await page.context().close()
  })

  t.test('a search finds a section, by keyboard, and opens it', async t => {
    const { page, seen } = await open(browser)
    await page.goto(`${origin}/guide`)
    await page.keyboard.press('/')
    await page.keyboard.type('verify sign')
    await page.locator('#results a').first().waitFor()
    t.match(await page.getByRole('status').innerText(), /^\d+ results$/)
    await page.keyboard.press('ArrowDown')
    t.strictSame(await page.evaluate('faults.focus()'), [])
    await page.keyboard.press('Enter')
    await page.waitForURL('**/guide/webhooks#verify-the-signature')
    await page.keyboard.press('/')
    await page.keyboard.type('verify the signature xyzzy')
    await page.locator('#results a').first().waitFor()
    await page.getByRole('searchbox').fill('xyzzy')
    await page.getByText('No results').first().waitFor()
    await page.keyboard.press('Escape')
    t.equal(await page.locator('#results').isVisible(), false)
    t.strictSame(seen.errors, [])
    await page.context().close()
  })

  t.test('a code block is copied as it is', async t => {
    const { page } = await open(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(`${origin}/guide/getting-started`)
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const [, first] = /```sh\n([\s\S]*?)\n```/.exec(pageText('getting-started')) ?? []
    t.equal(await page.evaluate('navigator.clipboard.readText()'), first)
    await page.context().close()
  })

  t.test(
    'without script the pages are listed on a phone, and neither search nor copy is offered',
    async t => {
      const viewport = { width: 360, height: 800 }
      const { page } = await open(browser, { javaScriptEnabled: false, viewport })
      await page.goto(`${origin}/guide/drift`)
      t.equal(await page.locator('search, .copy').filter({ visible: true }).count(), 0)
      await page.getByRole('button', { name: 'Pages' }).click()
      await page.getByRole('link', { name: 'Freshness', exact: true }).click()
      await page.waitForURL('**/guide/freshness')
      await page.context().close()
    },
  )

  t.test('no page of the documentation scrolls sideways on a phone', async t => {
    const { page, seen } = await open(browser, { viewport: { width: 360, height: 800 } })
    for (const name of pageNames) {
      await page.goto(`${origin}/guide/${name}`)
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      t.ok(overflow <= 0, name)
      t.strictSame(await page.evaluate('faults.structure()'), [], name)
    }
    t.strictSame(seen.errors, [])
    await page.context().close()
  })

  t.test('a request is tried out on the page of the interactive reference', async t => {
    const { page, seen } = await open(browser)
    await page.goto(`${origin}/docs#/public/getServiceHealth`)
    const operation = page.locator('#operations-public-getServiceHealth')
    // By keyboard: on a busy machine the page draws too seldom to be seen to stand still, as a click waits for.
    await operation.getByRole('button', { name: 'Try it out' }).press('Enter', { timeout: PAGE_TIMEOUT_MS })
    await operation.getByRole('button', { name: 'Execute' }).press('Enter', { timeout: PAGE_TIMEOUT_MS })
    await operation.locator('.live-responses-table').waitFor({ timeout: PAGE_TIMEOUT_MS })
    t.match(await operation.locator('.live-responses-table').innerText(), /"status": "ok"/)
    t.strictSame(seen.errors, [])
    await page.context().close()
  })

  t.test('the reference to be read is searched', async t => {
    const { page } = await open(browser)
    await page.goto(`${origin}/redoc`)
    await page.getByRole('textbox').first().fill('unsubscribe', { timeout: PAGE_TIMEOUT_MS })
    await page
      .locator('[data-role="search:results"] [role=menuitem]')
      .first()
      .waitFor({ timeout: PAGE_TIMEOUT_MS })
    await page.context().close()
  })

  const isStored = async () =>
    (await query('select from unsubscribed where email = $1', [email])).length === 1

  t.test('mail is switched off and on again by keyboard, and the page says so', async t => {
    const { page, seen } = await open(browser)
    await page.goto(origin + unsubscribe)
    await page.keyboard.press('Tab')
    t.strictSame(await page.evaluate('faults.focus()'), [], 'focus is seen')
    const toggle = page.getByRole('switch', { name: 'Alerts by email' })
    for (const [key, isOn, said] of [
      ['Space', false, 'You no longer receive email from us.'],
      ['Enter', true, 'You receive alerts by email.'],
      ['Space', false, 'You no longer receive email from us.'],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByRole('status').getByText(said).waitFor({ timeout: PAGE_TIMEOUT_MS })
      t.equal(await toggle.getAttribute('aria-checked'), String(isOn))
      t.equal(await isStored(), !isOn, 'and it is so')
      t.equal(await page.evaluate('document.activeElement.role'), 'switch', 'the focus stays')
    }
    t.strictSame(seen.errors, [])
    await page.context().close()
  })

  t.test('without script the switch works too', async t => {
    await query('delete from unsubscribed')
    const { page } = await open(browser, { javaScriptEnabled: false })
    await page.goto(origin + unsubscribe)
    for (const isOn of [false, true]) {
      await page.getByRole('switch').click()
      await page.locator(`[aria-checked=${isOn}]`).waitFor({ timeout: PAGE_TIMEOUT_MS })
      t.equal(await isStored(), !isOn)
    }
    await page.context().close()
  })
}

/** What a page was seen to do. */
interface PageActivity {
  /** Addresses that it asked for, also what its policy refused. */
  loaded: Set<string>
  errors: string[]
}

async function open(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; seen: PageActivity }> {
  const context = await browser.newContext({ ...options, userAgent: AGENT, reducedMotion: 'reduce' })
  context.setDefaultTimeout(PAGE_TIMEOUT_MS)
  await context.addInitScript({ path: join(import.meta.dirname, 'page-faults.js') })
  const page = await context.newPage()
  const seen: PageActivity = { loaded: new Set(), errors: [] }
  page.on('request', request => {
    if (/^https?:/.test(request.url())) seen.loaded.add(request.url())
  })
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') seen.errors.push(message.text())
  })
  page.on('pageerror', error => seen.errors.push(error.message))
  return { page, seen }
}
