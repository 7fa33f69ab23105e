import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { attachEmbedded, startEmbedded } from '../../../server/embedded/embedded.ts'
import type { EmbeddedPostgres } from '../../../server/embedded/embedded.ts'
import { locateBinaries, mayEnter } from '../../../server/embedded/binaries.ts'
import type { Account } from '../../../server/embedded/binaries.ts'
import { isPostmasterAlive, readPostmaster } from '../../../server/embedded/postmaster.ts'

const isRoot = process.geteuid?.() === 0
const onlyRoot = isRoot ? false : 'only root runs PostgreSQL as another user'
const ordinary = await account('nobody')
const mayRead = ordinary && (await mayEnter(ordinary, import.meta.dirname))
const noReader = mayRead ? false : 'there is no user "nobody" who may read this checkout'
const log = { info: () => undefined, warn: () => undefined }

async function account(name: string): Promise<Account | null> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  const fields = lines.find(line => line.startsWith(`${name}:`))?.split(':')
  return fields ? { uid: Number(fields[2]), gid: Number(fields[3]) } : null
}

/** Every process that was started here, the latest last. */
const children: ChildProcess[] = []

/** A folder that every user may enter, removed after the test. */
async function world(t: Test): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tidemark-embedded-')))
  await chmod(folder, 0o755)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function start(t: Test, dataDir: string, elsewhere?: string): Promise<EmbeddedPostgres> {
  const embedded = await startEmbedded({ dataDir, log, ...(elsewhere && { elsewhere }) })
  t.teardown(() => embedded.stop())
  return embedded
}

/** Another process, in a process group of its own as a terminal makes one, that starts it and then waits. */
async function startElsewhere(
  t: Test,
  dataDir: string,
  as: Partial<Account> = {},
): Promise<{ child: ChildProcess; url: string; reattached: boolean; stop(): Promise<void> }> {
  const source = new URL('../../../server/embedded/embedded.ts', import.meta.url).href
  const script = `
    import { startEmbedded } from ${JSON.stringify(source)}
    const log = { info() {}, warn() {} }
    const embedded = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log })
    console.log(JSON.stringify(embedded))
    process.stdin.on('data', () => embedded.stop().then(() => process.exit()))`
  // Without the environment, by which tap would have it write into a folder that may be closed to it.
  const args = ['-i', process.execPath, '--input-type=module', '--eval', script]
  const child = spawn('/usr/bin/env', args, {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    ...as,
  })
  children.push(child)
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    once(child, 'exit').then(([code]): never => {
      throw new Error(`The other process ended with ${code}`)
    }),
  ])
  const stop = async () => {
    const exit = once(child, 'exit')
    child.stdin.write('stop\n')
    await exit
  }
  return { child, ...(JSON.parse(line) as { url: string; reattached: boolean }), stop }
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

async function isRunning(folder: string): Promise<boolean> {
  const postmaster = await readPostmaster(folder)
  return postmaster !== null && isPostmasterAlive(postmaster.pid, folder)
}

t.test('a cluster from its first start on', async t => {
  const dataDir = join(await world(t), 'not', 'there')
  const folder = join(dataDir, 'postgres-17')
  t.equal(await attachEmbedded(dataDir), null, 'nothing runs before')

  let url = ''
  await t.test('the first start makes a database whose owner is no superuser but makes roles', async t => {
    const embedded = await start(t, dataDir)
    url = embedded.url
    t.equal(embedded.reattached, false)
    const [login] = await query(
      url,
      `SELECT rolsuper, rolcreaterole, rolname, pg_get_userbyid(datdba) AS owner, pg_encoding_to_char(encoding) AS encoding,
              lower('ÄÖ') AS lower, split_part(version(), ' ', 2) AS version
         FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
    )
    t.match(login, { rolsuper: false, rolcreaterole: true, rolname: 'tidemark', owner: 'tidemark' })
    t.match(login, { encoding: 'UTF8', lower: 'äö', version: /^17\./ })
    await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer; CREATE ROLE reader')
    const [server] = await query(
      embedded.superuserUrl,
      "SELECT current_setting('listen_addresses') AS listen, rolsuper FROM pg_roles WHERE rolname = current_user",
    )
    t.same(server, { listen: '127.0.0.1', rolsuper: true })
    t.equal(await attachEmbedded(dataDir), url, 'a command beside it is given the same database')
    await embedded.stop()
    await embedded.stop()
    t.notOk(await isRunning(folder), 'stopping leaves no process')
    t.equal(await attachEmbedded(dataDir), null)
  })

  await t.test('passwords are for the owner of the files only, and asked for', async t => {
    t.equal((await stat(join(dataDir, 'postgres-17.json'))).mode & 0o777, 0o600)
    t.equal((await stat(join(dataDir, 'postgres-17.log'))).mode & 0o777, 0o600)
    t.equal((await stat(folder)).mode & 0o777, 0o700)
    const files = await readdir(dataDir)
    t.same(
      files.filter(name => name.includes('draft')),
      [],
      'nothing is left of making it',
    )
    await start(t, dataDir)
    const wrong = new URL(url)
    wrong.password = 'wrong'
    await t.rejects(query(wrong.href, 'SELECT'), { code: '28P01' })
  })

  await t.test('the next start finds everything at the same address', async t => {
    const embedded = await start(t, dataDir)
    t.equal(embedded.url, url)
    t.same(await query(url, 'SELECT answer FROM kept'), [{ answer: 42 }])
  })

  await t.test('a server whose process was killed is taken up, and stopped by the one that did', async t => {
    const { child, url, reattached } = await startElsewhere(t, dataDir)
    t.equal(reattached, false)
    const before = await readPostmaster(folder)
    process.kill(-child.pid!, 'SIGINT')
    process.kill(-child.pid!, 'SIGKILL')
    await once(child, 'exit')
    t.ok(await isRunning(folder), 'neither the kill nor Ctrl-C reaches the server')
    const embedded = await start(t, dataDir)
    t.equal(embedded.reattached, true)
    t.equal(embedded.url, url)
    t.same(await readPostmaster(folder), before, 'it is the same server')
    await embedded.stop()
    t.notOk(await isRunning(folder))
  })

  await t.test('a server that was killed itself recovers', async t => {
    const first = await start(t, dataDir)
    await query(first.url, 'INSERT INTO kept VALUES (43)')
    process.kill((await readPostmaster(folder))!.pid, 'SIGKILL')
    const second = await start(t, dataDir)
    t.equal(second.reattached, false)
    t.equal((await query(second.url, 'SELECT answer FROM kept')).length, 2)
    await second.stop()
    await first.stop()
    t.notOk(await isRunning(folder))
  })

  await t.test('a postmaster.pid that names no server is no obstacle', async t => {
    const child = spawn(process.execPath, ['--version'])
    await once(child, 'exit')
    const { uid, gid } = await stat(folder)
    for (const [whose, pid] of [
      ['an ended process', child.pid],
      ['another program', process.pid],
    ] as const) {
      for (const status of ['ready', 'starting', 'stopping']) {
        const file = join(folder, 'postmaster.pid')
        await writeFile(file, [pid, folder, 1700000000, 5432, '', '127.0.0.1', '', status, ''].join('\n'), {
          mode: 0o600,
        })
        if (isRoot) await chown(file, uid, gid)
        const embedded = await startEmbedded({ dataDir, log })
        t.same(await query(embedded.url, 'SELECT 1 AS one'), [{ one: 1 }], `${status}, by ${whose}`)
        await embedded.stop()
      }
    }
  })

  await t.test('without its passwords it says what to do', async t => {
    await rm(join(dataDir, 'postgres-17.json'))
    await t.rejects(startEmbedded({ dataDir, log }), /postgres-17\.json.* is missing: bring it back/)
    t.equal(await attachEmbedded(dataDir), null)
  })
})

t.test('processes that start at once share one server, and the last to stop ends it', async t => {
  const dataDir = await world(t)
  const folder = join(dataDir, 'postgres-17')
  const [first, second, mine, too] = await Promise.all([
    startElsewhere(t, dataDir),
    startElsewhere(t, dataDir),
    start(t, dataDir),
    start(t, dataDir),
  ])
  const all = [first, second, mine, too]
  t.equal(all.filter(one => !one.reattached).length, 1, 'one of them started it')
  t.equal(new Set(all.map(one => one.url)).size, 1)
  await mine.stop()
  await first.stop()
  t.same(await query(too.url, 'SELECT 1 AS one'), [{ one: 1 }], 'it runs on for the others')
  second.child.kill('SIGKILL')
  await once(second.child, 'exit')
  await too.stop()
  t.notOk(await isRunning(folder), 'one that was killed is not waited for')
})

t.test('a first start that was killed half-way is made good by the next', async t => {
  const dataDir = await world(t)
  const isHalfWay = async () => (await readdir(dataDir)).some(name => name.includes('draft'))
  const starter = startElsewhere(t, dataDir)
  starter.catch(() => undefined)
  while (!(await isHalfWay())) await wait(5)
  process.kill(-children.at(-1)!.pid!, 'SIGKILL')
  await t.rejects(starter, /ended with/)
  const embedded = await start(t, dataDir)
  t.equal(embedded.reattached, false)
  t.same(await query(embedded.url, 'SELECT 1 AS one'), [{ one: 1 }])
  t.notOk(await isHalfWay())
})

t.test('a data folder that cannot be used is refused with what to do', async t => {
  const dataDir = await world(t)
  await writeFile(join(dataDir, 'file'), '')
  await t.rejects(
    startEmbedded({ dataDir: join(dataDir, 'file'), log }),
    /DATA_DIR cannot be written.*choose/,
  )
  await symlink(join(dataDir, 'gone'), join(dataDir, 'postgres-17'))
  await t.rejects(startEmbedded({ dataDir, log }), /leads to .*gone, which is missing: bring it back/)
})

t.test('a cluster that belongs to root is refused', { skip: onlyRoot }, async t => {
  const dataDir = await world(t)
  await mkdir(join(dataDir, 'postgres-17'))
  await t.rejects(startEmbedded({ dataDir, log }), /belongs to root.*chown/)
})

t.test('root with a data folder that only root may enter', { skip: onlyRoot }, async t => {
  const outside = await world(t)
  const elsewhere = join(outside, 'elsewhere')
  const dataDir = join(outside, 'closed', 'data')
  await mkdir(dataDir, { recursive: true })
  await chmod(join(outside, 'closed'), 0o700)

  const first = await start(t, dataDir, elsewhere)
  const entry = join(dataDir, 'postgres-17')
  t.ok((await lstat(entry)).isSymbolicLink(), 'a link leads to the cluster')
  const folder = await realpath(entry)
  t.ok(folder.startsWith(elsewhere))
  t.not((await stat(folder)).uid, 0)
  await query(first.url, 'CREATE TABLE kept ()')
  await first.stop()

  const second = await start(t, dataDir, elsewhere)
  t.same(await query(second.url, 'SELECT FROM kept'), [])

  await rm(dataDir, { recursive: true })
  const third = await start(t, dataDir, elsewhere)
  t.equal(third.reattached, false)
  await t.rejects(
    query(third.url, 'SELECT FROM kept'),
    { code: '42P01' },
    'a deleted data folder begins anew',
  )
  const left = (await readdir(elsewhere)).filter(name => name.includes('.left-'))
  t.equal(left.length, 1, 'what it left is moved aside, and its server has ended')
  await third.stop()
  await second.stop()
  t.notOk(await isRunning(folder))
})

t.test('an ordinary user', { skip: onlyRoot || noReader }, async t => {
  const as = ordinary!
  const dataDir = join(await world(t), 'data')
  await mkdir(dataDir, { mode: 0o700 })
  await chown(dataDir, as.uid, as.gid)
  const folder = join(dataDir, 'postgres-17')

  const own = await startElsewhere(t, dataDir, as)
  t.equal((await stat(folder)).uid, as.uid)
  t.equal((await stat(`/proc/${(await readPostmaster(folder))!.pid}`)).uid, as.uid)
  await query(own.url, 'CREATE TABLE kept ()')
  await own.stop()
  t.notOk(await isRunning(folder))

  const root = await start(t, dataDir)
  t.same(await query(root.url, 'SELECT FROM kept'), [], 'root runs it as the user it belongs to')
  t.equal((await stat(`/proc/${(await readPostmaster(folder))!.pid}`)).uid, as.uid)
  await root.stop()
  const again = await startElsewhere(t, dataDir, as)
  t.equal(again.url, own.url, 'and leaves it to that user')
  await again.stop()
})

t.test('binaries without their links, where the user they run as may not go', { skip: onlyRoot }, async t => {
  const outside = await world(t)
  const installed = await locateBinaries()
  const native = join(outside, 'closed', 'native')
  await cp(join(installed.postgres, '..', '..'), native, {
    recursive: true,
    filter: async path => !(await lstat(path)).isSymbolicLink(),
  })
  await chmod(join(native, 'bin', 'initdb'), 0o644)
  await chmod(join(outside, 'closed'), 0o700)
  const caches = [join(outside, 'cache')]
  const binaries = await locateBinaries({ native, caches })
  t.ok(binaries.postgres.startsWith(caches[0]!), 'they are mended and copied to the cache')
  t.equal((await locateBinaries({ native, caches })).postgres, binaries.postgres)
  t.equal((await readdir(caches[0]!)).length, 1, 'once')

  await chmod(caches[0]!, 0o777)
  await t.rejects(
    locateBinaries({ native, caches }),
    /can be written by another user/,
    'another user might have put them there',
  )
})
