import { raw } from 'objection'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { leastUuid } from '../../../server/database/months.ts'
import { pageOf, pagination, type Page } from '../../../server/http/page.ts'
import type { MessageType } from '../destinations/destination.ts'
import { Delivery, DeliveryAttempt, Destination, NEWEST_FIRST } from '../models.ts'
import { presentDelivery } from './present.ts'

const DAY_MS = 86_400_000

/** Characters of a response body in lists; up to 16 KiB are stored. */
const EXCERPT_CHARACTERS = 2_000

export interface DeliveryFilters extends Page {
  status?: Delivery['status'][]
  event_type?: MessageType[]
}

/** One page of the deliveries to a destination, or about an alert, with all attempts. */
export async function listDeliveries(
  trx: Transaction,
  subject: { destinationId: string } | { alertId: string },
  { status, event_type: eventType, ...page }: DeliveryFilters,
) {
  const matching = Delivery.query(trx).where(subject).orderBy(NEWEST_FIRST)
  if (status) void matching.whereIn('status', status)
  if (eventType) void matching.whereIn('eventType', eventType)
  const { results: found, total } = await pageOf(matching, page)
  const attempts = await DeliveryAttempt.query(trx)
    // The last of two columns with one name wins.
    .select('*', raw('left(response_body, ?) as response_body', [EXCERPT_CHARACTERS]))
    .whereIn(
      'deliveryId',
      found.map(({ id }) => id),
    )
    .orderBy('n')
  // Including deleted ones: the record of their deliveries stays.
  const destinations = await Destination.query(trx)
    .select('id', 'name', 'destinationType')
    .findByIds([...new Set(found.map(({ destinationId }) => destinationId))])
  const data = found.map(delivery => {
    const own = attempts.filter(({ deliveryId }) => deliveryId === delivery.id)
    const destination = destinations.find(({ id }) => id === delivery.destinationId)
    return presentDelivery(delivery, own, destination)
  })
  return { data: { data, pagination: pagination(total, page) } }
}

export interface DestinationTraffic {
  lastDelivery: Pick<Delivery, 'id' | 'status' | 'eventType' | 'createdAt' | 'completedAt'> | null
  /** Counts the last 24 hours. */
  counts: Record<Delivery['status'], number>
}

type TrafficRow = DestinationTraffic['counts'] & {
  destinationId: string
  id: string | null
} & Omit<NonNullable<DestinationTraffic['lastDelivery']>, 'id'>

/** Loads the traffic of some destinations in one statement. */
export async function loadTraffic(
  trx: Transaction,
  destinationIds: readonly string[],
): Promise<(destinationId: string) => DestinationTraffic> {
  const found = await rows<TrafficRow>(
    trx,
    `select asked.id as destination_id, newest.*, lately.*
       from unnest(cast(:ids as uuid[])) as asked (id)
       left join lateral (
         select id, status, event_type, created_at, completed_at from deliveries
          where company_id = :companyId and destination_id = asked.id
          order by created_at desc, id desc limit 1) newest on true
      cross join lateral (
         select count(*) filter (where status = 'pending')::int as pending,
                count(*) filter (where status = 'delivered')::int as delivered,
                count(*) filter (where status = 'failed')::int as failed,
                count(*) filter (where status = 'stopped')::int as stopped
           from deliveries
          where company_id = :companyId and destination_id = asked.id and created_at > now() - interval '24 hours'
            -- Prunes the partitions of earlier months.
            and id >= :since) lately`,
    {
      companyId: companyOf(trx),
      ids: [...destinationIds],
      since: leastUuid(new Date(Date.now() - 2 * DAY_MS)),
    },
  )
  const traffic = new Map(found.map(row => [row.destinationId, toTraffic(row)]))
  return destinationId => traffic.get(destinationId)!
}

function toTraffic(row: TrafficRow): DestinationTraffic {
  const { id, status, eventType, createdAt, completedAt, pending, delivered, failed, stopped } = row
  return {
    lastDelivery: id === null ? null : { id, status, eventType, createdAt, completedAt },
    counts: { pending, delivered, failed, stopped },
  }
}
