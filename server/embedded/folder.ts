import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readlink, realpath, rename, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { mayEnter, type Account } from './binaries.ts'

/** Major version of the embedded PostgreSQL: its clusters cannot be opened by another. */
export const major = 17

/** Where the cluster of a data folder lies, or will lie. */
export interface ClusterFolder {
  /** Real path of the data folder. */
  dataDir: string
  /** Real path of the cluster, which may lie outside the data folder. */
  folder: string
  /** Whether the data folder already knows it. */
  isKnown: boolean
  /** Set when we are root and the cluster exists: its owner, who has to run it. */
  owner?: Account
}

/** The cluster that a data folder has; null when it has none. Throws when the folder is there but not usable. */
export async function knownCluster(dataDir: string): Promise<ClusterFolder | null> {
  const entry = join(dataDir, `postgres-${major}`)
  const found = await lstat(entry).catch(error => {
    if (error.code === 'ENOENT') return null
    throw new Error(`DATA_DIR cannot be read (${error.message}): give it to this user or choose another.`)
  })
  if (!found) return null
  const folder = await realpath(entry).catch(async () => {
    throw new Error(
      `${entry} leads to ${await readlink(entry)}, which is missing: bring it back, ` +
        'or delete the link to begin with an empty database.',
    )
  })
  const { uid, gid } = await stat(folder)
  const me = process.geteuid?.()
  if (me === 0 && uid === 0)
    throw new Error(
      `${folder} belongs to root, as whom PostgreSQL does not run: give it to another user with chown -R, ` +
        `best to the one that "postgres" or "nobody" names in /etc/passwd.`,
    )
  if (me !== undefined && me !== 0 && uid !== me)
    throw new Error(
      `${folder} belongs to user id ${uid}: start as that user or as root, or choose another DATA_DIR.`,
    )
  return { dataDir: await realpath(dataDir), folder, isKnown: true, ...(me === 0 && { owner: { uid, gid } }) }
}

/**
 * Chooses the location of the cluster of a data folder: in it, or below `elsewhere` when the user that root runs
 * PostgreSQL as may not go there (below /root, for one).
 */
export async function newCluster(
  dataDir: string,
  account: Account | undefined,
  elsewhere: string,
): Promise<ClusterFolder> {
  const real = await realpath(dataDir)
  if (!account || (await mayEnter(account, real)))
    return { dataDir: real, folder: join(real, `postgres-${major}`), isKnown: false }
  await mkdir(elsewhere, { recursive: true })
  await chmod(elsewhere, 0o755)
  const parent = await realpath(elsewhere)
  if (!(await mayEnter(account, parent)))
    throw new Error(
      `User id ${account.uid}, as whom PostgreSQL runs, may enter neither DATA_DIR (${real}) nor ${parent}: ` +
        'choose a DATA_DIR that it may go to, or start as an ordinary user.',
    )
  const name = createHash('sha256').update(real).digest('hex').slice(0, 16)
  return { dataDir: real, folder: join(parent, name), isKnown: false }
}

/** Leaves a link in the data folder to a cluster that lies elsewhere. */
export async function rememberCluster(place: ClusterFolder): Promise<void> {
  const entry = join(place.dataDir, `postgres-${major}`)
  if (entry !== place.folder) await symlink(place.folder, entry)
}

/**
 * Moves aside what an earlier data folder of the same name left, which was deleted along with its passwords.
 * Gives the new path.
 */
export async function moveAside(folder: string): Promise<string> {
  const target = `${folder}.left-${new Date().toISOString().replace(/\D/g, '')}`
  await rename(folder, target)
  return target
}
