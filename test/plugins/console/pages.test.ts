import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { startServer } from '../../helpers/server.ts'

const BASE_URL = 'https://observe.example.com'
const { server, ask } = await startServer(t, { settings: { BASE_URL } })
const ID = '019a0000-0000-7000-8000-0000000000aa'

const get = (url: string, accept = 'text/html,*/*;q=0.8') => server.inject({ url, headers: { accept } })

/** What messages link to, and the same in the API. */
const APIS = {
  '/alerts': '/api/v1/sdk/alerts',
  '/tables': '/api/v1/assets',
  '/sources': '/api/v1/assets',
  '/routing': '/api/v1/sdk/alerts/destinations',
}
const SCREENS = [
  '/',
  ...Object.keys(APIS),
  '/catalog',
  '/checks',
  '/changes',
  '/connect',
  '/settings',
  '/settings/people',
  '/invitation',
  '/register',
  '/forgot',
  '/reset',
]
/** Of JavaScript, compressed. */
const MAX_FIRST_SCREEN_BYTES = 90_000
/** With the largest of the parts that are loaded when they are opened: a chart, or a form. */
const MAX_SCREEN_BYTES = 140_000

for (const path of SCREENS)
  t.test(
    `${path} is a page of the console, whose policy allows no inline script and no other host`,
    async t => {
      const { statusCode, headers, payload } = await get(path)
      t.equal(statusCode, 200)
      t.match(headers, { 'content-type': /^text\/html/, 'cache-control': 'no-cache' })
      const policy = String(headers['content-security-policy'])
      for (const part of [
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ])
        t.match(policy, part)
      t.notMatch(policy, /unsafe|https?:|\*/)
      const [, map = ''] = /<script type="importmap">([^<]*)<\/script>/.exec(payload) ?? []
      t.match(policy, `'sha256-${createHash('sha256').update(map).digest('base64')}'`)
      t.notMatch(payload, /style=| on[a-z]+=|<style/)
      t.equal(payload, (await get('/')).payload, 'the script shows the screen')
    },
  )

for (const [path, api] of Object.entries(APIS))
  t.test(`${path} redirects programs to the API`, async t => {
    for (const id of ['', `/${ID}`]) {
      const { statusCode, headers } = await get(path + id, '*/*')
      t.strictSame([statusCode, headers.location], [302, `${BASE_URL}${api}${id}`])
    }
    t.equal((await ask('GET', api)).status, 401, 'what it redirects to exists')
    const { headers } = await get(`${path}/${encodeURIComponent('a"; $(id) `id` !x')}`, '*/*')
    t.notMatch(headers.location, /["$`! ]/, 'safe in a shell')
  })

t.test('the links of an alert are these pages', async t => {
  const { alertLinks } = await import('../../../plugins/alerts/present.ts')
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

/** The modules that a page loads at once, by their addresses. */
async function preloadsOf(payload: string): Promise<Map<string, string>> {
  const addresses = [...payload.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(
    ([, at = '']) => at,
  )
  return new Map(
    await Promise.all(addresses.map(async at => [at, (await server.inject(at)).payload] as const)),
  )
}

/** What modules import, with the names of packages resolved as the import map says. */
function importsOf(at: string, text: string, map: Record<string, string>, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(
    ([, name = '']) => map[name] ?? new URL(name, `http://here${at}`).pathname,
  )
}

const STATIC = /(?:^|[;}\s])(?:import|export)\b[^'"();]*?from\s*["']([^"']+)["']/g
const DYNAMIC = /\bimport\(["']([^"']+)["']\)/g

t.test('a page names all modules of its first screen, and they are small', async t => {
  const { payload } = await get('/')
  const [, json = ''] = /<script type="importmap">([^<]*)<\/script>/.exec(payload) ?? []
  const { imports } = JSON.parse(json) as { imports: Record<string, string> }
  const modules = await preloadsOf(payload)
  t.ok(modules.size > 20)
  const sizeOf = (texts: Iterable<string>) =>
    [...texts].reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0)
  for (const [at, text] of modules)
    for (const imported of importsOf(at, text, imports, STATIC))
      t.ok(modules.has(imported), `${at}: ${imported}`)
  const first = sizeOf(modules.values())
  t.ok(first <= MAX_FIRST_SCREEN_BYTES, `${first} bytes at once`)

  const [screens = '', text = ''] = [...modules].find(([at]) => /\/screens\.[tj]sx?$/.test(at)) ?? []
  const others = importsOf(screens, text, imports, DYNAMIC)
  t.ok(others.length >= 6)
  for (const screen of others) {
    const all = first + (await sizeBehind(screen, new Set(modules.keys())))
    t.ok(all <= MAX_SCREEN_BYTES, `${screen}: ${all} bytes with its largest part`)
  }

  /** What a module loads at once, and the largest of the parts that it loads later. @param loaded before it */
  async function sizeBehind(module: string, loaded: ReadonlySet<string>): Promise<number> {
    const texts = new Map<string, string>()
    const visit = async (at: string): Promise<void> => {
      if (loaded.has(at) || texts.has(at)) return
      const { statusCode, payload } = await server.inject(at)
      t.equal(statusCode, 200, at)
      texts.set(at, payload)
      for (const next of importsOf(at, payload, imports, STATIC)) await visit(next)
    }
    await visit(module)
    const known = new Set([...loaded, ...texts.keys()])
    const later = [...texts].flatMap(([at, text]) => importsOf(at, text, imports, DYNAMIC))
    const sizes = await Promise.all(later.map(part => sizeBehind(part, known)))
    return sizeOf(texts.values()) + Math.max(0, ...sizes)
  }
})

t.test(
  'files are kept by browsers under the address of their version, and there is nothing else',
  async t => {
    const { payload } = await get('/')
    const addresses = [...payload.matchAll(/(?:href|src)="(\/console\/[^"]+)"/g)].map(([, at = '']) => at)
    for (const at of addresses) {
      const { statusCode, headers, payload } = await server.inject(at)
      t.equal(statusCode, 200, at)
      t.match(headers['cache-control'], 'immutable')
      t.match(headers['content-type'], at.endsWith('.css') ? /^text\/css/ : /^text\/javascript/)
      t.notMatch(payload, /^(import|export) type\b|^interface /m, 'no TypeScript')
    }
    for (const at of addresses) {
      const plain = await server.inject(at)
      const { rawPayload, headers } = await server.inject({ url: at, headers: { 'accept-encoding': 'gzip' } })
      t.match(headers, { 'content-encoding': 'gzip', vary: /accept-encoding/i }, at)
      t.equal(gunzipSync(rawPayload).toString(), plain.payload, at)
    }
    const [main = ''] = addresses.filter(at => /main\.[tj]sx?$/.test(at))
    for (const at of [
      main.replace(/files\/[^/]+/, 'files/another-version'),
      main.replace('client/main', 'client/../session'),
      main.replace('client/main', '%2e%2e/session'),
      main.replace(/client\/.*/, 'client/tsconfig.json'),
    ])
      t.equal((await server.inject(at)).statusCode, 404, at)
  },
)
