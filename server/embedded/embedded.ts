import { access, constants, copyFile, mkdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import {
  credentialsFile,
  newCredentials,
  owner,
  ownerUrl,
  readCredentials,
  superuserUrl,
  writeCredentials,
} from './credentials.ts'
import type { Credentials } from './credentials.ts'
import { knownCluster, major, moveAside, newCluster, rememberCluster, type ClusterFolder } from './folder.ts'
import { locateBinaries, type PostgresBinaries } from './binaries.ts'
import {
  createCluster,
  isPostmasterAlive,
  launchPostmaster,
  readPostmaster,
  stopPostmaster,
} from './postmaster.ts'
import type { Postmaster } from './postmaster.ts'
import { takeLock, tryLock, type ProcessLock } from './lock.ts'

/** A PostgreSQL that this service runs for itself. */
export interface EmbeddedPostgres {
  /** Connection string of `tidemark`, the login that owns the database of the same name and may make roles. */
  url: string
  superuserUrl: string
  /** Whether the server ran already: another process uses it too, or one that was killed left it. */
  reattached: boolean
  /**
   * Stops the server, unless another process still uses it: then the last of them does. Takes up to 5 s for
   * an orderly end, and up to 5 s more for the other. A second call does nothing more.
   */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  log: EmbeddedLog
  /** Parent of clusters whose user may not enter the data folder; defaults to `/var/lib/tidemark`. */
  elsewhere?: string
  /** Called whenever PostgreSQL has begun something that is to be waited for. */
  whileStarting?(): void
}

/** Logs the steps of the start; a pino logger fits. */
export interface EmbeddedLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

const patienceMs = 60_000
/** Errors of a server that takes no connections yet, or none any more. */
const startingOrStopping = ['57P03', '57P01', 'ECONNREFUSED', 'ECONNRESET']
const megabyte = 1024 * 1024

/**
 * Settings of a new cluster, for one small machine with other work to do. Whatever an operator sets by
 * ALTER SYSTEM is kept.
 */
const settings: Record<string, string> = {
  max_connections: '100',
  shared_buffers: '64MB',
  effective_cache_size: '512MB',
  max_wal_size: '256MB',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Errors of statements reach the service, which logs them without their values.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  // A statement whose client was killed ends, instead of holding its locks. Windows cannot do it.
  ...(process.platform !== 'win32' && { client_connection_check_interval: '10s' }),
}

/**
 * Starts the PostgreSQL of a data folder, with a new cluster if it has none, or attaches to the server that runs there.
 * Any number of processes may do so at once.
 * Rejects with a sentence on what to do when the machine cannot run it or the data folder cannot be used.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log } = options
  try {
    await mkdir(dataDir, { recursive: true })
    await access(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Error(
      `DATA_DIR cannot be written (${(error as Error).message}): choose a folder that this user may write to.`,
    )
  }
  const known = await knownCluster(dataDir)
  const binaries = await locateBinaries({ account: known?.owner })
  const place =
    known ?? (await newCluster(dataDir, binaries.account, options.elsewhere ?? '/var/lib/tidemark'))
  const { folder } = place
  const starting = await takeLock(`${folder}.lock`, 'exclusive', patienceMs)
  try {
    const credentials = await prepare(place, binaries, options)
    const running = await findRunning(folder, credentials)
    const postmaster = running ?? (await launch(place, binaries, credentials, options))
    if (running) log.info({ folder, pid: running.pid, port: running.port }, 'Took up the running PostgreSQL')
    let using: ProcessLock
    try {
      await provide(postmaster, credentials)
      using = await takeLock(`${folder}.users`, 'shared', patienceMs)
    } catch (error) {
      if (!running) await stopPostmaster(binaries, folder, postmaster).catch(() => undefined)
      throw error
    }
    let stopped: Promise<void> | undefined
    return {
      url: ownerUrl(postmaster.port, credentials),
      superuserUrl: superuserUrl(postmaster.port, credentials),
      reattached: running !== null,
      stop: () => (stopped ??= leave(folder, binaries, using)),
    }
  } finally {
    starting.release()
  }
}

/**
 * Connection string of the database's owner on the PostgreSQL that runs under a data folder, for commands beside
 * the service; null when none runs. Waits for one that is just starting or stopping.
 */
export async function attachEmbedded(dataDir: string): Promise<string | null> {
  const place = await knownCluster(dataDir)
  if (!place) return null
  const starting = await takeLock(`${place.folder}.lock`, 'exclusive', patienceMs)
  try {
    const credentials = await readCredentials(place.dataDir)
    const postmaster = credentials && (await findRunning(place.folder, credentials))
    return postmaster ? ownerUrl(postmaster.port, credentials) : null
  } finally {
    starting.release()
  }
}

/** Creates the cluster and its passwords unless they exist. */
async function prepare(
  place: ClusterFolder,
  binaries: PostgresBinaries,
  { log, whileStarting }: Pick<EmbeddedOptions, 'log' | 'whileStarting'>,
) {
  const { dataDir, folder } = place
  const kept = await readCredentials(dataDir)
  let isThere = await stat(folder).then(
    () => true,
    () => false,
  )
  if (isThere && !kept) {
    if (place.isKnown)
      throw new Error(
        `${credentialsFile(dataDir)}, with the passwords of the embedded PostgreSQL, is missing: bring it back from ` +
          `a backup, or delete ${join(dataDir, `postgres-${major}`)} to begin with an empty database.`,
      )
    const postmaster = await readPostmaster(folder)
    if (postmaster && isPostmasterAlive(postmaster.pid, folder))
      await stopPostmaster(binaries, folder, postmaster)
    const aside = await moveAside(folder)
    log.warn(
      { folder: aside },
      'Moved aside the database of a data folder that was deleted; delete it to free its space',
    )
    isThere = false
  }
  const credentials = kept ?? newCredentials()
  if (!kept) await writeCredentials(dataDir, credentials)
  if (!isThere) {
    const began = performance.now()
    await createCluster(binaries, folder, {
      password: credentials.superuser_password,
      settings,
      onLaunched: whileStarting,
    })
    log.info({ folder, ms: Math.round(performance.now() - began) }, `Made a PostgreSQL ${major} cluster`)
  }
  // Again after each crash in between, or when another process was faster.
  if (!place.isKnown && !(await knownCluster(dataDir))) await rememberCluster(place)
  return credentials
}

async function launch(
  place: ClusterFolder,
  binaries: PostgresBinaries,
  credentials: Credentials,
  { log, whileStarting }: Pick<EmbeddedOptions, 'log' | 'whileStarting'>,
) {
  const { dataDir, folder } = place
  const began = performance.now()
  const logFile = join(dataDir, `postgres-${major}.log`)
  const logged = await stat(logFile).catch(() => null)
  if (logged && logged.size > 10 * megabyte) {
    // Emptied rather than renamed: it stays with the user it belongs to.
    await copyFile(logFile, `${logFile}.1`)
    await truncate(logFile)
  }
  const postmaster = await launchPostmaster(binaries, folder, {
    port: credentials.port,
    logFile,
    timeoutMs: patienceMs,
    onLaunched: whileStarting,
  })
  if (postmaster.port !== credentials.port)
    await writeCredentials(dataDir, { ...credentials, port: postmaster.port })
  const { pid, port } = postmaster
  log.info({ folder, pid, port, ms: Math.round(performance.now() - began) }, 'Started PostgreSQL')
  return postmaster
}

/**
 * The server that runs in a cluster folder, once it takes connections; null when none does. Proved by asking it
 * for its own `postmaster.pid`: the number alone may be another program's by now, and the port another server's.
 */
async function findRunning(folder: string, credentials: Credentials): Promise<Postmaster | null> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(20)) {
    const postmaster = await readPostmaster(folder)
    if (!postmaster) return null
    let isOurs: boolean | undefined = isPostmasterAlive(postmaster.pid, folder) ? undefined : false
    if (isOurs === undefined && postmaster.status === 'ready')
      isOurs = await recognise(postmaster, credentials)
    if (isOurs) return postmaster
    if (isOurs === false) {
      // PostgreSQL itself would refuse to start as long as any process has that number.
      await rm(join(folder, 'postmaster.pid'), { force: true })
      return null
    }
  }
  throw new Error(
    `The PostgreSQL in ${folder} has been starting or stopping for ${patienceMs / 1000} s; end it by hand.`,
  )
}

/** Undefined while it is unknown. */
async function recognise(postmaster: Postmaster, credentials: Credentials): Promise<boolean | undefined> {
  try {
    const text = await asSuperuser(postmaster, credentials, async client => {
      const { rows } = await client.query<{ text: string }>("SELECT pg_read_file('postmaster.pid') AS text")
      return rows[0]!.text
    })
    const [pid, , startedAt] = text.split('\n')
    return Number(pid) === postmaster.pid && startedAt === postmaster.startedAt
  } catch (error) {
    const code = (error as { code?: string }).code
    // On Windows only this shows whether a process is the server.
    if (code === 'ECONNREFUSED' && process.platform === 'win32') return false
    if (code && startingOrStopping.includes(code)) return undefined
    throw new Error(
      `The embedded PostgreSQL on port ${postmaster.port} (process ${postmaster.pid}) runs but refuses us: ` +
        `${(error as Error).message}. Stop it with kill -INT ${postmaster.pid} and start again.`,
      { cause: error },
    )
  }
}

/** Makes the login and the database of the service where they are missing. */
async function provide(postmaster: Postmaster, credentials: Credentials): Promise<void> {
  await asSuperuser(postmaster, credentials, async client => {
    const { rows } = await client.query<{ role: boolean; database: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS role,
              EXISTS (SELECT FROM pg_database WHERE datname = $1) AS database`,
      [owner],
    )
    const password = client.escapeLiteral(credentials.owner_password)
    if (!rows[0]!.role) await client.query(`CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD ${password}`)
    if (!rows[0]!.database) await client.query(`CREATE DATABASE ${owner} OWNER ${owner}`)
  })
}

async function asSuperuser<T>(
  postmaster: Postmaster,
  credentials: Credentials,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const connectionString = superuserUrl(postmaster.port, credentials)
  const client = new pg.Client({ connectionString, ssl: false, connectionTimeoutMillis: 5_000 })
  // An unheard error event of a connection ends the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function leave(folder: string, binaries: PostgresBinaries, using: ProcessLock): Promise<void> {
  const starting = await takeLock(`${folder}.lock`, 'exclusive', patienceMs)
  try {
    using.release()
    const alone = tryLock(`${folder}.users`, 'exclusive')
    if (!alone) return
    alone.release()
    const postmaster = await readPostmaster(folder)
    if (postmaster && isPostmasterAlive(postmaster.pid, folder))
      await stopPostmaster(binaries, folder, postmaster)
  } finally {
    starting.release()
  }
}
