import type { Transaction } from '../../../server/database/database.ts'
import { toApiNames } from '../../../server/http/fields.ts'
import type { Delivery, DeliveryAttempt, Destination } from '../models.ts'
import { loadTraffic, type DestinationTraffic } from './traffic.ts'

/** @param attempts all attempts of the delivery, the first first */
export function presentDelivery(
  delivery: Delivery,
  attempts: readonly DeliveryAttempt[],
  destination?: Pick<Destination, 'name' | 'destinationType'>,
) {
  return {
    id: delivery.id,
    alert_id: delivery.alertId,
    incident_id: delivery.incidentId,
    destination_id: delivery.destinationId,
    ...(destination && { destination_name: destination.name, destination_type: destination.destinationType }),
    rule_ids: delivery.ruleIds,
    event_type: delivery.eventType,
    trigger: delivery.trigger,
    status: delivery.status,
    attempt_count: delivery.attempt,
    next_attempt_at: delivery.nextAttemptAt,
    stopped_reason: delivery.stoppedReason,
    created_at: delivery.createdAt,
    completed_at: delivery.completedAt,
    attempts: attempts.map(presentAttempt),
  }
}

export function presentAttempt(attempt: DeliveryAttempt) {
  const { deliveryId: _deliveryId, companyId: _companyId, ...shown } = attempt
  return toApiNames(shown)
}

/** Destinations as the API shows them, with placeholders instead of secrets, and with what was sent to them. */
export async function presentDestinations(trx: Transaction, destinations: readonly Destination[]) {
  const traffic = await loadTraffic(
    trx,
    destinations.map(({ id }) => id),
  )
  return destinations.map(destination => presentDestination(destination, traffic.get(destination.id)!))
}

function presentDestination(destination: Destination, { lastDelivery, counts }: DestinationTraffic) {
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
