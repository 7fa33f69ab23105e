/**
 * Has Schemathesis send what `/openapi.json` allows and what it forbids, with all of its checks, to a server with data.
 * A finding that `LEFT` does not explain fails. It is not part of the test suite, because it downloads packages:
 *
 *     QUICK=1 node test/run.ts --timeout=1500 test/peers/schemathesis.peer.ts
 *
 * `QUICK=1` ends after two minutes of requests, the full form after twenty.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startReceiver } from '../helpers/receiver.ts'
import { startServer } from '../helpers/server.ts'
import { makeFixtures, type Fixtures } from './client/fixtures.ts'
import { pythonWith } from './python.ts'

const SECONDS = process.env.QUICK ? 120 : 1_200
const SEED = '7'
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024

interface Report {
  operations: object
  failures: { code: string; title: string; operations: string[] }[]
  errors: { title?: string; message?: string }[]
}

/** Findings that are no errors: the code of the check, what the section of the operation shows, and the reason. */
const LEFT: [code: string, shown: RegExp, reason: string][] = [
  ['ST202', /idempotency-key was used for another request/, 'each example has the same key'],
  [
    'ST202',
    /cannot be given (together|without)|must contain at least one of|contradicts is_active/,
    'OpenAPI has no words for parameters that exclude each other',
  ],
  [
    'ST202',
    /must lie in the (future|past)|must be (after|before)|is above max|must be a duration from/,
    'what is right depends on other values or the time',
  ],
  [
    'ST202',
    /WEAK_PASSWORD|INVALID_(INVITATION|TOKEN)/,
    'a secret that only its owner knows, or a rule for passwords',
  ],
  [
    'ST202',
    /there is no|knows no|There is no|did you mean|does not exist/,
    'names of tables and columns depend on what is stored',
  ],
  [
    'ST202',
    /Freshness is not configured|with those that the rule has|another table than the asset|must be a source/,
    'what is right depends on what is stored',
  ],
  ['ST202', /holds a NUL character/, 'no text with a NUL is taken anywhere, which no schema says'],
  ['ST202', /repeats item/, 'names are compared without regard to case'],
  ['ST202', /must be a URL that starts with/, '`format: uri` names no scheme'],
  ['ST202', /the body is empty: send the contract/, 'a text of white space holds no contract'],
  ['ST201', /URI_TOO_LONG/, 'the HTTP server refuses a URL of over 16 KiB before any operation'],
  ['ST103', /URI_TOO_LONG/, 'the same, for all operations'],
  ['ST201', /contracts\/validate/, 'what is no contract gets a verdict, not an error'],
  [
    'ST205',
    /Undocumented methods advertised/,
    'a literal segment is also a value of the parameter beside it',
  ],
]

const receiver = await startReceiver(t)
const app = await startServer(t, { isOwn: true })

t.test('the server does what the document says', async t => {
  const python = await pythonWith(['schemathesis==4.32.5'])
  const fixtures = await makeFixtures(t, app, receiver)
  const folder = await mkdtemp(join(tmpdir(), 'schemathesis-'))
  // Limits of requests are tested elsewhere, and would end every run after a minute.
  const reset = setInterval(() => void app.query('delete from rate_windows'), 200)
  t.teardown(async () => {
    clearInterval(reset)
    await rm(folder, { recursive: true, force: true })
  })
  const settings = join(folder, 'schemathesis.toml')
  const report = join(folder, 'report.json')
  await writeFile(settings, idsOf(fixtures))
  const output = await schemathesis(join(python, '../schemathesis'), folder, [
    ...['--config-file', settings, 'run', `${fixtures.url}/openapi.json`, '--url', fixtures.url],
    ...['--header', `Authorization: Bearer ${fixtures.key}`, '--seed', SEED, '--max-time', String(SECONDS)],
    ...['--phases', 'examples,coverage,fuzzing', '--mode', 'all', '--continue-on-failure', '--no-shrink'],
    ...[
      '--exclude-path-regex',
      '^/(docs|redoc|assets|favicon|robots)',
      '--report-json-path',
      report,
      '--no-color',
    ],
  ])
  const { failures, errors } = JSON.parse(await readFile(report, 'utf8')) as Report
  for (const { code, title, operations } of failures)
    for (const operation of operations) {
      const shown = excerptOf(output, operation)
      if (!LEFT.some(([known, pattern]) => known === code && pattern.test(shown)))
        t.fail(`${code} ${title}: ${operation}`, { shown })
    }
  t.strictSame(errors, [], 'every operation could be tested')
  const [, tested = '0'] = /Tested: (\d+)/.exec(output) ?? []
  t.ok(Number(tested) > 150, `${tested} operations`)
})

/** Returns what it printed; it ends with 1 when it found something. @param cwd gets a folder of examples */
function schemathesis(command: string, cwd: string, options: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, options, { cwd, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      if (error && error.code !== 1) reject(new Error(`${stderr}${stdout}`.slice(-5_000), { cause: error }))
      else resolve(stdout)
    })
  })
}

/** The part of the output about an operation. */
function excerptOf(output: string, operation: string): string {
  const start = output.indexOf(`_ ${operation} _`)
  const end = output.indexOf('\n____', start)
  return start < 0 ? '' : output.slice(start, end < 0 ? undefined : end)
}

/** Real ids for paths, so that requests do more than look for what is not there. */
function idsOf({ rule, destination, alerts, badge, schedules, job, apiKey }: Fixtures): string {
  const ids: [path: string, parameters: Record<string, unknown>][] = [
    ['/sdk/alerts/rules/', { id: rule, destination_id: destination }],
    ['/sdk/alerts/destinations/', { id: destination }],
    ['/sdk/alerts/\\{id\\}', { id: alerts.triggered }],
    ['/sdk/badges/', { id: badge }],
    ['/sdk/freshness/schedules/', { id: schedules.fresh }],
    ['/sdk/jobs/', { job_id: job }],
    ['/api-keys/', { key_id: apiKey }],
    [
      '/(assets|sdk/(assets|schema|lineage|coverage|freshness/\\{asset_id\\}|validity|metrics|referential))/',
      { asset_id: 'shop' },
    ],
  ]
  const sections = ids.map(([path, parameters]) => {
    const lines = Object.entries(parameters).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    const pattern = JSON.stringify(`^/api/v1${path}`)
    return ['[[operations]]', `include-path-regex = ${pattern}`, '[operations.parameters]', ...lines].join(
      '\n',
    )
  })
  return sections.join('\n\n')
}
