/**
 * Has Schemathesis send what `/openapi.json` allows and what it forbids, with all of its checks, to a server with data,
 * and most of the time with ids that exist. A finding that `ACCEPTED` does not explain fails, and so does an operation
 * that never succeeded. It is not part of the test suite, because it downloads packages:
 *
 *     QUICK=1 node test/run.ts --timeout=1800 test/peers/schemathesis.peer.ts
 *
 * `QUICK=1` ends after two minutes of requests, the full form after twenty; `SCHEMATHESIS_SECONDS` and
 * `SCHEMATHESIS_SEED` set others. All findings and replies are kept in `SCHEMATHESIS_FOLDER` where it is set.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { OpenApiDocument } from '../../server/openapi/document.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { startServer } from '../helpers/server.ts'
import { pythonWith } from './python.ts'
import { makeCompany, type Company } from './schemathesis/company.ts'
import { isAccepted, NEVER_SUCCEED, type Finding } from './schemathesis/findings.ts'

const { QUICK, SCHEMATHESIS_FOLDER, SCHEMATHESIS_SEED = '7' } = process.env
const SECONDS = process.env.SCHEMATHESIS_SECONDS ?? (QUICK ? '120' : '1200')
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024
const EXCLUDED = /^\/(docs|redoc|assets|favicon|robots)/

interface Report {
  operations: object
  errors: { title?: string; message?: string }[]
}

const folder = SCHEMATHESIS_FOLDER ?? (await mkdtemp(join(tmpdir(), 'schemathesis-')))
if (!SCHEMATHESIS_FOLDER) t.teardown(() => rm(folder, { recursive: true, force: true }))
const receiver = await startReceiver(t)
const app = await startServer(t, {
  isOwn: true,
  settings: {
    DEMO_ENABLED: 'true',
    DATA_DIR: folder,
    OAUTH_GITHUB_CLIENT_ID: 'schemathesis',
    OAUTH_GITHUB_CLIENT_SECRET: 'schemathesis',
  },
})

t.test('the server does what the document says', async t => {
  const python = await pythonWith(['schemathesis==4.32.5'])
  const { body } = await app.ask('GET', '/openapi.json')
  const document = body as OpenApiDocument
  const company = await makeCompany(t, app, document, receiver.url)
  const at = (name: string) => join(folder, name)
  const files = { world: at('world.json'), failures: at('failures.jsonl'), statuses: at('statuses.json') }
  const { recipes, values } = company
  const restore = await serve(t, () => company.restore())
  const world = { ...files, recipes, values, restore, seed: Number(SCHEMATHESIS_SEED) }
  await writeFile(files.world, JSON.stringify(world))
  await writeFile(at('schemathesis.toml'), configOf(document, company))
  const url = app.server.info.uri.replace(/\/\/[^:]+:/, '//127.0.0.1:')
  const output = await schemathesis(join(python, '../schemathesis'), files.world, [
    ...['--config-file', at('schemathesis.toml'), 'run', `${url}/openapi.json`, '--url', url],
    ...['--seed', SCHEMATHESIS_SEED, '--max-time', SECONDS, '--request-timeout', '30'],
    ...['--phases', 'examples,coverage,fuzzing', '--mode', 'all', '--continue-on-failure', '--no-shrink'],
    ...['--exclude-path-regex', EXCLUDED.source, '--report-json-path', at('report.json'), '--no-color'],
  ])
  const { errors } = JSON.parse(await readFile(at('report.json'), 'utf8')) as Report
  const lines = (await readFile(files.failures, 'utf8')).split('\n').filter(Boolean)
  const findings = lines.map(line => JSON.parse(line) as Finding)
  for (const [operation, found] of Map.groupBy(
    findings.filter(finding => !isAccepted(finding)),
    ({ code, operation }) => `${code} ${operation}`,
  ))
    t.fail(operation, { times: found.length, first: found[0] })
  t.strictSame(errors, [], 'every operation could be tested')
  const statuses = JSON.parse(await readFile(files.statuses, 'utf8')) as Record<
    string,
    Record<string, number>
  >
  const asked = Object.keys(document.paths).flatMap(path =>
    EXCLUDED.test(path)
      ? []
      : Object.keys(document.paths[path]!).map(method => `${method.toUpperCase()} ${path}`),
  )
  const unsuccessful = asked.filter(
    name => !Object.keys(statuses[name] ?? {}).some(each => /^[23]/.test(each)),
  )
  for (const name of unsuccessful.filter(each => !NEVER_SUCCEED[each]))
    t.fail(`${name} never succeeded`, { statuses: statuses[name] })
  const cases = Object.values(statuses)
    .flatMap(counts => Object.values(counts))
    .reduce((sum, count) => sum + count, 0)
  t.comment(output.slice(output.lastIndexOf('== SUMMARY')))
  t.ok(
    asked.length > 200,
    `${asked.length} operations, ${asked.length - unsuccessful.length} of them with success, ${cases} requests, ${findings.length} findings, seed ${SCHEMATHESIS_SEED}`,
  )
})

/** Has a request to the returned address wait for some work. */
async function serve(
  t: { teardown(down: () => unknown): unknown },
  work: () => Promise<void>,
): Promise<string> {
  const server = createServer((_request, response) => {
    work().then(
      () => response.writeHead(204).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Returns what it printed; it ends with 1 when it found something. */
function schemathesis(command: string, world: string, options: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, WORLD: world, PYTHONDONTWRITEBYTECODE: '1' }
    execFile(command, options, { cwd: folder, env, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      if (error && error.code !== 1) reject(new Error(`${stderr}${stdout}`.slice(-5_000), { cause: error }))
      else resolve(stdout)
    })
  })
}

/** The key is sent with every request, and an access token where an operation takes sessions only. */
function configOf({ paths }: OpenApiDocument, { key, token }: Company): string {
  const ofSessions = Object.values(paths)
    .flatMap(methods => Object.values(methods))
    .filter(({ security }) => security.length === 1 && 'session' in security[0]!)
    .map(({ operationId }) => operationId)
  return `
hooks = ${JSON.stringify(join(import.meta.dirname, 'schemathesis/hooks.py'))}
headers = { Authorization = "Bearer ${key}" }

[checks.negative_data_rejection]
# A URL that is too long is refused by the HTTP server.
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "414", "415", "422", "428", "429", "5xx"]

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "414", "429", "5xx"]

[[operations]]
include-operation-id = ${JSON.stringify(ofSessions)}
headers = { Authorization = "Bearer ${token}" }
`
}
