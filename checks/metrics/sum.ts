import Joi from 'joi'
import { NUMERIC_KINDS } from '../../connectors/catalog.ts'
import { sql } from '../../connectors/sql.ts'
import type { AggregateMetric } from '../check.ts'

/**
 * sum: adds up the numbers that are not NULL; 0 of no rows, as a sum of nothing is, so that a table without rows is a
 * drop and not a gap. Integers and decimals are added exactly, floats as doubles. NaN and the infinities that some
 * engines store make it an error, not a number.
 */
export const sum: AggregateMetric = {
  family: 'metric',
  name: 'sum',
  description: 'The sum of a numeric column; 0 without rows.',
  config: Joi.object({}),
  column: 'required',
  kinds: NUMERIC_KINDS,
  revealsValue: 'grouped',
  filters: true,
  rollup: { value: 'count' },
  mergesParts: true,
  measure: ({ value, info, dialect }) => sql`coalesce(${dialect.sum(value, info)}, 0)`,
}
