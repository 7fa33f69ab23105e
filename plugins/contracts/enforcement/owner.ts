import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { CheckOwner } from '../../../server/http/check-owner.ts'
import type { CheckKindName } from '../../checks/api.ts'

/** What a contract is called as the owner of checks. */
export const ownerName = ({ name }: { name: string }): string => `the contract ${name}`

/** The contracts that checks belong to, and their clauses, by the checks. */
export async function ownersOfChecks(
  trx: Transaction,
  checkKind: CheckKindName,
  checkIds: readonly string[],
): Promise<Map<string, CheckOwner>> {
  const owned = await rows<{ checkId: string; key: string; name: string }>(
    trx,
    `select l.check_id, l.key, c.name from contract_clauses l join data_contracts c on c.id = l.contract_id
     where l.company_id = :companyId and c.company_id = :companyId and l.check_kind = :checkKind
       and l.check_id = any(:checkIds)`,
    { companyId: companyOf(trx), checkKind, checkIds: [...checkIds] },
  )
  return new Map(owned.map(({ checkId, key, name }) => [checkId, { file: ownerName({ name }), key }]))
}
