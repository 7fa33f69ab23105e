import { raw } from 'objection'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { pageOf, pagination } from '../../../server/http/page.ts'
import type { DeliveryFilters } from '../destinations/schemas.ts'
import { Delivery, DeliveryAttempt, Destination, NEWEST_FIRST } from '../models.ts'
import { presentDelivery } from './present.ts'

/** Characters of a response body in lists; up to 16 KiB are stored. */
const EXCERPT_CHARACTERS = 2_000

/** One page of the deliveries to a destination, or about an alert, with all attempts. */
export async function listDeliveries(
  trx: Transaction,
  subject: { destinationId: string } | { alertId: string },
  { status, event_type: eventType, ...page }: DeliveryFilters,
) {
  const matching = Delivery.query(trx).where(subject).orderBy(NEWEST_FIRST)
  if (status) void matching.whereIn('status', status)
  if (eventType) void matching.whereIn('eventType', eventType)
  const { results: deliveries, total } = await pageOf(matching, page)
  const attempts = await DeliveryAttempt.query(trx)
    // The last of two columns with one name wins.
    .select('*', raw('left(response_body, ?) as response_body', [EXCERPT_CHARACTERS]))
    .whereIn(
      'deliveryId',
      deliveries.map(({ id }) => id),
    )
    .orderBy('n')
  // Including deleted ones: the record of their deliveries stays.
  const destinations = await Destination.query(trx)
    .select('id', 'name', 'destinationType')
    .findByIds([...new Set(deliveries.map(({ destinationId }) => destinationId))])
  const titles = await readTitles(
    trx,
    deliveries.flatMap(({ alertId, incidentId }) => incidentId ?? alertId ?? []),
  )
  const data = deliveries.map(delivery => {
    const own = attempts.filter(({ deliveryId }) => deliveryId === delivery.id)
    const destination = destinations.find(({ id }) => id === delivery.destinationId)
    const subjectTitle = titles.get(delivery.incidentId ?? delivery.alertId ?? '') ?? null
    return { ...presentDelivery(delivery, own, destination), subject_title: subjectTitle }
  })
  return { data: { data, pagination: pagination(total, page) } }
}

/** The titles of incidents and alerts, by their ids. */
async function readTitles(trx: Transaction, ids: readonly string[]): Promise<Map<string, string>> {
  const titled = await rows<{ id: string; title: string }>(
    trx,
    `select id, title from alerts where company_id = :companyId and id = any(cast(:ids as uuid[]))
      union all
     select id, title from incidents where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids: [...new Set(ids)] },
  )
  return new Map(titled.map(({ id, title }) => [id, title]))
}
