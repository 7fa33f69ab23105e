import type { Transaction } from '../../server/database/database.ts'
import { actorOf, caller, type AnyRequest } from '../../server/http/access.ts'
import { auditorOf, auditRequestAll } from '../../server/http/audit.ts'
import type { ContractActor } from './enforcement/contracts.ts'
import type { Contract } from './models.ts'

const audit = auditorOf('contract', ({ id }: Contract) => id)

/** Stores the entry of the audit log for what a caller did to a contract. */
export async function auditContract(
  request: AnyRequest,
  trx: Transaction,
  happened: 'created' | 'replaced' | 'removed',
  contract: Contract,
): Promise<void> {
  const { name, sourceId, version } = contract
  await audit(request, trx, happened, contract, { name, source_id: sourceId, version })
}

/** The caller as who stores a contract. */
export function contractActor(request: AnyRequest): ContractActor {
  return {
    actor: actorOf(caller(request)),
    recordAll: (trx, events) => auditRequestAll(request, trx, events),
    audit: (trx, contract, isNew) => auditContract(request, trx, isNew ? 'created' : 'replaced', contract),
  }
}
