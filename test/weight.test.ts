/**
 * What an extension imports loads nothing of the server: a package that only states a connector, a check or a destination
 * starts in a moment, and its types need no types of the server's libraries.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..')

/** Runs `import`, and prints the file of every module that was loaded. */
const PROBE = `
import { createRequire, registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context) } })
await import(process.argv[1])
const required = Object.keys(createRequire(process.argv[2] + '/package.json').cache ?? {})
console.log(JSON.stringify([...loaded, ...required].filter(url => !url.startsWith('node:'))))
`

function packagesOf(file: string): { packages: string[]; own: number } {
  const words = ['--input-type=module', '-e', PROBE, join(root, file), root]
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  const files = JSON.parse(stdout) as string[]
  const packages = files.flatMap(url => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? [])
  return {
    packages: [...new Set(packages)].sort(),
    own: files.filter(url => !url.includes('/node_modules/')).length,
  }
}

/** joi and what it is made of. */
const JOI = [
  '@hapi/address',
  '@hapi/formula',
  '@hapi/hoek',
  '@hapi/pinpoint',
  '@hapi/tlds',
  '@hapi/topo',
  '@standard-schema/spec',
  'joi',
]

/** The kit of checks runs whole scans, which read SQL of users. */
const SCANS = ['@pgsql/types', 'libpg-query', 'luxon']

for (const [file, allowed] of [
  ['connectors/index.ts', []],
  ['connectors/conformance.ts', JOI],
  ['checks/index.ts', JOI],
  ['checks/conformance.ts', [...JOI, ...SCANS]],
  ['plugins/alerts/destinations/destination.ts', JOI],
  ['plugins/alerts/destinations/conformance.ts', JOI],
] as const)
  t.test(`${file} loads no package of the server`, async t => {
    const { packages, own } = packagesOf(file)
    t.comment(`${own} files, and ${packages.join(', ') || 'no package'}`)
    t.same(
      packages.filter(name => !(allowed as readonly string[]).includes(name)),
      [],
    )
  })
