import { MAX_PAST_POINTS } from '../../../server/http/check-schemas.ts'
import type { TriedPoint } from '../types.ts'

/** The points of a past with one without a value at each moment without rows: a chart draws no line there. */
export function withGaps(series: readonly TriedPoint[], gaps: readonly Date[]): TriedPoint[] {
  const empty = { value: null, expected_value: null, z_score: null, learning: false, bands: [] }
  return [...series, ...gaps.map(at => ({ at, ...empty }))]
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
    .slice(-MAX_PAST_POINTS)
}
