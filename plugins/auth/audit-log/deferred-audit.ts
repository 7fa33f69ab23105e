import type { Request, Server } from '@hapi/hapi'
import type { AuditEvent } from '../../../server/http/audit.ts'
import { audit, requestOrigin } from '../../../server/http/audit.ts'

const deferredEvents = new WeakMap<Request, { companyId: string; events: AuditEvent[] }>()

/**
 * Tells the audit log of a refused sign-in once the answer is out: told before, it would make the answer slower where
 * there is such a user, and so tell that there is. The actor is `system`, since it is not known who tried.
 */
export function auditAfterResponse(request: Request, companyId: string, events: AuditEvent[]): void {
  deferredEvents.set(request, { companyId, events })
}

/** Has the server write what `auditAfterwards` was given; a server that stops writes all of it first. */
export function installDeferredAudit(server: Server): void {
  const running = new Set<Promise<void>>()
  server.events.on('response', request => {
    const told = deferredEvents.get(request)
    if (!told) return
    const origin = { companyId: told.companyId, actor: 'system', ...requestOrigin(request) }
    const run = server.db
      .company(told.companyId, async trx => {
        for (const event of told.events) await audit(trx, origin, event)
      })
      .catch((error: unknown) => {
        server.pino.error(
          { err: error, request_id: request.info.id },
          'the audit log was not told of a failed sign-in',
        )
      })
      .finally(() => running.delete(run))
    running.add(run)
  })
  server.ext('onPostStop', async () => {
    await Promise.all(running)
  })
}
