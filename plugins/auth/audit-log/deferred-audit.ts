import type { Request, Server } from '@hapi/hapi'
import { audit, requestOrigin, type AuditEvent } from '../../../server/http/audit.ts'

const deferredEvents = new WeakMap<Request, { companyId: string; events: AuditEvent[] }>()

/**
 * Audits a refused sign-in after the response: auditing first would leak by timing whether the user exists. The actor
 * is `system`, since the caller is unknown.
 */
export function auditAfterResponse(request: Request, companyId: string, events: AuditEvent[]): void {
  deferredEvents.set(request, { companyId, events })
}

/** Writes the events of `auditAfterResponse`; a stopping server waits for them. */
export function installDeferredAudit(server: Server): void {
  const running = new Set<Promise<void>>()
  server.events.on('response', request => {
    const deferred = deferredEvents.get(request)
    if (!deferred) return
    const { companyId, events } = deferred
    const origin = { companyId, actor: 'system', ...requestOrigin(request) }
    const run = server.db
      .company(companyId, async trx => {
        for (const event of events) await audit(trx, origin, event)
      })
      .catch((error: unknown) => {
        server.pino.error(
          { err: error, request_id: request.info.id },
          'a failed sign-in could not be added to the audit log',
        )
      })
      .finally(() => running.delete(run))
    running.add(run)
  })
  server.ext('onPostStop', async () => {
    await Promise.all(running)
  })
}
