import type { AlertKind } from '../alerts/api.ts'
import { learnExpected } from './feedback.ts'

export const metricAnomaly: AlertKind = {
  name: 'metric_anomaly',
  label: 'metric',
  isRechecked: true,
  ruleIdOf: ({ details }) => details.metric_id,
  learnExpected,
  facts: ({ column_name, value, expected_value, range: band }, { fill, join, range }) => [
    ['Column', column_name],
    ['Found', value],
    ['Expected', join([expected_value, fill`from ${range(band)}`])],
  ],
}
