import Joi from 'joi'
import { held } from '../../server/http/envelopes.ts'
import type { AlertKind } from '../alerts/api.ts'

export const freshnessViolation: AlertKind = {
  name: 'freshness_violation',
  title: 'stale table',
  aliases: ['freshness_stale', 'freshness_alert'],
  label: 'freshness',
  symptom: 'stale',
  isRechecked: true,
  details: Joi.object({
    table_path: held.text,
    timestamp_column: held.text.allow(null),
    last_updated: held.time.allow(null),
    sla_threshold: held.text.description('Such as 24h.'),
    data_age_minutes: held.count,
    explanation: held.text.description('Where the threshold comes from.'),
  }),
  ruleIdOf: ({ cause }) => cause,
  facts: ({ timestamp_column, last_updated }) => [
    ['Column', timestamp_column],
    ['Newest data', last_updated],
  ],
}
