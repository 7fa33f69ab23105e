import { v7 } from 'uuid'
import { insertAll, sendStatements, type Transaction } from '../../../server/database/database.ts'
import type { JobContext } from '../../../server/jobs/jobs.ts'
import type { Deps } from '../deps.ts'
import { alertsOfLock, deliveriesLock, lockAlertOfDelivery } from '../locks.ts'
import { Delivery, DeliveryAttempt } from '../models.ts'
import { joinCalls, type Member } from './batches.ts'
import { busySeconds, claimAttempts, releaseClaim, type AttemptClaim, type ClaimRequest } from './claims.ts'
import { enqueueAttempt, requeueDelivery } from './delivery.ts'
import type { AttemptRecorder } from './delivery-telemetry.ts'
import { recordHealth } from './health.ts'
import {
  attemptRow,
  ENDED_FIELDS,
  endedStore,
  INTERRUPTED,
  statusAfterAttempt,
  type EndedAttempt,
} from './outcomes.ts'
import { retryJob, type AttemptData } from './job-kinds.ts'
import { attemptDelivery, UNCOMPOSED } from './send.ts'
import { settleDeliveries, settleDelivery } from './settle.ts'
import { releaseSlots } from './slots.ts'

/**
 * Makes the work of attempt jobs. It claims attempts of a company and records their outcomes in sets: a transaction costs
 * about as much for one attempt as for thirty.
 */
export function makeAttempts(deps: Deps, recordAttempt: AttemptRecorder) {
  const { db, jobs } = deps

  const claimInSets = joinCalls((companyId, members: readonly Member<ClaimRequest>[]) =>
    db.company(companyId, async trx => {
      const claims = await claimAttempts(
        trx,
        members.map(({ item }) => item),
      )
      for (const [place, claim] of claims.entries())
        if (claim?.state === 'busy')
          await members[place]?.inContext(() =>
            requeueDelivery(jobs, trx, claim.delivery, busySeconds(claim.destination)),
          )
      return claims
    }),
  )

  const recordInSets = joinCalls((companyId, members: readonly Member<EndedAttempt>[]) =>
    db.company(companyId, trx => recordOutcomes(deps, trx, members)),
  )

  async function runAttempt(data: AttemptData, context: JobContext) {
    const { log } = context
    const companyId = data.company_id
    const claim = await claimInSets(companyId, { data, job: context })
    if (!claim) return { skipped: 'The attempt was made already, or another job is making it' }
    if (claim.state === 'busy') return { skipped: 'The destination has no free slot: a new job retries' }
    if (claim.state === 'off') {
      await db.company(companyId, trx => stopDelivery(jobs, trx, claim))
      return { skipped: 'The destination is switched off or deleted' }
    }
    try {
      return await makeAttempt(data, claim, context)
    } catch (error) {
      await db
        .company(companyId, trx => releaseClaim(trx, claim))
        .catch((failed: Error) => {
          log.warn({ err: failed.message }, 'a claim could not be released')
        })
      throw error
    }
  }

  async function makeAttempt(data: AttemptData, claim: AttemptClaim, { log, signal }: JobContext) {
    const { destination, delivery, requestId, about } = claim
    const isLost = claim.state === 'lost'
    const outcome = isLost
      ? INTERRUPTED
      : await attemptDelivery(deps, destination, delivery, { n: data.n, requestId, about }, signal)
    // The process stops, or the claim is lost: the outcome is unknown, so the attempt is made again.
    if (signal.aborted && !isLost) throw new Error('The attempt was aborted: it will be made again')
    const { statusCode, errorClass, latencyMs: ms } = outcome
    recordAttempt(destination.destinationType, errorClass, ms)
    const status = await recordInSets(data.company_id, { claim, n: data.n, outcome })
    if (!status)
      log.warn(
        { delivery_id: data.delivery_id, n: data.n },
        'an attempt ended after its delivery was stopped or taken over',
      )
    const result = { status: status ?? 'taken over', status_code: statusCode, error_class: errorClass }
    log.info({ n: data.n, request_id: requestId, ms: Math.round(ms), ...result }, 'delivery attempted')
    return result
  }

  return { runAttempt }
}

/** Stops a delivery whose destination was switched off or deleted meanwhile. */
async function stopDelivery(jobs: Deps['jobs'], trx: Transaction, claim: AttemptClaim): Promise<void> {
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
  if (stopped > 0) await settleDelivery(jobs, trx, delivery)
}

/**
 * Stores the outcomes of attempts and sends the jobs of the next ones, all or nothing. Lock order: alerts, deliveries by
 * id, destinations by id.
 * @returns the new status of each delivery, or null if another worker has taken the attempt over
 */
async function recordOutcomes(
  { jobs, config }: Pick<Deps, 'jobs' | 'config'>,
  trx: Transaction,
  members: readonly Member<EndedAttempt>[],
): Promise<(Delivery['status'] | null)[]> {
  const delays = config.webhookDelays
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
    id,
    fence,
    n,
    status: statuses[place]!,
    served: served ?? null,
    delay: delay ?? null,
    job_id: delay === undefined ? null : jobId,
  }))
  const [alerts, , updated] = await sendStatements(trx, [
    alertsOfLock(trx, deliveriesOf(ending)),
    deliveriesLock(trx, deliveriesOf(attempts)),
    endedStore(trx, ended),
  ])
  const stored = new Set(updated.map(({ id }) => id))
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
  const settling = settleDeliveries(jobs, trx, over, deliveriesOf(flagged))
  await Promise.all([inserting, settling])
  for (const { delivery, n, delay, jobId, inContext } of recorded)
    if (delay !== undefined)
      await inContext(() =>
        enqueueAttempt(jobs, trx, retryJob, delivery, { n: n + 1, after: delay, id: jobId }),
      )
  const byDestination = recorded.toSorted((a, b) => (a.destination.id < b.destination.id ? -1 : 1))
  for (const { claim, outcome } of byDestination) await recordHealth(trx, claim, outcome)
  await releaseSlots(
    trx,
    attempts.map(({ requestId }) => requestId),
  )
  return attempts.map(({ delivery }, place) => (stored.has(delivery.id) ? (statuses[place] ?? null) : null))
}

const deliveriesOf = (some: readonly { delivery: Delivery }[]) => some.map(({ delivery }) => delivery)
