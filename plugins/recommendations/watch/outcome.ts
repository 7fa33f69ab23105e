/** What a policy created, as the reply of the request that set it. */
import type { Source } from '../../catalog/api.ts'
import { sumApplied, type AppliedRecommendations, type TypeCounts, type WatchLevel } from '../applied.ts'
import { NO_BACKFILL } from '../backfill.ts'
import type { WatchedKind, WatchResult } from './result.ts'

/** What came of a policy, as the reply to its request shows it. */
export function presentOutcome(
  source: Source,
  level: WatchLevel,
  matched: number,
  applied: AppliedRecommendations | null,
  isDryRun = false,
): WatchResult {
  const outcome = applied ?? sumApplied([])
  const { created, existing, statementsPerDay, freshnessStatementsPerDay, backfill = NO_BACKFILL } = outcome
  const { row_count, freshness, NOT_NULL, UNIQUE, ...recommended } = created
  const kind = (type: keyof TypeCounts, made = 0): WatchedKind => ({
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
    backfill,
    dry_run: isDryRun,
  }
}
