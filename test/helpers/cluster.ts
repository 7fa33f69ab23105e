import { spawn } from 'node:child_process'
import { chmod, mkdtemp, realpath } from 'node:fs/promises'
import { existsSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { locateBinaries, mayEnter } from '../../server/embedded/binaries.ts'
import {
  createCluster,
  isPostmasterAlive,
  launchPostmaster,
  newPassword,
} from '../../server/embedded/postmaster.ts'

/** How to sign in, as superuser, to a cluster that may be littered with databases and roles. */
export interface TestCluster {
  host: string
  port: number
  user: string
  password: string
}

/** A cluster of one process, which may take it down. */
export interface OwnCluster extends TestCluster {
  /** The process id of its postmaster; another one after `restart`. */
  pid(): number
  /** Ends it at once, as a crash does: what was committed and written stays. */
  crash(): Promise<void>
  /** Starts it again on the same port; it recovers from its log. */
  restart(): Promise<void>
}

// Nothing in it is worth keeping, so it never waits for the disk; autovacuum would come at odd moments.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '2GB',
  autovacuum: 'off',
  jit: 'off',
  max_connections: '300',
  shared_buffers: '128MB',
  // Tests sign in thousands of times; the iterations protect passwords that a thief has the hashes of.
  scram_iterations: '1',
  timezone: 'UTC',
  log_timezone: 'UTC',
}

let cluster: Promise<TestCluster> | undefined

/**
 * The PostgreSQL 17 of this test run: the one named by TEST_CLUSTER (JSON, or a URL), which `npm test` starts
 * for all files, else one of this process alone, removed when the process ends.
 */
export function testCluster(): Promise<TestCluster> {
  cluster ??= process.env.TEST_CLUSTER ? Promise.resolve(parse(process.env.TEST_CLUSTER)) : startTestCluster()
  return cluster
}

function parse(text: string): TestCluster {
  if (text.startsWith('{')) return JSON.parse(text) as TestCluster
  const { hostname, port, username, password } = new URL(text)
  const [user, secret] = [username, password].map(decodeURIComponent) as [string, string]
  return { host: hostname, port: Number(port || 5432), user, password: secret }
}

/**
 * Tests copy some thousand databases of up to 900 files each. Copying and dropping one takes 35 ms of CPU in memory and
 * 490 ms on ext4, which looks for as many free inodes.
 */
const MEMORY_FOLDER = '/dev/shm'
const MIN_ROOM_BYTES = 3e9

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return Math.min(bavail * bsize, freemem()) >= MIN_ROOM_BYTES
  } catch {
    return false
  }
}

/**
 * Starts a throw-away cluster that goes when this process ends, however it ends.
 * @param changes lines of postgresql.conf that are to be different
 * @param options.inMemory keeps its files in memory where there is room for those of the suite
 */
export async function startTestCluster(
  changes: Record<string, string> = {},
  { inMemory = false }: { inMemory?: boolean } = {},
): Promise<OwnCluster> {
  const binaries = await locateBinaries()
  const parents = [...(inMemory && hasRoom(MEMORY_FOLDER) ? [MEMORY_FOLDER] : []), tmpdir(), '/tmp']
  const entered = await Promise.all(parents.map(parent => mayEnter(binaries.account, parent)))
  const parent = parents[entered.indexOf(true)] ?? '/tmp'
  const root = await mkdtemp(join(await realpath(parent), 'tidemark-test-'))
  // Another user than root runs PostgreSQL for root.
  await chmod(root, 0o755)
  const folder = join(root, 'cluster')
  const logFile = join(root, 'log')
  const password = newPassword()
  try {
    await createCluster(binaries, folder, { password, settings: { ...settings, ...changes } })
    const { port, ...first } = await launchPostmaster(binaries, folder, { logFile })
    let { pid } = first
    removeAtEnd(root, folder)
    return {
      ...{ host: '127.0.0.1', port, user: 'postgres', password },
      pid: () => pid,
      async crash() {
        process.kill(pid, 'SIGQUIT')
        while (isPostmasterAlive(pid, folder)) await wait(10)
      },
      async restart() {
        pid = (await launchPostmaster(binaries, folder, { logFile, port })).pid
      },
    }
  } catch (error) {
    rmSync(root, { recursive: true, force: true })
    throw error
  }
}

/** Ends the cluster in a folder and removes a folder above it when this process ends, however it ends. */
export function removeAtEnd(root: string, folder: string): void {
  process.once('exit', () => {
    try {
      process.kill(parseInt(readFileSync(join(folder, 'postmaster.pid'), 'utf8'), 10), 'SIGQUIT')
    } catch {
      // Already gone; its folder is not.
    }
    const deadline = Date.now() + 5_000
    while (existsSync(join(folder, 'postmaster.pid')) && Date.now() < deadline) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  if (process.platform === 'win32') return
  // No handler runs when a test is killed for taking too long; this one reads the end of our pipe instead.
  const script =
    'cat >/dev/null; pid="$1/cluster/postmaster.pid"; [ -e "$pid" ] && kill -QUIT "$(head -n 1 "$pid")"; n=0; ' +
    'while [ -e "$pid" ] && [ $n -lt 50 ]; do n=$((n+1)); sleep 0.1; done; rm -rf "$1"'
  const watcher = spawn('/bin/sh', ['-c', script, 'sh', root], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  ;(watcher.stdin as unknown as { unref(): void }).unref()
}
