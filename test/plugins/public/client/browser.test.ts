/** The client in Chromium, in a page of the server and under its Content-Security-Policy. */
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import t from 'tap'
import { generateSigningSecret, signBody } from '../../../../plugins/alerts/destinations/signature.ts'
import type * as ClientModule from '../../../../plugins/public/client/index.ts'
import { discover, makeWorld } from '../../../helpers/world.ts'
import { compileClient } from './compile.ts'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** Where the page finds the files of the client: nothing serves them there but this test. */
const PLACE = '/tidemark-client/'

declare global {
  /** The module, once the page has loaded it. */
  var tidemarkClient: typeof ClientModule
}

if (!existsSync(EXECUTABLE)) t.plan(0, `no Chromium at ${EXECUTABLE}: CHROMIUM says where one is`)
else await tryClient(EXECUTABLE)

async function tryClient(executablePath: string) {
  t.setTimeout(200_000)
  const world = await makeWorld(
    t,
    ['a', 'b', 'c'].map(name => `create table ${name} (id int)`),
  )
  await discover(world)
  const token = world.tenant.key
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const problems: string[] = []
  page.on('pageerror', error => problems.push(error.message))
  page.on('console', message => void (message.type() === 'error' && problems.push(message.text())))
  const files = compileClient()
  await page.route(`**${PLACE}*`, route => {
    const body = files.get(new URL(route.request().url()).pathname.slice(PLACE.length))
    return route.fulfill({ status: body ? 200 : 404, contentType: 'text/javascript', body: body ?? '' })
  })
  await page.goto(`http://127.0.0.1:${world.app.server.info.port}/`)
  await page.evaluate(async place => {
    globalThis.tidemarkClient = (await import(place)) as typeof ClientModule
  }, `${PLACE}index.js`)

  t.test('it lists what the server of the page has, page by page', async t => {
    const names = await page.evaluate(async token => {
      const tidemark = globalThis.tidemarkClient.createClient({ token })
      const found: string[] = []
      for await (const { name } of tidemark.iterate('/api/v1/assets', {
        query: { asset_type: ['table'], limit: 2 },
      }))
        found.push(name)
      return found.sort()
    }, token)
    t.strictSame(names, ['a', 'b', 'c'])
  })

  t.test('it makes something, and reads an error', async t => {
    const said = await page.evaluate(async token => {
      const { ApiError, createClient } = globalThis.tidemarkClient
      const tidemark = createClient({ token })
      const body = { asset_id: 'shop', name: 'seen in Chromium', object_path: 'public.a' }
      const { data } = await tidemark.post('/api/v1/sdk/tags', { body })
      const failure: unknown = await tidemark
        .get('/api/v1/assets/{asset_id}', { path: { asset_id: 'nope' } })
        .catch((error: unknown) => error)
      return [
        data.name,
        failure instanceof ApiError && failure.code,
        failure instanceof ApiError && failure.requestId,
      ]
    }, token)
    t.match(said, ['seen in Chromium', 'ASSET_NOT_FOUND', /\S/])
  })

  t.test('an aborted request and one without a server are different errors', async t => {
    const names = await page.evaluate(async () => {
      const { createClient } = globalThis.tidemarkClient
      const nameOf = (work: Promise<unknown>) => work.then(String, (error: Error) => error.name)
      const options = { retries: 0, fetch: () => Promise.reject(new TypeError('Failed to fetch')) }
      return [
        await nameOf(createClient().get('/api/v1/assets', { signal: AbortSignal.abort() })),
        await nameOf(createClient(options).get('/api/v1/assets')),
      ]
    })
    t.strictSame(names, ['AbortError', 'ConnectionError'])
  })

  t.test('it verifies a webhook, and refuses an altered one', async t => {
    const secret = generateSigningSecret()
    const body = JSON.stringify({ event_type: 'alert.test', alert: { title: 'Größe' } })
    const delivery = {
      secret,
      body,
      headers: signBody(body, 'an id', [generateSigningSecret(), secret], new Date()),
    }
    const said = await page.evaluate(async ({ body, headers, secret }) => {
      const { verifyWebhook } = globalThis.tidemarkClient
      const event = await verifyWebhook(body, headers, secret)
      const altered: unknown = await verifyWebhook(`${body} `, headers, secret).catch(
        (error: unknown) => error,
      )
      return [event.alert.title, String(altered)]
    }, delivery)
    t.strictSame(said, ['Größe', 'WebhookError: No signature fits the body'])
  })

  t.test('nothing else went wrong in the page', async t => {
    t.strictSame(
      problems.filter(text => !text.includes('status of 404')),
      [],
    )
  })
}
