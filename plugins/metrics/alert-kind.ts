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
    value: held.number.allow(null),
    expected_value: held.number.allow(null),
    range: Joi.object({ low: held.number.allow(null), high: held.number.allow(null) }),
    z_score: held.number.allow(null),
    explanation: held.text,
    group_values: Joi.object().description('The worst group, of a metric by groups.'),
    anomalous_groups: held.count,
    history: Joi.array().items(Joi.object({ captured_at: held.time, value: held.number.allow(null) })),
  }).unknown(),
  ruleIdOf: ({ details }) => details.metric_id,
  facts: ({ column_name, value, expected_value, range: band }, { fill, join, range }) => [
    ['Column', column_name],
    ['Found', value],
    ['Expected', join([expected_value, fill`from ${range(band)}`])],
  ],
}
