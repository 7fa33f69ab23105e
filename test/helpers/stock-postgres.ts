/** A PostgreSQL to monitor, as a package of the system installs it. */
import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, readdir, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { locateBinaries, postgresEnvironment, type PostgresBinaries } from '../../server/embedded/binaries.ts'
import { launchPostmaster, newPassword, superuser } from '../../server/embedded/postmaster.ts'
import { removeAtEnd, type TestCluster } from './cluster.ts'

const run = promisify(execFile)
/** Where Debian and its relatives install releases, each in a folder that is named after its number. */
const SYSTEM_FOLDER = '/usr/lib/postgresql'

/**
 * Starts a PostgreSQL of the system with the settings that initdb writes, `jit = on` among them; it ends with this
 * process. The embedded one serves only where there is no other: it is built without the compiler that jit needs, and so
 * would measure a planner that users do not have.
 */
export async function startStockPostgres(): Promise<TestCluster> {
  const native = await findSystemRelease()
  const binaries = await locateBinaries(native === undefined ? {} : { native })
  const root = await mkdtemp(join(await realpath(tmpdir()), 'tidemark-stock-'))
  await chmod(root, 0o755)
  const folder = join(root, 'cluster')
  const password = newPassword()
  removeAtEnd(root, folder)
  await initialize(binaries, root, folder, password)
  const { port } = await launchPostmaster(binaries, folder, { logFile: join(root, 'log') })
  return { host: '127.0.0.1', port, user: superuser, password }
}

/** The folder of the newest release, undefined when there is none. */
async function findSystemRelease(): Promise<string | undefined> {
  const releases = await readdir(SYSTEM_FOLDER).catch((): string[] => [])
  const newest = releases
    .filter(name => /^\d+$/.test(name))
    .sort((a, b) => Number(a) - Number(b))
    .at(-1)
  return newest && join(SYSTEM_FOLDER, newest)
}

async function initialize(
  { initdb, account }: PostgresBinaries,
  root: string,
  folder: string,
  password: string,
): Promise<void> {
  const passwordFile = join(root, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (account) for (const path of [root, passwordFile]) await chown(path, account.uid, account.gid)
  const options = [
    `--pgdata=${folder}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
  ]
  await run(initdb, options, { cwd: '/', env: postgresEnvironment, ...account })
}
