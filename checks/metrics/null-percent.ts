import Joi from 'joi'
import type { DerivedMetric } from '../check.ts'
import { nonNullCount } from '../measures.ts'

/** null_percent: 100 × rows whose column is NULL ÷ all rows; 0 of no rows. An empty text is not NULL. */
export const nullPercent: DerivedMetric = {
  family: 'metric',
  name: 'null_percent',
  label: 'Null rate',
  domain: 'percent',
  description: 'The percentage of rows whose column is NULL, 0 to 100.',
  config: Joi.object({}),
  column: 'required',
  filters: true,
  rollup: { present: 'count' },
  mergesParts: true,
  measures: context => ({ present: nonNullCount(context) }),
  readMeasures: (measured, total) => (total === 0 ? 0 : (100 * (total - (measured.present ?? 0))) / total),
}
