/** Stores the results of jobs: those that end while a statement runs are stored together by the next. */
import { setTimeout as wait } from 'node:timers/promises'
import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { isAway } from '../database/away.ts'
import type { SettledJobs } from './settled.ts'

type StoredJob = JobWithMetadata<object>

export interface Settler {
  /** Resolves when the result is stored, or when another process has claimed the job meanwhile. */
  settle(record: StoredJob, result: JobResult): Promise<void>
  /** The same of a try that threw: it is tried again. */
  fail(record: StoredJob, error: Error): Promise<void>
}

/** Between two tries to store a result while the database is away. */
const AGAIN_MS = 1_000

/** Each with its own output. The count of its claims is the fence: a claim that expired stores nothing. */
const COMPLETE = `
  update pgboss.job j set state = 'completed', completed_on = now(), output = ended.output
    from jsonb_to_recordset(cast($2 as jsonb)) as ended (id uuid, retry_count int, output jsonb)
   where j.name = $1 and j.id = ended.id and j.state = 'active' and j.retry_count = ended.retry_count
  returning j.id`

/** Ends the tries of a job, so that its failure is final. */
const END_TRIES = `
  update pgboss.job set retry_limit = retry_count
   where name = $1 and id = $2 and state = 'active' and retry_count = $3`

/** Undoes claims. The counts of claims go back as well: nothing was tried. */
const UNCLAIM = `
  update pgboss.job j set state = 'retry', retry_count = j.retry_count - 1,
         start_after = now() + make_interval(secs => $4), output = case when cast($5 as boolean) then null else j.output end
    from unnest($2::uuid[], $3::int[]) as claimed (id, retry_count)
   where j.name = $1 and j.id = claimed.id and j.state = 'active' and j.retry_count = claimed.retry_count`

/**
 * Gives claimed jobs back as if they had not been: any process may claim them.
 * @param options.seconds until then; defaults to none
 * @param options.wereTried forgets the note of a process that was lost: it was counted when they were tried
 */
export async function unclaim(
  boss: PgBoss,
  name: string,
  records: readonly StoredJob[],
  { seconds = 0, wereTried = false } = {},
): Promise<void> {
  const [ids, counts] = [records.map(({ id }) => id), records.map(({ retryCount }) => retryCount)]
  await boss.getDb().executeSql(UNCLAIM, [name, ids, counts, seconds, wereTried])
}

interface Ended {
  record: StoredJob
  output: object
  isStored: PromiseWithResolvers<void>
}

/**
 * A result is stored when a database that was away is back: until its claim lapses, a job whose result is missing
 * counts as running.
 * @param report called with the errors of the database; a job whose result cannot be stored is tried again
 */
export function makeSettler(
  boss: PgBoss,
  name: string,
  { settled, report }: { settled: SettledJobs | undefined; report(error: Error): void },
): Settler {
  let completed: Ended[] = []
  let isStoring = false

  async function persist(store: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await store()
      } catch (error) {
        report(error as Error)
        if (!isAway(error)) return
        await wait(AGAIN_MS, undefined, { ref: false })
      }
    }
  }

  async function storeCompleted(): Promise<void> {
    isStoring = true
    while (completed.length > 0) {
      const batch = completed
      completed = []
      const items = batch.map(({ record, output }) => ({
        id: record.id,
        retry_count: record.retryCount,
        output,
      }))
      await persist(async () => {
        const { rows } = await boss.getDb().executeSql(COMPLETE, [name, JSON.stringify(items)])
        const ids = new Set((rows as { id: string }[]).map(({ id }) => id))
        for (const { record } of batch) if (ids.has(record.id)) settled?.note(name, record.data, 'completed')
      })
      for (const { isStored } of batch) isStored.resolve()
    }
    isStoring = false
  }

  const storeFailed = (record: StoredJob, { status, output }: JobResult): Promise<void> =>
    persist(async () => {
      const attempt = [name, record.id, record.retryCount]
      if (status === 'deadletter') await boss.getDb().executeSql(END_TRIES, attempt)
      const stored = (await boss.fail(name, [record], output as object)) as { affected?: number }
      if (stored.affected) settled?.note(name, record.data, 'failed')
    })

  return {
    fail: (record, error) => persist(async () => void (await boss.fail(name, [record], error))),
    settle(record, result) {
      if (result.status !== 'completed') return storeFailed(record, result)
      const isStored = Promise.withResolvers<void>()
      completed.push({ record, output: result.output ?? {}, isStored })
      // Jobs that end in the same turn of the event loop are stored together.
      if (!isStoring) setImmediate(() => !isStoring && void storeCompleted())
      return isStored.promise
    },
  }
}
