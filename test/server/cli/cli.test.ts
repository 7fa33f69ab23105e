import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { isPostmasterAlive, readPostmaster } from '../../../server/embedded/postmaster.ts'
import { command } from '../../helpers/command.ts'
import { testCluster } from '../../helpers/cluster.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { watchProcess } from '../../helpers/log-watch.ts'

const main = new URL('../../../server/main.ts', import.meta.url).pathname

/** A data folder that every user may enter, removed after the test. */
async function folder(t: Test): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'tidemark-cli-')))
  await chmod(path, 0o755)
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

/** The real program in a process group of its own, as a terminal makes one. */
function run(t: Test, words: string[], settings: Record<string, string>) {
  const child = spawn(process.execPath, [main, ...words], {
    // Without the rest of the environment, by which tap would follow it.
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: '0',
      DEMO_ENABLED: 'false',
      ...settings,
    },
    detached: true,
  })
  watchProcess(t, child)
  const text = { out: '', err: '' }
  const seen = (stream: 'out' | 'err', pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(text[stream])
        if (found) resolve(found)
      }
      child[stream === 'out' ? 'stdout' : 'stderr'].on('data', look)
      child.once('close', code => reject(new Error(`ended with ${code} before ${pattern}: ${text.err}`)))
      look()
    })
  child.stdout.on('data', chunk => (text.out += String(chunk)))
  child.stderr.on('data', chunk => (text.err += String(chunk)))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...text }))
  t.teardown(() => child.kill('SIGKILL'))
  return { child, seen, ended }
}

/** Starts the service and gives its address. */
async function start(t: Test, settings: Record<string, string>) {
  const { child, seen, ended } = run(t, ['start'], settings)
  const [, address = ''] = await seen('out', /listens on (http:\S+)/)
  return { child, address, ended }
}

async function postmasterOf(dataDir: string): Promise<number> {
  return (await readPostmaster(join(dataDir, 'postgres-17')))?.pid ?? 0
}

t.test('one command serves on a database of its own, and Ctrl-C ends all of it', async t => {
  const dataDir = await folder(t)
  const settings = { DATA_DIR: dataDir }
  const { child, address, ended } = await start(t, settings)
  t.equal((await fetch(`${address}/health`)).status, 200)
  t.equal((await stat(join(dataDir, 'secret.key'))).mode & 0o777, 0o600)
  const postmaster = await postmasterOf(dataDir)

  t.equal((await run(t, ['companies', 'create', 'Acme'], settings).ended).code, 0)
  const made = await run(t, ['keys', 'create', '--name', 'ci', '--scope', 'admin', '--json'], settings).ended
  t.equal(made.code, 0, made.err)
  const { key } = JSON.parse(made.out) as { key: string }
  const authorization = { headers: { authorization: `Bearer ${key}` } }
  t.equal(
    (await fetch(`${address}/api/v1/api-keys`, authorization)).status,
    200,
    'beside the running service',
  )
  t.ok(
    isPostmasterAlive(postmaster, join(dataDir, 'postgres-17')),
    'the commands left the database to the service',
  )

  child.kill('SIGINT')
  const end = await ended
  t.equal(end.code, 0, end.err)
  t.notOk(isPostmasterAlive(postmaster, join(dataDir, 'postgres-17')))

  const listed = await run(t, ['keys', 'list', '--json'], settings).ended
  t.match(JSON.parse(listed.out), [{ name: 'ci', is_active: true }], 'without a service')
  t.strictSame(listed.err, '')
})

t.test('after kill -9 the next start takes up what was left', async t => {
  const dataDir = await folder(t)
  const first = await start(t, { DATA_DIR: dataDir })
  const postmaster = await postmasterOf(dataDir)
  first.child.kill('SIGKILL')
  await first.ended
  t.ok(isPostmasterAlive(postmaster, join(dataDir, 'postgres-17')))
  const second = await start(t, { DATA_DIR: dataDir })
  t.equal(await postmasterOf(dataDir), postmaster)

  const { port } = new URL(second.address)
  const third = await run(t, ['start'], { DATA_DIR: dataDir, PORT: port }).ended
  t.equal(third.code, 1)
  t.match(third.err, new RegExp(`Port ${port} of 127.0.0.1 is in use`))
  t.notMatch(third.err, /^ +at /m, 'without a stack')

  second.child.kill('SIGTERM')
  t.equal((await second.ended).code, 0)
  t.notOk(isPostmasterAlive(postmaster, join(dataDir, 'postgres-17')))

  await rm(join(dataDir, 'secret.key'))
  const keyless = await run(t, ['migrate'], { DATA_DIR: dataDir }).ended
  t.equal(keyless.code, 1)
  t.match(keyless.err, /secret\.key.*is missing: bring it back/, 'never a new key for an old database')
})

t.test('wrong settings end the start with a sentence for each', async t => {
  const { code, err } = await run(t, ['start'], { PORT: 'abc', ROLE: 'queen' }).ended
  t.equal(code, 2)
  t.match(err, /PORT must be a number, not "abc"\n.*ROLE must be/)
  t.notMatch(err, /^ +at /m)
})

t.test('a database that is away is waited for', async t => {
  const cluster = await testCluster()
  // A port of the system, since another test could take a free one meanwhile and answer.
  const settings = { DATABASE_URL: 'postgres://me@127.0.0.1:1/tidemark', SECRET_KEY }
  const waiting = run(t, ['start'], settings)
  await waiting.seen('err', /127\.0\.0\.1:\d+ does not answer \(ECONNREFUSED\)/)
  waiting.child.kill('SIGINT')
  t.equal((await waiting.ended).code, 0)

  const at = `${cluster.host}:${cluster.port}`
  const refused = await command(['migrate'], {
    DATABASE_URL: `postgres://stranger:canary@${at}/postgres`,
    SECRET_KEY,
  })
  t.match(refused, { code: 1, err: /refuses the user stranger: check user and password/ })
  t.notMatch(refused.err, 'canary')
  const owner = `postgres://${cluster.user}:${encodeURIComponent(cluster.password)}@${at}`
  const missing = await command(['migrate'], { DATABASE_URL: `${owner}/no_such`, SECRET_KEY })
  t.match(missing, { code: 1, err: /no database no_such.*createdb/ })
})

t.test('the commands work on the database of DATABASE_URL', async t => {
  const { host, port, user, password } = await testCluster()
  const admin = new pg.Client({ host, port, user, password, database: 'postgres' })
  await admin.connect()
  await admin.query('create database cli_test')
  t.teardown(async () => {
    await admin.query('drop database cli_test with (force)')
    await admin.query('drop role if exists cli_test_app')
    await admin.end()
  })
  const settings = {
    DATABASE_URL: `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/cli_test`,
    SECRET_KEY,
  }
  const tidemark = (...words: string[]) => command(words, settings)
  t.match(await tidemark('migrate', '--json'), { code: 0, out: /"migrated": true/ })
  t.match(await tidemark('keys', 'list'), { code: 3, err: /no company yet.*companies create/ })
  const company = await tidemark('companies', 'create', 'One', '--plan', 'growth', '--json')
  t.match(JSON.parse(company.out), { name: 'One', plan: 'growth' })
  t.match(await tidemark('companies', 'plan', 'One', 'professional'), { code: 0, out: /professional/ })
  t.match(await tidemark('companies', 'plan', 'One', 'gold'), { code: 2, err: /free_trial.*enterprise/ })
  await tidemark('companies', 'create', 'Two')
  t.match(await tidemark('keys', 'list'), { code: 2, err: /--company ID: (One|Two) \(/ })
  const twins = [
    JSON.parse((await tidemark('companies', 'create', 'Acme', '--json')).out).id as string,
    JSON.parse((await tidemark('companies', 'create', 'Acme', '--json')).out).id as string,
  ]
  for (const words of [
    ['companies', 'plan', 'Acme', 'growth'],
    ['keys', 'list', '--company', 'Acme'],
    ['prospects', 'create', '--email', 'c@example.com', '--company', 'Acme'],
  ]) {
    const ambiguous = await tidemark(...words)
    t.match(ambiguous, { code: 2, err: /2 companies are named "Acme": give the id/ })
    t.notMatch(ambiguous.err, '--company', 'which not every command knows')
    for (const id of twins) t.match(ambiguous.err, id)
  }
  t.match(await tidemark('companies', 'plan', twins[1]!, 'growth'), {
    code: 0,
    out: /Acme now has the plan growth/,
  })
  const made = await tidemark(
    'users',
    'create',
    '--company',
    'Two',
    '--email',
    'A@example.com',
    '--role',
    'owner',
    '--json',
  )
  t.match(JSON.parse(made.out), { email: 'a@example.com', role: 'owner', password: /^.{20}$/ })
  t.match(
    await tidemark('users', 'create', '--company', 'Two', '--email', 'b@example.com', '--password', 'short'),
    {
      code: 2,
      err: /12 characters/,
    },
  )
  const key = JSON.parse(
    (await tidemark('keys', 'create', '--company', 'One', '--name', 'x', '--scope', 'read-only', '--json'))
      .out,
  )
  t.match(await tidemark('keys', 'revoke', key.id, '--company', 'One'), { code: 0, out: /Revoked/ })
  t.match(await tidemark('keys', 'revoke', key.id, '--company', 'Two'), { code: 3, err: /no such API key/ })
  t.match(await tidemark('keys', 'list', '--company', 'One'), {
    code: 0,
    out: /^id +key +scope +state +name\n\S{36}  aa_live_\S+  read-only +ended +x\n$/,
  })
  t.match(await tidemark('keys', 'list', '--company', 'Two'), { code: 0, out: 'There are no keys yet\n' })
  await tidemark('companies', 'create', 'Three')
  t.match(await tidemark('audit', 'verify', '--company', 'Three'), {
    code: 0,
    out: /Three is whole: 1 entries/,
  })
  t.match(await tidemark('audit', 'verify', '--company', 'One'), {
    code: 0,
    out: /One is whole: \d+ entries/,
  })
  const eraser = 'E\u001b[2Jve'
  for (const { out, err } of [
    await tidemark('companies', 'create', eraser),
    await tidemark('companies', 'plan', eraser, 'growth'),
    await tidemark('keys', 'list'),
  ]) {
    t.match(out + err, 'E [2Jve', 'a name does not command the terminal')
    t.notMatch(out + err, '\u001b')
  }
})

t.test('wrong usage says what is right', async t => {
  for (const [words, message] of [
    [['nonsense'], /unknown command 'nonsense'/],
    [['keys', 'create', '--name', 'x'], /--scope/],
    [['keys', 'create', '--name', 'x', '--scope', 'root'], /read-only, read-write, admin/],
    [['keys', 'create', '--name', 'x', '--scope', 'admin', '--expires-at', '2001-01-01'], /in the future/],
    [
      ['keys', 'create', '--name', 'x', '--scope', 'admin', '--expires-at', '+010000-01-01T00:00:00Z'],
      /before the year 10000/,
    ],
    [['keys', 'revoke'], /missing required argument/],
  ] as const) {
    t.match(await command([...words]), { code: 2, err: message }, words.join(' '))
  }
  t.match(await command(['--help']), { code: 0, out: /start.*migrate.*settings.*keys/s })
  t.match(await command(['--version']), { code: 0, out: /^\d+\.\d+\.\d+\n$/ })
  const settings = await command(['settings', '--json'], { SECRET_KEY })
  t.match(JSON.parse(settings.out)[0], { name: 'PORT', default: '8000' })
  t.notMatch(settings.out, SECRET_KEY)
})

t.test('an extension adds a command, and a name that is taken stops it', async t => {
  const folder = t.testdir({
    'greet.js': `export const plugin = { name: 'greet', register() {} }
      export const commands = [{ name: 'greet', define(command, terminal) {
        command.argument('<who>').action(who => terminal.out('Hello ' + who)) } }]`,
    'keys.js': `export const plugin = { name: 'keys', register() {} }
      export const commands = [{ name: 'keys', define() {} }]`,
  })
  const greet = { EXTENSIONS: join(folder, 'greet.js') }
  t.match(await command(['greet', 'Ada'], greet), { code: 0, out: 'Hello Ada\n' })
  t.match(await command(['keys', '--help'], greet), { code: 0 })
  const taken = { EXTENSIONS: join(folder, 'keys.js') }
  t.match(await command(['greet'], taken), { code: 1, err: /Cannot add command "keys": the name is taken/ })
})
