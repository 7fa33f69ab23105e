import Joi from 'joi'
import { NUMERIC_KINDS } from '../../connectors/catalog.ts'
import type { AggregateMetric } from '../check.ts'

/**
 * standard_deviation: that of a sample, the square root of Σ(x − mean)² ÷ (n − 1) over the n numbers that are not NULL; no
 * value below two of them. Engines compute it in one pass with doubles. NaN and the infinities that some engines store
 * make it an error, not a number.
 */
export const standardDeviation: AggregateMetric = {
  family: 'metric',
  name: 'standard_deviation',
  description: 'The standard deviation of a numeric column, as that of a sample.',
  config: Joi.object({}),
  column: 'required',
  kinds: NUMERIC_KINDS,
  // It is how far two rows are apart.
  revealsValue: 'grouped',
  filters: true,
  rollup: { value: 'standard_deviation' },
  mergesParts: true,
  measure: ({ value, dialect }) => dialect.standardDeviation(value),
}
