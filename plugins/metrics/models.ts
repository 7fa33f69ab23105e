import type { Basis } from '../../checks/detector.ts'
import { capOfKind, CheckRow, type CheckResult, type TableNames } from '../checks/kit.ts'

/** A number taken of a table again and again. By groups, each group is a series of its own. */
export class Metric extends CheckRow {
  static override kind = 'metric'
  static override cap = capOfKind('metric', { name: 'metrics', what: 'metrics' })

  declare sensitivity: number
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
}

export type NamedMetric = Metric & TableNames

/** What the band of a value was made of; null without a band. */
export function basisOf({ details }: Pick<CheckResult, 'details'>): Basis | null {
  return (details as { basis?: Basis | null }).basis ?? null
}
