/** The receivers that the page on webhooks gives take what the service really sends, and nothing else. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { startReceiver, type Received } from '../../helpers/receiver.ts'
import { discover, makeWorld } from '../../helpers/world.ts'
import { blocksOf, differences } from './docs-blocks.ts'

// Go compiles its library at the first time. The comment is for the process that waits for this one.
t.setTimeout(400_000)
t.comment('timeout=400000')

const page = blocksOf('webhooks')
const world = await makeWorld(t, ['create table orders (id int, discount numeric(10,2))'])
await discover(world)

/** Where a delivery comes in before each of the receivers of the page is given it. */
const front = await startReceiver(t)
const made = await world.tenant.ask('POST', '/api/v1/sdk/alerts/destinations', {
  name: 'page',
  destination_type: 'webhook',
  config: { url: `${front.url}/hook` },
})
const secret: string = made.body.data.signing_secret
await world.source.query('alter table orders drop column discount')
await discover(world)
const [sent] = (await front.received(1)) as [Received]

t.test('what arrives has the shape that the page shows', async t => {
  const shown = page.find(({ language }) => language === 'json')
  t.strictSame(differences(JSON.parse(shown?.text ?? 'null'), JSON.parse(sent.body)), [])
  const { event } = JSON.parse(sent.body)
  t.match(event, { type: 'schema_change', change_type: 'column_removed' })
})

interface Language {
  name: string
  /** The command that checks whether the machine has it. */
  version: string[]
  /** What starts a receiver from its source, in a folder of its own. */
  start(folder: string, source: string): string[]
}

const LANGUAGES: Language[] = [
  {
    name: 'js',
    version: [process.execPath, '--version'],
    start: (folder, source) => [process.execPath, file(folder, 'receiver.mjs', source)],
  },
  {
    name: 'python',
    version: ['python3', '--version'],
    start: (folder, source) => ['python3', file(folder, 'receiver.py', source)],
  },
  {
    name: 'go',
    version: ['go', 'version'],
    start(folder, source) {
      const program = join(folder, 'receiver')
      const built = spawnSync('go', ['build', '-o', program, file(folder, 'main.go', source)], {
        encoding: 'utf8',
        env: { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '' },
      })
      if (built.status !== 0) throw new Error(built.stderr)
      return [program]
    },
  },
]

function file(folder: string, name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

for (const { name, version, start } of LANGUAGES) {
  const [probe = '', ...words] = version
  const isThere = spawnSync(probe, words).status === 0
  const skip = isThere ? false : `${probe} is not installed here`
  t.test(
    `the receiver in ${name} takes what is signed, works on it once, and takes nothing else`,
    { skip },
    async t => {
      const source = page.find(({ language }) => language === name)?.text ?? ''
      const [program = '', ...given] = start(t.testdir({}), source)
      const port = await freePort()
      const { NODE_OPTIONS: _options, ...environment } = process.env
      const running = spawn(program, given, {
        env: { ...environment, PORT: String(port), SIGNING_SECRET: secret },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      t.teardown(() => running.kill('SIGKILL'))
      let printed = ''
      running.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))

      const post = async (body: string, signature: string | undefined): Promise<number> => {
        const headers = {
          'content-type': 'application/json',
          ...(signature && { 'x-service-signature': signature }),
        }
        return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status
      }
      const signature = sent.headers['x-service-signature'] ?? ''
      let first: number | undefined
      while (first === undefined) {
        if (running.exitCode !== null) throw new Error(`it ended with ${running.exitCode}`)
        first = await post(sent.body, signature).catch(() => wait(100, undefined))
      }
      t.equal(first, 204)
      t.equal(await post(sent.body, signature), 204, 'a repeat')
      t.equal(await post(`${sent.body} `, signature), 401, 'another body')
      t.equal(await post(sent.body, undefined), 401, 'no signature')
      t.equal(await post(sent.body, signature.slice(0, -1)), 401, 'a signature that is cut off')
      t.equal(await post(sent.body, `sha256=${'0'.repeat(64)}`), 401, 'a signature of nothing')
      const { event } = JSON.parse(sent.body)
      t.equal(printed, `alert.triggered schema_change ${event.asset.qualified_name}\n`, 'worked on once')
    },
  )
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise(resolve => probe.close(resolve))
  return port
}
