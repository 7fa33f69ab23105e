import { ConfigError } from '../settings/config.ts'
import { rows, type Transaction } from '../database/database.ts'
import type { SealedColumn, Vault } from './vault.ts'

const APP_ROLE = 'password of the application role'

/** Where a secret of the installation as a whole is sealed for. */
const placeOf = (name: string) => `installation:${name}`

/**
 * The password of the application role. It is stored, so that processes with another newest key, before and after that
 * key is changed, use the same one; and as it is always there and always sealed, a wrong key shows by it.
 * @param columns whose texts show the key too, where the password is not stored yet
 * @throws ConfigError when SECRET_KEY is not the key of this database
 */
export async function appRolePassword(
  trx: Transaction,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<string> {
  const [kept] = await rows<{ sealed: string }>(trx, 'select sealed from installation where name = :name', {
    name: APP_ROLE,
  })
  if (kept) return openPassword(vault, kept.sealed)
  await refuseForeignKey(trx, vault, columns)
  const password = vault.derive('app role').toString('base64url')
  await rows(trx, 'insert into installation (name, sealed) values (:name, :sealed)', {
    name: APP_ROLE,
    sealed: vault.seal(password, placeOf(APP_ROLE)),
  })
  return password
}

function openPassword(vault: Vault, sealed: string): string {
  try {
    return vault.open(sealed, placeOf(APP_ROLE))
  } catch (error) {
    throw wrongKey(sealed.split('.')[1], vault, error)
  }
}

/** A database from before there was the password has secrets already: with a key that opens none it is not gone on. */
async function refuseForeignKey(trx: Transaction, vault: Vault, columns: readonly SealedColumn[]) {
  const given = vault.deriveAll('app role').map(({ keyId }) => keyId)
  let strange: string | undefined
  for (const { table, column } of columns) {
    const found = await rows<{ keyId: string }>(
      trx,
      `select distinct split_part(:column:, '.', 2) as key_id from :table: where starts_with(:column:, 'v1.')`,
      { table, column },
    )
    if (found.some(({ keyId }) => given.includes(keyId))) return
    strange ??= found[0]?.keyId
  }
  if (strange !== undefined) throw wrongKey(strange, vault)
}

function wrongKey(id: string | undefined, vault: Vault, cause?: unknown): ConfigError {
  return new ConfigError(
    `Wrong settings:\n  SECRET_KEY is not the key of this database, whose secrets are sealed with the key ${id} ` +
      `(given was ${vault.keyId}): set it to the one that was used before, or add that one behind the new one. ` +
      'An embedded database keeps its key in DATA_DIR/secret.key',
    { cause },
  )
}

/** Seals what is the installation's own anew with the newest key. @returns how many it sealed */
export async function resealInstallation(trx: Transaction, vault: Vault): Promise<number> {
  const behind = await rows<{ name: string; sealed: string }>(
    trx,
    'select name, sealed from installation where not starts_with(sealed, :start) for update',
    { start: vault.sealStart },
  )
  for (const { name, sealed } of behind) {
    await rows(trx, 'update installation set sealed = :sealed where name = :name', {
      name,
      sealed: vault.seal(vault.open(sealed, placeOf(name)), placeOf(name)),
    })
  }
  return behind.length
}
