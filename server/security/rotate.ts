import { audit } from '../http/audit.ts'
import { rows, type Database } from '../database/database.ts'
import { resealInstallation } from './installation.ts'
import type { SealedColumn, Vault } from './vault.ts'

export interface Rotation {
  /** Names the key that everything is to be sealed with. */
  keyId: string
  /** Secrets that were sealed anew now. */
  resealed: number
  /** Secrets still encrypted with an older key: a process still uses it, or they cannot be decrypted. */
  remaining: number
  /** Those that do not open, which have to be entered again. */
  unopened: { table: string; column: string; id: string; error: string }[]
}

interface RotationDeps {
  db: Database
  vault: Vault
  sealed: readonly SealedColumn[]
}

/** Rows of one transaction, which holds them while it lasts. */
const BATCH_ROWS = 100
/** Times that all is gone through: meanwhile some may have been sealed by a process that has the old key in front. */
const MAX_PASSES = 3

/**
 * Seals every stored secret anew with the newest key, beside whatever else goes on. Ended in the middle, it goes on
 * the next time where it was; what is done is in the audit log of each company.
 */
export async function rotateSecrets(deps: RotationDeps): Promise<Rotation> {
  const rotation: Rotation = { keyId: deps.vault.keyId, resealed: 0, remaining: 0, unopened: [] }
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    rotation.unopened = []
    const before = rotation.resealed
    for (const column of deps.sealed)
      for (const companyId of await companiesWithOutdated(deps, column))
        await resealCompany(deps, column, companyId, rotation)
    if (rotation.resealed === before) break
  }
  rotation.remaining = await countOutdated(deps)
  // Last of all: as long as the old key is needed, no process starts without it.
  if (rotation.remaining === 0)
    rotation.resealed += await deps.db.system(trx => resealInstallation(trx, deps.vault))
  return rotation
}

/** Sealed, and not with the newest key. */
const OUTDATED_FILTER = `starts_with(:column:, 'v1.') and not starts_with(:column:, :start)`

async function companiesWithOutdated(deps: RotationDeps, { table, column }: SealedColumn): Promise<string[]> {
  const found = await deps.db.system(trx =>
    rows<{ companyId: string }>(
      trx,
      `select distinct company_id from :table: where ${OUTDATED_FILTER} order by company_id`,
      { table, column, start: deps.vault.sealStart },
    ),
  )
  return found.map(({ companyId }) => companyId)
}

async function countOutdated(deps: RotationDeps): Promise<number> {
  let sum = 0
  for (const { table, column } of deps.sealed) {
    const [found] = await deps.db.system(trx =>
      rows<{ count: number }>(
        trx,
        `select cast(count(*) as int) as count from :table: where ${OUTDATED_FILTER}`,
        { table, column, start: deps.vault.sealStart },
      ),
    )
    sum += found?.count ?? 0
  }
  return sum
}

async function resealCompany(
  deps: RotationDeps,
  sealed: SealedColumn,
  companyId: string,
  rotation: Rotation,
) {
  let after: string | null = null
  do after = await resealBatch(deps, sealed, { companyId, after }, rotation)
  while (after !== null)
}

/** @returns the id to go on after, or null at the end */
async function resealBatch(
  { db, vault }: RotationDeps,
  { table, column, place }: SealedColumn,
  { companyId, after }: { companyId: string; after: string | null },
  rotation: Rotation,
): Promise<string | null> {
  const unopened: Rotation['unopened'] = []
  const { last, count } = await db.company(companyId, async trx => {
    const batch = await rows<{ id: string; sealed: string }>(
      trx,
      `select id, :column: as sealed from :table:
       where company_id = :companyId and (cast(:after as uuid) is null or id > :after) and ${OUTDATED_FILTER}
       order by id limit ${BATCH_ROWS} for no key update`,
      { table, column, companyId, after, start: vault.sealStart },
    )
    for (const { id, sealed } of batch) {
      const again = reseal(vault, sealed, place(companyId, id))
      if (again instanceof Error) {
        unopened.push({ table, column, id, error: again.message })
        continue
      }
      await rows(trx, 'update :table: set :column: = :again where company_id = :companyId and id = :id', {
        table,
        column,
        companyId,
        id,
        again,
      })
    }
    const count = batch.length - unopened.length
    if (count > 0) {
      const details = { key_id: vault.keyId, table, column, count }
      await audit(trx, { companyId, actor: 'cli' }, { action: 'secrets.rotated', details })
    }
    return { count, last: batch.length < BATCH_ROWS ? null : (batch.at(-1)?.id ?? null) }
  })
  rotation.resealed += count
  rotation.unopened.push(...unopened)
  return last
}

/** An error where it does not open: the others are not to wait for it. */
function reseal(vault: Vault, sealed: string, place: string): string | Error {
  try {
    return vault.seal(vault.open(sealed, place), place)
  } catch (error) {
    return error as Error
  }
}
