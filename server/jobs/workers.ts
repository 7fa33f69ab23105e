import { setImmediate } from 'node:timers/promises'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { isShared, type Job } from './job.ts'
import { workJob, type Loss, type Surroundings } from './run.ts'
import { shareSlots } from './shares.ts'
import { claim } from './claims.ts'
import { companyIn } from './fair-queueing.ts'
import { removeLettersOf } from './dead-letters.ts'
import { makeSettler, unclaim } from './settle.ts'
import type { QueueLook } from './watch.ts'
import type { SettledJobs } from './settled.ts'

/** How often jobs are looked for without a wake: seldom, since one statement for all queues finds those that are due. */
const LOOK_MS = 10_000
/** How soon after a claim others are looked for that its limit of candidates may have hidden. */
const LOOK_AGAIN_MS = 20
/** Half of the time after which a job without a sign of life counts as lost. */
const HEARTBEAT_MS = 6_000

export interface WorkerOptions {
  surroundings: Surroundings
  /** Records what has ended; for tests. */
  settled: SettledJobs | undefined
  /** Notes the turn of a job that starts, of kinds whose companies take turns. */
  noteStarted(name: string, turn: number): void
}

/** What this process does of one kind of jobs. Times are in milliseconds of its clock. */
export interface QueueActivity {
  queue: string
  /** Jobs that it runs, and may run at once. */
  busy: number
  slots: number
  /** When the job began that has run the longest; null when none runs. */
  oldestStartedAt: number | null
  /** When a job of a schedule last completed here, or its workers started; null for jobs without a schedule. */
  dispatchedAt: number | null
}

/** What works the jobs of one kind in this process. */
export interface Workers {
  /** Looks for jobs. */
  wake(): void
  look(): QueueLook
  activity(): QueueActivity
  /** Stops taking up jobs. @returns when no job runs and all results are stored */
  stop(): Promise<void>
  /** Hands back the jobs that still run, so that other processes try them again. */
  handBack(): Promise<void>
}

type StoredJob = JobWithMetadata<object>

/** One try of a job. A claim that expired leaves its try running, beside the next one of the same job. */
interface RunningTry {
  record: StoredJob
  lost: AbortController
  startedAt: number
}

/**
 * Works the jobs of one kind. One statement claims as many as there are free slots, each job runs by itself, and one
 * statement stores the results of all that ended meanwhile; so a job never waits for another of its batch, as it would
 * in a batch of pg-boss's own workers. A job is claimed only when it starts: the jobs that a crash interrupts are
 * those that ran.
 */
export function startWorkers(
  boss: PgBoss,
  job: Job,
  { surroundings, settled, noteStarted }: WorkerOptions,
): Workers {
  const { log, running, crashes, server } = surroundings
  const slots = job.concurrency?.local ?? 2
  const shares = isShared(job) ? shareSlots(slots) : undefined
  const ownLimit = job.concurrency?.perGroup
  const perGroup = shares && typeof ownLimit === 'number' ? shares.limits(ownLimit) : ownLimit
  const tries = new Set<RunningTry>()
  const settler = makeSettler(boss, job.name, { settled, report })
  let lookedAt: number | null = null
  let dispatchedAt = job.every === undefined ? null : Date.now()
  let looking: Promise<void> | undefined
  let isWoken = false
  let again: NodeJS.Timeout | undefined
  let isStopping = false
  /** Whether the next job is to run alone. */
  let isSingle = false
  const idle = { wait: [] as (() => void)[] }

  function report(error: Error): void {
    boss.emit('error', Object.assign(error, { queue: job.name }))
  }

  function wake(): void {
    isWoken = true
    if (isStopping || looking) return
    looking = lookOn().finally(() => {
      looking = undefined
      if (isWoken) wake()
    })
  }

  const countFree = () => (isSingle ? 1 : slots) - tries.size

  async function lookOn(): Promise<void> {
    while (isWoken && !isStopping) {
      // Jobs whose results one statement has stored free their slots together.
      await setImmediate()
      isWoken = false
      clearTimeout(again)
      again = undefined
      const batchSize = Math.min(countFree(), shares?.batch() ?? slots)
      if (batchSize <= 0) return
      let records: StoredJob[]
      try {
        records = await claim(boss, job.name, {
          batchSize,
          ...(perGroup && { groupConcurrency: perGroup }),
          ...(await leaveClosed()),
        })
        lookedAt = Date.now()
      } catch (error) {
        isWoken = false
        return report(error as Error)
      }
      const left = await leaveSuspects(records)
      await forgetDeaths(left)
      start(left)
      if (records.length === batchSize || isSingle) isWoken = true
      // Jobs beyond a group's limit may have hidden those of other groups; a job that ends sooner looks first.
      else if (perGroup && records.length > 0) again ??= setTimeout(wake, LOOK_AGAIN_MS)
    }
  }

  /** What keeps a claim from the jobs of companies that hold their share, where tiers do not. */
  async function leaveClosed(): Promise<{ ignoreGroups?: string[] }> {
    const closed = shares?.closed() ?? []
    if (!isShared(job) || !('groupsOf' in job.concurrency) || closed.length === 0) return {}
    return { ignoreGroups: await job.concurrency.groupsOf(server, closed) }
  }

  /**
   * Gives back the jobs that have to run alone, unless this is the only one: then all that runs ends first.
   * @returns the jobs that may start
   */
  async function leaveSuspects(records: readonly StoredJob[]): Promise<readonly StoredJob[]> {
    if (job.losses === 'handled') return records
    const suspects = records.filter(
      record => crashes.isAfterLoss(record, running) && crashes.isSuspect(record),
    )
    isSingle = suspects.length > 0
    if (!isSingle || records.length + tries.size === 1) return records
    await unclaim(boss, job.name, suspects).catch(report)
    return records.filter(record => !suspects.includes(record))
  }

  /** A job whose own record was set to be tried again, as the dashboard does it, is dead no more. Only a try leaves output. */
  async function forgetDeaths(records: readonly StoredJob[]): Promise<void> {
    const again = records.filter(({ output }) => output).map(({ id }) => id)
    if (again.length > 0) await removeLettersOf(boss, job.name, again).catch(report)
  }

  function start(records: readonly StoredJob[]): void {
    const after = records.filter(record => crashes.isAfterLoss(record, running))
    const counted = job.losses === 'handled' ? undefined : crashes.count(server, after)
    // Awaited by the jobs themselves; one that has failed meanwhile must not end the process.
    counted?.catch(() => undefined)
    for (const record of records) {
      const loss = after.includes(record) ? { counted } : undefined
      if (shares) noteStarted(job.name, -record.priority)
      void runTaken({ record, lost: new AbortController(), startedAt: Date.now() }, loss)
    }
  }

  async function runTaken(one: RunningTry, loss: Loss | undefined): Promise<void> {
    const { record, lost } = one
    const run = () => workJob(job, record, surroundings, { signal: lost.signal, loss })
    tries.add(one)
    const expiry = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      const error = new Error(`handler execution exceeded ${record.expireInSeconds}s`)
      lost.abort(error)
      expiry.reject(error)
    }, record.expireInSeconds * 1_000)
    try {
      // Its share is held until the work has settled, however late.
      const work = shares ? shares.hold(companyIn(record.data ?? {}), run) : run()
      const result = await Promise.race([work, expiry.promise])
      if (result.status === 'put_off')
        await unclaim(boss, job.name, [record], { seconds: result.seconds, wereTried: true })
      else await settler.settle(record, result)
      if (job.every !== undefined && result.status === 'completed') dispatchedAt = Date.now()
    } catch (error) {
      await settler.fail(record, error as Error)
    } finally {
      clearTimeout(timer)
      tries.delete(one)
      if (tries.size === 0) idle.wait.splice(0).forEach(resolve => resolve())
      wake()
    }
  }

  const looks = setInterval(wake, LOOK_MS)
  const heartbeats = setInterval(() => void beat().catch(report), HEARTBEAT_MS)
  looks.unref()
  heartbeats.unref()

  /** Aborts the jobs that are no longer claimed by this process. */
  async function beat(): Promise<void> {
    const held = [...tries].filter(({ lost }) => !lost.signal.aborted)
    if (held.length === 0) return
    const records = held.map(({ record }) => record)
    const { settled: kept } = (await boss.touch(job.name, records)) as { settled?: readonly string[] }
    if (!kept) return
    const ids = new Set(kept)
    for (const { record, lost } of held)
      if (!ids.has(record.id)) lost.abort(new Error(`job ${record.id} is claimed by another process`))
  }

  wake()
  return {
    wake,
    look: () => ({ queue: job.name, lookedAt, hasFreeSlots: !isStopping && countFree() > 0 }),
    activity: () => ({
      queue: job.name,
      busy: tries.size,
      slots,
      dispatchedAt,
      oldestStartedAt: tries.size === 0 ? null : Math.min(...Array.from(tries, ({ startedAt }) => startedAt)),
    }),
    async stop() {
      isStopping = true
      clearInterval(looks)
      clearTimeout(again)
      await looking
      if (tries.size > 0) await new Promise<void>(resolve => void idle.wait.push(resolve))
      clearInterval(heartbeats)
    },
    async handBack() {
      const left = Array.from(tries, ({ record }) => record)
      if (left.length > 0) await boss.fail(job.name, left, new Error('The process ended')).catch(report)
      log.debug({ job: job.name, jobs: left.length }, 'jobs handed back')
    },
  }
}
