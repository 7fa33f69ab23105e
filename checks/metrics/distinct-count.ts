import Joi from 'joi'
import type { DerivedMetric } from '../check.ts'
import { occurrenceMeasures } from '../measures.ts'

/** distinct_count: distinct values that are not NULL, by the column's own collation; 0 of no rows. */
export const distinctCountMetric: DerivedMetric = {
  family: 'metric',
  name: 'distinct_count',
  label: 'Distinct values',
  domain: 'count',
  description: 'The number of distinct values that are not NULL.',
  config: Joi.object({}),
  column: 'required',
  comparesValues: true,
  filters: true,
  rollup: { distinct: 'distinct' },
  measures: context => ({ distinct: occurrenceMeasures(context).distinct }),
  readMeasures: ({ distinct }) => distinct ?? 0,
}
