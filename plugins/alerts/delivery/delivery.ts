import type { Server } from '@hapi/hapi'
import { recordAttempt } from './delivery-telemetry.ts'
import Joi from 'joi'
import { v7 } from 'uuid'
import { companyOf, insertAll, type Transaction } from '../../../server/database/database.ts'
import type { Item, Job, JobContext } from '../../../server/jobs/jobs.ts'
import { failedOutcome, type DeliveryOutcome, type MessageType } from '../destinations/destination.ts'
import { Delivery, DeliveryAttempt, Destination } from '../models.ts'
import { busySeconds, claimAttempt, releaseClaim, type AttemptClaim, type AttemptData } from './claims.ts'
import { recordHealth } from './health.ts'
import { attemptRow, ENDED_FIELDS, statusAfterAttempt, updateDeliveryFailed } from './outcomes.ts'
import { attemptDelivery } from './send.ts'
import { MAX_IN_FLIGHT, releaseSlot } from './slots.ts'
import { secondsFromNow } from '../../../server/database/now.ts'
import { lockAlertOfDelivery, lockDeliveries } from '../locks.ts'

const JOB_OPTIONS = {
  data: Joi.object<AttemptData>({
    company_id: Joi.string().uuid().required(),
    delivery_id: Joi.string().uuid().required(),
    n: Joi.number().integer().min(1).required(),
  }),
  // An attempt takes 30 seconds at most. The engine's retries are for crashes only: a refusal is an outcome, and so is
  // the loss of the process that made an attempt.
  queue: { retries: 3, retryDelaySeconds: 1, expireSeconds: 90 },
  losses: 'handled',
  work: runAttemptJob,
} as const

/** First attempts to healthy destinations, and attempts that a person requested. */
export const deliverJob: Job<AttemptData> = {
  ...JOB_OPTIONS,
  name: 'alerts.deliver',
  concurrency: { isShared: true, local: 128, perGroup: MAX_IN_FLIGHT - 1 },
}

/**
 * Later attempts, and first attempts to failing destinations: a queue of their own, so that receivers that are down do
 * not delay the others.
 */
export const retryJob: Job<AttemptData> = {
  ...JOB_OPTIONS,
  name: 'alerts.retry',
  concurrency: { isShared: true, local: 64, perGroup: 1 },
}

/** One message about one alert to one destination. */
export interface OutgoingMessage {
  alertId: string
  destinationId: string
  ruleIds: string[]
  eventType: MessageType
  body: string
  /** Whether all recent attempts to reach the destination have failed. */
  isFailing: boolean
  /** Whether an earlier message of the alert to the destination has to end first; its end starts this one. */
  isWaiting: boolean
}

/** Stores messages and the jobs of their first attempts. */
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
      nextAttemptAt: isWaiting ? null : secondsFromNow(delay),
    })),
    chunk => Delivery.query(trx).insert(chunk),
  )
}

/** Sends the job of the `n`th attempt in `after` seconds. @returns its id */
async function enqueueAttempt(
  server: Server,
  trx: Transaction,
  job: Job<AttemptData>,
  delivery: Pick<Delivery, 'id' | 'destinationId'>,
  n: number,
  after = 0,
  id = v7(),
): Promise<string> {
  const { data, ...options } = attemptJobItem(trx, delivery, n, after)
  return server.jobs.send(job, data, { trx, id, ...options })
}

/** The group is the destination: the backlog of one must not delay another. */
function attemptJobItem(
  trx: Transaction,
  { id, destinationId }: Pick<Delivery, 'id' | 'destinationId'>,
  n: number,
  after: number,
): Item<AttemptData> {
  return { data: { company_id: companyOf(trx), delivery_id: id, n }, after, group: destinationId }
}

/** Makes a finished delivery pending again for one attempt that a person requested. */
export async function redeliver(server: Server, trx: Transaction, delivery: Delivery): Promise<Delivery> {
  const jobId = await enqueueAttempt(server, trx, deliverJob, delivery, delivery.attempt + 1)
  const [pending] = await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({
      status: 'pending',
      trigger: 'manual',
      jobId,
      nextAttemptAt: secondsFromNow(0),
      stoppedReason: null,
      // After all recipients were served, a redelivery is meant for all of them again.
      ...(delivery.status === 'delivered' && { served: [] }),
    })
    .returning('*')
  if (!pending) throw new Error(`Delivery ${delivery.id} vanished under its lock`)
  return pending
}

const INTERRUPTED = failedOutcome(
  'interrupted',
  'The process that made the attempt was lost before it ended: the receiver may have got the message',
)

async function runAttemptJob(data: AttemptData, context: JobContext): Promise<object> {
  const { server, log } = context
  const claim = await server.db.company(data.company_id, async trx => {
    const claimed = await claimAttempt(trx, data, context)
    if (claimed?.state === 'busy')
      await requeueDelivery(server, trx, claimed.delivery, busySeconds(claimed.destination))
    return claimed
  })
  if (!claim) return { skipped: 'The attempt was made already, or another job is making it' }
  if (claim.state === 'busy') return { skipped: 'The destination has no free slot: a new job retries' }
  if (claim.state === 'off') {
    await server.db.company(data.company_id, trx => stopDelivery(server, trx, claim))
    return { skipped: 'The destination is switched off or deleted' }
  }
  try {
    return await makeAttempt(data, claim, context)
  } catch (error) {
    await server.db
      .company(data.company_id, trx => releaseClaim(trx, claim))
      .catch((failed: Error) => {
        log.warn({ err: failed.message }, 'a claim could not be released')
      })
    throw error
  }
}

async function makeAttempt(data: AttemptData, claim: AttemptClaim, { server, log, signal }: JobContext) {
  const { destination, delivery, requestId } = claim
  const isLost = claim.state === 'lost'
  const outcome = isLost
    ? INTERRUPTED
    : await attemptDelivery(server, destination, delivery, { n: data.n, requestId }, signal)
  // The process stops, or the claim is lost: the outcome is unknown, so the attempt is made again.
  if (signal.aborted && !isLost) throw new Error('The attempt was aborted: it will be made again')
  const { statusCode, errorClass, latencyMs: ms } = outcome
  recordAttempt(server.telemetry, destination.destinationType, errorClass, ms)
  const status = await server.db.company(data.company_id, trx =>
    recordOutcome(server, trx, claim, data.n, outcome),
  )
  if (!status)
    log.warn(
      { delivery_id: data.delivery_id, n: data.n },
      'an attempt ended after its delivery was stopped or taken over',
    )
  const result = { status: status ?? 'taken over', status_code: statusCode, error_class: errorClass }
  log.info({ n: data.n, request_id: requestId, ms: Math.round(ms), ...result }, 'delivery attempted')
  return result
}

/** Stops a delivery whose destination was switched off or deleted meanwhile. */
async function stopDelivery(server: Server, trx: Transaction, claim: AttemptClaim): Promise<void> {
  const { delivery, destination, unusedFence: fence } = claim
  await lockAlertOfDelivery(trx, delivery)
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

/**
 * Stores the outcome of an attempt and sends the job of the next one, all or nothing. Lock order: alerts, deliveries by
 * id, destinations.
 * @returns the delivery's new status, or null if another worker has taken the attempt over
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
  const alert = delay === undefined ? await lockAlertOfDelivery(trx, delivery) : undefined
  const status = await statusAfterAttempt(trx, delivery, outcome, delay)
  const jobId = v7()
  const recorded = await Delivery.query(trx)
    .where({ id: delivery.id, fence: delivery.fence, status: 'pending' })
    .patch({
      ...ENDED_FIELDS,
      status,
      attempt: n,
      ...(outcome.served && { served: [...outcome.served] }),
      ...(delay !== undefined && { jobId, completedAt: null, nextAttemptAt: secondsFromNow(delay) }),
    })
  if (recorded === 0) {
    await releaseSlot(trx, claim.requestId)
    return null
  }
  await DeliveryAttempt.query(trx).insert(attemptRow(claim, n, outcome))
  if (delay !== undefined) await enqueueAttempt(server, trx, retryJob, delivery, n + 1, delay, jobId)
  // A success cannot set `delivery_failed`, and rarely has to clear it.
  else await settleDelivery(server, trx, delivery, status !== 'delivered' || alert?.deliveryFailed)
  await recordHealth(trx, claim, outcome)
  await releaseSlot(trx, claim.requestId)
  return status
}

/** After the end of a delivery, under the lock of its alert: updates `delivery_failed` and starts the messages that waited. */
export async function settleDelivery(server: Server, trx: Transaction, ended: Delivery, updatesAlert = true) {
  const { alertId, destinationId, eventType } = ended
  if (!alertId) return
  if (updatesAlert) await updateDeliveryFailed(trx, [alertId])
  if (eventType === 'alert.resolved') return
  const waiting = await lockDeliveries(
    Delivery.query(trx).where({ alertId, destinationId, status: 'pending', attempt: 0 }).whereNull('jobId'),
  )
  for (const next of waiting) await requeueDelivery(server, trx, next)
}

/** Sends a new job, in `after` seconds, for a locked delivery that has none. */
export async function requeueDelivery(server: Server, trx: Transaction, delivery: Delivery, after = 0) {
  const destination = await Destination.query(trx).findById(delivery.destinationId).throwIfNotFound()
  const isFirst = delivery.attempt === 0 && !destination.failingSince && !destination.silentSince
  const job = isFirst ? deliverJob : retryJob
  const jobId = await enqueueAttempt(server, trx, job, delivery, delivery.attempt + 1, after)
  await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({ jobId, nextAttemptAt: secondsFromNow(after) })
}
