import type Joi from 'joi'
import { v7 } from 'uuid'
import { PgBoss, fromKnex, type JobResult, type JobWithMetadata } from 'pg-boss'
import type { Logger } from 'pino'
import type { Server } from '@hapi/hapi'
import { insertAll, type Transaction } from './database.ts'
import { Registry } from './registry.ts'

/** What a job's work gets beside its data. */
export interface JobContext {
  server: Server
  log: Logger
  /** 1 for the first try. */
  attempt: number
  /** Aborts when the job has outlived its time or the process stops. */
  signal: AbortSignal
  id: string
}

/** A kind of job and its queue. */
export interface Job<Data extends object = object> {
  /** `<plugin>.<verb>`, the queue an operator sees. */
  name: string
  /** Ids only: the dashboard shows it. Checked when sent and when worked. */
  data: Joi.ObjectSchema
  /** Cron, UTC; only for sweeps. */
  every?: string
  queue?: { retries?: number; retryDelaySeconds?: number; expireSeconds?: number }
  /** Jobs at once: in one process, and of one group over all processes (by tier, where the group names one). */
  concurrency?: { local?: number; perGroup?: number | { default: number; tiers: Record<string, number> } }
  /** What it returns is stored as the job's output. Throwing retries; throwing `GiveUp` fails for good. */
  work(data: Data, context: JobContext): Promise<object | void>
}

/** Thrown by a job that would fail the same way each time. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp'
}

export interface SendOptions {
  /** The job's, where it has to be known before. */
  id?: string
  /** The job commits with this transaction's writes. */
  trx?: Transaction
  /** Seconds to wait before it may start, or when it may. */
  after?: number | Date
  /** The company, so that one tenant's backlog does not delay another's, or what else is to be limited. */
  group?: string | { id: string; tier: string }
}

/** One of many jobs of a kind. */
export interface Item<Data extends object> extends Omit<SendOptions, 'trx'> {
  data: Data
}

export interface Jobs {
  add(...jobs: Job[]): void
  names(): string[]
  /** @returns the id of the job */
  send<Data extends object>(job: Job<Data>, data: Data, options?: SendOptions): Promise<string>
  /**
   * The same for any number of jobs, a thousand a statement. With a transaction always: of several statements
   * without one, some could be kept and others lost.
   * @returns the ids of the jobs, in the order of the items
   */
  sendAll<Data extends object>(
    job: Job<Data>,
    items: readonly Item<Data>[],
    options: { trx: Transaction },
  ): Promise<string[]>
  /** Resolves when a job of this kind whose data fits was completed, or a try of it has failed; for tests. */
  settled<Data extends object>(job: Job<Data>, fits: (data: Data) => boolean): Promise<'completed' | 'failed'>
  /** Makes the engine's schema and the queues. Needs the owner's role. */
  prepare(): Promise<void>
  start(server: Server, role: 'all' | 'web' | 'worker'): Promise<void>
  /** Hands back what cannot be finished in time. */
  stop(): Promise<void>
}

/** One of pg-boss's workers. */
interface Worker {
  id: string
  /** One that waits has no job, and looks for one every few seconds or when it is woken. */
  state: 'waiting' | 'working' | 'leaving'
}

const DEAD_LETTERS = 'jobs.dead'
/** How late a job may start whose time has come, when the queue is otherwise quiet. */
const POLL_SECONDS = 2
/**
 * Seconds without a sign of life after which a job's worker counts as dead; it gives one twice as often. A job of a
 * process that was killed is missed after 12 seconds at most, found within two intervals of looking (a process that
 * looks too early looks again one later), and run after the delay of its retry, at most 2, and a poll: within 26.
 */
const HEARTBEAT_SECONDS = 12
/** How often processes look for workers that died: the first one that does so after this time does it for all. */
const LOOK_SECONDS = 5

/** The job engine, pg-boss on the product's own PostgreSQL. */
export function makeJobs(options: { url: string; log: Logger; sweeps?: boolean; spies?: boolean }): Jobs {
  const { log } = options
  const registry = new Registry<Job>('job')
  const boss = new PgBoss({
    connectionString: options.url,
    application_name: 'tidemark-jobs',
    max: 6,
    useListenNotify: true,
    superviseIntervalSeconds: LOOK_SECONDS,
    monitorIntervalSeconds: LOOK_SECONDS,
    // Without both, a socket whose other end vanished in silence is never noticed.
    ...{ query_timeout: 15_000, keepAlive: true },
    __test__enableSpies: options.spies ?? false,
  })
  boss.on('error', error => log.error({ err: error.message }, 'job engine'))
  let prepared = false
  let isStopping = false

  async function run(job: Job, record: JobWithMetadata<object>, server: Server): Promise<JobResult> {
    const attempt = record.retryCount + 1
    const jobLog = log.child({ job: job.name, job_id: record.id })
    try {
      const data = checked(job, record.data ?? {})
      const output = await job.work(data, {
        server,
        log: jobLog,
        attempt,
        signal: record.signal,
        id: record.id,
      })
      return { id: record.id, status: 'completed', output: output ?? {} }
    } catch (error) {
      const { name, message } = error as Error
      jobLog.warn({ attempt, err: message }, 'job failed')
      // Only name and message are stored: an error of an HTTP client carries headers.
      return {
        id: record.id,
        status: error instanceof GiveUp ? 'deadletter' : 'failed',
        output: { name, message },
      }
    }
  }

  /**
   * Workers of one kind of job. Each looks for jobs on its own, and each notification sends all of them looking, so
   * that idle ones are what a quiet process costs: one waits, and whoever finds a job sends another one looking. So
   * they become as many as there are jobs, up to the limit, and one again when the work is done.
   */
  async function startWorkers(job: Job, server: Server): Promise<void> {
    const settings = {
      batchSize: 1,
      includeMetadata: true,
      perJobResults: true,
      pollingIntervalSeconds: POLL_SECONDS,
      // With notifications pg-boss polls every 30 s, and a job whose time comes later notifies nobody.
      notifyPollingIntervalSeconds: POLL_SECONDS,
      ...(job.concurrency?.perGroup && { groupConcurrency: job.concurrency.perGroup }),
    } as const
    const most = job.concurrency?.local ?? 2
    const workers = new Set<Worker>()

    async function hire(): Promise<void> {
      const worker: Worker = { id: '', state: 'working' }
      workers.add(worker)
      try {
        worker.id = await boss.work(job.name, settings, records => workOn(worker, records))
      } catch (error) {
        workers.delete(worker)
        throw error
      }
      // Not before: without an id, pg-boss would let all workers go for this one.
      worker.state = 'waiting'
    }

    async function workOn(worker: Worker, records: JobWithMetadata<unknown>[]): Promise<JobResult[]> {
      if (worker.state === 'waiting') worker.state = 'working'
      lookOn()
      const results = await Promise.all(
        records.map(record => run(job, record as JobWithMetadata<object>, server)),
      )
      // One that was let go while it was finding this job has left the waiting to another.
      if (worker.state === 'leaving') return results
      for (const other of workers) if (other.state === 'waiting') void dismiss(other)
      worker.state = 'waiting'
      // What waits for the end of this one, in its group, woke nobody: so it looks again itself.
      boss.notifyWorker(worker.id)
      return results
    }

    const waiting = () => [...workers].find(({ state }) => state === 'waiting')
    const report = (error: Error) => log.error({ err: error.message, job: job.name }, 'job engine')

    function lookOn(): void {
      const next = waiting()
      if (next) boss.notifyWorker(next.id)
      else if (workers.size < most && !isStopping) hire().catch(report)
    }

    /** It counts until it is gone: it may be finding a job right now, and ends that first. */
    async function dismiss(worker: Worker): Promise<void> {
      worker.state = 'leaving'
      await boss.offWork(job.name, { id: worker.id, wait: true }).catch(report)
      workers.delete(worker)
      // Whoever found a job meanwhile may have had nobody to send looking, and no room for another.
      if (!waiting()) lookOn()
    }

    // Before the first job: what a spy has not seen end, `settled` would wait for without end.
    if (options.spies) boss.getSpy(job.name)
    await hire()
  }

  return {
    add: (...jobs) => registry.add(...jobs),
    names: () => registry.names(),
    async send(job, data, { trx, after, group, id: given } = {}) {
      const id = await boss.send(job.name, checked(job, data), {
        ...(given && { id: given }),
        ...(trx && { db: fromKnex(trx) }),
        ...timing({ after, group }),
      })
      if (!id) throw new Error(`Job ${job.name} was not accepted`)
      return id
    },
    async sendAll(job, items, { trx }) {
      // The engine gives ids back in any order, so they are made here.
      const all = items.map(({ data, id, ...when }) => ({
        id: id ?? v7(),
        data: checked(job, data),
        ...timing(when),
      }))
      const options = { db: fromKnex(trx), returnId: true }
      const stored = await insertAll(all, async chunk => (await boss.insert(job.name, chunk, options)) ?? [])
      if (stored.length < all.length) {
        throw new Error(`${all.length - stored.length} jobs ${job.name} of ${all.length} were not accepted`)
      }
      return all.map(({ id }) => id)
    },
    async settled(job, fits) {
      const spy = boss.getSpy(job.name)
      const matching = (data: object) => fits(data as never)
      const { state } = await Promise.race([
        spy.waitForJob(matching, 'completed'),
        spy.waitForJob(matching, 'failed'),
      ])
      return state as 'completed' | 'failed'
    },
    async prepare() {
      if (prepared) return
      await boss.start()
      await boss.createQueue(DEAD_LETTERS)
      for (const job of registry.all()) {
        const queue = {
          notify: true,
          deadLetter: DEAD_LETTERS,
          retryLimit: job.queue?.retries ?? 3,
          retryDelay: job.queue?.retryDelaySeconds ?? 5,
          retryBackoff: true,
          expireInSeconds: job.queue?.expireSeconds ?? 300,
          heartbeatSeconds: HEARTBEAT_SECONDS,
          retentionSeconds: 90 * 24 * 3600,
        }
        await boss.createQueue(job.name, queue)
        await boss.updateQueue(job.name, queue)
      }
      prepared = true
    },
    async start(server, role) {
      await this.prepare()
      registry.close()
      if (role === 'web') return
      for (const job of registry.all()) {
        await startWorkers(job, server)
        if (job.every && options.sweeps !== false) await boss.schedule(job.name, job.every, {}, { tz: 'UTC' })
      }
    },
    async stop() {
      isStopping = true
      await boss.stop({ graceful: true, timeout: 4_000 })
    },
  }
}

/** When a job may start and what it counts to, as pg-boss takes it for one job and for many. */
function timing({ after, group }: Pick<SendOptions, 'after' | 'group'>) {
  return {
    ...(after !== undefined && { startAfter: after }),
    ...(group !== undefined && { group: typeof group === 'string' ? { id: group } : group }),
  }
}

function checked<Data extends object>(job: Job<Data>, data: Data): Data {
  const { value, error } = job.data.validate(data, { convert: false })
  if (error) throw new GiveUp(`Data of job ${job.name}: ${error.message}`)
  return value as Data
}
