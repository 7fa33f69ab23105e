import { v7 } from 'uuid'
import type { Transaction } from '../../../server/database/database.ts'
import { startDeliveries } from '../delivery/delivery.ts'
import { sweepCompanies } from '../delivery/sweep-companies.ts'
import type { Deps } from '../deps.ts'
import type { DigestContent } from '../destinations/digest.ts'
import { composeDigestBody } from '../messages/compose.ts'
import { Destination } from '../models.ts'
import { composeDigest } from './compose.ts'
import { Digest } from './models.ts'
import { duePeriod, nextTime } from './times.ts'

/** Per sweep. The others are sent by the next one, in a minute. */
const MAX_DUE = 100

/**
 * Sends the digests of all companies that are due, each with its next time in one transaction: none is sent twice for one
 * period.
 * @returns how many were sent
 */
export async function sendDueDigests(deps: Deps, log: Pick<Deps['log'], 'error'>): Promise<number> {
  const due = await deps.db.statement<{ id: string; companyId: string }>(
    `select id, company_id from digests where is_active and next_run_at <= now() order by next_run_at limit :most`,
    { most: MAX_DUE },
  )
  let count = 0
  // Each by itself: a digest that fails must not keep the others of its company.
  for (const { id, companyId } of due)
    count += await sweepCompanies(log, 'send digests', [{ companyId }], () =>
      deps.db.company(companyId, trx => sendDueDigest(deps, trx, id)),
    )
  return count
}

async function sendDueDigest(deps: Deps, trx: Transaction, id: string): Promise<number> {
  const now = new Date()
  const digest = await Digest.query(trx).findOne({ id, isActive: true }).where('nextRunAt', '<=', now)
  if (!digest) return 0
  const period = duePeriod(digest, now)
  // Another process that claims it waits for this transaction, and then finds another time.
  const claimed = await Digest.query(trx)
    .where({ id, isActive: true })
    .where('nextRunAt', '<=', now)
    .patch({ nextRunAt: nextTime(digest, now), coveredUntil: period.until })
  if (claimed === 0) return 0
  await startDigest(deps, trx, digest, await composeDigest(deps, trx, digest, period))
  return 1
}

/** Hands a digest to delivery. */
export async function startDigest(
  deps: Deps,
  trx: Transaction,
  { destinationId }: Pick<Digest, 'destinationId'>,
  content: DigestContent,
): Promise<void> {
  const destination = await Destination.query(trx).findById(destinationId).throwIfNotFound()
  await startDeliveries(deps, trx, [
    {
      subject: { kind: 'digest', id: v7() },
      alertId: null,
      destinationId,
      ruleIds: [],
      eventType: 'digest',
      body: composeDigestBody(deps, destination, content),
      isFailing: destination.failingSince !== null,
      isWaiting: false,
      postponedUntil: null,
    },
  ])
}
