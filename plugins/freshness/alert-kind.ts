import type { AlertKind } from '../alerts/api.ts'

export const freshnessViolation: AlertKind = {
  name: 'freshness_violation',
  aliases: ['freshness_stale', 'freshness_alert'],
  label: 'freshness',
  isRechecked: true,
  ruleIdOf: ({ cause }) => cause,
  facts: ({ timestamp_column, last_updated, sla_threshold }, { fill }) => [
    ['Column', timestamp_column],
    ['Newest data', last_updated],
    ['Expected', fill`at most ${sla_threshold} old`],
  ],
}
