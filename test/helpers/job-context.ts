import { randomUUID } from 'node:crypto'
import type { Server } from '@hapi/hapi'
import type { JobContext } from '../../server/jobs/jobs.ts'

/** What the work of a job receives at its first try, for tests that call it themselves. */
export function jobContext(server: Server, given: Partial<JobContext> = {}): JobContext {
  return {
    server,
    log: server.pino,
    attempt: 1,
    isLast: () => false,
    isAfterLoss: false,
    signal: new AbortController().signal,
    id: randomUUID(),
    ...given,
  }
}
