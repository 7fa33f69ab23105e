import { learnCadence } from '../../checks/cadence.ts'

const HOUR_SECONDS = 3_600

/** How the updates of a table would have been judged, each by those before it. */
export interface ReplayedCadence {
  typicalGapHours: number
  /** The age at which the table would be stale now. */
  thresholdHours: number
  /** One for each update after those from which a cadence is learned first. */
  gaps: { at: number; hours: number; allowedHours: number | null }[]
  /** Updates that came later than was allowed. */
  alerts: number
}

/** Replays updates (epoch seconds, oldest first). Null with too few of them for a cadence. */
export function replayCadence(updates: readonly number[]): ReplayedCadence | null {
  const learned = learnCadence(updates)
  if (!learned) return null
  const gaps = updates.slice(1).map((at, index) => {
    const last = updates[index]!
    const before = learnCadence(updates.slice(0, index + 1))
    return { at, hours: toHours(at - last), allowedHours: before && toHours(before.deadline - last) }
  })
  const last = updates.at(-1)!
  return {
    typicalGapHours: toHours(learned.typicalGapSeconds),
    thresholdHours: toHours(learned.deadline - last),
    gaps,
    alerts: gaps.filter(({ hours, allowedHours }) => allowedHours !== null && hours > allowedHours).length,
  }
}

function toHours(seconds: number): number {
  return Math.round((seconds / HOUR_SECONDS) * 10) / 10
}

/** How often a table is updated, in the words of the published client. */
export function frequencyOf(gapHours: number): 'hourly' | 'daily' | 'weekly' | 'monthly' {
  if (gapHours <= 6) return 'hourly'
  if (gapHours <= 36) return 'daily'
  return gapHours <= 24 * 9 ? 'weekly' : 'monthly'
}
