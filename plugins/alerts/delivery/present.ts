import { toApiNames } from '../../../server/http/fields.ts'
import type { Delivery, DeliveryAttempt, Destination } from '../models.ts'

export function presentDelivery(
  delivery: Delivery,
  attempts: readonly DeliveryAttempt[],
  destination?: Pick<Destination, 'name' | 'destinationType'>,
): object {
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

export function presentAttempt(attempt: DeliveryAttempt): object {
  const { deliveryId: _deliveryId, companyId: _companyId, ...shown } = attempt
  return toApiNames(shown)
}
