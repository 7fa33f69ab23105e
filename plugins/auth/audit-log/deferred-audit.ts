import type { Request } from '@hapi/hapi'
import type { AnyRequest } from '../../../server/http/access.ts'
import { audit, requestOrigin, type AuditEvent } from '../../../server/http/audit.ts'
import type { AuthDeps } from '../deps.ts'

const deferredEvents = new WeakMap<AnyRequest, { companyId: string; events: AuditEvent[] }>()

/**
 * Audits a refused sign-in after the response: auditing first would leak by timing whether the user exists. The actor
 * is `system`, since the caller is unknown.
 */
export function auditAfterResponse(request: AnyRequest, companyId: string, events: AuditEvent[]): void {
  deferredEvents.set(request, { companyId, events })
}

/** Writes the events of `auditAfterResponse`; a stopping server waits for them with `finish`. */
export function makeDeferredAudit({ db, pino }: AuthDeps) {
  const running = new Set<Promise<void>>()

  function write(request: Request): void {
    const deferred = deferredEvents.get(request)
    if (!deferred) return
    const { companyId, events } = deferred
    const origin = { companyId, actor: 'system', ...requestOrigin(request) }
    const run = db
      .company(companyId, async trx => {
        for (const event of events) await audit(trx, origin, event)
      })
      .catch((error: unknown) => {
        pino.error(
          { err: error, request_id: request.info.id },
          'a failed sign-in could not be added to the audit log',
        )
      })
      .finally(() => running.delete(run))
    running.add(run)
  }

  async function finish(): Promise<void> {
    await Promise.all(running)
  }

  return { write, finish }
}
