import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { startServer, SECRET_KEY } from '../../helpers/server.ts'

const { server, query } = await startServer(t)
const PATH = '/api/public/unsubscribe'

/** As the contract says it: keyed with the bytes of the key, over the address in lower case. */
function tokenOf(email: string, key = SECRET_KEY): string {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(email.toLowerCase()).digest('hex')
}

function address(email: string, more: Record<string, string> = {}): string {
  return `${PATH}?${new URLSearchParams({ email, token: tokenOf(email), ...more })}`
}

const send = (method: string, url: string, headers: Record<string, string> = {}, payload?: string) =>
  server.inject({ method, url, headers, ...(payload !== undefined && { payload }) })

const stored = async () =>
  (await query('select email from unsubscribed order by email')).map(({ email }) => String(email))

t.beforeEach(() => query('truncate unsubscribed').then(() => undefined))

const URLENCODED = { 'content-type': 'application/x-www-form-urlencoded' }
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const ONE_CLICK = 'List-Unsubscribe=One-Click'
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=x1' }
const ONE_CLICK_PARTS =
  '--x1\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x1--\r\n'

t.test('the page shows how it stands and changes nothing, however often it is opened', async t => {
  await query(`insert into unsubscribed (email, at) values ('out@example.com', '2026-01-01')`)
  const rows = () => query('select * from unsubscribed')
  const before = await rows()
  for (const [email, checked] of [
    ['in@example.com', 'true'],
    ['out@example.com', 'false'],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      for (let time = 0; time < 50; time++) {
        const { statusCode, payload, headers } = await send(method, address(email, { utm_source: 'mail' }), {
          purpose: 'prefetch',
        })
        t.equal(statusCode, 200)
        t.equal(headers['set-cookie'], undefined)
        if (method === 'GET') t.match(payload, `aria-checked="${checked}"`)
      }
    }
  }
  t.strictSame(await rows(), before)
})

t.test('one click of a mail program unsubscribes and is answered with nothing', async t => {
  for (const [headers, payload] of [
    [URLENCODED, ONE_CLICK],
    [MULTIPART, ONE_CLICK_PARTS],
  ] as const) {
    await query('truncate unsubscribed')
    for (const time of ['once', 'and again']) {
      const reply = await send('POST', address('Me@Example.com'), { ...headers, ...HTML }, payload)
      t.equal(reply.statusCode, 200, time)
      t.equal(reply.payload, '')
      t.equal(reply.headers['set-cookie'], undefined)
      t.strictSame(await stored(), ['me@example.com'])
    }
  }
})

t.test('a script gets the current state', async t => {
  const ask = async (action?: string) => {
    const reply = await send('POST', address('me@example.com', action ? { action } : {}), {
      accept: 'application/json',
    })
    return [reply.statusCode, JSON.parse(reply.payload)]
  }
  t.strictSame(await ask(), [200, { email: 'me@example.com', subscribed: false }])
  t.strictSame(await stored(), ['me@example.com'])
  t.strictSame(await ask('subscribe'), [200, { email: 'me@example.com', subscribed: true }])
  t.strictSame(await stored(), [])
  t.strictSame(await ask('unsubscribe'), [200, { email: 'me@example.com', subscribed: false }])
})

t.test('without script, the button of the page works as a form, there and back', async t => {
  let page = (await send('GET', address('me+tag@example.com'))).payload
  for (const isStored of [true, false, true]) {
    const action = /<form[^>]*?action="([^"]*)"/s.exec(page)?.[1]?.replaceAll('&amp;', '&')
    t.match(action, /^\?/, 'leads to the address that the page has')
    const reply = await send('POST', PATH + action, { ...URLENCODED, ...HTML }, '')
    t.equal(reply.statusCode, 200)
    t.match(reply.headers['content-type'], /^text\/html/)
    t.match(reply.payload, `aria-checked="${!isStored}"`)
    t.strictSame(await stored(), isStored ? ['me+tag@example.com'] : [])
    page = reply.payload
  }
})

t.test('the policy of the page allows its own style sheets and script, and nothing else', async t => {
  const { payload, headers } = await send('GET', address('me@example.com'))
  const policy = String(headers['content-security-policy'])
  t.match(policy, "default-src 'none'")
  t.notMatch(policy, /unsafe|https?:|\*/)
  t.match(policy, "style-src 'self'")
  t.match(policy, "script-src 'self'")
  const files = [...payload.matchAll(/(?:<script[^>]* src|<link[^>]* href)="([^"]*)"/g)].map(
    ([, file = '']) => file,
  )
  t.ok(files.some(file => file.startsWith('/assets/unsubscribe.js')))
  for (const file of files) t.equal((await server.inject(file)).statusCode, 200, file)
  t.equal(payload.match(/<script/g)?.length, 1)
  t.notMatch(payload, /<style|<script>| (style|on[a-z]+)=/)
  t.match(headers, {
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
})

t.test('an address cannot bring markup into the page', async t => {
  const email = `o'neil&b{i}@example.com`
  const { statusCode, payload } = await send('GET', address(email))
  t.equal(statusCode, 200)
  t.match(payload, 'o&#39;neil&amp;b{i}@example.com')
  t.notMatch(payload, email)
})

t.test('a token of another address, or one changed by a single bit, is refused with a page', async t => {
  const email = 'me@example.com'
  const token = Buffer.from(tokenOf(email))
  const flipped = Array.from({ length: token.length * 8 }, (_, bit) => {
    const other = Buffer.from(token)
    other[bit >> 3]! ^= 1 << (bit & 7)
    return other.toString('latin1')
  })
  // A bit that makes a byte no text is another one on the way.
  for (const bad of [...flipped, tokenOf('you@example.com'), 'x', tokenOf(email).toUpperCase()]) {
    for (const method of ['GET', 'POST']) {
      const reply = await send(method, `${PATH}?${new URLSearchParams({ email, token: bad })}`, URLENCODED)
      if (reply.statusCode !== 403 || !String(reply.headers['content-type']).startsWith('text/html'))
        t.fail(`${method} with ${bad} is answered ${reply.statusCode}`)
    }
  }
  const reply = await send('POST', `${PATH}?email=${email}&token=x`, MULTIPART, ONE_CLICK_PARTS)
  t.equal(reply.statusCode, 403)
  t.match(reply.payload, /This link does not work/)
  t.strictSame(await stored(), [])
})

t.test('tokens of an older key stay good until it is taken out', async t => {
  const older = createHash('sha256').update('older').digest('base64')
  const twin = await startServer(t, { build: { secretKey: () => `${SECRET_KEY},${older}` } })
  const email = 'me@example.com'
  for (const [key, status] of [
    [SECRET_KEY, 200],
    [older, 200],
    [createHash('sha256').update('none of ours').digest('base64'), 403],
  ] as const) {
    const { statusCode } = await twin.server.inject(`${PATH}?email=${email}&token=${tokenOf(email, key)}`)
    t.equal(statusCode, status)
  }
})

t.test('what cannot be read is refused with the list of what is wrong', async t => {
  const token = tokenOf('me@example.com')
  for (const [url, field] of [
    [PATH, 'email'],
    [`${PATH}?email=invalid&token=${token}`, 'email'],
    [`${PATH}?email=me@example.com`, 'token'],
    [`${PATH}?email=me@example.com&email=you@example.com&token=${token}`, 'email'],
  ] as const) {
    for (const method of ['GET', 'POST']) {
      const { statusCode, payload } = await send(method, url)
      t.equal(statusCode, 422, url)
      t.match(JSON.parse(payload), { detail: [{ loc: ['query', field], msg: String, type: String }] })
    }
  }
  const { statusCode, payload } = await send('POST', address('me@example.com', { action: 'delete' }))
  t.equal(statusCode, 422)
  t.match(JSON.parse(payload), { detail: [{ loc: ['query', 'action'] }] })
  const long = 'x='.padEnd(4_097, 'x')
  t.equal((await send('POST', address('me@example.com'), URLENCODED, long)).statusCode, 413)
  t.equal(
    (await send('POST', address('me@example.com'), { 'content-type': 'text/plain' }, 'x')).statusCode,
    415,
  )
  t.strictSame(await stored(), [])
})

t.test('no query and no body makes it fail', async t => {
  const kinds = fc.constantFrom(URLENCODED, MULTIPART, { 'content-type': 'application/json' }, {})
  await fc.assert(
    fc.asyncProperty(fc.webQueryParameters(), kinds, fc.string(), async (asked, headers, body) => {
      for (const url of [`${PATH}?${asked}`, address('me@example.com')]) {
        const { statusCode } = await send('POST', url, headers as Record<string, string>, body)
        if (statusCode >= 500) return false
      }
      return true
    }),
    { numRuns: 200, seed: 13 },
  )
})
