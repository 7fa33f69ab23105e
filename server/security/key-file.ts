/** The file in which an embedded database's key is kept: one key, or while it is changed two, the newest first. */
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { chown, link, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { credentialsFile } from '../embedded/credentials.ts'
import { tryLock } from '../embedded/lock.ts'
import { StartError } from '../process/start-error.ts'

export function keyFile(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

/**
 * The keys that the embedded database's secrets are sealed with, made at the first start.
 * @returns what gives them as they are now, in base64: another process may change them while this one runs
 */
export async function openKeyFile(dataDir: string): Promise<() => string> {
  const file = keyFile(dataDir)
  const kept = (await readKeyFile(file)) ?? (await createFirstKey(dataDir, file))
  let known = checkedKey(kept, file)
  let stamp = ''
  return () => {
    try {
      const { ino, mtimeMs } = statSync(file)
      const seen = `${ino} ${mtimeMs}`
      if (seen !== stamp) known = checkedKey(readFileSync(file, 'utf8'), file)
      stamp = seen
    } catch {
      // Gone or damaged: what was read before is right still.
    }
    return known
  }
}

async function readKeyFile(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new StartError(`${file} cannot be read (${error.message}): start as the user it belongs to`)
  })
}

async function createFirstKey(dataDir: string, file: string): Promise<string> {
  if (await stat(credentialsFile(dataDir)).catch(() => null))
    throw new StartError(
      `${file}, with which the secrets in the database are sealed, is missing: bring it back from a backup, or set ` +
        'SECRET_KEY; with a new key, passwords of sources and destinations must be entered again',
    )
  const draft = `${file}.${process.pid}`
  try {
    await mkdir(dataDir, { recursive: true })
    await writeDraft(draft, newKey(), dataDir)
    // Fails when another process was faster; then its key counts.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } catch (error) {
    throw new StartError(
      `DATA_DIR cannot be written (${(error as Error).message}): choose a folder that this user may write to`,
    )
  } finally {
    await rm(draft, { force: true })
  }
  return (await readKeyFile(file)) ?? ''
}

const newKey = (): string => randomBytes(32).toString('base64')

async function writeDraft(draft: string, text: string, like: string): Promise<void> {
  await writeFile(draft, `${text}\n`, { mode: 0o600, flush: true })
  if (process.geteuid?.() !== 0) return
  // One start as root must not shut out the ordinary user whose data folder this is.
  const { uid, gid } = await stat(like)
  await chown(draft, uid, gid)
}

function checkedKey(text: string, file: string): string {
  const key = text.trim()
  const isGood = key.split(',').every(part => Buffer.from(part.trim(), 'base64').length === 32)
  if (!isGood)
    throw new StartError(`${file} does not hold keys of 32 bytes in base64: bring it back from a backup`)
  return key
}

/**
 * Minutes that the old key stays behind the new one: nothing that runs seals with it any more, and the access tokens
 * it signed have ended.
 */
const OVERLAP_MINUTES = 15

/** A change of the kept key, which no other command makes meanwhile. */
export interface KeyChange {
  /** Takes the older keys out, once nothing is sealed with them. @returns from when on, where that is too early now */
  end(): Promise<Date | null>
  release(): void
}

/**
 * Puts a new key in front of the kept one, unless a change is under way, which then goes on. A crash at any point
 * leaves a file that holds every key that something may be sealed with.
 * @throws StartError when there is no key yet, or another command changes it
 */
export async function changeKey(dataDir: string): Promise<KeyChange> {
  const file = keyFile(dataDir)
  const kept = await readKeyFile(file)
  if (kept === undefined)
    throw new StartError(
      `There is no ${file} yet: the first start makes one, and until then nothing is sealed`,
    )
  const lock = tryLock(`${file}.lock`, 'exclusive')
  if (!lock) throw new StartError('Another process changes the key at this moment: wait until it has ended')
  try {
    const known = checkedKey((await readKeyFile(file)) ?? kept, file)
    if (!known.includes(',')) await replaceKeyFile(file, `${newKey()},${known}`)
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    release: () => lock.release(),
    async end() {
      const from = new Date((await stat(file)).mtimeMs + OVERLAP_MINUTES * 60_000)
      if (from > new Date()) return from
      await replaceKeyFile(file, checkedKey((await readKeyFile(file)) ?? '', file).split(',')[0] as string)
      return null
    },
  }
}

/** Old or new, never half of one; and new for good before anything is sealed with what is new in it. */
async function replaceKeyFile(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`
  await writeDraft(draft, text, file)
  await rename(draft, file)
  if (process.platform === 'win32') return
  const folder = await open(dirname(file))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
