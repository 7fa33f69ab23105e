import type { CheckType } from '../check.ts'
import { customSqlMetric } from './custom-sql.ts'
import { distinctCountMetric } from './distinct-count.ts'
import { duplicateCount } from './duplicate-count.ts'
import { maxValue } from './max-value.ts'
import { mean } from './mean.ts'
import { minValue } from './min-value.ts'
import { nullPercent } from './null-percent.ts'
import { percentile } from './percentile.ts'
import { rowCountMetric } from './row-count.ts'
import { standardDeviation } from './standard-deviation.ts'
import { sum } from './sum.ts'
import { maxLength, meanLength, minLength } from './text-lengths.ts'

/** The metrics of the product, in the order the API description names them. */
export const metrics: CheckType[] = [
  rowCountMetric,
  nullPercent,
  distinctCountMetric,
  duplicateCount,
  minValue,
  maxValue,
  mean,
  percentile,
  sum,
  standardDeviation,
  minLength,
  meanLength,
  maxLength,
  customSqlMetric,
]
