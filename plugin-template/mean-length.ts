import Joi from 'joi'
import { sql, type AggregateMetric } from 'tidemark/check'

/** mean_length: the mean number of characters of the texts that are not NULL; no value of no rows. */
export const meanLength: AggregateMetric = {
  family: 'metric',
  name: 'mean_length',
  description: 'The mean number of characters of a text column.',
  config: Joi.object({}),
  column: 'required',
  kinds: ['text'],
  measure: ({ column, dialect }) => sql`avg(length(${dialect.asText(column)}))`,
}
