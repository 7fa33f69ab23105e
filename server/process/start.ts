import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import pg from 'pg'
import type { Logger } from 'pino'
import { isAway } from '../database/away.ts'
import type { Config } from '../settings/config.ts'
import { startEmbedded } from '../embedded/embedded.ts'
import { openKeyFile } from '../security/key-file.ts'
import { StartError } from './start-error.ts'
import { startWatchdog } from './watchdog.ts'

/** A server put together with the database it needs, not listening yet. */
export interface OpenProcess {
  server: Server
  /**
   * Serves what is being served to its end, finishes jobs or hands them back, and stops the embedded PostgreSQL when
   * no other process uses it. Takes 25 s at most, and up to 10 s more for PostgreSQL; where nothing is under way, no time.
   * @param isHurried closes idle connections at once: a person waits for the end
   */
  stop(isHurried?: boolean): Promise<void>
}

/** What jobs that run get when the process ends; the engine hands back within 4 s what has not let go then. */
const JOB_DRAIN = { finishMs: 18_000, letGoMs: 2_500 }
/** Milliseconds after which connections that are left are cut. */
const CUT_MS = 500
/** Milliseconds after which a server that does not end is left to the end of its process. */
const STOP_TIMEOUT_MS = 30_000
/** Milliseconds between two tries to reach a database that is away. */
const RETRY_MS = 3_000

/**
 * Opens the database, its own or the embedded one, and puts the server together on it. Waits, with a message
 * every 3 s, for a database that is away.
 * @param signal ends the waiting
 * @throws StartError whose message says what to do
 */
export async function openProcess(config: Config, log: Logger, signal?: AbortSignal): Promise<OpenProcess> {
  if (config.databaseUrl !== undefined) {
    const server = await buildWhenThere(config, config.databaseUrl, log, signal)
    return { server, stop: isHurried => end(server, isHurried) }
  }
  const dataDir = resolve(config.dataDir)
  const secretKey = config.secretKey ?? (await openKeyFile(dataDir))
  const whileStarting = () => void loadProgram().catch(() => undefined)
  const postgres = await startEmbedded({ dataDir, log, whileStarting }).catch((error: unknown) => {
    throw new StartError((error as Error).message, { cause: error })
  })
  try {
    const sourceAllow = config.egressAllow === undefined ? { sourceAllow: ['127.0.0.0/8', '::1/128'] } : {}
    const { build } = await loadProgram()
    const server = await build({ config, log, ownerUrl: postgres.url, secretKey, ...sourceAllow })
    return {
      server,
      async stop(isHurried) {
        try {
          await end(server, isHurried)
        } finally {
          await postgres.stop()
        }
      },
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

/** The program takes most of a second to load, and the embedded PostgreSQL starts meanwhile. */
const loadProgram = () => import('../build.ts')

/** The database may go again, or take no writes yet, while the server is put together on it. */
async function buildWhenThere(config: Config, ownerUrl: string, log: Logger, signal?: AbortSignal) {
  const { build } = await loadProgram()
  for (;;) {
    await waitForDatabase(ownerUrl, log, signal)
    try {
      return await build({ config, log, ownerUrl, secretKey: config.secretKey as string })
    } catch (error) {
      if (!isAway(error)) throw error
      log.warn(
        `PostgreSQL cannot be used yet (${(error as Error).message}); trying again every ${RETRY_MS / 1000} s`,
      )
    }
    await wait(RETRY_MS, undefined, { signal })
  }
}

/**
 * Serves until `signal` aborts.
 * @param print takes lines for the person who started it
 * @throws StartError
 */
export async function serve(config: Config, log: Logger, print: (line: string) => void, signal: AbortSignal) {
  let opened: OpenProcess
  try {
    opened = await openProcess(config, log, signal)
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  const { server, stop } = opened
  try {
    if (signal.aborted) return
    await listen(server)
    print(config.role === 'worker' ? 'Tidemark works jobs' : `Tidemark listens on ${server.info.uri}`)
    watch(server)
    const stopped = new Promise<void>(done => signal.addEventListener('abort', () => done(), { once: true }))
    await Promise.race([runAfterStart(server, print), stopped])
    if (!signal.aborted) await stopped
  } finally {
    await stop((signal.reason as Error | undefined)?.message === 'SIGINT')
  }
}

/** @throws StartError when it takes too long */
async function end(server: Server, isHurried = true): Promise<void> {
  const late = wait(STOP_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new StartError(
      `The server did not end within ${STOP_TIMEOUT_MS / 1000} s: what it was at is taken up anew`,
    )
  })
  const orderly = async () => {
    await Promise.all([server.drain.begin(isHurried), server.jobs.drain(JOB_DRAIN)])
    await server.stop({ timeout: CUT_MS })
  }
  await Promise.race([orderly(), late])
}

/** Ends a process that is stuck, so that its supervisor starts another. */
function watch(server: Server): void {
  const watchdog = startWatchdog()
  server.jobs.watch({
    note: atWork => watchdog.note(atWork),
    end(sentence) {
      server.pino.fatal(`${sentence}: the process ends itself`)
      process.exit(1)
    },
  })
}

async function listen(server: Server): Promise<void> {
  const { host, port } = server.config
  try {
    await server.start()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new StartError(
        `Port ${port} of ${host} is in use: stop the program that uses it, or set PORT to another one`,
      )
    if (code === 'EACCES')
      throw new StartError(`Port ${port} may not be used by this user: set PORT to one above 1023`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new StartError(
        `HOST ${host} is no address of this machine (${message}): set HOST to one, such as 127.0.0.1`,
      )
    throw error
  }
}

/** Runs what features do after the start. An error in it does not stop the service. */
async function runAfterStart(server: Server, print: (line: string) => void): Promise<void> {
  for (const action of server.afterStart)
    await action(print).catch((error: unknown) =>
      server.pino.error({ err: error }, 'a task after the start failed'),
    )
}

async function waitForDatabase(url: string, log: Logger, signal?: AbortSignal): Promise<void> {
  const { hostname, port, username, pathname } = new URL(url)
  const place = `${hostname}:${port || 5432}`
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
    // An error event without a listener would end the process.
    client.on('error', () => undefined)
    try {
      await client.connect()
      return
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (!isAway(error))
        throw connectionRefused(code, message, {
          place,
          user: decodeURIComponent(username),
          database: pathname.slice(1),
        })
      log.warn(
        `PostgreSQL at ${place} does not answer (${code ?? message}); trying again every ${RETRY_MS / 1000} s`,
      )
    } finally {
      await client.end().catch(() => undefined)
    }
    await wait(RETRY_MS, undefined, { signal })
  }
}

function connectionRefused(
  code: string | undefined,
  message: string,
  at: { place: string; user: string; database: string },
): StartError {
  if (code === '28P01' || code === '28000')
    return new StartError(
      `PostgreSQL at ${at.place} refuses the user ${at.user}: check user and password in DATABASE_URL`,
    )
  if (code === '3D000')
    return new StartError(
      `There is no database ${at.database} at ${at.place}: make it with createdb, or correct DATABASE_URL`,
    )
  return new StartError(`PostgreSQL at ${at.place} cannot be used (${message}): check DATABASE_URL`)
}
