import Joi from 'joi'
import { NUMERIC_KINDS } from '../../connectors/catalog.ts'
import { sql } from '../../connectors/sql.ts'
import type { AggregateMetric } from '../check.ts'
import { asColumnNumber } from '../column-values.ts'

/**
 * min_value: the least number that is not NULL; no value of no rows. NaN and the
 * infinities that some engines store make it an error, not a number.
 */
export const minValue: AggregateMetric = {
  family: 'metric',
  name: 'min_value',
  label: 'Minimum',
  description: 'The least value of a numeric column.',
  config: Joi.object({}),
  column: 'required',
  kinds: NUMERIC_KINDS,
  revealsValue: 'always',
  filters: true,
  rollup: { value: 'min' },
  mergesParts: true,
  measure: context => sql`min(${asColumnNumber(context)})`,
}
