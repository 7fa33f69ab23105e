import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { readMonitors } from '../../../plugins/monitors/file/monitors-file.ts'

const main = new URL('../../../server/main.ts', import.meta.url).pathname
const home = await mkdtemp(join(tmpdir(), 'streams-'))
t.teardown(() => rm(home, { recursive: true, force: true }))
const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }

/** More than every pipe and socket holds. */
const TESTS = 6_000
const file = join(home, 'schema.yml')
await writeFile(
  file,
  `models:\n  - name: orders\n    columns:\n${Array.from({ length: TESTS }, (_, index) => `      - {name: c${index}, tests: [unique]}\n`).join('')}`,
)
const importing = ['import', 'dbt', file, '--source', 'shop']

function run(t: Test, words: readonly string[]) {
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  return { child, closed: once(child, 'close') as Promise<[number | null]> }
}

t.test('a reader that begins late gets all of the output', async t => {
  for (const more of [[], ['--json']]) {
    const { child, closed } = run(t, [...importing, ...more])
    child.stdout.pause()
    // The command has written everything by now, and has nothing left to do but to exit.
    if (more.length === 0) await once(child.stderr, 'data')
    const out = await text(child.stdout)
    const [code] = await closed
    t.equal(code, 0)
    const document =
      more.length === 0
        ? readMonitors(out, 'out').document
        : (JSON.parse(out) as { document: ReturnType<typeof readMonitors>['document'] }).document
    t.equal(document.tables.orders?.checks.validity?.length, TESTS)
  }
})

t.test('a reader that closes the pipe early ends the command without an error', async t => {
  const { child, closed } = run(t, importing)
  const notes = text(child.stderr)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  t.strictSame((await closed)[0], 0)
  t.equal(await notes, `${TESTS} found: ${TESTS} converted, 0 left out\n`)
})

t.test('a signal ends a command whose reader does not read', async t => {
  const { child, closed } = run(t, importing)
  child.stdout.pause()
  await once(child.stderr, 'data')
  child.kill('SIGTERM')
  t.strictSame((await once(child, 'exit'))[0], 0)
  child.stdout.destroy()
  await closed
})

t.test('output that cannot be written is an error', async t => {
  const full = await open('/dev/full', 'w').catch(() => null)
  if (!full) return t.comment('this system has no /dev/full')
  t.teardown(() => full.close())
  const child = spawn(process.execPath, [main, 'monitors', 'schema'], {
    env,
    stdio: ['ignore', full.fd, 'pipe'],
  })
  const notes = text(child.stderr!)
  const [code] = (await once(child, 'close')) as [number]
  t.equal(code, 5)
  t.match(await notes, /The output cannot be written: .*ENOSPC/)
})
