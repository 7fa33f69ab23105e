import Joi from 'joi'
import { NUMERIC_KINDS } from '../../connectors/catalog.ts'
import { sql } from '../../connectors/sql.ts'
import type { AggregateMetric } from '../check.ts'
import { asColumnNumber } from '../column-values.ts'

/**
 * max_value: the greatest number that is not NULL; no value of no rows. NaN and the
 * infinities that some engines store make it an error, not a number.
 */
export const maxValue: AggregateMetric = {
  family: 'metric',
  name: 'max_value',
  label: 'Maximum',
  description: 'The greatest value of a numeric column.',
  config: Joi.object({}),
  column: 'required',
  kinds: NUMERIC_KINDS,
  revealsValue: 'always',
  filters: true,
  rollup: { value: 'max' },
  mergesParts: true,
  measure: context => sql`max(${asColumnNumber(context)})`,
}
