import { raw } from 'objection'
import type { Transaction } from '../../../server/database/database.ts'
import { pageOf, pagination } from '../../../server/http/page.ts'
import type { DeliveryFilters } from '../destinations/schemas.ts'
import { Incident } from '../incidents/models.ts'
import { Alert, Delivery, DeliveryAttempt, Destination, NEWEST_FIRST } from '../models.ts'
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
  const idsOf = (name: 'alertId' | 'incidentId') => [...new Set(deliveries.flatMap(each => each[name] ?? []))]
  const subjects = [
    ...(await Alert.query(trx).select('id', 'title').findByIds(idsOf('alertId'))),
    ...(await Incident.query(trx).select('id', 'title').findByIds(idsOf('incidentId'))),
  ]
  const titles = new Map(subjects.map(({ id, title }) => [id, title]))
  const data = deliveries.map(delivery => {
    const own = attempts.filter(({ deliveryId }) => deliveryId === delivery.id)
    const destination = destinations.find(({ id }) => id === delivery.destinationId)
    const subjectTitle = titles.get(delivery.incidentId ?? delivery.alertId ?? '') ?? null
    return { ...presentDelivery(delivery, own, destination), subject_title: subjectTitle }
  })
  return { data: { data, pagination: pagination(total, page) } }
}
