/** The links from the console to the documentation, read from the sources of the client. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pageAddress } from '../../../plugins/public/doc-pages.ts'
import { startServer } from '../../helpers/server.ts'

const { server } = await startServer(t)
const CLIENT = join(import.meta.dirname, '../../../plugins/console/client')
const sources = readdirSync(CLIENT, { recursive: true, encoding: 'utf8' })
  .filter(name => /\.tsx?$/.test(name))
  .map(name => ({ name, text: readFileSync(join(CLIENT, name), 'utf8') }))

/** What question marks and links lead to, each with the file that has it. */
const links = sources.flatMap(({ name, text }) => [
  ...[...text.matchAll(/\b(?:page|help)="([^"]+)"/g)].map(([, link = '']) => {
    const [page, section] = link.split('#')
    return { name, page, section }
  }),
  ...[...text.matchAll(/\/guide\/([\w-]+)(?:#([\w-]+))?/g)].map(([, page, section]) => ({
    name,
    page,
    section,
  })),
])

t.test('each question mark and link leads to a page that exists, and to a section of it', async t => {
  t.ok(links.length >= 20)
  for (const { name, page, section } of links) {
    const { statusCode, payload } = await server.inject(pageAddress(page!))
    t.equal(statusCode, 200, `${name}: ${page}`)
    if (section !== undefined) t.match(payload, ` id="${section}"`, `${name}: ${page}#${section}`)
  }
})

t.test('no question mark has an address that this test does not read', async t => {
  for (const { name, text } of sources)
    for (const [, value] of text.matchAll(/\b(?:page|help)=(\$?\{[^}]*\}|.)/g))
      t.ok(value === '"' || /^\$?\{help\}$/.test(value ?? ''), `${name}: ${value}`)
})
