import Joi from 'joi'
import { NUMERIC_KINDS } from '../../connectors/catalog.ts'
import type { AggregateMetric } from '../check.ts'

/**
 * mean: the arithmetic mean of the numbers that are not NULL; no value of no rows. NaN and the
 * infinities that some engines store make it an error, not a number.
 */
export const mean: AggregateMetric = {
  family: 'metric',
  name: 'mean',
  description: 'The arithmetic mean of a numeric column.',
  config: Joi.object({}),
  column: 'required',
  kinds: NUMERIC_KINDS,
  revealsValue: 'grouped',
  filters: true,
  rollup: { value: 'mean' },
  mergesParts: true,
  measure: ({ value, dialect }) => dialect.mean(value),
}
