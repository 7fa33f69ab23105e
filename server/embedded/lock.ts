import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'

/** A lock on a file, held until it is released or this process ends, even by kill -9. */
export interface ProcessLock {
  release(): void
}

// Garbage collection of an unreferenced one would release its lock.
const held = new Set<DatabaseSync>()

/**
 * Takes a lock on a file, which is made when it is missing and stays empty; null when another holder, in this
 * process or any other, prevents it. Many may share one, if none has it exclusively.
 *
 * Node has no call for the system's file locks, and a file with a process number in it is wrong after a crash:
 * numbers are reused, in a container always the same ones. SQLite's transactions are such locks.
 */
export function tryLock(file: string, mode: 'shared' | 'exclusive'): ProcessLock | null {
  const database = new DatabaseSync(file)
  try {
    database.exec(mode === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT count(*) FROM sqlite_schema')
    held.add(database)
    return {
      release: () => {
        if (held.delete(database)) database.close()
      },
    }
  } catch (error) {
    database.close()
    const busy = 5
    if ((error as { errcode?: number }).errcode === busy) return null
    throw error
  }
}

/** Like `tryLock`, but waits for the others. Rejects after `timeoutMs`. */
export async function takeLock(
  file: string,
  mode: 'shared' | 'exclusive',
  timeoutMs: number,
): Promise<ProcessLock> {
  for (const deadline = Date.now() + timeoutMs; ;) {
    const lock = tryLock(file, mode)
    if (lock) return lock
    if (Date.now() > deadline)
      throw new Error(`Another process has held ${file} for ${timeoutMs / 1000} s; end it.`)
    await wait(20)
  }
}
