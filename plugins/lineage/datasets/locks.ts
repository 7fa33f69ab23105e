import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'

/**
 * Locks aliases whose days are brought up to date.
 * @returns the keys of those that no other transaction has locked, which brings them up to date itself
 */
export async function lockUnclaimedAliases(trx: Transaction, keys: readonly string[]): Promise<string[]> {
  const locked = await rows<{ aliasKey: string }>(
    trx,
    `select alias_key from lineage_aliases
      where company_id = :companyId and alias_key = any(cast(:keys as uuid[]))
      order by alias_key for no key update skip locked`,
    { companyId: companyOf(trx), keys: [...keys] },
  )
  return locked.map(({ aliasKey }) => aliasKey)
}
