import type { CheckCase } from './case.ts'
import { metricCases } from './metric-cases.ts'
import { rangeCases } from './range-cases.ts'
import { ruleCases } from './rule-cases.ts'

/** The edge cases of every built-in check, by type name; every engine must give these numbers. */
export const edgeCases: Readonly<Record<string, readonly CheckCase[]>> = {
  ...ruleCases,
  RANGE: rangeCases,
  ...metricCases,
}
