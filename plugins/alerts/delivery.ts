import { randomUUID } from 'node:crypto'
import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { raw } from 'objection'
import { v7 } from 'uuid'
import { companyOf, insertAll, rows, type Transaction } from '../../server/database.ts'
import type { Item, Job, JobContext } from '../../server/jobs.ts'
import type { MessageType, Outcome } from './destination.ts'
import { Alert, Delivery, DeliveryAttempt, Destination } from './models.ts'
import { sendTo } from './send.ts'

/** One attempt: the `n`th of a delivery, from 1. */
export interface AttemptData {
  company_id: string
  delivery_id: string
  n: number
}

const data = Joi.object<AttemptData>({
  company_id: Joi.string().uuid().required(),
  delivery_id: Joi.string().uuid().required(),
  n: Joi.number().integer().min(1).required(),
})

// An attempt takes 30 seconds at most. The engine's own retries are for crashes only; a refusal is an outcome.
const queue = { retries: 3, retryDelaySeconds: 5, expireSeconds: 90 }

/** First attempts, and those that a person asked for. */
export const deliver: Job<AttemptData> = {
  name: 'alerts.deliver',
  data,
  queue,
  concurrency: { local: 8, perGroup: 4 },
  work: attempt,
}

/** Later attempts: a queue of their own, so that receivers that are down do not hold up those that are not. */
export const retry: Job<AttemptData> = {
  name: 'alerts.retry',
  data,
  queue,
  concurrency: { local: 6, perGroup: 2 },
  work: attempt,
}

/** Seconds after which a claim counts as left behind by a worker that died: more than an attempt can take. */
const CLAIM_SECONDS = 60
/** Milliseconds within which receivers are asked to answer. */
const SLOW_MS = 5_000

/** What one destination is to be told of one alert. */
export interface Message {
  alertId: string
  destinationId: string
  ruleIds: string[]
  eventType: MessageType
  body: string
}

/** Stores messages and the jobs of their first attempts, each message for one destination. */
export async function startDeliveries(
  server: Server,
  trx: Transaction,
  messages: readonly Message[],
): Promise<void> {
  const [delay = 0] = server.config.webhookDelays
  const deliveries = messages.map(message => ({ ...message, id: v7(), messageId: message.alertId }))
  const items = deliveries.map(delivery => attemptItem(trx, delivery, 1, delay))
  const jobIds = await server.jobs.sendAll(deliver, items, { trx })
  const nextAttemptAt = inSeconds(delay) as unknown as Date
  await insertAll(
    deliveries.map((delivery, place) => ({ ...delivery, jobId: jobIds[place]!, nextAttemptAt })),
    chunk => Delivery.query(trx).insert(chunk),
  )
}

/** Sends the job of an attempt; the queue depends on whether it is a first one. @returns the job's id */
export async function sendAttempt(
  server: Server,
  trx: Transaction,
  delivery: Pick<Delivery, 'id' | 'destinationId'>,
  n: number,
  after = 0,
): Promise<string> {
  const { data: attemptData, ...when } = attemptItem(trx, delivery, n, after)
  return server.jobs.send(n === 1 ? deliver : retry, attemptData, { trx, ...when })
}

/** What to send for an attempt. One destination's backlog must not delay another's, so the group is the destination. */
function attemptItem(
  trx: Transaction,
  { id, destinationId }: Pick<Delivery, 'id' | 'destinationId'>,
  n: number,
  after: number,
): Item<AttemptData> {
  return { data: { company_id: companyOf(trx), delivery_id: id, n }, after, group: destinationId }
}

/** Makes a finished delivery pending again for one attempt that a person asked for. */
export async function redeliver(server: Server, trx: Transaction, delivery: Delivery): Promise<Delivery> {
  const n = delivery.attempt + 1
  const { data: attemptData, ...when } = attemptItem(trx, delivery, n, 0)
  const jobId = await server.jobs.send(deliver, attemptData, { trx, ...when })
  const [pending] = await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({
      status: 'pending',
      trigger: 'manual',
      jobId,
      nextAttemptAt: inSeconds(0) as unknown as Date,
      stoppedReason: null,
    })
    .returning('*')
  if (!pending) throw new Error(`Delivery ${delivery.id} vanished under its lock`)
  return pending
}

function inSeconds(seconds: number) {
  return raw('now() + make_interval(secs => ?)', [seconds])
}

interface Claim {
  delivery: Delivery
  destination: Destination
  requestId: string
  startedAt: Date
}

async function attempt(job: AttemptData, { server, log, signal, id }: JobContext): Promise<object> {
  const claim = await server.db.company(job.company_id, trx => claimAttempt(trx, job, id))
  if (!claim) return { skipped: 'It was attempted already, is being attempted, or is no longer wanted' }
  const { destination, delivery, requestId } = claim
  const outcome = await sendTo(server, destination, delivery, { n: job.n, requestId }, signal)
  // Of a process that stops, or of a claim that is lost: nothing is known, so another try is made.
  if (signal.aborted) throw new Error('The attempt was cut short: it will be made again')
  const status = await server.db.company(job.company_id, trx => record(server, trx, claim, job.n, outcome))
  if (!status)
    log.warn({ delivery_id: job.delivery_id, n: job.n }, 'an attempt ended after another worker took it over')
  return { status: status ?? 'taken over', status_code: outcome.statusCode, error_class: outcome.errorClass }
}

/** Takes the attempt for this job, unless it was made, another job is at it, or its destination is off. */
async function claimAttempt(trx: Transaction, job: AttemptData, jobId: string): Promise<Claim | null> {
  const [claimed] = await rows<{ startedAt: Date }>(
    trx,
    `update deliveries set fence = fence + 1, claimed_by = :jobId, claimed_at = now()
      where company_id = :companyId and id = :id and status = 'pending' and attempt = :n - 1
        and (claimed_by is null or claimed_by = :jobId or claimed_at < now() - make_interval(secs => :seconds))
      returning now() as started_at`,
    { jobId, companyId: job.company_id, id: job.delivery_id, n: job.n, seconds: CLAIM_SECONDS },
  )
  if (!claimed) return null
  const delivery = await Delivery.query(trx).findById(job.delivery_id).throwIfNotFound()
  const destination = await Destination.query(trx).findById(delivery.destinationId).throwIfNotFound()
  if (destination.isActive && !destination.deletedAt)
    return { delivery, destination, requestId: randomUUID(), startedAt: claimed.startedAt }
  await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({
      status: 'stopped',
      stoppedReason: destination.deletedAt
        ? 'The destination was deleted'
        : 'The destination is switched off',
      completedAt: raw('now()'),
      nextAttemptAt: null,
      claimedBy: null,
      claimedAt: null,
    })
  return null
}

/**
 * Writes down how an attempt ended and sends the next one's job, all or nothing.
 * @returns the delivery's new status, or null when another worker has taken the attempt over
 */
async function record(
  server: Server,
  trx: Transaction,
  claim: Claim,
  n: number,
  outcome: Outcome,
): Promise<Delivery['status'] | null> {
  const { delivery } = claim
  const delays = server.config.webhookDelays
  const delay = delivery.trigger === 'automatic' && !outcome.isDelivered ? delays[n] : undefined
  const status = await statusAfter(trx, delivery, outcome, delay)
  const recorded = await Delivery.query(trx)
    .where({ id: delivery.id, fence: delivery.fence, status: 'pending' })
    .patch({
      status,
      attempt: n,
      ...(outcome.served && { served: [...outcome.served] }),
      claimedBy: null,
      claimedAt: null,
      completedAt: status === 'pending' ? null : raw('now()'),
      nextAttemptAt: delay === undefined ? null : (inSeconds(delay) as unknown as Date),
    })
  if (recorded === 0) return null
  await DeliveryAttempt.query(trx).insert(attemptRow(claim, n, outcome))
  if (delay !== undefined) {
    const jobId = await sendAttempt(server, trx, delivery, n + 1, delay)
    await Delivery.query(trx).where({ id: delivery.id }).patch({ jobId })
  } else if (delivery.alertId) {
    await markAlert(trx, delivery.alertId)
  }
  return status
}

async function statusAfter(
  trx: Transaction,
  delivery: Delivery,
  outcome: Outcome,
  delay: number | undefined,
): Promise<Delivery['status']> {
  if (outcome.isDelivered) return 'delivered'
  if (delay !== undefined) return 'pending'
  if (delivery.trigger === 'automatic') return 'failed'
  // What was delivered once stays delivered, whatever a redelivery meets.
  const delivered = await DeliveryAttempt.query(trx)
    .where({ deliveryId: delivery.id })
    .whereBetween('statusCode', [200, 299])
    .resultSize()
  return delivered > 0 ? 'delivered' : 'failed'
}

/** The row of an attempt that ended now. */
export function attemptRow(
  {
    delivery,
    requestId,
    startedAt,
  }: Pick<Claim, 'requestId' | 'startedAt'> & {
    delivery: Pick<Delivery, 'id' | 'trigger'>
  },
  n: number,
  { isDelivered: _isDelivered, served: _served, ...outcome }: Outcome,
): Partial<DeliveryAttempt> {
  return {
    ...outcome,
    deliveryId: delivery.id,
    n,
    requestId,
    trigger: delivery.trigger,
    startedAt,
    endedAt: raw('clock_timestamp()') as unknown as Date,
    isSlow: outcome.latencyMs > SLOW_MS,
  }
}

/**
 * An alert has failed delivery when, for one of its messages, every destination has failed. The row is locked
 * first: of two destinations that fail at once, the later one must see the other's end.
 */
async function markAlert(trx: Transaction, alertId: string): Promise<void> {
  await Alert.query(trx).findById(alertId).forNoKeyUpdate()
  await rows(
    trx,
    `update alerts set delivery_failed = not delivery_failed
      where company_id = :companyId and id = :alertId and delivery_failed <> exists (
        select 1 from deliveries where alert_id = :alertId group by event_type
        having bool_or(status = 'failed') and not bool_or(status in ('pending', 'delivered')))`,
    { companyId: companyOf(trx), alertId },
  )
}
