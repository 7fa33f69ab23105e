import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { raw } from 'objection'
import { v7 } from 'uuid'
import { companyOf, insertAll, type Transaction } from '../../../server/database/database.ts'
import type { Item, Job, JobContext } from '../../../server/jobs/jobs.ts'
import {
  busySeconds,
  claimAttempt,
  releaseClaim,
  UNCLAIMED_FIELDS,
  type AttemptData,
  type AttemptClaim,
} from './claims.ts'
import { failedOutcome, type MessageType, type DeliveryOutcome } from '../destinations/destination.ts'
import { recordHealth } from './health.ts'
import { Alert, Delivery, DeliveryAttempt, Destination } from '../models.ts'
import { updateDeliveryFailed } from './delivery-failed.ts'
import { attemptDelivery } from './send.ts'
import { MAX_IN_FLIGHT, releaseSlot } from './slots.ts'

export type { AttemptData } from './claims.ts'

const data = Joi.object<AttemptData>({
  company_id: Joi.string().uuid().required(),
  delivery_id: Joi.string().uuid().required(),
  n: Joi.number().integer().min(1).required(),
})

// An attempt takes 30 seconds at most. The engine's own retries are for crashes only; a refusal is an outcome, and so
// is the loss of the process that made an attempt.
const JOB_OPTIONS = {
  data,
  queue: { retries: 3, retryDelaySeconds: 1, expireSeconds: 90 },
  losses: 'handled',
  work: runAttemptJob,
} as const

/** First attempts to destinations that are well, and those that a person asked for. */
export const deliverJob: Job<AttemptData> = {
  ...JOB_OPTIONS,
  name: 'alerts.deliver',
  concurrency: { isShared: true, local: 128, perGroup: MAX_IN_FLIGHT - 1 },
}

/**
 * Later attempts, and first ones to destinations that are failing: a queue of their own, so that receivers that are
 * down do not hold up those that are not.
 */
export const retryJob: Job<AttemptData> = {
  ...JOB_OPTIONS,
  name: 'alerts.retry',
  concurrency: { isShared: true, local: 64, perGroup: 1 },
}

/** Milliseconds within which receivers are asked to answer. */
const SLOW_MS = 5_000

/** What one destination is to be told of one alert. */
export interface OutgoingMessage {
  alertId: string
  destinationId: string
  ruleIds: string[]
  eventType: MessageType
  body: string
  /** Whether every attempt to reach the destination has failed of late. */
  isFailing: boolean
  /** For the end of an earlier message of the same alert to the same destination, which will start it. */
  isWaiting: boolean
}

/** Stores messages and the jobs of their first attempts, each message for one destination. */
export async function startDeliveries(
  server: Server,
  trx: Transaction,
  messages: readonly OutgoingMessage[],
): Promise<void> {
  const [delay = 0] = server.config.webhookDelays
  const deliveries = messages.map(message => ({
    ...message,
    id: v7(),
    messageId: message.alertId,
    jobId: v7(),
  }))
  const started = deliveries.filter(({ isWaiting }) => !isWaiting)
  for (const [job, isFailing] of [
    [deliverJob, false],
    [retryJob, true],
  ] as const) {
    const items = started
      .filter(delivery => delivery.isFailing === isFailing)
      .map(delivery => ({ ...attemptJobItem(trx, delivery, 1, delay), id: delivery.jobId }))
    await server.jobs.sendAll(job, items, { trx })
  }
  await insertAll(
    deliveries.map(({ isFailing: _isFailing, isWaiting, jobId, ...delivery }) => ({
      ...delivery,
      jobId: isWaiting ? null : jobId,
      nextAttemptAt: isWaiting ? null : (secondsFromNow(delay) as unknown as Date),
    })),
    chunk => Delivery.query(trx).insert(chunk),
  )
}

/** Sends the job of an attempt. @returns its id */
async function enqueueAttempt(
  server: Server,
  trx: Transaction,
  job: Job<AttemptData>,
  delivery: Pick<Delivery, 'id' | 'destinationId'>,
  n: number,
  after = 0,
  id = v7(),
): Promise<string> {
  const { data: attemptData, ...when } = attemptJobItem(trx, delivery, n, after)
  return server.jobs.send(job, attemptData, { trx, id, ...when })
}

/** What to send for an attempt. One destination's backlog must not delay another's, so the group is the destination. */
function attemptJobItem(
  trx: Transaction,
  { id, destinationId }: Pick<Delivery, 'id' | 'destinationId'>,
  n: number,
  after: number,
): Item<AttemptData> {
  return { data: { company_id: companyOf(trx), delivery_id: id, n }, after, group: destinationId }
}

/** Makes a finished delivery pending again for one attempt that a person asked for. */
export async function redeliver(server: Server, trx: Transaction, delivery: Delivery): Promise<Delivery> {
  const jobId = await enqueueAttempt(server, trx, deliverJob, delivery, delivery.attempt + 1)
  const [pending] = await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({
      status: 'pending',
      trigger: 'manual',
      jobId,
      nextAttemptAt: secondsFromNow(0) as unknown as Date,
      stoppedReason: null,
      // Sent again after all had got it, it is meant for all of them.
      ...(delivery.status === 'delivered' && { served: [] }),
    })
    .returning('*')
  if (!pending) throw new Error(`Delivery ${delivery.id} vanished under its lock`)
  return pending
}

function secondsFromNow(seconds: number) {
  return raw('now() + make_interval(secs => ?)', [seconds])
}

const INTERRUPTED = failedOutcome(
  'interrupted',
  'The process that made the attempt was lost before it ended: the receiver may have got the message',
)

async function runAttemptJob(job: AttemptData, context: JobContext): Promise<object> {
  const { server, log } = context
  const claim = await server.db.company(job.company_id, async trx => {
    const claimed = await claimAttempt(trx, job, context)
    if (claimed?.state === 'busy')
      await requeueDelivery(server, trx, claimed.delivery, busySeconds(claimed.destination))
    return claimed
  })
  if (!claim) return { skipped: 'It was attempted already, or is being attempted' }
  if (claim.state === 'busy') return { skipped: 'Its destination is busy: a new job looks again' }
  if (claim.state === 'off') {
    await server.db.company(job.company_id, trx => stopDelivery(server, trx, claim))
    return { skipped: 'Its destination is off' }
  }
  try {
    return await makeAttempt(job, claim, context)
  } catch (error) {
    await server.db
      .company(job.company_id, trx => releaseClaim(trx, claim))
      .catch((failed: Error) => {
        log.warn({ err: failed.message }, 'a claim could not be given back')
      })
    throw error
  }
}

async function makeAttempt(
  job: AttemptData,
  claim: AttemptClaim,
  { server, log, signal }: JobContext,
): Promise<object> {
  const { destination, delivery, requestId } = claim
  const isLost = claim.state === 'lost'
  const outcome = isLost
    ? INTERRUPTED
    : await attemptDelivery(server, destination, delivery, { n: job.n, requestId }, signal)
  // The process stops, or the claim is lost: the outcome is unknown, so the attempt is made again.
  if (signal.aborted && !isLost) throw new Error('The attempt was cut short: it will be made again')
  const { statusCode, errorClass, latencyMs: ms } = outcome
  server.telemetry.delivery(destination.destinationType, errorClass, ms)
  const status = await server.db.company(job.company_id, trx =>
    recordOutcome(server, trx, claim, job.n, outcome),
  )
  if (!status)
    log.warn(
      { delivery_id: job.delivery_id, n: job.n },
      'an attempt ended after its delivery was stopped or taken over',
    )
  const made = { status: status ?? 'taken over', status_code: statusCode, error_class: errorClass }
  log.info({ n: job.n, request_id: requestId, ms: Math.round(ms), ...made }, 'delivery attempted')
  return made
}

/** Ends a delivery whose destination was switched off or deleted on its way. */
async function stopDelivery(server: Server, trx: Transaction, claim: AttemptClaim): Promise<void> {
  const { delivery, destination, unusedFence: fence } = claim
  await lockAlert(trx, delivery)
  const stopped = await Delivery.query(trx)
    .where({ id: delivery.id, fence: delivery.fence, status: 'pending' })
    .patch({
      status: 'stopped',
      stoppedReason: destination.deletedAt
        ? 'The destination was deleted'
        : (destination.disabledReason ?? 'The destination is switched off'),
      fence,
      ...ENDED_FIELDS,
    })
  if (stopped > 0) await settleDelivery(server, trx, delivery)
}

/** What is the same of all deliveries that have ended. */
export const ENDED_FIELDS = {
  completedAt: raw('now()') as unknown as Date,
  nextAttemptAt: null,
  ...UNCLAIMED_FIELDS,
}

/**
 * Writes down how an attempt ended and sends the next one's job, all or nothing. Rows are locked in the order that
 * everybody keeps: alerts, deliveries by their ids, destinations.
 * @returns the delivery's new status, or null when another worker has taken the attempt over
 */
async function recordOutcome(
  server: Server,
  trx: Transaction,
  claim: AttemptClaim,
  n: number,
  outcome: DeliveryOutcome,
): Promise<Delivery['status'] | null> {
  const { delivery } = claim
  const delays = server.config.webhookDelays
  const delay = delivery.trigger === 'automatic' && !outcome.isDelivered ? delays[n] : undefined
  const alert = delay === undefined ? await lockAlert(trx, delivery) : undefined
  const status = await statusAfter(trx, delivery, outcome, delay)
  const jobId = v7()
  const recorded = await Delivery.query(trx)
    .where({ id: delivery.id, fence: delivery.fence, status: 'pending' })
    .patch({
      ...ENDED_FIELDS,
      status,
      attempt: n,
      ...(outcome.served && { served: [...outcome.served] }),
      ...(delay !== undefined && {
        jobId,
        completedAt: null,
        nextAttemptAt: secondsFromNow(delay) as unknown as Date,
      }),
    })
  if (recorded === 0) {
    await releaseSlot(trx, claim.requestId)
    return null
  }
  await DeliveryAttempt.query(trx).insert(attemptRow(claim, n, outcome))
  if (delay !== undefined) await enqueueAttempt(server, trx, retryJob, delivery, n + 1, delay, jobId)
  // What got through marks nothing, and mostly nothing was marked before.
  else await settleDelivery(server, trx, delivery, status !== 'delivered' || alert?.deliveryFailed)
  await recordHealth(trx, claim, outcome)
  await releaseSlot(trx, claim.requestId)
  return status
}

/** What ends under this lock, and what resolving the alert adds under it, see each other. */
export async function lockAlert(trx: Transaction, { alertId }: Pick<Delivery, 'alertId'>) {
  if (!alertId) return undefined
  return Alert.query(trx).findById(alertId).select('id', 'deliveryFailed', 'resolvedAt').forNoKeyUpdate()
}

/** What follows from the end of a delivery whose alert is locked: the alert is marked, and that it is over is told. */
export async function settleDelivery(
  server: Server,
  trx: Transaction,
  ended: Delivery,
  isMarking = true,
): Promise<void> {
  const { alertId, destinationId, eventType } = ended
  if (!alertId) return
  if (isMarking) await updateDeliveryFailed(trx, [alertId])
  if (eventType === 'alert.resolved') return
  const waiting = await Delivery.query(trx)
    .where({ alertId, destinationId, status: 'pending', attempt: 0 })
    .whereNull('jobId')
    .orderBy('id')
    .forUpdate()
  for (const next of waiting) await requeueDelivery(server, trx, next)
}

/** Sends a new job for the attempt of a delivery that has none, and whose row is locked. @param after seconds */
export async function requeueDelivery(
  server: Server,
  trx: Transaction,
  delivery: Delivery,
  after = 0,
): Promise<void> {
  const destination = await Destination.query(trx).findById(delivery.destinationId).throwIfNotFound()
  const isFirst = delivery.attempt === 0 && !destination.failingSince && !destination.silentSince
  const job = isFirst ? deliverJob : retryJob
  const jobId = await enqueueAttempt(server, trx, job, delivery, delivery.attempt + 1, after)
  await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({ jobId, nextAttemptAt: secondsFromNow(after) as unknown as Date })
}

async function statusAfter(
  trx: Transaction,
  delivery: Delivery,
  outcome: DeliveryOutcome,
  delay: number | undefined,
): Promise<Delivery['status']> {
  if (outcome.isDelivered) return 'delivered'
  if (delay !== undefined) return 'pending'
  if (delivery.trigger === 'automatic') return 'failed'
  // What was delivered once stays delivered, whatever a redelivery meets.
  const delivered = await DeliveryAttempt.query(trx)
    .where({ deliveryId: delivery.id })
    .whereNull('errorClass')
    .resultSize()
  return delivered > 0 ? 'delivered' : 'failed'
}

/** The row of an attempt that ended now. */
export function attemptRow(
  {
    delivery,
    requestId,
    startedAt,
  }: Pick<AttemptClaim, 'requestId' | 'startedAt'> & {
    delivery: Pick<Delivery, 'id' | 'trigger'>
  },
  n: number,
  { isDelivered: _isDelivered, served: _served, ...outcome }: DeliveryOutcome,
): Partial<DeliveryAttempt> {
  return {
    ...outcome,
    deliveryId: delivery.id,
    n,
    requestId,
    trigger: delivery.trigger,
    startedAt,
    // As of when its transaction began, from which the next one's wait counts too.
    endedAt: raw('now()') as unknown as Date,
    isSlow: outcome.latencyMs > SLOW_MS,
  }
}
