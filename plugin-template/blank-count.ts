import Joi from 'joi'
import { sql, type AggregateMetric } from 'tidemark/check'

/** blank_count: the number of texts that are empty or hold spaces alone; NULL is no text. 0 of no rows. */
export const blankCount: AggregateMetric = {
  family: 'metric',
  name: 'blank_count',
  domain: 'count',
  description: 'The number of texts that are empty or hold spaces alone.',
  config: Joi.object({}),
  column: 'required',
  kinds: ['text'],
  measure: ({ column, dialect }) => dialect.countIf(sql`trim(${column}) = ''`),
}
