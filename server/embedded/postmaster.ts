import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chown, mkdir, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { postgresEnvironment, type PostgresBinaries } from './binaries.ts'

const windows = process.platform === 'win32'

export const superuser = 'postgres'

/** What a running server writes to `postmaster.pid` in its cluster folder. */
export interface Postmaster {
  pid: number
  /** Seconds since 1970, as written: together with the pid it names one run of a server. */
  startedAt: string
  port: number
  status: 'starting' | 'stopping' | 'ready'
}

/** A password that needs no quoting in a URL or in SQL: 192 random bits. */
export function newPassword(): string {
  return randomBytes(24).toString('base64url')
}

/**
 * Makes a cluster folder whose superuser `postgres` signs in with the password. It appears complete or not at
 * all: the next start deletes an incomplete folder of a killed one.
 * @param options.settings lines of postgresql.conf
 * @param options.onLaunched called when the process runs that makes it
 */
export async function createCluster(
  binaries: PostgresBinaries,
  folder: string,
  options: {
    password: string
    settings: Record<string, string>
    onLaunched?: (() => void) | undefined
  },
): Promise<void> {
  // An initdb that outlived a killed start may still be clearing up its own draft.
  const parent = dirname(folder)
  const prefix = `${basename(folder)}.draft-`
  const draft = join(parent, `${prefix}${randomBytes(6).toString('hex')}`)
  const passwordFile = `${draft}.password`
  const { uid, gid } = binaries.account ?? {}
  try {
    for (const name of await readdir(parent)) {
      if (name.startsWith(prefix))
        await rm(join(parent, name), { recursive: true, force: true, maxRetries: 3 })
    }
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, options.password, { mode: 0o600, flag: 'wx' })
    for (const path of [draft, passwordFile]) if (uid !== undefined) await chown(path, uid, gid!)
    const settings = Object.entries(options.settings).flatMap(([name, value]) => [
      '--set',
      `${name}=${value}`,
    ])
    // The built-in C.UTF-8 exists on every platform and sorts the same everywhere, whatever the system's locales.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    // A new cluster holds nothing yet, so waiting for the disk would only delay the first start.
    const rest = ['--auth=scram-sha-256', `--username=${superuser}`, `--pwfile=${passwordFile}`, '--no-sync']
    const made = runToEnd(binaries.initdb, ['--pgdata', draft, ...locale, ...rest, ...settings], binaries)
    options.onLaunched?.()
    await made
    await rename(draft, folder)
  } finally {
    await rm(passwordFile, { force: true })
    await rm(draft, { recursive: true, force: true })
  }
}

/**
 * Starts the server of a cluster folder on 127.0.0.1 and resolves when it takes connections. It lives in a
 * process group of its own, so that Ctrl-C in the terminal does not reach it, and outlives this process.
 * @param options.port taken when it is free; another one otherwise
 * @param options.logFile receives what the server prints
 * @param options.onLaunched called when its process runs, and again if it has to be launched anew
 * Rejects with the end of the log when the server ends or is not ready after `timeoutMs` (60 s, since it may
 * have to recover from a crash).
 */
export async function launchPostmaster(
  binaries: PostgresBinaries,
  folder: string,
  options: { port?: number; logFile: string; timeoutMs?: number; onLaunched?: (() => void) | undefined },
): Promise<Postmaster> {
  const deadline = Date.now() + (options.timeoutMs ?? 60_000)
  for (let port = await freePort(options.port); ;) {
    const server = await spawnPostmaster(binaries, folder, port, options.logFile)
    options.onLaunched?.()
    while (!server.ended() && Date.now() < deadline) {
      const postmaster = await readPostmaster(folder)
      const isOurs = windows || postmaster?.pid === server.pid
      if (isOurs && postmaster?.status === 'ready') return postmaster
      await wait(10)
    }
    const output = await server.output()
    if (!server.ended()) {
      await stopPostmaster(binaries, folder, (await readPostmaster(folder)) ?? server)
      throw new Error(`The embedded PostgreSQL in ${folder} is not ready in time:\n${output}`)
    }
    // Between being chosen and being used a free port may be taken; sessions of a server that was killed
    // notice it within moments.
    const mayPass = /could not (bind|create any)|pre-existing shared memory block/.test(output)
    if (!mayPass || Date.now() > deadline)
      throw new Error(`The embedded PostgreSQL in ${folder} does not start:\n${output}`)
    await wait(50)
    port = await freePort()
  }
}

async function spawnPostmaster(binaries: PostgresBinaries, folder: string, port: number, logFile: string) {
  const log = await open(logFile, 'a', 0o600)
  const logged = (await log.stat()).size
  try {
    const listen = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-p', String(port)]
    // On Windows pg_ctl gives up the administrator's rights, which postgres refuses to run with.
    const [file, args] = windows
      ? [
          binaries.pgCtl,
          ['start', '--no-wait', '-D', folder, '-o', listen.map(part => `"${part}"`).join(' ')],
        ]
      : [binaries.postgres, ['-D', folder, ...listen]]
    const child = spawn(file, args, {
      cwd: folder,
      env: postgresEnvironment,
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
      windowsHide: true,
      ...binaries.account,
    })
    let ended: string | undefined
    child.on('error', error => (ended = error.message))
    child.on('exit', (code, signal) => {
      if (!windows || code !== 0) ended ??= `It ended with ${signal ?? `code ${code}`}.`
    })
    child.unref()
    return {
      pid: child.pid ?? 0,
      ended: () => ended !== undefined,
      output: async () => {
        const text = (await readFile(logFile)).subarray(logged).toString().trim()
        return `${text.slice(-2000)}\n${ended ?? ''}`.trim()
      },
    }
  } finally {
    await log.close()
  }
}

/** Reads `postmaster.pid`; null when there is none. */
export async function readPostmaster(folder: string): Promise<Postmaster | null> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(error => {
    // Windows locks the file while it is written.
    if (['ENOENT', 'EBUSY', 'EPERM'].includes(error.code)) return ''
    throw error
  })
  const [pid, , startedAt = '', port, , , , status] = text.split('\n').map(line => line.trim())
  if (!pid) return null
  // The status is the last line to be written.
  return {
    pid: Number(pid),
    startedAt,
    port: Number(port),
    status: (status || 'starting') as Postmaster['status'],
  }
}

/**
 * Whether the process is a live server of that folder. A `postmaster.pid` left by a crash may name a number that
 * another program has been given since; on Windows such a program is taken for the server.
 */
export function isPostmasterAlive(pid: number, folder: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  try {
    if (process.platform === 'linux') {
      // Empty for a process that has ended and waits to be collected.
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return words[0]!.includes('postgres') && words.includes(folder)
    }
    if (windows) return true
    const line = execFileSync('ps', ['-p', String(pid), '-o', 'stat=,command='], { encoding: 'utf8' })
    return !line.startsWith('Z') && line.includes('postgres') && line.includes(folder)
  } catch {
    return false
  }
}

/**
 * Stops a server: its sessions are ended and everything is written to disk; after `patienceMs` (5 s) at once,
 * and the next start recovers. Rejects when it lives on for as long again.
 */
export async function stopPostmaster(
  binaries: Pick<PostgresBinaries, 'pgCtl'>,
  folder: string,
  postmaster: { pid: number },
  patienceMs = 5_000,
): Promise<void> {
  for (const mode of ['fast', 'immediate'] as const) {
    await signal(binaries, folder, postmaster.pid, mode)
    const deadline = Date.now() + patienceMs
    while (Date.now() < deadline) {
      if (!isPostmasterAlive(postmaster.pid, folder)) return
      await wait(10)
    }
  }
  throw new Error(
    `The embedded PostgreSQL in ${folder} (process ${postmaster.pid}) does not stop; end it by hand.`,
  )
}

async function signal(
  binaries: Pick<PostgresBinaries, 'pgCtl'>,
  folder: string,
  pid: number,
  mode: 'fast' | 'immediate',
) {
  if (windows) {
    // Windows has no signals; pg_ctl speaks to the server's own pipe.
    await runToEnd(binaries.pgCtl, ['stop', '--no-wait', '-D', folder, '-m', mode], {}).catch(() => undefined)
    return
  }
  try {
    process.kill(pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function freePort(wanted?: number): Promise<number> {
  const server = createServer()
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  const port = wanted ? await listen(wanted).catch(() => listen(0)) : await listen(0)
  await new Promise(resolve => server.close(resolve))
  return port
}

function runToEnd(file: string, args: string[], binaries: Pick<PostgresBinaries, 'account'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { cwd: windows ? undefined : '/', env: postgresEnvironment, ...binaries.account }
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) resolve()
      else reject(new Error(`${file} ended with code ${code}:\n${output.trim().slice(-2000)}`))
    })
  })
}
