/**
 * Makes a Python client and TypeScript types from `/openapi.json` with published generators, calls a server with the one
 * and compiles the other. It is not part of the test suite, because it downloads packages:
 *
 *     node test/run.ts --timeout=900 test/peers/generators.peer.ts
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { startServer } from '../helpers/server.ts'
import { pythonWith } from './python.ts'

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** What the generator leaves out, by the operation, and why that is its limit and not an error of the document. */
const LEFT: [operation: string, message: RegExp, reason: string][] = [
  ...[
    'POST /api/public/contracts/validate',
    'POST /api/v1/contracts/validate',
    'POST /api/v1/contracts/{asset_id}/apply',
    'POST /api/v1/contracts/{asset_id}/plan',
    'POST /api/v1/sdk/assets/{asset_id}/contract-test',
    'PUT /api/v1/sdk/contracts/{name}',
  ].map((operation): [string, RegExp, string] => [
    operation,
    /content type text\/(plain|yaml)/,
    'it sends no bodies of text',
  ]),
  ...['GET /badges/{public_id}.svg', 'GET /badges/contracts/{public_id}.svg'].map(
    (operation): [string, RegExp, string] => [operation, /content_type .*image\/svg/, 'it reads no pictures'],
  ),
  ['GET /api/v1/contracts/{asset_id}/export', /content_type .*application\/yaml/, 'it reads no YAML'],
  [
    'GET /api/v1/contracts/export-jobs/{id}/download',
    /content_type .*application\/zip/,
    'it reads no archives',
  ],
]

/** Modules that do not load, and why. */
const BROKEN: Record<string, string> = {
  'api.public.create_magic_login': 'a body in two content types: the generator forgets an import',
}

/** Loads every module of the package, calls an operation, and prints what came of it. */
const SCRIPT = `
import importlib, json, pkgutil, sys
folder, url, key = sys.argv[1:]
sys.path.insert(0, folder)
import made
broken = []
modules = [module.name for module in pkgutil.walk_packages(made.__path__, 'made.')]
for name in modules:
    try:
        importlib.import_module(name)
    except Exception as error:
        broken.append(name.removeprefix('made.'))
from made.api.alerts import list_alerts
from made.api.validity import check_rule
reply = list_alerts.sync_detailed(client=made.AuthenticatedClient(base_url=url, token=key))
print(json.dumps({
    'modules': len(modules),
    'broken': broken,
    'status': reply.status_code,
    'total': reply.parsed.data.pagination.total,
}))
`

/** Uses the generated types: a status that does not exist must not compile, so the types are not all `any`. */
const USE = `
import type { components, paths } from './api.js'
export type Alert = components['schemas']['Alert']
type Listed = paths['/api/v1/sdk/alerts']['get']['responses'][200]['content']['application/json']
export const first = (reply: Listed): Alert | undefined => reply.data.data[0]
// @ts-expect-error: no alert has this status.
export const wrong: Alert['status'] = 'no status'
`

const app = await startServer(t)
const tenant = await app.signUp()

t.test('types that openapi-typescript makes from the document compile strictly', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'generated-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'openapi.json'), JSON.stringify((await app.ask('GET', '/openapi.json')).body))
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await run('npm', ['install', '--no-audit', '--no-fund', 'openapi-typescript@7.13.0', 'typescript@5.9.3'], {
    cwd: folder,
  })
  const bin = (name: string) => join(folder, 'node_modules/.bin', name)
  const made = await run(bin('openapi-typescript'), ['openapi.json', '-o', 'api.ts'], { cwd: folder })
  t.notMatch(`${made.stdout}${made.stderr}`, /warn|error/i)
  await writeFile(join(folder, 'use.ts'), USE)
  const { stdout } = await run(bin('tsc'), ['--strict', '--noEmit', '--target', 'es2024', 'use.ts'], {
    cwd: folder,
  })
  t.equal(stdout, '')
})

t.test('a Python client that is made from the document works', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'generated-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const python = await pythonWith(['openapi-python-client==0.29.1', 'python-dateutil==2.9.0.post0'])
  const document = join(folder, 'openapi.json')
  const settings = join(folder, 'settings.yaml')
  await writeFile(document, JSON.stringify((await app.ask('GET', '/openapi.json')).body))
  await writeFile(settings, 'post_hooks: []\n')
  const options = ['--path', document, '--output-path', join(folder, 'made'), '--config', settings]
  const { stdout, stderr } = await run(
    join(python, '../openapi-python-client'),
    ['generate', '--meta', 'none', ...options],
    { maxBuffer: MAX_OUTPUT_BYTES },
  )
  const unused = new Set(LEFT)
  // One paragraph says where, the next one what.
  for (const [, operation = '', message = ''] of `${stdout}${stderr}`.matchAll(
    /parsing (\S+ \S+) within [^\n]*\n\s*\n?([^\n]*)/g,
  )) {
    const left = LEFT.find(([name, pattern]) => name === operation && pattern.test(message))
    if (left) unused.delete(left)
    else t.fail(`${operation}: ${message.slice(0, 500)}`)
  }
  t.strictSame([...unused], [], 'every exception is needed')
  t.notMatch(`${stdout}${stderr}`, /Unable to process schema|ERROR/)

  const url = app.server.info.uri.replace(/\/\/[^:]+:/, '//127.0.0.1:')
  const printed = await run(python, ['-c', SCRIPT, folder, url, tenant.key])
  const found = JSON.parse(printed.stdout) as Record<string, unknown>
  t.match(found, { broken: Object.keys(BROKEN), status: 200, total: 0 })
  t.ok(Number(found.modules) > 500, `${String(found.modules)} modules`)
})
