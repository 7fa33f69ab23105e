import type { LineageOrigin } from '../api.ts'

/** Days after which an edge counts as stale that its origin would have reported again, and after which it goes. */
const STALE_DAYS = 30
const KEPT_DAYS = 90

/** Origins that report what happens, and never all of it: what they do not report any more fades. */
const FADING_ORIGINS: readonly LineageOrigin[] = ['openlineage']

const DAY_MS = 86_400_000

/** Whether an origin has not reported an edge for so long that it may be gone. */
export function isStale(
  { origin, lastSeenAt }: { origin: LineageOrigin; lastSeenAt: Date },
  now: number,
): boolean {
  return FADING_ORIGINS.includes(origin) && now - lastSeenAt.getTime() > STALE_DAYS * DAY_MS
}
