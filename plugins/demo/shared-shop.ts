import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { HISTORY_DAYS, openShop } from './shop.ts'

/** After this, the shop's last day no longer passes for today. */
const MAX_AGE_HOURS = 24

const buildsInProgress = new Map<string, Promise<string>>()

/**
 * Returns the path of the shop's database, which all companies share: sources only read. It is created at the first call
 * and again when it is a day old.
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
  // Each process builds a draft of its own and renames it, so that the path always holds a complete database.
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
      shop.addDay(daysAgo)
      // Lets requests run between two days.
      await new Promise(done => setImmediate(done))
    }
  } finally {
    shop.close()
  }
  // In WAL mode, even readers write files beside the database.
  const database = new DatabaseSync(path)
  database.exec('pragma journal_mode = delete')
  database.close()
}
