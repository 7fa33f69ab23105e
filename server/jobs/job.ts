/** The types that features pass to `server.jobs`. */
import type Joi from 'joi'
import type { Logger } from 'pino'
import type { Server } from '@hapi/hapi'
import type { Transaction } from '../database/database.ts'
import { hasCode } from '../http/errors.ts'

/** What the work of a job receives besides its data. */
export interface JobContext {
  server: Server
  log: Logger
  /** 1 for the first try. */
  attempt: number
  /** Whether the job is over if this try fails: it has no other left, and is not handed back. */
  isLast(): boolean
  /**
   * Whether the process of the previous try was lost: killed, frozen or cut off until its claim expired. False after a
   * try that failed, that was handed back, or whose claim may have expired because of a database outage.
   */
  isAfterLoss: boolean
  /** Aborts when the job times out or the process stops. */
  signal: AbortSignal
  id: string
}

/** What is stated of a kind of job, apart from its work: enough to send it. */
export interface JobKind<Data extends object = object> {
  /** `<plugin>.<verb>`, the queue an operator sees. */
  name: string
  /** Ids only: the dashboard shows it. Checked when sent and when worked. */
  data: Joi.ObjectSchema<Data>
  /** Cron, UTC; only for sweeps. */
  every?: string
  queue?: { retries?: number; retryDelaySeconds?: number; expireSeconds?: number }
  /** Jobs at once: in one process, and of one group over all processes (by tier, where the group names one). */
  concurrency?: { local?: number; perGroup?: number | TieredLimit } | SharedConcurrency
  /**
   * `handled`: the work itself handles a crash of its previous process (`JobContext.isAfterLoss`). By default, a job
   * that crashed three processes becomes a dead letter.
   */
  losses?: 'handled'
}

export interface Job<Data extends object = object> extends JobKind<Data> {
  /** What it returns is stored as the job's output. Throwing retries; throwing `GiveUp` fails for good. */
  work(data: Data, context: JobContext): Promise<object | void>
}

/** How many jobs of one group run at once, by the tier that the group names. */
export interface TieredLimit {
  default: number
  tiers: Record<string, number>
}

/**
 * Companies share the slots and take turns, by the `company_id` in the data of each job. One company gets at most half
 * of the `local` slots, so that others always find free ones. Jobs start in the order of their turns. They are sent
 * with a group, of which `perGroup` run over all processes.
 */
export type SharedConcurrency = { isShared: true; local: number } & (
  | { perGroup: number }
  | {
      perGroup: TieredLimit
      /** The groups of companies. Claims leave those of companies that hold their share: the tier says something else. */
      groupsOf(server: Server, companyIds: readonly string[]): Promise<string[]>
    }
)

/** Whether companies share the slots of a kind of job. */
export function isShared<Kind extends Pick<JobKind, 'concurrency'>>(
  job: Kind,
): job is Kind & { concurrency: SharedConcurrency } {
  return job.concurrency !== undefined && 'isShared' in job.concurrency
}

/** Thrown by a job that would fail the same way on each retry. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp'
}

const PUT_OFF_SECONDS = 5
/** Milliseconds that a job which can be put off waits for a session of its source, holding its slot. */
export const SESSION_WAIT_MS = 1_000

/**
 * Thrown by a job that cannot run now, such as one whose source is busy: it gives its slot back, and is tried again later
 * without losing a try.
 */
export class PutOff extends Error {
  override readonly name = 'PutOff'
  readonly seconds: number

  /** @param seconds until it may be tried again; defaults to 5 */
  constructor(message: string, seconds = PUT_OFF_SECONDS) {
    super(message)
    this.seconds = seconds
  }
}

/**
 * Puts the job off where an error says that what it needs is busy, such as all sessions of its source.
 * @param seconds until it may be tried again; defaults to 5
 * @throws PutOff
 */
export function putOffIfBusy(error: unknown, seconds?: number): void {
  if (hasCode(error, 'UNAVAILABLE')) throw new PutOff((error as Error).message, seconds)
}

export interface SendOptions {
  /** The id of the job, if the caller must know it beforehand. */
  id?: string
  /** The job commits with this transaction's writes. */
  trx?: Transaction
  /** Seconds to wait before it may start, or when it may. */
  after?: number | Date
  /** What a limit applies to: the company, so that one tenant's backlog does not delay another's, or something else. */
  group?: string | { id: string; tier: string }
  /** While a job of its kind with the same key waits or runs, no other is sent; needs `trx`. */
  key?: string
  /** Waiting jobs start in ascending order; from `Jobs.turns`. Defaults to the next one of the company, or to 0. */
  turn?: number
}

export interface Item<Data extends object> extends Omit<SendOptions, 'trx' | 'key'> {
  data: Data
}

/** @throws GiveUp when the data is not what this kind of job takes */
export function checked<Data extends object>(job: JobKind<Data>, data: Data): Data {
  const { value, error } = job.data.validate(data, { convert: false })
  if (error) throw new GiveUp(`Data of job ${job.name}: ${error.message}`)
  return value as Data
}
