/** No request within the limits holds the thread that serves all companies. */
import t from 'tap'
import { openApi } from '../../server/openapi/openapi.ts'
import { share } from '../helpers/share.ts'
import { discover, makeWorld } from '../helpers/world.ts'
import { recordCost } from './attack.ts'
import { calmestDelay, MAX_DELAY_MS } from './event-loop.ts'
import { largeRequests, type LargeRequest } from './large-requests.ts'

/** Operations that end the session, or remove the source of the others. */
const LEFT_OUT = /logout|change-password|^DELETE/
/** Rows of the table. */
const MAX_SHOWN = 25

const world = await makeWorld(t, [
  'create table orders (id int primary key, email text, amount numeric, created_at timestamptz)',
  'create table customers (id int primary key, name text)',
])
await discover(world)
const { app, tenant } = world

function send({ method, url, body, operation }: LargeRequest) {
  const credential = operation.security.some(scheme => 'apiKey' in scheme) ? tenant.key : tenant.token
  return app.server.inject({
    method,
    url,
    ...(body !== undefined && { payload: body }),
    headers: {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(operation.security.length > 0 && { authorization: `Bearer ${credential}` }),
    },
  })
}

t.test('no request within the limits holds the event loop for 100 ms', { timeout: 1_800_000 }, async t => {
  const all = [...largeRequests(openApi(app.server, ''), { asset_id: 'shop' })]
  const requests = all.filter(({ route }) => !LEFT_OUT.test(route))
  t.ok(requests.length > 2_000, `${requests.length} requests`)
  const measured: { ms: number; status: number; request: LargeRequest }[] = []
  for (const [index, request] of share(requests, 'large requests').entries()) {
    // None comes to its limit.
    if (index % 20 === 0) await app.query('delete from rate_windows')
    let status = 0
    const work = async () => {
      status = await send(request).then(
        ({ statusCode }) => statusCode,
        (error: Error) => Number(t.fail(error.message)),
      )
    }
    measured.push({ ms: await calmestDelay(work, { tries: 5, enough: MAX_DELAY_MS }), status, request })
  }
  measured.sort((a, b) => b.ms - a.ms)
  for (const { ms, request } of measured.slice(0, MAX_SHOWN))
    recordCost(t, { route: request.route, attack: request.attack, delayMs: ms, p99Ms: null })
  const slow = measured.filter(({ ms }) => ms > MAX_DELAY_MS)
  t.strictSame(
    slow.map(({ ms, request }) => `${request.route}, ${request.attack}: ${ms.toFixed(0)} ms`),
    [],
  )
  t.notOk(measured.some(({ status }) => status === 500))
})
