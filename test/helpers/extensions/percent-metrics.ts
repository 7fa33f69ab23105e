import type { Plugin } from '@hapi/hapi'
import Joi from 'joi'
import { sql, type AggregateMetric, type CheckType } from '../../../checks/index.ts'

const blank: Omit<AggregateMetric, 'name'> = {
  family: 'metric',
  description: 'The percentage of rows whose text is empty.',
  config: Joi.object({}),
  column: 'required',
  kinds: ['text'],
  measure: ({ column }) => sql`avg(case when ${column} = '' then 100.0 else 0.0 end)`,
}

/** Two metrics that measure the same, of which one says what its values can be. */
export const plugin: Plugin<undefined> = {
  name: 'percent-metrics',
  register(server) {
    server.checks.add(
      { ...blank, name: 'blank_percent', domain: 'percent' } as CheckType,
      { ...blank, name: 'blank_number' } as CheckType,
    )
  },
}
