import { randomUUID } from 'node:crypto'
import type { Server } from '@hapi/hapi'
import type { Job, JobContext, JobKind } from '../../server/jobs/jobs.ts'

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

/** Runs a job of a queue at once, in the test. */
export function workOf<Data extends object>(server: Server, queue: JobKind<Data>): Job<Data>['work'] {
  const job = server.jobs.all().find(({ name }) => name === queue.name)
  if (!job) throw new Error(`No job works ${queue.name}`)
  return (data, context) => job.work(data, context)
}
