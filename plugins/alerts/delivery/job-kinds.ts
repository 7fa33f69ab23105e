import Joi from 'joi'
import type { JobKind } from '../../../server/jobs/jobs.ts'
import { MAX_IN_FLIGHT } from './slots.ts'

/** The data of an attempt job: the `n`th attempt of a delivery, from 1. */
export interface AttemptData {
  company_id: string
  delivery_id: string
  n: number
}

const ATTEMPT_OPTIONS = {
  data: Joi.object<AttemptData>({
    company_id: Joi.string().uuid().required(),
    delivery_id: Joi.string().uuid().required(),
    n: Joi.number().integer().min(1).required(),
  }),
  // An attempt takes 30 seconds at most. The engine's retries are for crashes only: a refusal is an outcome, and so is
  // the loss of the process that made an attempt.
  queue: { retries: 3, retryDelaySeconds: 1, expireSeconds: 90 },
  losses: 'handled',
} as const

/** First attempts to healthy destinations, and attempts that a person requested. */
export const deliverJob: JobKind<AttemptData> = {
  ...ATTEMPT_OPTIONS,
  name: 'alerts.deliver',
  concurrency: { isShared: true, local: 128, perGroup: MAX_IN_FLIGHT - 1 },
}

/**
 * Later attempts, and first attempts to failing destinations: a queue of their own, so that receivers that are down do
 * not delay the others.
 */
export const retryJob: JobKind<AttemptData> = {
  ...ATTEMPT_OPTIONS,
  name: 'alerts.retry',
  concurrency: { isShared: true, local: 64, perGroup: 1 },
}
