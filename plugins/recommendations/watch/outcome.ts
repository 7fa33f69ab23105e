/** What a policy created, summed over its batches and presented as the reply of the request that set it. */
import type { Source } from '../../catalog/api.ts'
import type { AppliedRecommendations, WatchLevel } from '../api.ts'
import type { WatchedKind, WatchResult } from './result.ts'

/** The sum of what was applied to some batches. */
export function addOutcome(
  sum: AppliedRecommendations | null,
  applied: AppliedRecommendations,
): AppliedRecommendations {
  if (!sum) return applied
  const counts = (of: 'created' | 'existing') => {
    const types = Object.keys({ ...sum[of], ...applied[of] }) as (keyof AppliedRecommendations['created'])[]
    return Object.fromEntries(types.map(type => [type, (sum[of][type] ?? 0) + (applied[of][type] ?? 0)]))
  }
  return {
    created: counts('created'),
    existing: counts('existing'),
    declined: sum.declined + applied.declined,
    noisy: sum.noisy + applied.noisy,
    statementsPerDay: sum.statementsPerDay + applied.statementsPerDay,
    freshnessStatementsPerDay: sum.freshnessStatementsPerDay + applied.freshnessStatementsPerDay,
    rowsPerDay: sum.rowsPerDay + applied.rowsPerDay,
  }
}

const NOTHING: AppliedRecommendations = {
  ...{ created: {}, existing: {}, declined: 0, noisy: 0, statementsPerDay: 0 },
  ...{ freshnessStatementsPerDay: 0, rowsPerDay: 0 },
}

/** What came of a policy, as the reply to its request shows it. */
export function presentOutcome(
  source: Source,
  level: WatchLevel,
  matched: number,
  applied: AppliedRecommendations | null,
  isDryRun = false,
): WatchResult {
  const { created, existing, statementsPerDay, freshnessStatementsPerDay } = applied ?? NOTHING
  const { row_count, freshness, NOT_NULL, UNIQUE, ...recommended } = created
  const kind = (type: keyof AppliedRecommendations['created'], made = 0): WatchedKind => ({
    created: made,
    existing: existing[type] ?? 0,
    skipped: [],
  })
  return {
    asset_id: source.id,
    matched,
    row_count: kind('row_count', row_count),
    freshness: kind('freshness', freshness),
    not_null: kind('NOT_NULL', NOT_NULL),
    unique: kind('UNIQUE', UNIQUE),
    recommended,
    level,
    statements_per_day: {
      checks: statementsPerDay - freshnessStatementsPerDay,
      freshness: freshnessStatementsPerDay,
    },
    dry_run: isDryRun,
  }
}
