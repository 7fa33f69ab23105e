import type { Delivery, DeliveryAttempt, Destination } from '../models.ts'

/** A delivery and its attempts as the API shows them. */
export function presentDelivery(
  delivery: Delivery,
  attempts: readonly DeliveryAttempt[],
  destination?: Pick<Destination, 'name' | 'destinationType'>,
): object {
  return {
    id: delivery.id,
    alert_id: delivery.alertId,
    destination_id: delivery.destinationId,
    ...(destination && {
      destination_name: destination.name,
      destination_type: destination.destinationType,
    }),
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

/** An attempt as the API shows it. */
export function presentAttempt(attempt: DeliveryAttempt): object {
  return {
    n: attempt.n,
    request_id: attempt.requestId,
    trigger: attempt.trigger,
    started_at: attempt.startedAt,
    ended_at: attempt.endedAt,
    status_code: attempt.statusCode,
    error_class: attempt.errorClass,
    error_message: attempt.errorMessage,
    address: attempt.address,
    tls_version: attempt.tlsVersion,
    latency_ms: attempt.latencyMs,
    is_slow: attempt.isSlow,
    response_body: attempt.responseBody,
  }
}
