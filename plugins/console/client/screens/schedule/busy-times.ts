/** The times of the week at which most updates arrive. */
export interface BusyTimes {
  /** Monday first; empty where updates arrive on most days. */
  days: number[]
  /** Empty where they arrive at most hours. */
  hours: number[]
}

/** Times hold most updates if they have this share of them. */
const BUSY_SHARE = 0.8
const MAX_DAYS = 3
const MAX_HOURS = 3

/** @param counts of updates by weekday, Monday first, and by hour */
export function findBusyTimes(counts: readonly (readonly number[])[]): BusyTimes {
  const byDay = counts.map(row => row.reduce((sum, count) => sum + count, 0))
  const byHour = Array.from({ length: 24 }, (_, hour) =>
    counts.reduce((sum, row) => sum + (row[hour] ?? 0), 0),
  )
  return { days: busiest(byDay, MAX_DAYS), hours: busiest(byHour, MAX_HOURS) }
}

/** The places of the fewest counts that hold most of all, in their order; none if it takes more than a few. */
function busiest(counts: readonly number[], most: number): number[] {
  const wanted = BUSY_SHARE * counts.reduce((sum, count) => sum + count, 0)
  const sorted = counts.map((count, place) => ({ count, place })).sort((a, b) => b.count - a.count)
  let held = 0
  const found: number[] = []
  for (const { count, place } of sorted) {
    if (held >= wanted) break
    held += count
    found.push(place)
  }
  return found.length > most ? [] : found.sort((a, b) => a - b)
}
