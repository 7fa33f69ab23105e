import { audit, type AuditEvent, type RequestOrigin } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { User } from '../models.ts'

/** Audits what a user did to their own account, in a request that carried no credential of theirs. */
export async function auditUser(
  trx: Transaction,
  { companyId, id }: Pick<User, 'companyId' | 'id'>,
  origin: RequestOrigin,
  event: AuditEvent,
): Promise<void> {
  await audit(trx, { companyId, actor: `user:${id}`, ...origin }, { target: { type: 'user', id }, ...event })
}
