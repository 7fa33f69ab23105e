/** Jobs that someone asked for and follows. */
import Joi from 'joi'
import { hasErrorData } from '../http/errors.ts'
import type { Transaction } from '../database/database.ts'
import { GiveUp, PutOff, putOffIfBusy, type Job, type JobContext, type JobKind } from './job.ts'

/** Tries before a run has failed. */
const MAX_ATTEMPTS = 3

interface RunKind {
  /** `<plugin>.<verb>`, as jobs are named. */
  name: string
  /** The fields of its data, beside the company's id. */
  data: Joi.SchemaMap
  expireSeconds: number
  /** Its jobs at once of one group over all processes. Defaults to 1, which leaves sessions of a source to what is due. */
  perGroup?: number
}

interface RunWork<Data extends { company_id: string }> {
  work: Job<Data>['work']
  /** Stores the error of a run that is not tried again. */
  fail(trx: Transaction, data: Data, error: Error, context: JobContext): Promise<unknown>
  /** Whether the next try would fail the same way. Defaults to errors that say to callers what to change. */
  isFinal?(error: unknown): boolean
}

/** What is stated of such a job, apart from its work. */
export function runKind<Data extends { company_id: string }>({
  name,
  data,
  expireSeconds,
  perGroup = 1,
}: RunKind): JobKind<Data> {
  return {
    name,
    data: Joi.object({ company_id: Joi.string().guid().required(), ...data }),
    queue: { expireSeconds, retries: MAX_ATTEMPTS - 1 },
    concurrency: { isShared: true, local: 4, perGroup },
  }
}

/**
 * A kind of job that is tried three times and then fails where its caller sees it. One that finds its source busy gives
 * its slot back and loses no try.
 */
export function workRun<Data extends { company_id: string }>(
  kind: JobKind<Data>,
  { work, fail, isFinal = hasErrorData }: RunWork<Data>,
): Job<Data> {
  return {
    ...kind,
    async work(data, context) {
      try {
        return await work(data, context)
      } catch (error) {
        putOffIfBusy(error)
        if (error instanceof PutOff) throw error
        const isOver = error instanceof GiveUp || isFinal(error)
        if (isOver || context.isLast())
          await context.server.db.company(data.company_id, trx => fail(trx, data, error as Error, context))
        throw isOver ? new GiveUp((error as Error).message) : error
      }
    },
  }
}

/** Such a job, whose work takes what it needs from the server. */
export function runJob<Data extends { company_id: string }>(given: RunKind & RunWork<Data>): Job<Data> {
  return workRun(runKind<Data>(given), given)
}
