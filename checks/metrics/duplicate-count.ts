import Joi from 'joi'
import type { DerivedMetric } from '../check.ts'
import { nonNullCount, occurrenceMeasures } from '../measures.ts'

/**
 * duplicate_count: rows that are not NULL minus distinct values that are not NULL, which is the surplus: of
 * `a, a, a, b` it is 2, where UNIQUE counts 3 invalid rows. 0 of no rows.
 */
export const duplicateCount: DerivedMetric = {
  family: 'metric',
  name: 'duplicate_count',
  label: 'Duplicates',
  domain: 'count',
  description: 'The number of rows that repeat a value already counted once; NULLs are not counted.',
  config: Joi.object({}),
  column: 'required',
  comparesValues: true,
  filters: true,
  rollup: { present: 'count', distinct: 'distinct' },
  measures: context => ({
    present: nonNullCount(context),
    distinct: occurrenceMeasures(context).distinct,
  }),
  readMeasures: measured => (measured.present ?? 0) - (measured.distinct ?? 0),
}
