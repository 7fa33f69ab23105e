import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { HISTORY_DAYS, openShop } from './shop.ts'

/** Hours after which the shop's last day is too long ago to be looked at as today. */
const MAX_AGE_HOURS = 24

const buildsInProgress = new Map<string, Promise<string>>()

/**
 * The shop's database that all companies may look at: sources only read, and nobody writes to it once it is made. It is
 * made when it is asked for the first time, and again when it is a day old.
 * @returns its path
 */
export function ensureSharedShop(dataDir: string): Promise<string> {
  const path = join(resolve(dataDir), 'demo', 'shared-shop.sqlite')
  const known = buildsInProgress.get(path)
  if (known) return known
  const made = refreshShop(path).finally(() => buildsInProgress.delete(path))
  buildsInProgress.set(path, made)
  return made
}

async function refreshShop(path: string): Promise<string> {
  const there = await stat(path).catch(() => null)
  if (there && Date.now() - there.mtimeMs < MAX_AGE_HOURS * 3_600_000) return path
  await mkdir(join(path, '..'), { recursive: true })
  // Another process may do the same: each makes its own, and whoever opens the path finds one that is whole.
  const draft = `${path}.${randomUUID()}`
  try {
    await buildShop(draft)
    await chmod(draft, 0o444)
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  return path
}

async function buildShop(path: string): Promise<void> {
  const shop = openShop(path, new Date())
  try {
    for (let daysAgo = HISTORY_DAYS; daysAgo >= 0; daysAgo--) {
      shop.live(daysAgo)
      // Requests get their turn between two days.
      await new Promise(done => setImmediate(done))
    }
  } finally {
    shop.close()
  }
  // Readers of a file with a journal beside it would have to write there.
  const database = new DatabaseSync(path)
  database.exec('pragma journal_mode = delete')
  database.close()
}
