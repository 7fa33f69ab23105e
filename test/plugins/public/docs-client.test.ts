/** The TypeScript of the page on clients: it compiles, and runs as it stands against a server. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { generateSigningSecret, signBody } from '../../../plugins/alerts/destinations/signature.ts'
import { root } from '../../helpers/sources.ts'
import { discover, makeWorld } from '../../helpers/world.ts'
import { blocksOf } from './docs-blocks.ts'

const run = promisify(execFile)
/** Below the package, so that `tidemark/client` is the one of the checkout. */
const folder = join(root, '.tap/docs-client')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

const blocks = blocksOf('clients').filter(({ language }) => language === 'ts')
const [receiver] = blocks.filter(({ note }) => note === 'receiver')
const program = blocks.filter(({ note }) => note === '').map(({ text }) => text)
writeFileSync(join(folder, 'program.ts'), program.join('\n'))
writeFileSync(join(folder, 'receiver.ts'), receiver?.text ?? '')
const config = { extends: '../../tsconfig.json', include: ['*.ts'] }
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
const RUN = ['--conditions=tidemark-source', '--disable-warning=ExperimentalWarning']

t.test('the examples compile', async t => {
  t.ok(program.length >= 4)
  const { stdout } = await run(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    folder,
  ]).catch((error: { stdout: string }) => error)
  t.equal(stdout, '')
})

t.test('the examples do what the page says', async t => {
  const world = await makeWorld(t, ['create table orders (id int, email text)'])
  await discover(world)
  const TIDEMARK_URL = `http://127.0.0.1:${world.app.server.info.port}`
  const env = { ...process.env, TIDEMARK_URL, TIDEMARK_API_KEY: world.tenant.key }
  const { stdout } = await run(process.execPath, [...RUN, join(folder, 'program.ts')], { env })
  const [made, ...others] = stdout.trim().split('\n')
  t.match(made, /^v_\S+ warning$/)
  t.match(others.slice(0, -1).join(), /^(shop,\S+\.public\.orders|\S+\.public\.orders,shop)$/)
  t.match(others.at(-1), /^There is no such asset.* [\w-]{36}$/)
})

t.test('the receiver takes what is signed, and nothing else', async t => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise(resolve => probe.close(resolve))
  const secret = generateSigningSecret()
  const env = { ...process.env, PORT: String(port), SIGNING_SECRET: secret }
  const child = spawn(process.execPath, [...RUN, join(folder, 'receiver.ts')], { env })
  t.teardown(() => child.kill())
  const firstOutput = once(child.stdout, 'data')
  const body = JSON.stringify({ event_type: 'alert.test', alert: { title: 'A test' } })
  const send = (headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers })
  const isUp = () =>
    send({}).then(
      ({ status }) => status,
      () => null,
    )
  let status = await isUp()
  while (status === null && child.exitCode === null) {
    await wait(50)
    status = await isUp()
  }
  t.equal(status, 401)
  t.equal((await send(signBody(body, 'an id', [generateSigningSecret()], new Date()))).status, 401)
  t.equal((await send(signBody(body, 'an id', [secret], new Date()))).status, 204)
  t.equal(String((await firstOutput)[0]), 'alert.test A test\n')
})
