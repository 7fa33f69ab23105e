import { defineCap } from '../../server/database/company-caps.ts'
import type { Basis } from '../../checks/detector.ts'
import { CheckRow, type CheckResult, type TableNames } from '../scans/kit.ts'

/** A number taken of a table again and again. By groups, each group is a series of its own. */
export class Metric extends CheckRow {
  static override kind = 'metric'
  static override cap = defineCap({
    name: 'metrics',
    table: 'checks',
    condition: `kind = 'metric'`,
    most: 100_000,
    what: 'metrics',
    advice: 'delete one first',
  })

  declare sensitivity: number
}

export type NamedMetric = Metric & TableNames

/** What the band of a value was made of; null without a band. */
export function basisOf({ details }: Pick<CheckResult, 'details'>): Basis | null {
  return (details as { basis?: Basis | null }).basis ?? null
}
