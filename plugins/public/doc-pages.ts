import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lifecycle } from '@hapi/hapi'
import { packageRoot } from '../../server/settings/config.ts'
import { apiError } from '../../server/http/errors.ts'

const FOLDER = join(packageRoot, 'plugins/public/docs')
/** The pages as Markdown, for programs. */
export const PREFIX = '/api/public/docs/'
/** The pages as HTML, for people. */
export const pageAddress = (name: string) => `/guide/${name}`

/** Paths below the docs folder without `.md`, sorted. No other file is served. */
export const pageNames: readonly string[] = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .map(file => file.replaceAll('\\', '/'))
  .filter(file => /^([a-z0-9-]+\/)*[a-z0-9-]+\.md$/.test(file))
  .map(file => file.slice(0, -'.md'.length))
  .sort()

/** A page as the table of contents lists it. */
interface ListedPage {
  name: string
  title: string
  /** What it is about, in a few words that begin with a capital letter. */
  text: string
}

/** The groups of the table of contents, in its order. */
export const pageGroups: readonly { title: string; pages: readonly ListedPage[] }[] = readFileSync(
  join(FOLDER, 'index.md'),
  'utf8',
)
  .split(/^## /m)
  .slice(1)
  .map(part => ({
    title: part.split('\n', 1)[0] ?? '',
    pages: [...part.matchAll(/^- \[(.+?)\]\((.+?)\.md\): (.)(.*)$/gm)].map(
      ([, title = '', name = '', first = '', rest = '']) => ({
        name,
        title,
        text: first.toUpperCase() + rest,
      }),
    ),
  }))

/**
 * The file of a page.
 * @param path as the address has it, decoded, with `.md`
 * @throws 403 for a path that no page could have, 404 for one that no page has
 */
export function pageFile(path: string): string {
  const [name = ''] = path.split(/\.md$/)
  if (path.endsWith('.md') && pageNames.includes(name)) return join(FOLDER, `${name}.md`)
  if (leavesFolder(path)) throw forbidden()
  throw missingPage()
}

/** The error for a page that does not exist; it lists those that do. */
export const missingPage = () =>
  apiError('NOT_FOUND', 'There is no such page: details.pages lists the pages', { pages: pageNames })

/**
 * Refuses addresses that try to leave the docs folder. Checks the raw address: `..`, also when encoded, is resolved
 * before routing, so such a request would reach another route or none.
 */
export const refuseTraversal: Lifecycle.Method = (request, h) => {
  const sent = (request.raw.req.url ?? '').replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/s, '')
  if (sent.startsWith(PREFIX) && leavesFolder(decodeOnce(sent.slice(PREFIX.length)))) throw forbidden()
  return h.continue
}

/** True unless every segment is an ordinary name. */
function leavesFolder(path: string): boolean {
  return (
    path !== '' &&
    path.split('/').some(part => part.includes('..') || !/^[\p{L}\p{N} _-][\p{L}\p{N} ._-]*$/u.test(part))
  )
}

/**
 * Decodes once. The percent signs of a second encoding, or of an invalid one, stay, and are in no ordinary name.
 */
function decodeOnce(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function forbidden() {
  return apiError(
    'FORBIDDEN',
    'Pages are below /api/public/docs/ and are named with lower-case letters, digits and hyphens',
  )
}
