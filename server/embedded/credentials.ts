import { chown, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { major } from './folder.ts'
import { newPassword, superuser } from './postmaster.ts'

/** The login that the service itself uses, and its database: both have this name. */
export const owner = 'tidemark'

/** What is needed to sign in to the cluster of a data folder; kept beside it, readable by its owner only. */
export interface Credentials {
  superuser_password: string
  owner_password: string
  /** The last one used, so that addresses written down stay right. */
  port?: number
}

export function credentialsFile(dataDir: string): string {
  return join(dataDir, `postgres-${major}.json`)
}

/** New random passwords, not kept yet. */
export function newCredentials(): Credentials {
  return { superuser_password: newPassword(), owner_password: newPassword() }
}

/** Null when there are none. Rejects when they cannot be read. */
export async function readCredentials(dataDir: string): Promise<Credentials | null> {
  try {
    return JSON.parse(await readFile(credentialsFile(dataDir), 'utf8')) as Credentials
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(
      `${credentialsFile(dataDir)}, with the passwords of the embedded PostgreSQL, cannot be read ` +
        `(${(error as Error).message}): start as the user it belongs to, or bring it back from a backup.`,
    )
  }
}

/** Through a second file, so that a crash leaves the old or the new text, never half of one. */
export async function writeCredentials(dataDir: string, credentials: Credentials): Promise<void> {
  const file = credentialsFile(dataDir)
  const draft = `${file}.draft`
  await writeFile(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flush: true })
  if (process.geteuid?.() === 0) {
    // One start as root must not shut out the ordinary user whose data folder this is.
    const { uid, gid } = await stat(dataDir)
    await chown(draft, uid, gid)
  }
  await rename(draft, file)
}

export function ownerUrl(port: number, credentials: Credentials): string {
  return `postgres://${owner}:${credentials.owner_password}@127.0.0.1:${port}/${owner}`
}

export function superuserUrl(port: number, credentials: Credentials): string {
  return `postgres://${superuser}:${credentials.superuser_password}@127.0.0.1:${port}/postgres`
}
