import { useEffect } from 'preact/hooks'

/** A visit ends when no page was open for this long. */
const GAP_MS = 30 * 60_000
const NOTE_MS = 60_000

interface Visits {
  /** When the visit before this one ended. */
  previous: number | null
  /** When a page was last open. */
  last: number
}

const keyOf = (userId: string) => `tidemark.visit.${userId}`

function readVisits(userId: string): Visits | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(userId)) ?? 'null') as Visits | null
  } catch {
    // Without storage every visit is the first.
    return null
  }
}

/** When the visit of a user before this one ended, in this browser; null at the first visit. */
export function lastVisitOf(userId: string, now = Date.now()): Date | null {
  const known = readVisits(userId)
  const previous = known && now - known.last >= GAP_MS ? known.last : known?.previous
  return previous == null ? null : new Date(previous)
}

function noteVisit(userId: string, now = Date.now()): void {
  const previous = lastVisitOf(userId, now)
  try {
    localStorage.setItem(keyOf(userId), JSON.stringify({ previous: previous?.getTime() ?? null, last: now }))
  } catch {
    // The same.
  }
}

/** Notes that a user has a page open, as long as it is seen. */
export function useVisit(userId: string | undefined): void {
  useEffect(() => {
    if (userId === undefined) return
    noteVisit(userId)
    const timer = setInterval(() => document.visibilityState === 'visible' && noteVisit(userId), NOTE_MS)
    return () => clearInterval(timer)
  }, [userId])
}
