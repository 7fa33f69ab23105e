/** The button of a magic link, in Chromium: it goes on to another origin than that of the page. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import t from 'tap'
import { startServer } from '../../helpers/server.ts'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** As of a person: one that names a headless browser is taken for a program that looks at links. */
const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'
const TIMEOUT_MS = 15_000

if (!existsSync(EXECUTABLE)) t.plan(0, `no Chromium at ${EXECUTABLE}: CHROMIUM says where one is`)
else await pressButton()

async function pressButton() {
  t.setTimeout(120_000)
  const visits: { url: string; referrer: string | undefined }[] = []
  const elsewhere = createServer(({ url = '', headers }, response) => {
    if (url.startsWith('/?')) visits.push({ url, referrer: headers.referer })
    response.end('<h1>Welcome</h1>')
  })
  await new Promise<void>(done => elsewhere.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    elsewhere.closeAllConnections()
    elsewhere.close()
  })
  const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  const { server } = await startServer(t, { settings: { BASE_URL: target } })
  const { token } = await server.plugins.auth.createProspect({ email: 'ada@example.com' })
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())

  for (const javaScriptEnabled of [true, false]) {
    await t.test(`the button goes on to another origin, with script ${javaScriptEnabled}`, async t => {
      const context = await browser.newContext({ userAgent: AGENT, javaScriptEnabled })
      const page = await context.newPage()
      const refusals: string[] = []
      page.on('console', message => {
        if (/Content Security Policy/i.test(message.text())) refusals.push(message.text())
      })
      await page.goto(`http://127.0.0.1:${server.info.port}/api/public/magic-login?token=${token}`)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL(`${target}/?ticket=*`, { timeout: TIMEOUT_MS }).catch(() => undefined)
      t.strictSame(refusals, [], 'the policy refuses nothing')
      t.match(
        page.url(),
        new RegExp(`^${target}/\\?ticket=[\\w-]{43}$`),
        'the browser has gone on with a ticket',
      )
      t.equal(visits.at(-1)?.referrer, undefined, 'without the address of the link')
      await context.close()
    })
  }
  t.equal(visits.length, 2)
}
