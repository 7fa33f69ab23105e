import { v7 } from 'uuid'
import { PgBoss, fromKnex } from 'pg-boss'
import type { Logger } from 'pino'
import type { Server } from '@hapi/hapi'
import { insertAll, isAway, type Transaction } from '../database/database.ts'
import { checked, isShared, type Item, type Job, type JobKind, type SendOptions } from './job.ts'
import { withCause } from './origin.ts'
import { countCrashes } from './crashes.ts'
import { countRunning, type Patience } from './drain.ts'
import { findUnfinished } from './keys.ts'
import { DEAD_DAYS, DEAD_LETTERS, redriveDead, type CompanyJobs, type DeadFilter } from './dead-letters.ts'
import { watchFetches } from './watch.ts'
import { countTurns, readTurns, type TurnCounter, type Turns } from './fair-queueing.ts'
import { wakeForDueJobs, wakeForSentJobs } from './wake.ts'
import { startWorkers, type QueueActivity, type Workers } from './workers.ts'
import { recordSettled } from './settled.ts'
import type { PoolUse } from '../telemetry/pool-use.ts'
import { Registry } from '../registry.ts'
import type { Config } from '../settings/config.ts'

export {
  GiveUp,
  PutOff,
  putOffIfBusy,
  SESSION_WAIT_MS,
  type Item,
  type Job,
  type JobContext,
  type JobKind,
  type SendOptions,
} from './job.ts'
export type { Turns } from './fair-queueing.ts'
export type { QueueActivity } from './workers.ts'

/** Callbacks of the process's watchdog. */
export interface Watch {
  /** Called with the running jobs whenever one begins. */
  note(atWork: string): void
  /** Called once, with a sentence, when the process could not fetch jobs for a minute. */
  end(sentence: string): void
}

/** The job queues: any process sends jobs, worker processes run them. */
export interface Jobs {
  add(...jobs: Job[]): void
  names(): string[]
  /** All kinds of jobs, as features and extensions have added them. */
  all(): readonly Job[]
  /** @returns the id of the job, or of the unfinished one with the same key */
  send<Data extends object>(job: JobKind<Data>, data: Data, options?: SendOptions): Promise<string>
  /**
   * The same for any number of jobs, a thousand a statement. With a transaction always: several statements
   * without one could be stored in part.
   * @returns the ids of the jobs, in the order of the items
   */
  sendAll<Data extends object>(
    job: JobKind<Data>,
    items: readonly Item<Data>[],
    options: { trx: Transaction },
  ): Promise<string[]>
  /**
   * When this process last looked for jobs, in milliseconds of its clock; null when none of its workers has, or when it
   * takes up no more.
   */
  lookedAt(): number | null
  /** What this process does of each kind of jobs; empty when it works none. */
  activity(): QueueActivity[]
  pools(): PoolUse[]
  /** Resolves when a job of this kind whose data fits was completed, or a try of it has failed; for tests. */
  settled<Data extends object>(
    job: JobKind<Data>,
    fits: (data: Data) => boolean,
  ): Promise<'completed' | 'failed'>
  /** Forgets the jobs that `settled` has seen; for tests. */
  forgetSettled(): void
  /** Makes the engine's schema and the queues. Needs the owner's role. */
  prepare(): Promise<void>
  start(server: Server, role: Config['role']): Promise<void>
  /** The turns of companies with waiting jobs of a kind. For sweeps, since it reads all of those jobs. */
  turns(job: Pick<JobKind, 'name'>, trx: Transaction): Promise<Turns>
  /** Sends dead jobs to their queues again. @param within defaults to those of all companies @returns how many */
  redrive(filter: DeadFilter, within?: CompanyJobs): Promise<number>
  /** Starts the callbacks of a watchdog, once the process has started. */
  watch(watch: Watch): void
  /** Stops taking up jobs and waits for running ones; aborts and hands back those that take too long. */
  drain(patience: Patience): Promise<void>
  /** Hands back the jobs that did not stop. */
  stop(): Promise<void>
}

/** The name of connections of processes that work jobs, by which others see that there are some. */
export const WORKER_CONNECTIONS = 'tidemark-workers'
/** Connections of the engine in one process. */
const MAX_CONNECTIONS = 6
/**
 * Seconds without a sign of life after which a job's worker counts as dead; it gives one twice as often. A job of a
 * process that was killed is missed after 12 seconds at most, found within two intervals of looking (a process that
 * looks too early looks again one later), and run after the delay of its retry, at most 2, and a poll: within 26.
 */
const HEARTBEAT_SECONDS = 12
/** Days to keep the engine's warnings and its counts of each queue, of which it writes one a queue at each look. */
const WARNING_DAYS = 7
const COUNT_DAYS = 1
/** Milliseconds for which the database counts as full after it had no room for what the engine wrote. */
const FULL_MS = 30_000
/** How often processes look for dead workers; the first one to look does it for all. */
const LOOK_SECONDS = 5

/** The job engine, pg-boss on the product's own PostgreSQL. */
export function makeJobs(options: {
  url: string
  log: Logger
  role: Config['role']
  sweeps?: boolean
  spies?: boolean
}): Jobs {
  const { log } = options
  const registry = new Registry<Job>('job')
  const boss = new PgBoss({
    connectionString: options.url,
    application_name: options.role === 'web' ? 'tidemark-jobs' : WORKER_CONNECTIONS,
    max: MAX_CONNECTIONS,
    superviseIntervalSeconds: LOOK_SECONDS,
    monitorIntervalSeconds: LOOK_SECONDS,
    // Two pages of its dashboard show nothing else.
    persistWarnings: true,
    warningRetentionDays: WARNING_DAYS,
    persistQueueStats: true,
    queueStatRetentionDays: COUNT_DAYS,
    // What looks for sweeps that are due polls as well.
    schedule: options.sweeps !== false,
    // The first two detect a peer that vanished without closing; the driver parses only the ISO date style. Claims send
    // their statements together.
    ...{ query_timeout: 15_000, keepAlive: true, options: '-c datestyle=ISO', pipeline: true },
  })
  const crashes = countCrashes()
  let fullAt = -Infinity
  let isStopping = false
  boss.on('error', error => {
    if (isAway(error)) crashes.noteOutage()
    if (/^(53100|58030)$/.test((error as { code?: string }).code ?? '')) fullAt = performance.now()
    // Expected during a shutdown: the embedded database cuts the connections that are left.
    const level = !isAway(error) ? 'error' : isStopping ? 'debug' : 'warn'
    log[level]({ err: error.message }, 'job engine')
  })
  let prepared = false
  const running = countRunning()
  let worksFor: Server | undefined
  let watch: Watch | undefined
  let endWatch: (() => void) | undefined
  let endLooks: (() => void) | undefined
  let endListening: (() => Promise<void>) | undefined
  const workers = new Map<string, Workers>()
  const settled = options.spies ? recordSettled() : undefined
  const turns = new Map<string, TurnCounter>()
  const turnsOf = (name: string) => {
    const counter = turns.get(name) ?? countTurns()
    turns.set(name, counter)
    return counter
  }
  const withTurn = <Data extends object>(job: JobKind<Data>, item: Item<Data>): Item<Data> =>
    isShared(job) ? turnsOf(job.name).assign(item) : item

  return {
    add: (...jobs) => registry.add(...jobs),
    names: () => registry.names(),
    all: () => registry.all(),
    async send(job, data, { trx, id: given, key, ...when } = {}) {
      const unfinished = key === undefined ? undefined : await findUnfinished(trx, job.name, key)
      if (unfinished !== undefined) return unfinished
      const item = withTurn(job, { ...when, data: checked(job, data) })
      const id = await boss.send(job.name, withCause(item.data), {
        ...(given && { id: given }),
        ...(key !== undefined && { singletonKey: key }),
        ...(trx && { db: fromKnex(trx) }),
        ...timing(item),
      })
      if (!id) throw new Error(`Job ${job.name} was not accepted`)
      return id
    },
    async sendAll(job, items, { trx }) {
      // The engine gives ids back in any order, so they are made here.
      const all = items.map(given => {
        const { data, id, ...when } = withTurn(job, given)
        return { id: id ?? v7(), data: withCause(checked(job, data)), ...timing(when) }
      })
      const options = { db: fromKnex(trx), returnId: true }
      const stored = await insertAll(all, async chunk => (await boss.insert(job.name, chunk, options)) ?? [])
      if (stored.length < all.length)
        throw new Error(`${all.length - stored.length} jobs ${job.name} of ${all.length} were not accepted`)
      return all.map(({ id }) => id)
    },
    lookedAt() {
      if (isStopping) return null
      const looks = [...workers.values()].flatMap(({ look }) => look().lookedAt ?? [])
      return looks.length === 0 ? null : Math.max(...looks)
    },
    activity: () => Array.from(workers.values(), each => each.activity()),
    pools() {
      const { pool } = boss.getDb() as { pool?: Record<'totalCount' | 'idleCount' | 'waitingCount', number> }
      if (!pool) return []
      const { totalCount, idleCount, waitingCount } = pool
      return [
        {
          name: 'jobs',
          max: MAX_CONNECTIONS,
          used: totalCount - idleCount,
          idle: idleCount,
          waiting: waitingCount,
        },
      ]
    },
    settled<Data extends object>(job: Job<Data>, fits: (data: Data) => boolean) {
      if (!settled) throw new Error('Jobs are not recorded: build the server with spies')
      return settled.wait(job.name, data => fits(data as Data))
    },
    forgetSettled: () => settled?.forget(),
    async prepare() {
      if (prepared) return
      await boss.start()
      const stored = new Map((await boss.getQueues()).map(queue => [queue.name, queue]))
      // Each statement is a round trip, and nearly every start finds its queues as they are to be.
      const ensureQueue = async (name: string, queue: NonNullable<Parameters<PgBoss['createQueue']>[1]>) => {
        const found = stored.get(name) as Record<string, unknown> | undefined
        if (found && Object.entries(queue).every(([option, value]) => found[option] === value)) return
        await boss.createQueue(name, queue)
        await boss.updateQueue(name, queue)
      }
      await ensureQueue(DEAD_LETTERS, { retentionSeconds: DEAD_DAYS * 24 * 3600 })
      for (const job of registry.all()) {
        await ensureQueue(job.name, {
          notify: true,
          deadLetter: DEAD_LETTERS,
          retryLimit: job.queue?.retries ?? 3,
          retryDelay: job.queue?.retryDelaySeconds ?? 5,
          retryBackoff: true,
          expireInSeconds: job.queue?.expireSeconds ?? 300,
          heartbeatSeconds: HEARTBEAT_SECONDS,
          retentionSeconds: 90 * 24 * 3600,
        })
      }
      prepared = true
    },
    async start(server, role) {
      await this.prepare()
      registry.close()
      if (role === 'web') return
      worksFor = server
      const workerOptions = {
        surroundings: { server, log, running, crashes, note: (text: string) => watch?.note(text) },
        settled,
        noteStarted: (name: string, turn: number) => turnsOf(name).noteStarted(turn),
      }
      for (const job of registry.all()) workers.set(job.name, startWorkers(boss, job, workerOptions))
      const wakes = new Map(Array.from(workers, ([name, { wake }]) => [name, wake]))
      const listening = wakeForSentJobs(boss, wakes)
      if (options.sweeps !== false) await scheduleSweeps(boss, registry.all())
      endListening = await listening
      endLooks = wakeForDueJobs(boss, wakes)
    },
    turns: (job, trx) => readTurns(trx, job),
    redrive: (filter, within) => redriveDead(boss, filter, within),
    watch(given) {
      watch = given
      // While the database is read-only or full, no job can be taken up, but the process still serves reads.
      const isAnswering = async () => {
        if (!worksFor || performance.now() - fullAt < FULL_MS) return false
        return worksFor.db.takesWrites().catch(() => false)
      }
      const looks = () => Array.from(workers.values(), ({ look }) => look())
      endWatch ??= watchFetches(looks, isAnswering, sentence => given.end(sentence))
    },
    async drain(patience) {
      isStopping = true
      endWatch?.()
      endLooks?.()
      if (!worksFor) return
      const idle = Promise.all(Array.from(workers.values(), ({ stop }) => stop()))
      const held = await running.drain(worksFor, idle, patience)
      if (held > 0) log.warn({ jobs: held }, 'jobs are handed back that do not let go')
    },
    async stop() {
      isStopping = true
      endLooks?.()
      await endListening?.()
      for (const { stop, handBack } of workers.values()) {
        void stop()
        await handBack()
      }
      await boss.stop({ graceful: true, timeout: 4_000 })
    },
  }
}

/** Stores when sweeps run, of those for which that has changed: nearly every start finds them all as they are to be. */
async function scheduleSweeps(boss: PgBoss, jobs: readonly Job[]): Promise<void> {
  const stored = new Map((await boss.getSchedules()).map(schedule => [schedule.name, schedule]))
  for (const { name, every } of jobs) {
    const { cron, timezone } = stored.get(name) ?? {}
    if (every && !(cron === every && timezone === 'UTC')) await boss.schedule(name, every, {}, { tz: 'UTC' })
  }
}

/** Start time, priority and group of a job, as pg-boss takes them for one job and for many. */
function timing({ after, group, turn }: Pick<SendOptions, 'after' | 'group' | 'turn'>) {
  return {
    ...(after !== undefined && { startAfter: after }),
    ...(turn !== undefined && { priority: -turn }),
    ...(group !== undefined && { group: typeof group === 'string' ? { id: group } : group }),
  }
}
