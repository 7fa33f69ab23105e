/** What was sent to destinations lately. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { leastUuid } from '../../../server/database/months.ts'
import type { Delivery } from '../models.ts'

const DAY_MS = 86_400_000

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
): Promise<Map<string, DestinationTraffic>> {
  const traffic = await rows<TrafficRow>(trx, READ_TRAFFIC, {
    companyId: companyOf(trx),
    ids: [...destinationIds],
    since: leastUuid(new Date(Date.now() - 2 * DAY_MS)),
  })
  return new Map(traffic.map(row => [row.destinationId, toTraffic(row)]))
}

const READ_TRAFFIC = `
    select asked.id as destination_id, newest.*, lately.*
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
            and id >= :since) lately`

function toTraffic(row: TrafficRow): DestinationTraffic {
  const { id, status, eventType, createdAt, completedAt, pending, delivered, failed, stopped } = row
  return {
    lastDelivery: id === null ? null : { id, status, eventType, createdAt, completedAt },
    counts: { pending, delivered, failed, stopped },
  }
}
