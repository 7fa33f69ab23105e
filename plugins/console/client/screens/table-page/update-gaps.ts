/** The time between two updates of a table; the last one is still running. */
export interface Gap {
  /** Milliseconds since 1970. */
  from: number
  until: number
  seconds: number
}

/**
 * The gaps between updates, the oldest first, and the one that runs until now.
 * @param updates the newest data at each check, in any order; the same update occurs at many checks
 * @param now milliseconds since 1970
 */
export function gapsBetween(updates: readonly (string | null)[], now: number): Gap[] {
  const moments = [...new Set(updates.flatMap(at => (at === null ? [] : Date.parse(at))))].sort(
    (a, b) => a - b,
  )
  // Rows may carry a time that is yet to come: the axis ends now.
  const past = moments.filter(at => at <= now)
  return past.map((from, n) => {
    const until = past[n + 1] ?? now
    return { from, until, seconds: (until - from) / 1_000 }
  })
}
