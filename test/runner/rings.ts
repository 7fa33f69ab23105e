/**
 * Which test files are run when. `quick` is `npm test`: unit tests, the API, the conformance kits on PostgreSQL and
 * SQLite, and a tenth of each generated matrix. `all` is `npm run test:all`. `rest` is what `quick` leaves of `all`.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const RINGS = ['quick', 'rest', 'all'] as const
export type Ring = (typeof RINGS)[number]

/** The part of generated matrices that `quick` takes, by `test/helpers/share.ts`. */
const QUICK_SHARE = 0.1

/**
 * The files that only `all` runs, by what they need. One list rather than a suffix of file names: a file is named after
 * its subject, and changes its ring in one line.
 */
const OUTER: Record<string, string[]> = {
  MariaDB: [],
}

export function isRing(word: string): word is Ring {
  return RINGS.includes(word as Ring)
}

export function shareOfRing(ring: Ring): number {
  return ring === 'quick' ? QUICK_SHARE : 1
}

/** Returns the files of a ring, relative to the root. `rest` repeats the ones with matrices, of which `quick` took a share. */
export function filesOfRing(root: string, ring: Ring): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort()
  const outer = new Set(globSync(Object.values(OUTER).flat(), { cwd: root }))
  if (ring === 'all') return files
  if (ring === 'quick') return files.filter(file => !outer.has(file))
  return files.filter(file => outer.has(file) || hasShare(join(root, file)))
}

function hasShare(path: string): boolean {
  return /\bshare(dCount)?\(/.test(readFileSync(path, 'utf8'))
}
