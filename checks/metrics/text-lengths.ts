import Joi from 'joi'
import { sql } from '../../connectors/sql.ts'
import type { AggregateMetric } from '../check.ts'
import { columnTextLength } from '../column-values.ts'

/** What the metrics of lengths have alike: characters of the texts that are not NULL; no value of no rows. */
const ofLengths = {
  family: 'metric',
  config: Joi.object({}),
  column: 'required',
  kinds: ['text'],
  filters: true,
  mergesParts: true,
} as const satisfies Partial<AggregateMetric>

/** min_length: the characters of the shortest text; an empty text has 0. */
export const minLength: AggregateMetric = {
  ...ofLengths,
  name: 'min_length',
  label: 'Shortest text',
  domain: 'count',
  description: 'The number of characters of the shortest text.',
  rollup: { value: 'min' },
  measure: context => sql`min(${columnTextLength(context)})`,
}

/** mean_length: the arithmetic mean of the characters of the texts. */
export const meanLength: AggregateMetric = {
  ...ofLengths,
  name: 'mean_length',
  label: 'Mean text length',
  description: 'The mean number of characters of the texts.',
  rollup: { value: 'mean' },
  measure: context => context.dialect.mean(columnTextLength(context)),
}

/** max_length: the characters of the longest text. */
export const maxLength: AggregateMetric = {
  ...ofLengths,
  name: 'max_length',
  label: 'Longest text',
  domain: 'count',
  description: 'The number of characters of the longest text.',
  rollup: { value: 'max' },
  measure: context => sql`max(${columnTextLength(context)})`,
}
