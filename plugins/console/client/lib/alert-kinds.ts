import type { AlertEventType } from 'tidemark/client'
import { api } from './api.ts'

/** What people call the kinds of alerts of checks, whose features state no label yet. */
const CHECK_LABELS: Record<string, string> = {
  validity_failure: 'invalid rows',
  metric_anomaly: 'unusual metric',
  referential_failure: 'broken references',
  freshness_violation: 'stale table',
}

/** The kinds of alerts, also of extensions, with what people call them. */
export async function loadAlertKinds(signal: AbortSignal): Promise<AlertEventType[]> {
  const { data } = await api.get('/api/v1/sdk/alerts/rules', { query: { limit: 1 }, signal })
  return labelKinds(data.event_types)
}

/** Kinds with what people call them, by which they are sorted. */
export const labelKinds = (kinds: readonly AlertEventType[]): AlertEventType[] =>
  kinds
    .map(kind => ({ ...kind, label: CHECK_LABELS[kind.event_type] ?? kind.label }))
    .toSorted((a, b) => a.label.localeCompare(b.label))
