import Joi from 'joi'
import type { DerivedMetric } from '../check.ts'

/** row_count: all rows of the table; 0 when it is empty. A column is ignored. */
export const rowCountMetric: DerivedMetric = {
  family: 'metric',
  name: 'row_count',
  domain: 'rows',
  description: 'The number of rows of the table.',
  config: Joi.object({}),
  column: 'ignored',
  filters: true,
  // The rows of a table are counted in every statement of it.
  rollup: {},
  mergesParts: true,
  measures: () => ({}),
  readMeasures: (_, total) => total,
}
