import Joi from 'joi'
import { held } from '../../server/http/envelopes.ts'
import type { AlertKind } from '../alerts/api.ts'

export const metricAnomaly: AlertKind = {
  name: 'metric_anomaly',
  title: 'unusual metric',
  label: 'metric',
  symptom: ({ metric_type: type }) => (type === 'row_count' ? 'volume' : 'quality'),
  isRechecked: true,
  details: Joi.object({
    metric_id: held.text,
    metric_type: held.text,
    table_path: held.text,
    column_name: held.text.allow(null),
    filter: held.text.description('The rows that it is about, of a check with a filter.'),
    bucket_start: held.time.description('The bucket of time that it is about, of a check with a window.'),
    bucket_end: held.time,
    value: held.number.allow(null),
    expected_value: held.number.allow(null),
    range: Joi.object({ low: held.number.allow(null), high: held.number.allow(null) }),
    z_score: held.number.allow(null),
    breach: Joi.object({
      threshold: Joi.valid('min', 'max', 'max_change_percent'),
      limit: held.number,
      excess: held.number.allow(null),
      before: held.number.allow(null),
    }).description('The threshold that the value breaks.'),
    allowed: held.text.description('What the threshold allows: `at most 10 %`.'),
    beyond: held.text.allow(null).description('How far beyond it the value is: `30 %`.'),
    explanation: held.text,
    group_values: Joi.object().description('The worst group, of a metric by groups.'),
    anomalous_groups: held.count,
    history: Joi.array().items(Joi.object({ captured_at: held.time, value: held.number.allow(null) })),
  }).unknown(),
  ruleIdOf: ({ details }) => details.metric_id,
  // Its title says what was found and what was expected.
  facts: ({ column_name, filter, anomalous_groups: groups }, { fill }) => [
    ['Column', column_name],
    ['Rows', filter],
    ...(Number(groups ?? 1) > 1 ? [['Groups', fill`${groups} are unusual`] as const] : []),
  ],
}
