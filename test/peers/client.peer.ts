/**
 * Calls every method and command of the Python client that is published for this family of APIs, against a server with
 * data. The results must equal `client/expected.json`. It is not part of the test suite, because it downloads packages:
 *
 *     node test/run.ts --timeout=900 test/peers/client.peer.ts
 *
 * `ONLY='badges.,$ badges'` runs only the cases whose names start with one of the prefixes, and prints the requests and
 * replies of failing ones. `RECORD=1` writes the results to the file.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startMailServer } from '../helpers/mail-server.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { startServer } from '../helpers/server.ts'
import { makeFixtures, type Fixtures } from './client/fixtures.ts'
import {
  countWorking,
  findDifferences,
  formatFailures,
  formatTable,
  recordVerdicts,
  selectVerdicts,
  type Report,
  type Verdicts,
} from './client/report.ts'
import { pythonWith } from './python.ts'

const VERSIONS = ['0.6.0', '0.2.1'] as const
/** Pinned, because error messages and the output of commands depend on them. */
const LIBRARIES = ['pydantic==2.14.3', 'httpx==0.28.1', 'typer==0.29.2', 'rich==15.0.0']
const EXPECTED = join(import.meta.dirname, 'client/expected.json')
const DRIVER = join(import.meta.dirname, 'client/drive.py')
const only = process.env.ONLY?.split(',') ?? []
const MAX_REPORT_BYTES = 64 * 1024 * 1024

const receiver = await startReceiver(t)
const mail = await startMailServer(t)
const app = await startServer(t, { settings: { SMTP_URL: mail.url, SMTP_FROM: 'tidemark@example.com' } })
const expected = JSON.parse(await readFile(EXPECTED, 'utf8')) as Record<string, Verdicts>
const found = new Map<string, Report>()

for (const version of VERSIONS) {
  t.test(`version ${version} gives the expected results`, async t => {
    const python = await pythonWith([`anomalyarmor-cli==${version}`, ...LIBRARIES])
    const report = await drive(python, await makeFixtures(t, app, receiver))
    found.set(version, report)
    if (only.length > 0) for (const line of formatFailures(report)) t.comment(line)
    t.strictSame(report.missing, [], 'every method and command has a case')
    const differences = findDifferences(report, selectVerdicts(expected[version], only))
    if (!process.env.RECORD) t.strictSame(differences, [], 'RECORD=1 writes the results')
  })
}

t.test('the table', async t => {
  for (const line of formatTable(found)) t.comment(line)
  for (const [version, report] of found) t.comment(`${version}: ${countWorking(report)}`)
  const [first, ...others] = [...found.values()].map(({ unused }) => unused)
  const inNone = (first ?? []).filter(name => others.every(unused => unused.includes(name)))
  t.strictSame(inNone, [], 'every case belongs to a method of some version')
  if (!process.env.RECORD) return
  const recorded = [...found].map(([version, report]) => [version, recordVerdicts(report, expected[version])])
  await writeFile(EXPECTED, `${JSON.stringify(Object.fromEntries(recorded), null, 2)}\n`)
})

/** Runs the driver with an empty home directory, since the client stores a key there. */
async function drive(python: string, fixtures: Fixtures): Promise<Report> {
  const home = await mkdtemp(join(tmpdir(), 'client-'))
  try {
    return await new Promise((resolve, reject) => {
      const child = execFile(
        python,
        [DRIVER, ...only],
        {
          env: { PATH: process.env.PATH, HOME: home, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' },
          maxBuffer: MAX_REPORT_BYTES,
        },
        (error, stdout, stderr) => {
          if (error) reject(new Error(`the driver failed: ${stderr}`, { cause: error }))
          else resolve(JSON.parse(stdout) as Report)
        },
      )
      child.stdin!.end(JSON.stringify(fixtures))
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}
