import { randomUUID } from 'node:crypto'
import type { Request } from '@hapi/hapi'
import { v7 } from 'uuid'
import type { Transaction } from '../../../server/database/database.ts'
import { databaseNow } from '../../../server/database/now.ts'
import { caller } from '../../../server/http/access.ts'
import { apiError } from '../../../server/http/errors.ts'
import { isSilentAfter } from '../delivery/health.ts'
import { attemptRow } from '../delivery/outcomes.ts'
import { attemptDelivery } from '../delivery/send.ts'
import { releaseSlots, waitForSlot } from '../delivery/slots.ts'
import type { Deps } from '../deps.ts'
import { findDestination } from '../destinations/destinations.ts'
import { Delivery, DeliveryAttempt, Destination } from '../models.ts'
import { composeBody } from './compose.ts'
import { testPayload } from './message.ts'

const MAX_TESTS_PER_MINUTE = 10
/** A little longer than an attempt may take. */
const SLOT_WAIT_MS = 35_000

/**
 * Sends a test message as soon as its destination has a free slot, and waits for its outcome. A 2xx answer verifies the
 * destination.
 * @param audit called in the transaction that records the outcome
 * @throws 429 for too many tests of the destination, 409 if no slot becomes free in time
 */
export async function sendTestMessage(
  deps: Deps,
  request: Request,
  id: string,
  audit: (trx: Transaction, isDelivered: boolean) => Promise<unknown>,
): Promise<{ delivery: Delivery; attempt: DeliveryAttempt }> {
  const { companyId } = caller(request)
  const destination = await deps.db.company(companyId, trx => findDestination(trx, id))
  await request.server.limits.take(`destination-test:${id}`, MAX_TESTS_PER_MINUTE, 60, request)
  const requestId = randomUUID()
  if (!(await waitForSlot(deps.db, companyId, id, requestId, SLOT_WAIT_MS)))
    throw apiError(
      'CONFLICT',
      'Other messages are on their way to this destination, and none has ended yet: try again in a minute',
      { destination_id: id },
    )
  try {
    return await attemptTestMessage(deps, destination, requestId, audit)
  } finally {
    await deps.db.company(companyId, trx => releaseSlots(trx, [requestId]))
  }
}

async function attemptTestMessage(
  deps: Deps,
  destination: Destination,
  requestId: string,
  audit: (trx: Transaction, isDelivered: boolean) => Promise<unknown>,
): Promise<{ delivery: Delivery; attempt: DeliveryAttempt }> {
  const { id, companyId } = destination
  const messageId = randomUUID()
  const eventType = 'alert.test'
  const payload = testPayload(messageId, destination.name, deps.config.baseUrl)
  const body = composeBody(deps, destination, payload)
  const { details: _details, ...event } = payload.event
  const about = { severity: payload.alert.severity, event }
  const message = { id: v7(), messageId, eventType, body } as const
  const attempted = { requestId, startedAt: new Date() }
  const outcome = await attemptDelivery(
    deps,
    destination,
    { ...message, served: [] },
    { n: 1, requestId, about },
    new AbortController().signal,
  )
  return deps.db.company(companyId, async trx => {
    const delivery = await Delivery.query(trx)
      .insert({
        ...message,
        served: [...(outcome.served ?? [])],
        alertId: null,
        destinationId: id,
        trigger: 'test',
        status: outcome.isDelivered ? 'delivered' : 'failed',
        attempt: 1,
        completedAt: databaseNow(),
      })
      .returning('*')
    const attempt = await DeliveryAttempt.query(trx)
      .insert(attemptRow({ delivery, ...attempted }, 1, outcome))
      .returning('*')
    const health = {
      ...(outcome.isDelivered && { isVerified: true, failingSince: null }),
      ...(destination.silentSince && !isSilentAfter(outcome, true) && { silentSince: null }),
    }
    if (Object.keys(health).length > 0) await Destination.query(trx).where({ id }).patch(health)
    await audit(trx, outcome.isDelivered)
    return { delivery, attempt }
  })
}
