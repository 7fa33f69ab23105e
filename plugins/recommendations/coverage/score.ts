/** What the kinds of checks count for, in points. */
const WEIGHTS: Readonly<Record<string, number>> = {
  freshness: 30,
  metrics: 25,
  validity: 25,
  schema_drift: 20,
}

/** The kinds that count for the score, in order of weight. */
export const WEIGHTED_KINDS = Object.keys(WEIGHTS)

/** From the lowest. */
const TIERS = [
  { name: 'none', label: 'Not covered', threshold: 0 },
  { name: 'bronze', label: 'Bronze', threshold: 20 },
  { name: 'silver', label: 'Silver', threshold: 50 },
  { name: 'gold', label: 'Gold', threshold: 80 },
] as const

interface WatchedCounts {
  total: number
  /** Watched tables by kind; a kind that is not loaded is absent. */
  watched: Record<string, number>
}

/** Points 0 to 100: the weighted mean share of watched tables over the kinds that are loaded; 0 without tables. */
export function scoreOf({ total, watched }: WatchedCounts): number {
  const kinds = Object.entries(watched)
  const weights = kinds.reduce((sum, [kind]) => sum + (WEIGHTS[kind] ?? 0), 0)
  if (total === 0 || weights === 0) return 0
  const points = kinds.reduce((sum, [kind, count]) => sum + ((WEIGHTS[kind] ?? 0) * count) / total, 0)
  return Math.round((100 * points) / weights)
}

export function tierOf(score: number) {
  return TIERS.findLast(({ threshold }) => score >= threshold) ?? TIERS[0]
}

/** The tier above, and what is missing, the most points first; null in the highest. */
export function nextTierOf(score: number, { total, watched }: WatchedCounts) {
  const next = TIERS.find(({ threshold }) => threshold > score)
  if (!next) return null
  const missing = WEIGHTED_KINDS.flatMap(kind => {
    const count = total - (watched[kind] ?? total)
    return count > 0 ? [{ kind, count, points: count * (WEIGHTS[kind] ?? 0) }] : []
  })
  return {
    next_tier: next.name,
    next_tier_label: next.label,
    next_threshold: next.threshold,
    points_needed: next.threshold - score,
    actions: missing
      .toSorted((a, b) => b.points - a.points)
      .map(({ kind, count }) => `Add ${kind} to ${count} of ${total} tables`),
  }
}
