import type { AnyRequest } from '../../../server/http/access.ts'
import { auditAll, requestOrigin, type AuditEvent } from '../../../server/http/audit.ts'
import { doAfterResponse } from '../after-response.ts'

/**
 * Audits a refused sign-in after the response: auditing first would leak by timing whether the user exists. The actor
 * is `system`, since the caller is unknown.
 */
export function auditAfterResponse(request: AnyRequest, companyId: string, events: AuditEvent[]): void {
  const origin = { companyId, actor: 'system', ...requestOrigin(request) }
  doAfterResponse(request, 'a failed sign-in could not be added to the audit log', () =>
    request.server.db.company(companyId, trx => auditAll(trx, origin, events)),
  )
}
