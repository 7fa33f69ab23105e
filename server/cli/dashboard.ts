/** The job engine's own web page, beside the running service. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { CommandError, EXIT, type Terminal } from './command.ts'
import { readConfig, type Config } from '../settings/config.ts'
import { rows } from '../database/database.ts'
import { makeLog } from '../telemetry/log.ts'
import { openPool } from '../database/pool.ts'

const PACKAGE = '@pg-boss/dashboard'

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
  const program = locate()
  const config = readConfig()
  const database = await open(config)
  try {
    await assertJobs(database.url, config)
    await show(program, database.url, { ...options, password: passwordOf(config) }, terminal)
  } finally {
    await database.stop()
  }
}

function locate(): string {
  const { resolve: find } = createRequire(import.meta.url)
  try {
    return join(dirname(find(`${PACKAGE}/package.json`)), 'bin', 'cli.js')
  } catch (error) {
    const message = `The page is a package of its own: npm install ${PACKAGE}`
    throw new CommandError(message, EXIT.failed, { cause: error })
  }
}

/** The database of the settings; the embedded one is shared with the service that runs it. */
async function open(config: Config): Promise<{ url: string; stop(): Promise<void> }> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl, async stop() {} }
  const { startEmbedded } = await import('../embedded/embedded.ts')
  return startEmbedded({ dataDir: resolve(config.dataDir), log: makeLog({ ...config, logLevel: 'warn' }) })
}

async function assertJobs(url: string, config: Config): Promise<void> {
  const pool = openPool(url, 'tidemark-dashboard', 1, makeLog(config))
  try {
    const [found] = await rows<{ isThere: boolean }>(
      pool,
      `select to_regclass('pgboss.job') is not null as is_there`,
    )
    if (!found?.isThere)
      throw new CommandError('There are no queues in this database yet: start the service once', EXIT.failed)
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
  { out, signal }: Terminal,
): Promise<void> {
  // Nothing of our own environment: what it needs is named, and a password is in no list of processes.
  const env = {
    ...{ HOST: '127.0.0.1', PORT: String(port), NODE_ENV: 'production' },
    ...{ DATABASE_URL: databaseUrl, PGBOSS_SCHEMA: 'pgboss' },
    ...{ PGBOSS_DASHBOARD_AUTH_USERNAME: user, PGBOSS_DASHBOARD_AUTH_PASSWORD: password },
    ...(!changes && { PGBOSS_DASHBOARD_READ_ONLY: '1' }),
  }
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2_000)))
  const end = () => child.kill('SIGTERM')
  signal.addEventListener('abort', end, { once: true })
  try {
    if (!(await listens(port, exited))) throw failed(port, complaint)
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
