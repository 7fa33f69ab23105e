/** The job engine's own web page, beside the running service. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, extname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { CommandError, EXIT, type Terminal } from './command.ts'
import { DASHBOARD, DASHBOARD_RELEASE, findMismatches } from './dashboard-pair.ts'
import { readConfig, type Config } from '../settings/config.ts'
import { rows } from '../database/database.ts'
import { makeLog } from '../telemetry/log.ts'
import { openPool } from '../database/pool.ts'

/** What the dashboard's process loads first, so that it opens jobs of the schema of this version. */
const SCHEMAS = new URL(`./dashboard-schemas${extname(import.meta.filename)}`, import.meta.url).href

export interface DashboardOptions {
  port: number
  user: string
  /** Whether jobs may be changed there. */
  changes?: true
}

/**
 * Shows it on 127.0.0.1, behind a password, until the command is stopped.
 * @throws CommandError when the package is not installed, the port is taken or there are no jobs yet
 */
export async function openDashboard(terminal: Terminal, options: DashboardOptions): Promise<void> {
  const { program, release } = locate()
  const config = readConfig()
  const database = await open(config)
  try {
    const schema = await readSchema(database.url, config)
    for (const mismatch of findMismatches(release, schema)) terminal.err(`warning: ${mismatch}`)
    await show(program, database.url, { ...options, password: passwordOf(config) }, terminal)
  } finally {
    await database.stop()
  }
}

function locate(): { program: string; release: string } {
  const require = createRequire(import.meta.url)
  try {
    const description = require.resolve(`${DASHBOARD}/package.json`)
    const { version } = require(description) as { version: string }
    return { program: join(dirname(description), 'bin', 'cli.js'), release: version }
  } catch (error) {
    const message = `The page is a package of its own: npm install ${DASHBOARD}@${DASHBOARD_RELEASE}`
    throw new CommandError(message, EXIT.failed, { cause: error })
  }
}

/** The database of the settings; the embedded one is shared with the service that runs it. */
async function open(config: Config): Promise<{ url: string; stop(): Promise<void> }> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl, async stop() {} }
  const { startEmbedded } = await import('../embedded/embedded.ts')
  return startEmbedded({ dataDir: resolve(config.dataDir), log: makeLog({ ...config, logLevel: 'warn' }) })
}

/** @returns the version of the engine's schema @throws CommandError when there is none yet */
async function readSchema(url: string, config: Config): Promise<number> {
  const pool = openPool(url, 'tidemark-dashboard', 1, makeLog(config))
  try {
    const [found] = await rows<{ isThere: boolean }>(
      pool,
      `select to_regclass('pgboss.job') is not null as is_there`,
    )
    if (!found?.isThere)
      throw new CommandError('There are no queues in this database yet: start the service once', EXIT.failed)
    const [stored] = await rows<{ version: number }>(pool, 'select version from pgboss.version')
    return Number(stored?.version)
  } finally {
    await pool.destroy()
  }
}

function passwordOf(config: Config): { password: string; isMade: boolean } {
  const { dashboardPassword } = config
  if (dashboardPassword !== undefined) return { password: dashboardPassword, isMade: false }
  return { password: randomBytes(15).toString('base64url'), isMade: true }
}

async function show(
  program: string,
  databaseUrl: string,
  {
    port,
    user,
    changes,
    password: { password, isMade },
  }: DashboardOptions & { password: ReturnType<typeof passwordOf> },
  { out, err, signal }: Terminal,
): Promise<void> {
  // Nothing of our own environment: what it needs is named, and a password is in no list of processes.
  const env = {
    HOST: '127.0.0.1',
    PORT: String(port),
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    PGBOSS_SCHEMA: 'pgboss',
    PGBOSS_DASHBOARD_AUTH_USERNAME: user,
    PGBOSS_DASHBOARD_AUTH_PASSWORD: password,
    ...(!changes && { PGBOSS_DASHBOARD_READ_ONLY: '1' }),
  }
  const child = spawn(process.execPath, ['--import', SCHEMAS, program], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  let complaint = ''
  let isShown = false
  createInterface({ input: child.stderr }).on('line', line => {
    complaint = `${complaint}${line}\n`.slice(-2_000)
    // What it says of a page that failed is nowhere else; why it did not start is in the error of this command.
    if (isShown) err(line)
  })
  const end = () => child.kill('SIGTERM')
  signal.addEventListener('abort', end, { once: true })
  try {
    if (!(await listens(port, exited))) throw failed(port, complaint)
    isShown = true
    out(`The dashboard is at http://127.0.0.1:${port}, ${changes ? 'with' : 'without'} changes, until Ctrl-C`)
    out(isMade ? `sign-in: ${user} ${password}` : `sign-in: ${user} and the DASHBOARD_PASSWORD`)
    await exited
    if (!signal.aborted) throw failed(port, complaint)
  } finally {
    child.kill('SIGKILL')
    signal.removeEventListener('abort', end)
  }
}

/** @returns false when it ended instead */
async function listens(port: number, exited: Promise<unknown>): Promise<boolean> {
  let isOver = false
  void exited.then(() => (isOver = true))
  while (!isOver) {
    const answered = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1_000) }).then(
      ({ status }) => status === 401,
      () => false,
    )
    if (answered && !isOver) return true
    await new Promise(done => setTimeout(done, 100))
  }
  return false
}

function failed(port: number, complaint: string): CommandError {
  const why = /EADDRINUSE/.test(complaint)
    ? `Port ${port} is in use: choose another by --port`
    : complaint.trim()
  return new CommandError(`The dashboard ended. ${why}`, EXIT.failed)
}
