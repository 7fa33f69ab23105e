import Joi from 'joi'
import { NUMERIC_KINDS } from '../../connectors/catalog.ts'
import type { AggregateMetric } from '../check.ts'
import { shiftDecimal } from '../decimals.ts'

/** The fraction as a person would write it: 99.9 / 100 is 0.9990000000000001. */
function fractionOf({ percentile_value: percentage }: { percentile_value: number }): number {
  return Number(shiftDecimal(percentage, -2))
}

/**
 * percentile: the continuous (linearly interpolated) percentile of the numbers that are not NULL, as SQL's
 * percentile_cont; `percentile_value` from 0, the least, over 50, the median, to 100, the greatest. Exact, for the
 * whole table and for each group. No value of no rows.
 */
export const percentile: AggregateMetric<{ percentile_value: number }> = {
  family: 'metric',
  name: 'percentile',
  description: 'The interpolated percentile of a numeric column.',
  config: Joi.object({ percentile_value: Joi.number().min(0).max(100).required() }),
  column: 'required',
  kinds: NUMERIC_KINDS,
  revealsValue: 'always',
  filters: true,
  needs: ['percentile'],
  measure: ({ value, config, dialect, rows }) => dialect.percentile(value, fractionOf(config), rows),
  percentileOf: ({ value, config }) => ({ value, fraction: fractionOf(config) }),
}
