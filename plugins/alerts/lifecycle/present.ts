import type { DestinationTraffic } from '../delivery/delivery-lists.ts'
import { ALERT_TYPES, alertLinks } from './message.ts'
import type { Alert, AlertTransition, AlertRule, Delivery, DeliveryAttempt, Destination } from '../models.ts'

/** An alert as the API shows it. */
export function presentAlert(alert: Alert, baseUrl: string): object {
  const { event } = alert
  return {
    id: alert.id,
    rule_name: alert.ruleName,
    alert_type: ALERT_TYPES[alert.kind],
    event_type: alert.kind,
    severity: alert.severity,
    status: alert.status,
    title: alert.title,
    delivery_failed: alert.deliveryFailed,
    occurrences: alert.occurrences,
    asset: {
      id: event.asset.id,
      qualified_name: event.asset.qualified_name,
      asset_type: event.asset.asset_type,
    },
    event: { type: event.type, change_type: event.change_type ?? null, details: event.details },
    context_data: alert.contextData,
    created_at: alert.createdAt,
    last_seen_at: alert.lastSeenAt,
    snoozed_until: alert.snoozedUntil,
    resolved_at: alert.resolvedAt,
    links: alertLinks(baseUrl, alert),
  }
}

/** A move of an alert as the API shows it. */
export function presentTransition(move: AlertTransition): object {
  return {
    from_status: move.fromStatus,
    to_status: move.toStatus,
    reason: move.reason,
    snoozed_until: move.snoozedUntil,
    actor: move.actor,
    at: move.at,
  }
}

/** A rule as the API shows it. */
export function presentRule(rule: AlertRule): object {
  return {
    id: rule.id,
    name: rule.name,
    description: rule.description,
    event_types: rule.eventTypes,
    severities: rule.severities,
    asset_ids: rule.assetIds,
    tag_filter_mode: rule.tagFilterMode,
    tag_filter_tags: rule.tagFilterTags,
    destination_ids: rule.destinationIds,
    cooldown_minutes: rule.cooldownMinutes,
    is_active: rule.isActive,
    created_at: rule.createdAt,
    updated_at: rule.updatedAt,
  }
}

/** A destination as the API shows it, placeholders in the places of its secrets. */
export function presentDestination(
  destination: Destination,
  { lastDelivery, counts }: DestinationTraffic,
): object {
  return {
    id: destination.id,
    name: destination.name,
    destination_type: destination.destinationType,
    is_active: destination.isActive,
    is_verified: destination.isVerified,
    disabled_reason: destination.disabledReason,
    failing_since: destination.failingSince,
    config: destination.config,
    created_at: destination.createdAt,
    updated_at: destination.updatedAt,
    last_delivery: lastDelivery && {
      id: lastDelivery.id,
      event_type: lastDelivery.eventType,
      status: lastDelivery.status,
      created_at: lastDelivery.createdAt,
      completed_at: lastDelivery.completedAt,
    },
    last_24_hours: counts,
  }
}

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
