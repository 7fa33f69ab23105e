import Joi from 'joi'
import type { AggregateMetric } from '../check.ts'
import { rowCount } from '../measures.ts'

/** row_count: all rows of the table; 0 when it is empty. A column is ignored. */
export const rowCountMetric: AggregateMetric = {
  family: 'metric',
  name: 'row_count',
  domain: 'rows',
  description: 'The number of rows of the table.',
  config: Joi.object({}),
  column: 'ignored',
  measure: () => rowCount,
  rollup: { value: 'count' },
}
