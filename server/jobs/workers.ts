import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { isShared, type Job } from './job.ts'
import { workJob, type Surroundings } from './run.ts'
import { shareSlots } from './shares.ts'
import { companyIn } from './fair-queueing.ts'

/** One of pg-boss's workers. */
interface Worker {
  id: string
  /** One that waits has no job, and looks for one every few seconds or when it is woken. */
  state: 'waiting' | 'working' | 'leaving'
}

/** How often an idle worker looks for jobs where the database can notify it, and where it cannot. */
const NOTIFIED_POLL_SECONDS = 10
const POLL_SECONDS = 2

export interface WorkerOptions {
  surroundings: Surroundings
  /** Whether jobs can be waited for; for tests. */
  spies: boolean
  isStopping(): boolean
  /** Notes the turn of a job that starts, of kinds whose companies take turns. */
  noteStarted(name: string, turn: number): void
}

/**
 * Workers of one kind of job. Each looks for jobs on its own, and each notification sends all of them looking, so
 * that idle ones are what a quiet process costs: one waits, and a worker that finds a job wakes another one. So
 * they become as many as there are jobs, up to the limit, and one again when the work is done.
 * @returns wakes the one that waits, if one does
 */
export async function startWorkers(
  boss: PgBoss,
  job: Job,
  { surroundings, spies, isStopping, noteStarted }: WorkerOptions,
): Promise<() => void> {
  const { log } = surroundings
  const most = job.concurrency?.local ?? 2
  const shares = isShared(job) ? shareSlots(most) : undefined
  const perGroup = isShared(job) ? shares?.limits(job.concurrency.perGroup) : job.concurrency?.perGroup
  const settings = {
    batchSize: 1,
    includeMetadata: true,
    perJobResults: true,
    pollingIntervalSeconds: POLL_SECONDS,
    notifyPollingIntervalSeconds: NOTIFIED_POLL_SECONDS,
    ...(perGroup && { groupConcurrency: perGroup }),
  } as const
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
    const running = Promise.all(
      (records as JobWithMetadata<object>[]).map(record => {
        const run = () => workJob(job, record, surroundings)
        if (!shares) return run()
        noteStarted(job.name, -record.priority)
        return shares.hold(companyIn(record.data ?? {}), run)
      }),
    )
    // Counted by now: the next worker to fetch sees which slots are taken.
    lookOn()
    const results = await running
    // One that was let go while it was finding this job has left the waiting to another.
    if (worker.state === 'leaving') return results
    for (const other of workers) if (other.state === 'waiting') void dismiss(other)
    worker.state = 'waiting'
    // A job of the same group that waits for this one woke no worker: fetch again here.
    boss.notifyWorker(worker.id)
    return results
  }

  const waiting = () => [...workers].find(({ state }) => state === 'waiting')
  const report = (error: Error) => log.error({ err: error.message, job: job.name }, 'job engine')

  function wake(): boolean {
    const next = waiting()
    if (next) boss.notifyWorker(next.id)
    return next !== undefined
  }

  function lookOn(): void {
    if (!wake() && workers.size < most && !isStopping()) hire().catch(report)
  }

  /** It counts until it is gone: it may be finding a job right now, and ends that first. */
  async function dismiss(worker: Worker): Promise<void> {
    worker.state = 'leaving'
    await boss.offWork(job.name, { id: worker.id, wait: true }).catch(report)
    workers.delete(worker)
    // A worker that found a job meanwhile may have had no other worker to wake, and no free slot.
    if (!waiting()) lookOn()
  }

  // Before the first job: what a spy has not seen end, `settled` would wait for without end.
  if (spies) boss.getSpy(job.name)
  await hire()
  return wake
}
