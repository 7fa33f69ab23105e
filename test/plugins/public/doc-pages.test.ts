import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { pageNames } from '../../../plugins/public/doc-pages.ts'
import { startServer } from '../../helpers/server.ts'

const { server, ask } = await startServer(t)

/** Sends a request line as it stands: no client resolves `..` in it first. */
async function statusOf(target: string): Promise<number> {
  const socket = connect(Number(server.info.port), '127.0.0.1')
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return Number(chunk.toString().split(' ')[1])
}

for (const path of ['/guide', '/docs', '/redoc']) {
  t.test(`${path} is a page whose policy allows what it holds, and nothing of another host`, async t => {
    const { status, body, headers } = await ask('GET', path)
    t.equal(status, 200)
    t.match(headers['content-type'], /^text\/html; charset=utf-8/)
    t.match(headers, { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    const policy = String(headers['content-security-policy'])
    for (const part of [
      "default-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
      t.match(policy, part)
    t.notMatch(policy, /unsafe|https?:|\*/)
    t.notMatch(body, /<script>|style=| on[a-z]+=/, 'nothing that the policy forbids')
    const addresses = [...String(body).matchAll(/(?:href|src)="([^"]*)"/g)].map(
      ([, address]) => address ?? '',
    )
    t.ok(addresses.length >= 5)
    for (const address of addresses.filter(address => !address.startsWith('#'))) {
      t.match(address, /^\/[a-z]*/, address)
      t.equal((await ask('GET', address)).status, 200, address)
    }
  })
}

t.test('an unknown address gives people a page, and programs the error body', async t => {
  const get = (url: string, accept?: string, method: 'GET' | 'POST' = 'GET') =>
    server.inject({ method, url, headers: { ...(accept && { accept }) } })
  const html = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const page = await get('/nope', html)
  t.equal(page.statusCode, 404)
  t.match(page.headers, {
    'content-type': /^text\/html/,
    'x-request-id': /./,
    'content-security-policy': /^default-src 'none'/,
    'x-content-type-options': 'nosniff',
  })
  t.match(page.payload, '<a href="/">Start page</a>')
  t.notMatch(page.payload, /<script|nope/)
  for (const reply of [
    await get('/nope'),
    await get('/nope', 'application/json'),
    await get('/api/v1/nope', html),
    await get('/nope', html, 'POST'),
  ])
    t.match([reply.statusCode, JSON.parse(reply.payload).error.code], [404, 'NOT_FOUND'])
  const known = await get('/api/public/docs/nope.md')
  t.match(JSON.parse(known.payload).error, { code: 'NOT_FOUND', details: { pages: Array } })
})

t.test('the start page leads to every page of the documentation', async t => {
  const { body } = await ask('GET', '/guide')
  for (const name of pageNames) t.match(body, `href="/guide/${name}"`)
})

t.test(
  'assets are kept by browsers under the address of their version, and compared under others',
  async t => {
    const { body } = await ask('GET', '/guide')
    for (const [, path = ''] of String(body).matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) {
      const { headers } = await ask('GET', path)
      t.match(headers['cache-control'], 'immutable', path)
      t.match(headers['content-type'], /^text\/(css|javascript)/)
      const [plain = ''] = path.split('?')
      t.match((await ask('GET', plain)).headers, { 'cache-control': 'no-cache', etag: headers.etag })
      const { statusCode } = await server.inject({
        url: plain,
        headers: { 'if-none-match': String(headers.etag) },
      })
      t.equal(statusCode, 304)
    }
    for (const file of ['nothing.css', '..%2fassets.ts', 'package.json'])
      t.not((await ask('GET', `/assets/${file}`)).status, 200, file)
  },
)

t.test('icons and robots.txt are where browsers and search engines look', async t => {
  const icon = await server.inject('/favicon.ico')
  t.equal(icon.headers['content-type'], 'image/x-icon')
  t.equal(icon.rawPayload.readUInt16LE(2), 1, 'an icon file')
  t.equal(icon.rawPayload[6], 32, 'of 32 pixels')
  t.match((await ask('GET', '/favicon.svg')).headers['content-type'], /^image\/svg\+xml/)
  const robots = await ask('GET', '/robots.txt')
  t.match(robots.headers['content-type'], /^text\/plain/)
  t.match(robots.body, /^Allow: \/api\/public\/docs\/$/m)
  t.match(robots.body, /^Disallow: \/$/m)
})

t.test('of the packages that draw the references, nothing is served but what they need', async t => {
  for (const reference of ['/docs', '/redoc']) {
    t.match((await ask('GET', `${reference}/start.js`)).headers['content-type'], /^text\/javascript/)
    for (const file of ['package.json', 'index.js', '..%2fpackage.json', 'swagger-ui.js', 'redoc.lib.js'])
      t.not((await ask('GET', `${reference}/assets/${file}`)).status, 200, file)
  }
})

t.test('pages are markdown without front matter', async t => {
  t.ok(pageNames.includes('getting-started'))
  for (const name of pageNames) {
    const { status, body, headers } = await ask('GET', `/api/public/docs/${name}.md`)
    t.equal(status, 200, name)
    t.match(headers['content-type'], /^text\/markdown/)
    t.match(body, /^# \S/, 'begins with its title')
    for (const [, link = ''] of String(body).matchAll(/\]\(([a-z0-9/-]+)\.md\)/g)) {
      t.ok(pageNames.includes(link), `${name} links to ${link}`)
    }
  }
})

t.test('a page that is missing is 404 and says which there are', async t => {
  for (const path of [
    'nothing.md',
    'getting-started',
    'Getting-Started.md',
    'a/b/c.md',
    'getting-started.md.md',
    'two words.md',
    'a/'.repeat(3_000) + 'b.md',
    '',
  ]) {
    const { status, body } = await ask('GET', `/api/public/docs/${encodeURI(path)}`)
    t.equal(status, 404, path.slice(0, 50))
    t.equal(body.error.code, 'NOT_FOUND')
    t.ok(body.error.details.pages.includes('api-errors'))
  }
})

/** By what they hope for. All stand behind the prefix of the pages. */
const FORMS = {
  'as it is': [
    '../routes.ts',
    '../../../package.json',
    'getting-started.md/../../routes.ts',
    './getting-started.md',
  ],
  encoded: [
    '%2e%2e/routes.ts',
    '.%2e/routes.ts',
    '..%2froutes.ts',
    '..%2f..%2f..%2f..%2f..%2fetc%2fpasswd',
    '..%2F..%2Fetc%2Fpasswd.md',
    '%2e/getting-started.md',
  ],
  'encoded more than once': [
    '%252e%252e%252fpackage.json',
    '%25252e%25252e%25252fpackage.json',
    `%${'25'.repeat(3_000)}2e%2e/package.json`,
  ],
  backslashes: [
    '..%5c..%5cetc%5cpasswd.md',
    '..\\..\\etc\\passwd.md',
    '%2e%2e%5c/routes.ts',
    '..%255croutes.ts',
  ],
  'from the root': [
    '/etc/passwd.md',
    '//etc/passwd',
    '%2fetc%2fpasswd.md',
    'C:%5cwindows%5cwin.ini',
    'file:%2f%2fetc',
  ],
  'what is hidden': ['.env', '.git/config', '~root/.profile'],
  overlong: ['%c0%ae%c0%ae/routes.ts', '%c0%2e%c0%2e/routes.ts', '%e0%80%ae%e0%80%ae%c0%afroutes.ts'],
  'dots and slashes of other scripts': [
    '%uff0e%uff0e/routes.ts',
    '%ef%bc%8e%ef%bc%8e/routes.ts',
    '%e2%80%a5/routes.ts',
    '%e3%80%82%e3%80%82/routes.ts',
    '..%e2%88%95routes.ts',
    '..%ef%bc%8froutes.ts',
  ],
  'what others take out': [
    '..;/routes.ts',
    '....//routes.ts',
    '.%09./routes.ts',
    '..%0d%0a/routes.ts',
    'getting-started.md%0a',
    'getting-started.md%3a%3a$DATA',
  ],
}

for (const [what, forms] of Object.entries(FORMS)) {
  t.test(`leaving the folder is 403: ${what}`, async t => {
    for (const form of forms) t.equal(await statusOf(`/api/public/docs/${form}`), 403, form.slice(0, 80))
  })
}

t.test('nor is anything reached by other ways to write the whole address', async t => {
  t.equal(await statusOf('http://localhost/api/public/docs/../routes.ts'), 403, 'absolute form')
  t.equal(await statusOf('HTTPS://x@y:1/api/public/docs/%2e%2e/routes.ts'), 403, 'another host')
  t.equal(await statusOf('/api/public/docs/getting-started.md%00.png'), 400, 'NUL')
  t.equal(await statusOf('/api/public/docs/..%00/routes.ts'), 400, 'NUL')
  t.equal(await statusOf('/api/public/docs/getting-started.md?from=../x'), 200, 'a query is no path')
  for (const target of [
    '/api/public/docs%2f..%2froutes.ts',
    '/api/public/docs\\..\\routes.ts',
    '//api/public/docs/../routes.ts',
    '/api/public//docs/../routes.ts',
    '/api/public/./docs/../routes.ts',
    '/api/public/docs;/../routes.ts',
    '/API/PUBLIC/DOCS/../routes.ts',
    '//localhost/api/public/docs/../routes.ts',
    'file:///etc/passwd',
    '*',
  ]) {
    const status = await statusOf(target)
    t.ok([400, 403, 404].includes(status), `${target} is ${status}`)
  }
})
