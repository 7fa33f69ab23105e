import Joi from 'joi'
import type { AggregateMetric } from '../check.ts'
import { distinctCount } from '../measures.ts'

/** distinct_count: distinct values that are not NULL, by the column's own collation; 0 of no rows. */
export const distinctCountMetric: AggregateMetric = {
  family: 'metric',
  name: 'distinct_count',
  description: 'The number of distinct values that are not NULL.',
  config: Joi.object({}),
  column: 'required',
  kinds: ['integer', 'decimal', 'float', 'text', 'boolean', 'date', 'timestamp', 'time', 'binary', 'other'],
  measure: ({ column }) => distinctCount(column),
}
