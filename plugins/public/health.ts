import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from '@hapi/hapi'
import { packageRoot } from '../../server/config.ts'
import { rows } from '../../server/database.ts'

/** How the service does. */
export interface Health {
  status: 'ok' | 'degraded'
  /** The program's, as in its package. */
  version: string
  database: { status: 'up' | 'down'; latency_ms: number | null }
  /** `late`: work is waiting that nobody takes up; `down`: the database is, on which jobs live. */
  jobs: { status: 'up' | 'late' | 'down' }
}

/** Milliseconds after which the database counts as away; half a second under what monitors are promised. */
const PATIENCE = 4_500
/** Seconds a job may wait past its time before somebody should look after the workers. */
const LATE_AFTER = 300

const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }

/**
 * Gives the function that asks for the health of a server. It never rejects and answers within 5 s. Callers
 * share one question, so that a stuck database is not asked again by each of them.
 */
export function makeHealth(server: Server): () => Promise<Health> {
  let asked: Promise<{ latency: number; isLate: boolean }> | undefined
  return async () => {
    asked ??= ask(server).finally(() => (asked = undefined))
    const found = await within(asked, PATIENCE).catch((error: Error) => {
      server.log(['health', 'warn'], `the database does not answer: ${error.message}`)
      return null
    })
    return {
      status: found && !found.isLate ? 'ok' : 'degraded',
      version,
      database: found ? { status: 'up', latency_ms: found.latency } : { status: 'down', latency_ms: null },
      jobs: { status: found ? (found.isLate ? 'late' : 'up') : 'down' },
    }
  }
}

/** Only queues that have a worker: letters of the dead wait for ever. */
async function ask(server: Server): Promise<{ latency: number; isLate: boolean }> {
  const latency = await server.db.ping()
  const [found] = await server.db.system(trx =>
    rows<{ isLate: boolean }>(
      trx,
      `select exists (
         select from pgboss.job
         where name = any(:names) and state < 'active' and start_after < now() - make_interval(secs => :late_after)
       ) as is_late`,
      { names: server.jobs.names(), late_after: LATE_AFTER },
    ),
  )
  return { latency, isLate: found?.isLate === true }
}

async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
