import { domainOf } from './check.ts'
import type { Domain } from './detector.ts'
import { metrics } from './metrics/index.ts'

/** Series that are no metric types. */
const OTHER_SERIES: Readonly<Record<string, Domain>> = { invalid_percent: 'percent', null_count: 'count' }

/** The domain of a series that is known by its name alone, as in points from a file: that of the built-in metric. */
export function domainOfSeries(name: string): Domain {
  if (Object.hasOwn(OTHER_SERIES, name)) return OTHER_SERIES[name]!
  return domainOf(metrics.find(type => type.name === name))
}
