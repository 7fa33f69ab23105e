import type { Server } from '@hapi/hapi'
import { recordAttempt } from './delivery-telemetry.ts'
import { v7 } from 'uuid'
import { companyOf, insertAll, sendStatements, type Transaction } from '../../../server/database/database.ts'
import type { Item, Job, JobContext } from '../../../server/jobs/jobs.ts'
import type { MessageType } from '../destinations/destination.ts'
import { Delivery, DeliveryAttempt, Destination } from '../models.ts'
import { joinCalls, type Member } from './batches.ts'
import {
  attemptSchema,
  busySeconds,
  claimAttempts,
  releaseClaim,
  type AttemptClaim,
  type AttemptData,
  type ClaimRequest,
} from './claims.ts'
import { UNCOMPOSED } from '../messages/compose.ts'
import { recordHealth } from './health.ts'
import {
  attemptRow,
  ENDED_FIELDS,
  INTERRUPTED,
  statusAfterAttempt,
  endedStore,
  updateDeliveryFailed,
  type EndedAttempt,
} from './outcomes.ts'
import { attemptDelivery } from './send.ts'
import { MAX_IN_FLIGHT, releaseSlots } from './slots.ts'
import { secondsFromNow } from '../../../server/database/now.ts'
import { alertsOfLock, deliveriesLock, lockAlertOfDelivery, lockWaiting } from '../locks.ts'

const JOB_OPTIONS = {
  data: attemptSchema,
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
  /** The incident that it is about, which receivers then know it by; null of a message about the alert alone. */
  incidentId: string | null
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
    messageId: message.incidentId ?? message.alertId,
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

/** Claims and outcomes of a company, in sets: a transaction costs about as much for one attempt as for thirty. */
interface AttemptSets {
  claim(companyId: string, request: ClaimRequest): Promise<AttemptClaim | null>
  record(companyId: string, ended: EndedAttempt): Promise<Delivery['status'] | null>
}

/** By the database of a server: plugins and jobs see the server as different objects. */
const sets = new WeakMap<Server['db'], AttemptSets>()

function setsOf(server: Server): AttemptSets {
  const known = sets.get(server.db)
  if (known) return known
  const made: AttemptSets = {
    claim: joinCalls((companyId, members) =>
      server.db.company(companyId, async trx => {
        const claims = await claimAttempts(
          trx,
          members.map(({ item }) => item),
        )
        for (const [place, claim] of claims.entries())
          if (claim?.state === 'busy')
            await members[place]?.inContext(() =>
              requeueDelivery(server, trx, claim.delivery, busySeconds(claim.destination)),
            )
        return claims
      }),
    ),
    record: joinCalls((companyId, members) =>
      server.db.company(companyId, trx => recordOutcomes(server, trx, members)),
    ),
  }
  sets.set(server.db, made)
  return made
}

async function runAttemptJob(data: AttemptData, context: JobContext): Promise<object> {
  const { server, log } = context
  const claim = await setsOf(server).claim(data.company_id, { data, job: context })
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
  const status = await setsOf(server).record(data.company_id, { claim, n: data.n, outcome })
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
 * Stores the outcomes of attempts and sends the jobs of the next ones, all or nothing. Lock order: alerts, deliveries by
 * id, destinations by id.
 * @returns the new status of each delivery, or null if another worker has taken the attempt over
 */
async function recordOutcomes(
  server: Server,
  trx: Transaction,
  members: readonly Member<EndedAttempt>[],
): Promise<(Delivery['status'] | null)[]> {
  const delays = server.config.webhookDelays
  const attempts = members.map(({ item: { claim, n, outcome }, inContext }) => {
    const { trigger, body } = claim.delivery
    const isRetried = trigger === 'automatic' && !outcome.isDelivered && body !== UNCOMPOSED
    return { ...claim, n, outcome, inContext, claim, delay: isRetried ? delays[n] : undefined, jobId: v7() }
  })
  const ending = attempts.filter(({ delay }) => delay === undefined)
  const statuses: Delivery['status'][] = []
  for (const { delivery, outcome, delay } of attempts)
    statuses.push(await statusAfterAttempt(trx, delivery, outcome, delay))
  const ended = attempts.map(({ delivery: { id, fence }, n, outcome: { served }, delay, jobId }, place) => ({
    ...{ id, fence, n, status: statuses[place]!, served: served ?? null },
    ...{ delay: delay ?? null, job_id: delay === undefined ? null : jobId },
  }))
  const [alerts, , found] = await sendStatements(trx, [
    alertsOfLock(trx, deliveriesOf(ending)),
    deliveriesLock(trx, deliveriesOf(attempts)),
    endedStore(trx, ended),
  ])
  const stored = new Set(found.map(({ id }) => id))
  const recorded = attempts.filter(({ delivery }) => stored.has(delivery.id))
  const inserting = insertAll(
    recorded.map(({ claim, n, outcome }) => attemptRow(claim, n, outcome)),
    chunk => DeliveryAttempt.query(trx).insert(chunk),
  )
  // A success cannot set `delivery_failed`, and rarely has to clear it.
  const flagged = recorded.filter(({ delay, delivery, outcome }) => {
    if (delay !== undefined) return false
    return (
      !outcome.isDelivered ||
      alerts.some(({ id, deliveryFailed }) => id === delivery.alertId && deliveryFailed)
    )
  })
  const over = recorded.filter(({ delay }) => delay === undefined)
  const settling = settleDeliveries(server, trx, over, deliveriesOf(flagged))
  await Promise.all([inserting, settling])
  for (const { delivery, n, delay, jobId, inContext } of recorded)
    if (delay !== undefined)
      await inContext(() => enqueueAttempt(server, trx, retryJob, delivery, n + 1, delay, jobId))
  const byDestination = recorded.toSorted((a, b) => (a.destination.id < b.destination.id ? -1 : 1))
  for (const { claim, outcome } of byDestination) await recordHealth(trx, claim, outcome)
  await releaseSlots(
    trx,
    attempts.map(({ requestId }) => requestId),
  )
  return attempts.map(({ delivery }, place) => (stored.has(delivery.id) ? (statuses[place] ?? null) : null))
}

const deliveriesOf = (some: readonly { delivery: Delivery }[]) => some.map(({ delivery }) => delivery)

/** A delivery that has ended, and how to send what waited for it under its cause. */
interface EndedDelivery {
  delivery: Delivery
  inContext: Member<unknown>['inContext']
}

/**
 * After the ends of deliveries, under the locks of their alerts: updates `delivery_failed` and starts the messages that
 * waited.
 * @param flagged the deliveries whose alerts may change
 */
async function settleDeliveries(
  server: Server,
  trx: Transaction,
  ended: readonly EndedDelivery[],
  flagged: readonly Delivery[],
): Promise<void> {
  const alertIds = flagged.flatMap(({ alertId }) => alertId ?? [])
  if (alertIds.length > 0) await updateDeliveryFailed(trx, [...new Set(alertIds)])
  const firsts = ended.filter(({ delivery }) => delivery.alertId && delivery.eventType !== 'alert.resolved')
  if (firsts.length === 0) return
  const waiting = await lockWaiting(trx, deliveriesOf(firsts))
  for (const next of waiting) {
    const key = next.incidentId === null ? 'alertId' : 'incidentId'
    const first = firsts.find(
      ({ delivery }) => delivery.destinationId === next.destinationId && delivery[key] === next[key],
    )
    await first?.inContext(() => requeueDelivery(server, trx, next))
  }
}

/** The same for one delivery, whose alert may change. */
export async function settleDelivery(server: Server, trx: Transaction, delivery: Delivery): Promise<void> {
  await settleDeliveries(server, trx, [{ delivery, inContext: work => work() }], [delivery])
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
