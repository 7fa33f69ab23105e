import { v7 } from 'uuid'
import { companyOf, insertAll, type Transaction } from '../../../server/database/database.ts'
import { secondsFromNow } from '../../../server/database/now.ts'
import type { Item, JobKind } from '../../../server/jobs/jobs.ts'
import type { Deps } from '../deps.ts'
import type { EventType } from '../destinations/destination.ts'
import { Delivery, Destination } from '../models.ts'
import { deliverJob, retryJob, type AttemptData } from './job-kinds.ts'

/** One message about an alert or an incident, or a digest, to one destination. */
export interface OutgoingMessage {
  /** What receivers know it by. */
  subject: { kind: 'alert' | 'incident' | 'digest'; id: string }
  /** The alert that it shows; null of a digest. */
  alertId: string | null
  destinationId: string
  ruleIds: string[]
  eventType: EventType
  body: string
  /** Whether all recent attempts to reach the destination have failed. */
  isFailing: boolean
  /** Whether an earlier message of the subject to the destination has to end first; its end starts this one. */
  isWaiting: boolean
  /** Until when a cooldown postpones it; null if none does. The sweep sends it then if its alert is still open. */
  postponedUntil: Date | null
}

/**
 * Stores messages, and the jobs of the first attempts of those that neither wait nor are postponed.
 * @returns the ids of the deliveries
 */
export async function startDeliveries(
  { jobs, config }: Pick<Deps, 'jobs' | 'config'>,
  trx: Transaction,
  messages: readonly OutgoingMessage[],
): Promise<string[]> {
  const [delay = 0] = config.webhookDelays
  const deliveries = messages.map(({ subject, isFailing, isWaiting, postponedUntil, ...message }) => {
    const isStarted = !isWaiting && postponedUntil === null
    return {
      kind: !isStarted ? null : isFailing ? retryJob : deliverJob,
      row: {
        ...message,
        id: v7(),
        messageId: subject.id,
        incidentId: subject.kind === 'incident' ? subject.id : null,
        jobId: isStarted ? v7() : null,
        nextAttemptAt: isStarted ? secondsFromNow(delay) : postponedUntil,
      },
    }
  })
  for (const kind of [deliverJob, retryJob]) {
    const items = deliveries
      .filter(delivery => delivery.kind === kind)
      .map(({ row }) => ({ ...attemptJobItem(trx, row, 1, delay), id: row.jobId! }))
    await jobs.sendAll(kind, items, { trx })
  }
  await insertAll(
    deliveries.map(({ row }) => row),
    chunk => Delivery.query(trx).insert(chunk),
  )
  return deliveries.map(({ row }) => row.id)
}

/** Sends the job of the `n`th attempt in `after` seconds. @returns its id */
export async function enqueueAttempt(
  jobs: Deps['jobs'],
  trx: Transaction,
  queue: JobKind<AttemptData>,
  delivery: Pick<Delivery, 'id' | 'destinationId'>,
  { n, after = 0, id = v7() }: { n: number; after?: number; id?: string },
): Promise<string> {
  const { data, ...options } = attemptJobItem(trx, delivery, n, after)
  return jobs.send(queue, data, { trx, id, ...options })
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
export async function redeliver(jobs: Deps['jobs'], trx: Transaction, delivery: Delivery): Promise<Delivery> {
  const jobId = await enqueueAttempt(jobs, trx, deliverJob, delivery, { n: delivery.attempt + 1 })
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

/** Sends a new job, in `after` seconds, for a locked delivery that has none. */
export async function requeueDelivery(
  jobs: Deps['jobs'],
  trx: Transaction,
  delivery: Delivery,
  after = 0,
): Promise<void> {
  const destination = await Destination.query(trx).findById(delivery.destinationId).throwIfNotFound()
  const isFirst = delivery.attempt === 0 && !destination.failingSince && !destination.silentSince
  const kind = isFirst ? deliverJob : retryJob
  const jobId = await enqueueAttempt(jobs, trx, kind, delivery, { n: delivery.attempt + 1, after })
  await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({ jobId, nextAttemptAt: secondsFromNow(after) })
}
