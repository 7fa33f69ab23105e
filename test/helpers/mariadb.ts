import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import mysql2, { type Connection as Client } from 'mysql2'
import type { Connection } from '../../connectors/connector.ts'
import { mysql, type MysqlConfig } from '../../connectors/mysql/index.ts'
import { authority, certify } from './certificates.ts'
import { findProgram, freePort } from './machine.ts'
import { connectOptions } from './source.ts'

/** A MariaDB that may be littered with databases and accounts. */
export interface TestMariadb {
  host: string
  port: number
  user: string
  password: string
  /** The authority that signed its certificate, in PEM form. */
  authority: string
}

/** A private MariaDB database, as a customer's. */
export interface Shop {
  /** A `connection_config` of an account that may only read. */
  config: { host: string; port: number; database: string; username: string; password: string; ssl: string }
  /** The database's name, which is the catalog and the schema of its tables. */
  name: string
  server: TestMariadb
  /** Runs one statement as the owner, outside the connector. */
  query(text: string): Promise<Record<string, unknown>[]>
}

interface Teardown {
  teardown(down: () => unknown): unknown
}

const SERVER = findProgram('mariadbd')
const INSTALLER = findProgram('mariadb-install-db')

/** Why there is no MariaDB to test with, and what to do; false when there is one. */
export const mariadbAbsent: string | false =
  process.env.TEST_RING === 'quick'
    ? 'npm run test:all runs it'
    : SERVER && INSTALLER
      ? false
      : 'MariaDB is not installed: apt-get install --no-install-recommends mariadb-server, or another package with mariadbd'

/** The user of the machine that runs MariaDB for root: Debian's mysql, else nobody. */
function account(): string | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
  return /^mysql:/m.test(users) ? 'mysql' : 'nobody'
}

// Nothing in it is worth keeping, so it never waits for the disk.
const SETTINGS = {
  'bind-address': '127.0.0.1',
  'innodb-flush-log-at-trx-commit': '0',
  'innodb-doublewrite': '0',
  'innodb-buffer-pool-size': '128M',
  'max-connections': '300',
  'performance-schema': 'OFF',
  'skip-log-bin': '',
  'skip-name-resolve': '',
  'table-open-cache': '4000',
  'character-set-server': 'utf8mb4',
  'collation-server': 'utf8mb4_general_ci',
  'plugin-load-add': 'auth_ed25519',
}

let started: Promise<TestMariadb> | undefined

/** The MariaDB of this process, on loopback with a free port and a certificate; it goes with the process. */
export function testMariadb(): Promise<TestMariadb> {
  return (started ??= startMariadb())
}

async function startMariadb(): Promise<TestMariadb> {
  if (!SERVER || !INSTALLER) throw new Error(String(mariadbAbsent))
  const root = await mkdtemp(join(await realpath(tmpdir()), 'tidemark-mariadb-'))
  // Another user than root runs MariaDB for root.
  await chmod(root, 0o755)
  try {
    return await launch(SERVER, INSTALLER, root, endWithProcess(root))
  } catch (error) {
    rmSync(root, { recursive: true, force: true })
    throw error
  }
}

async function launch(
  server: string,
  installer: string,
  root: string,
  starts: (server: number) => void,
): Promise<TestMariadb> {
  const user = account()
  const as = user ? [`--user=${user}`] : []
  const folder = join(root, 'data')
  // A server that starts takes temporary tables in its folder for its own leftovers, also those of others.
  const temporary = join(root, 'tmp')
  await mkdir(temporary)
  await chmod(temporary, 0o777)
  const env = {
    PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
    LC_ALL: 'C',
    TZ: 'America/New_York',
    TMPDIR: temporary,
  }
  const auth = '--auth-root-authentication-method=normal'
  const install = [
    '--no-defaults',
    ...as,
    `--datadir=${folder}`,
    auth,
    '--skip-test-db',
    '--skip-name-resolve',
  ]
  await promisify(execFile)(installer, install, { env })
  const password = randomUUID()
  const pair = await certify('trusted', ['db.test'])
  const files = {
    'key.pem': pair.key,
    'cert.pem': pair.cert,
    'start.sql':
      `alter user root@localhost identified by '${password}';\n` +
      `create or replace user root@'127.0.0.1' identified by '${password}';\n` +
      `grant all on *.* to root@'127.0.0.1' with grant option;\n`,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text)
  const port = await freePort()
  const settings = {
    ...SETTINGS,
    datadir: folder,
    port: String(port),
    socket: join(folder, 's'),
    'ssl-key': join(root, 'key.pem'),
    'ssl-cert': join(root, 'cert.pem'),
    'init-file': join(root, 'start.sql'),
    'log-error': join(folder, 'log.err'),
  }
  const given = Object.entries(settings).map(([name, value]) => (value ? `--${name}=${value}` : `--${name}`))
  const child = spawn(server, ['--no-defaults', ...as, ...given], {
    cwd: '/',
    env,
    stdio: 'ignore',
    detached: true,
  })
  if (child.pid !== undefined) starts(child.pid)
  child.unref()
  const found = { host: '127.0.0.1', port, user: 'root', password, authority: (await authority()).cert }
  await answers(found, () => child.exitCode ?? child.signalCode, join(folder, 'log.err'))
  return found
}

/**
 * Removes a folder when this process ends, however it ends, and first kills the server that lives in it.
 * @returns which server that is, once it runs
 */
function endWithProcess(folder: string): (server: number) => void {
  let running: number | undefined
  process.once('exit', () => {
    try {
      if (running !== undefined) process.kill(running, 'SIGKILL')
    } catch {
      // Already gone; its folder is not.
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  // No handler runs when a test is killed for taking too long; this one reads the end of our pipe instead.
  const script =
    'server=$(cat); [ -e "$1" ] || exit; [ -z "$server" ] || kill -KILL "$server"; ' +
    'for wait in 0.2 2 5; do sleep $wait; rm -rf "$1" && exit; done'
  const watcher = spawn('/bin/sh', ['-c', script, 'sh', folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  ;(watcher.stdin as unknown as { unref(): void }).unref()
  return server => {
    running = server
    watcher.stdin.write(String(server))
  }
}

/** Waits until the server takes our sign-in. */
async function answers(server: TestMariadb, ended: () => unknown, log: string): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    try {
      await (await signIn(server)).end()
      return
    } catch (cause) {
      if (ended() !== null || Date.now() > deadline) {
        throw new Error(`MariaDB did not start: ${readFileSync(log, 'utf8').slice(-2000)}`, { cause })
      }
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}

interface Owner {
  query(text: string): Promise<Record<string, unknown>[]>
  end(): Promise<void>
}

/** MariaDB's default. Tests change the server's own meanwhile, and each session begins with that. */
const DEFAULT_SQL_MODE =
  'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION'

/** Signs in as the owner of everything. */
async function signIn({ host, port, user, password }: TestMariadb, database?: string): Promise<Owner> {
  const client: Client = mysql2.createConnection({
    ...{ host, port, user, password, database },
    charset: 'utf8mb4',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
  })
  const failed = (error: Error) => error
  client.on('error', failed)
  await new Promise<void>((resolve, reject) => client.connect(error => (error ? reject(error) : resolve())))
  const owner: Owner = {
    query: text =>
      new Promise((resolve, reject) => {
        client.query(text, (error, rows) =>
          error ? reject(error) : resolve(rows as Record<string, unknown>[]),
        )
      }),
    end: () => new Promise(resolve => client.end(() => resolve())),
  }
  await owner.query(`set session sql_mode = '${DEFAULT_SQL_MODE}'`)
  return owner
}

/** Makes an empty database with an account that may only read it, both gone when the test ends. */
export async function startShop(t: Teardown): Promise<Shop> {
  const server = await testMariadb()
  const name = `shop_${randomUUID().replaceAll('-', '').slice(0, 12)}`
  const username = `${name}_r`
  const password = randomUUID()
  const owner = await signIn(server)
  await owner.query(`create database ${name}`)
  await owner.query(`create user ${username} identified by '${password}'`)
  await owner.query(`grant select, show view on ${name}.* to ${username}`)
  await owner.query(`use ${name}`)
  t.teardown(async () => {
    try {
      await owner.query('unlock tables')
      // Another shop's tables may refer to this one's.
      await owner.query('set session foreign_key_checks = 0')
      await owner.query(`drop database ${name}`)
      await owner.query(`drop user ${username}`)
    } finally {
      await owner.end()
    }
  })
  return {
    name,
    server,
    config: { host: server.host, port: server.port, database: name, username, password, ssl: 'prefer' },
    query: text => owner.query(text),
  }
}

/** A `connection_config` as the server validates it, with changes. */
export function mysqlSettings(config: object, changes: object = {}): MysqlConfig {
  const { value, error } = mysql.config.validate({ ...config, ...changes })
  if (error) throw error
  return value
}

/** Opens a session for the length of a function. */
export async function withMysql<Result>(
  config: object,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await mysql.connect(mysqlSettings(config), connectOptions)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** How many statements of the reader run in the server now. */
export async function mysqlRunning(shop: Shop): Promise<number> {
  const rows = await shop.query(
    `select id from information_schema.processlist where user = '${shop.config.username}' and command = 'Execute'`,
  )
  return rows.length
}
