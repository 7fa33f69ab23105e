/** The pages for people who read the repository: what they name is there. */
import { existsSync, globSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..')
const pages = ['README.md', ...globSync('.github/**/*.md', { cwd: root })].map(path =>
  path.replaceAll('\\', '/'),
)
const textOf = (page: string) => readFileSync(join(root, page), 'utf8')

/** Top-level folders whose files pages may name. */
const FOLDERS = /^(?:server|connectors|checks|plugins|migrations|test|plugin-template)\//

/** Paths of the repository in backticks, without those that stand for any file: `checks/rules/<name>.ts`. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`([\w./-]+)`/g)].map(([, path = '']) => path).filter(path => FOLDERS.test(path))
}

/** Targets of links to files, from the page's folder. */
function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
}

for (const page of pages) {
  t.test(`${page} names files that exist and links to pages that exist`, async t => {
    const text = textOf(page)
    for (const path of pathsIn(text)) t.ok(existsSync(join(root, path)), path)
    for (const target of linksIn(text)) t.ok(existsSync(join(root, dirname(page), target)), target)
    t.pass('it was read')
  })
}

t.test('a path that is gone is found', async t => {
  t.strictSame(pathsIn('see `server/gone.ts`, `npm test` and `checks/rules/<name>.ts`'), ['server/gone.ts'])
  t.strictSame(linksIn('[a](b.md#c) [d](https://example.com)'), ['b.md'])
})

t.test('the README is shorter than 12 kB', async t => {
  t.ok(statSync(join(root, 'README.md')).size < 12_000)
})

t.test('every decision is listed', async t => {
  const files = readdirSync(join(root, '.github/decisions')).filter(file => file !== 'README.md')
  t.strictSame(linksIn(textOf('.github/decisions/README.md')).sort(), files.sort())
  t.ok(files.length >= 10)
})
