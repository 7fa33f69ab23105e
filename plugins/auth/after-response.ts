import type { Request } from '@hapi/hapi'
import type { AnyRequest } from '../../server/http/access.ts'
import type { AuthDeps } from './deps.ts'

interface DeferredWork {
  /** What the log says when it fails. */
  failure: string
  work: () => Promise<unknown>
}

const deferred = new WeakMap<AnyRequest, DeferredWork>()

/** Does work after the response: done before, its time would reveal whether a user exists. */
export function doAfterResponse(request: AnyRequest, failure: string, work: () => Promise<unknown>): void {
  deferred.set(request, { failure, work })
}

/** Starts the work of `doAfterResponse`; a stopping server waits for it with `finish`. */
export function makeDeferredWork({ pino }: Pick<AuthDeps, 'pino'>) {
  const running = new Set<Promise<unknown>>()

  function start(request: Request): void {
    const found = deferred.get(request)
    if (!found) return
    const run = found
      .work()
      .catch((error: unknown) => pino.error({ err: error, request_id: request.info.id }, found.failure))
      .finally(() => running.delete(run))
    running.add(run)
  }

  async function finish(): Promise<void> {
    await Promise.all(running)
  }

  return { start, finish }
}
