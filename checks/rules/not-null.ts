import Joi from 'joi'
import type { TableRule } from '../check.ts'
import { nonNullCount } from '../measures.ts'

/** NOT_NULL: the column has no NULL. An empty text is a value; `treat_null_as_valid` does not apply. */
export const notNull: TableRule = {
  family: 'rule',
  name: 'NOT_NULL',
  failure: 'without a value',
  description: 'The column has no NULL.',
  config: Joi.object({}),
  column: 'required',
  ignoresNullPolicy: true,
  filters: true,
  rollup: { present: 'count' },
  mergesParts: true,
  measures: context => ({ present: nonNullCount(context) }),
  readMeasures: (measured, total) => ({ total, invalid: total - (measured.present ?? 0) }),
  samples: ({ column, info, dialect }) => ({ where: dialect.isNull(column, info) }),
}
