import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../helpers/server.ts'

const BASE_URL = 'https://observe.example.com'
const { server, ask } = await startServer(t, { settings: { BASE_URL } })
const ID = '019a0000-0000-7000-8000-0000000000aa'

const get = (url: string, accept = 'text/html,*/*;q=0.8') => server.inject({ url, headers: { accept } })

const APIS = {
  '/alerts': '/api/v1/sdk/alerts',
  '/tables': '/api/v1/assets',
  '/sources': '/api/v1/assets',
  '/routing': '/api/v1/sdk/alerts/destinations',
}

for (const [path, api] of Object.entries(APIS)) {
  t.test(`${path} is a page for people, and redirects programs to the API`, async t => {
    for (const id of ['', `/${ID}`]) {
      const { statusCode, headers, payload } = await get(path + id)
      t.equal(statusCode, 200)
      t.match(headers, { 'content-type': /^text\/html/, 'cache-control': 'no-store' })
      t.match(headers['content-security-policy'], "default-src 'none'")
      t.match(payload, `curl -s &quot;${BASE_URL}${api}${id}&quot;`)
      t.match(payload, '<meta name="robots" content="noindex" />')
      for (const [, link = ''] of payload.matchAll(/href="(\/[^"#]*)/g))
        t.equal((await ask('GET', link)).status, 200, link)
      const program = await get(path + id, '*/*')
      t.match([program.statusCode, program.headers.location], [302, `${BASE_URL}${api}${id}`])
    }
    t.equal((await ask('GET', api)).status, 401, 'what it redirects to exists')
  })
}

t.test('what stands in a command cannot end it', async t => {
  const { payload } = await get(`/tables/${encodeURIComponent('a"; $(id) `id` !x \\ <b>')}`)
  const [, command = ''] = /<code>KEY=[^\n]*\n(.*) \\\n/.exec(payload) ?? []
  t.match(command, /^curl -s &quot;\S+&quot;$/)
  t.notMatch(command.slice('curl -s &quot;'.length, -'&quot;'.length), /["$`!\\<&]/)
  for (const path of ['/invitation?token=', '/?ticket=']) {
    const page = await get(path + encodeURIComponent(`'; id; '`))
    t.equal(page.statusCode, 200)
    t.notMatch(page.payload, '; id; ')
  }
})

t.test('the page of an invitation registers the invited person', async t => {
  const token = randomUUID()
  const { statusCode, headers, payload } = await get(`/invitation?token=${token}`)
  t.equal(statusCode, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.match(payload, `${BASE_URL}/api/v1/auth/register`)
  t.match(payload, `&quot;invitation_token&quot;: &quot;${token}&quot;`)
})

t.test('the page that a magic link ends at says what to do with its ticket', async t => {
  const { token } = await server.plugins.auth.createProspect({ email: 'ada@example.com' })
  const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }
  const url = '/api/public/magic-login'
  const reply = await server.inject({ method: 'POST', url, payload: { token }, headers: agent })
  const body = JSON.parse(reply.payload) as { redirect_url: string; ticket: string }
  const { pathname, search } = new URL(body.redirect_url)
  const { headers, payload } = await get(pathname + search)
  t.equal(headers['cache-control'], 'no-store')
  t.match(payload, `&quot;ticket&quot;: &quot;${body.ticket}&quot;`)
  t.equal((await ask('POST', '/api/v1/auth/tickets', { ticket: body.ticket })).status, 200)
})

t.test('the links of an alert are these pages', async t => {
  const { alertLinks } = await import('../../../plugins/alerts/lifecycle/message.ts')
  for (const [type, page] of [
    ['table', 'tables'],
    ['view', 'tables'],
    ['source', 'sources'],
    ['destination', 'routing'],
  ] as const) {
    const event = { asset: { id: ID, asset_type: type } }
    const links = alertLinks('', { id: ID, event } as Parameters<typeof alertLinks>[1])
    t.strictSame(links, { alert_url: `/alerts/${ID}`, asset_url: `/${page}/${ID}` })
    for (const link of Object.values(links)) t.equal((await get(link)).statusCode, 200)
  }
})
