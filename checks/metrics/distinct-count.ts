import Joi from 'joi'
import type { DerivedMetric } from '../check.ts'
import { occurrences } from '../measures.ts'

/** distinct_count: distinct values that are not NULL, by the column's own collation; 0 of no rows. */
export const distinctCountMetric: DerivedMetric = {
  family: 'metric',
  name: 'distinct_count',
  description: 'The number of distinct values that are not NULL.',
  config: Joi.object({}),
  column: 'required',
  kinds: ['integer', 'decimal', 'float', 'text', 'boolean', 'date', 'timestamp', 'time', 'binary', 'other'],
  grows: { distinct: 'distinct' },
  measures: context => ({ distinct: occurrences(context).distinct }),
  read: ({ distinct }) => distinct ?? 0,
}
