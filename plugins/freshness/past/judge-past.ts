import { learnCadence } from '../../../checks/cadence.ts'
import { sayAge } from '../../../server/settings/durations.ts'
import { bucketEnd, PAST_DAYS, type PastGrid } from './read-updates.ts'

/** A check that would have been made: what it would have found. */
export interface PastCheck {
  at: Date
  /** The newest value at that time. */
  lastUpdated: Date
  isUpdate: boolean
}

/** What the values of a column say about its past. */
export interface JudgedPast {
  /** Oldest first; none where the values are no times of updates. */
  checks: PastCheck[]
  /** Why the values were not used; null where they were. */
  note: string | null
}

const DAY_MS = 86_400_000
/** A clock of another machine may be ahead by that much. */
const AHEAD_MS = 3_600_000

/** What a schedule found before its past was read. */
export interface SeenUpdates {
  column: string
  /** Whether the values are days, whose data may arrive until the day after. */
  isDay: boolean
  /** The newest value, and when it was read. */
  newest: Date
  readAt: Date
  /** The oldest update that a check found: the past ends before it. */
  oldest: Date
}

/**
 * Whether values of a column are times of updates, and the checks that would have found them. Refused are columns whose
 * newest value lies ahead, and those whose newest value was, at its first reading, older than its own past lets expect:
 * then either the table is late, or its values do not follow the clock because it is loaded in batches, and only checks
 * to come can show which. Each check has what was known at its time, and nothing later.
 * @param updates the newest value of each bucket of the grid, oldest first
 */
export function judgePast(updates: readonly Date[], grid: PastGrid, seen: SeenUpdates): JudgedPast {
  const { column, isDay, newest, readAt, oldest } = seen
  const refuse = (note: string): JudgedPast => ({ checks: [], note })
  const grainMs = isDay ? DAY_MS : 0
  if (newest.getTime() > readAt.getTime() + Math.max(AHEAD_MS, grainMs))
    return refuse(`${column} has values in the future, so its values are no times of updates`)
  const past = updates.filter(at => at <= newest && at <= readAt)
  if (past.length === 0) return refuse(`${column} has no value in the last ${PAST_DAYS} days`)
  const cadence = learnCadence(past.map(at => at.getTime() / 1_000))
  if (cadence && cadence.deadline * 1_000 + grainMs < readAt.getTime()) {
    const age = sayAge((readAt.getTime() - newest.getTime()) / 1_000)
    return refuse(
      `the newest ${column} was ${age} old when it was first read, and earlier values are ${sayAge(cadence.typicalGapSeconds)} apart: the table is late, or it is loaded in batches`,
    )
  }
  // Moments of the past are whole seconds.
  const edge = Math.floor(oldest.getTime() / 1_000) * 1_000
  const checks = checksOf(past, grid).filter(({ lastUpdated }) => lastUpdated.getTime() < edge)
  return { checks, note: null }
}

/** The checks that found an update, and the last one before each later update, which found the greatest age. */
function checksOf(updates: readonly Date[], grid: PastGrid): PastCheck[] {
  const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)
  const checks: PastCheck[] = []
  for (const [index, lastUpdated] of updates.entries()) {
    const found = bucketEnd(grid, seconds(lastUpdated))
    const next = updates[index + 1]
    checks.push({ at: new Date(found * 1_000), lastUpdated, isUpdate: true })
    if (!next) continue
    const size = seconds(next) >= grid.recentFrom ? grid.fineSeconds : grid.coarseSeconds
    const before = bucketEnd(grid, seconds(next)) - size
    if (before > found) checks.push({ at: new Date(before * 1_000), lastUpdated, isUpdate: false })
  }
  return checks
}
