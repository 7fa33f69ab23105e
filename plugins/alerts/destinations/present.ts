import { toApiNames } from '../../../server/http/fields.ts'
import type { DestinationTraffic } from '../delivery/delivery-lists.ts'
import type { Destination } from '../models.ts'

/** A destination as the API shows it, with placeholders instead of secrets. */
export function presentDestination(
  destination: Destination,
  { lastDelivery, counts }: DestinationTraffic,
): object {
  return {
    id: destination.id,
    name: destination.name,
    destination_type: destination.destinationType,
    messages: destination.messages,
    is_active: destination.isActive,
    is_verified: destination.isVerified,
    disabled_reason: destination.disabledReason,
    failing_since: destination.failingSince,
    config: destination.config,
    created_at: destination.createdAt,
    updated_at: destination.updatedAt,
    last_delivery: lastDelivery && toApiNames(lastDelivery),
    last_24_hours: counts,
  }
}
