import type { Severity } from '../../api.ts'

/** What an alert shows, or a finding that no alert speaks of. Earlier ones are stronger evidence of a cause. */
export const SYMPTOMS = ['connection', 'drift', 'failed_run', 'stale', 'volume', 'quality'] as const
export type Symptom = (typeof SYMPTOMS)[number]

/**
 * What each symptom can bring about downstream. A changed schema does not come from late data, and late data does not
 * come from wrong values: without this, whatever happens to be wrong upstream would be named as the cause.
 */
const EFFECTS: Record<Symptom, readonly Symptom[]> = {
  connection: ['stale', 'volume', 'quality'],
  drift: ['drift', 'failed_run', 'stale', 'volume', 'quality'],
  failed_run: ['failed_run', 'stale', 'volume', 'quality'],
  stale: ['stale', 'volume', 'quality'],
  volume: ['stale', 'volume', 'quality'],
  quality: ['volume', 'quality'],
}

export function canCause(cause: Symptom, effect: Symptom): boolean {
  return EFFECTS[cause].includes(effect)
}

const SYMPTOM_BY_KIND: Record<string, Symptom> = {
  connection_failed: 'connection',
  schema_change: 'drift',
  freshness_violation: 'stale',
}

/** What an alert shows, by its kind and the details of its event. */
export function symptomOf(kind: string, details: Record<string, unknown>): Symptom {
  if (kind === 'metric_anomaly' && details.metric_type === 'row_count') return 'volume'
  return SYMPTOM_BY_KIND[kind] ?? 'quality'
}

/** How strong a symptom is as a cause: less is stronger. An addition to a schema breaks little. */
export function weaknessOf(symptom: Symptom, severity: Severity): number {
  return symptom === 'drift' && severity === 'info' ? SYMPTOMS.length : SYMPTOMS.indexOf(symptom)
}
