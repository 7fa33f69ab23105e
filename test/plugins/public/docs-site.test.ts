import t from 'tap'
import { pageAddress, pageNames, PREFIX } from '../../../plugins/public/doc-pages.ts'
import { searchIndex } from '../../../plugins/public/docs-site.ts'
import { startServer } from '../../helpers/server.ts'
import { pageText } from './docs-blocks.ts'

const { server } = await startServer(t)
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8'
const MAX_INDEX_BYTES = 165_000

const get = (url: string, headers: Record<string, string> = {}) => server.inject({ url, headers })
const page = (name: string) => get(pageAddress(name), { accept: BROWSER })
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found)

t.test('a page has a short address, and the former one leads browsers there', async t => {
  const { statusCode, headers, payload } = await get('/guide/drift')
  t.match([statusCode, headers['content-type']], [200, /^text\/html/])
  t.match(payload, 'href="/guide/freshness"', 'other pages too')
  t.notMatch(payload, /href="[^"]*\.md/)
  for (const former of [`${PREFIX}drift.md`, '/guide/drift.md'])
    t.match(await get(former, { accept: BROWSER }), {
      statusCode: 301,
      headers: { location: '/guide/drift' },
    })
})

t.test('a client that prefers HTML is led to the page, every other one gets Markdown', async t => {
  const replies = {
    301: [BROWSER, 'text/html', 'text/html, */*', 'text/markdown;q=0.5, text/html'],
    200: [
      undefined,
      '*/*',
      'text/markdown',
      'text/markdown, text/html',
      'text/html;q=0.5, */*',
      'text/html;q=0',
      'text/markdown, text/html;q=0.9, */*;q=0.1',
      'application/json',
    ],
  }
  for (const [status, accepts] of Object.entries(replies)) {
    for (const accept of accepts) {
      const { statusCode, headers } = await get(`${PREFIX}drift.md`, accept === undefined ? {} : { accept })
      t.equal(statusCode, Number(status), String(accept))
      if (statusCode === 200) t.match(headers['content-type'], 'text/markdown', String(accept))
      t.match(headers.vary, /\baccept\b(?!-)/i)
    }
  }
})

t.test('each form has its own ETag, and is not sent again to a client that has it', async t => {
  const tags = new Set<string>()
  for (const address of [pageAddress('drift'), `${PREFIX}drift.md`]) {
    const { headers } = await get(address)
    const tag = String(headers.etag)
    tags.add(tag)
    t.equal(headers['cache-control'], 'no-cache')
    t.equal((await get(address, { 'if-none-match': tag })).statusCode, 304)
  }
  t.equal(tags.size, 2)
})

t.test('Markdown is sent as it is stored', async t => {
  for (const name of pageNames) t.equal((await get(`${PREFIX}${name}.md`)).payload, pageText(name), name)
})

t.test('a page that is missing is a page for browsers', async t => {
  const { statusCode, headers, payload } = await page('nothing')
  t.equal(statusCode, 404)
  t.match(headers['content-type'], /^text\/html/)
  t.match(payload, 'Page not found')
})

t.test('every link and anchor of every page leads somewhere', async t => {
  const ids = new Map<string, Set<string>>()
  const links = new Map<string, string[]>()
  for (const name of pageNames) {
    const { payload } = await page(name)
    const all = matches(payload, /\bid="([^"]+)"/g)
    t.equal(new Set(all).size, all.length, `${name}: no id occurs twice`)
    ids.set(pageAddress(name), new Set(all))
    links.set(pageAddress(name), matches(payload, /\b(?:href|src)="([^"]*)"/g))
  }
  const others = new Set<string>()
  for (const [from, found] of links) {
    for (const link of found) {
      const { origin, pathname, search, hash } = new URL(link, `http://here${from}`)
      if (origin !== 'http://here') continue
      const known = ids.get(pathname)
      if (!known) others.add(pathname + search)
      else if (hash) t.ok(known.has(hash.slice(1)), `${from}: ${link}`)
    }
  }
  for (const other of others) t.equal((await get(other)).statusCode, 200, other)
  t.ok(others.size >= 6)
})

t.test('pages hold nothing that their policy forbids, and no source text of Markdown', async t => {
  for (const name of pageNames) {
    const { payload, headers } = await page(name)
    const policy = String(headers['content-security-policy'])
    t.match(policy, "default-src 'none'")
    t.notMatch(policy, /unsafe|https?:|\*/)
    t.notMatch(payload, /<script>|<style|style=| on[a-z]+=/, name)
    const text = payload.replaceAll(/<(pre|code)[\s\S]*?<\/\1>/g, '')
    t.notMatch(text, /```|\]\(|\*\*|^#+ |^\|/m, name)
    t.match(payload, /<main id="main">\s*<h1 id/)
  }
})

t.test('raw HTML in a page is shown as text', async t => {
  const escaped = pageNames.filter(name => /`[^`]*<[a-z]/i.test(pageText(name)))
  t.ok(escaped.length > 0)
  for (const name of escaped) t.match((await page(name)).payload, /<code>[^<]*(?:<wbr>[^<]*)*&lt;/)
})

t.test('the search index is small, and has every section', async t => {
  const reply = await get('/assets/search.json')
  t.match(reply.headers['content-type'], /^application\/json/)
  t.equal(reply.payload, searchIndex().content)
  t.ok(reply.rawPayload.length < MAX_INDEX_BYTES, `${reply.rawPayload.length} bytes`)
  const pages = JSON.parse(reply.payload) as [string, string, [string, string, string, string][]][]
  t.strictSame(
    pages.map(([name]) => name),
    pageNames,
  )
  for (const [name, , sections] of pages) {
    const { payload } = await page(name)
    for (const [id, heading, , words] of sections) {
      if (id) t.match(payload, `id="${id}"`)
      t.ok(heading && typeof words === 'string')
    }
  }
  const [, , freshness = []] = pages.find(([name]) => name === 'freshness') ?? []
  t.ok(freshness.some(([, , , words]) => words.split(' ').includes('sla_threshold')))
})
