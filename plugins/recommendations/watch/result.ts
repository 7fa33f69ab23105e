/** What became of a request to watch many tables, as its reply shows it. */
import type { WatchLevel } from '../applied.ts'
import type { BackfillCost } from '../backfill.ts'

export const SKIP_REASONS = [
  'no_primary_key',
  'composite_key',
  'no_signal',
  'unsupported',
  'not_readable',
] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

/** What became of one kind of check. */
export interface WatchedKind {
  created: number
  existing: number
  skipped: { reason: SkipReason; count: number; tables: string[] }[]
}

export interface WatchResult {
  asset_id: string
  /** Active tables that match the patterns. */
  matched: number
  row_count: WatchedKind
  freshness: WatchedKind
  not_null: WatchedKind
  unique: WatchedKind
  /** For a policy: what it creates besides, by type of check. */
  recommended?: Record<string, number>
  level: WatchLevel | null
  statements_per_day: { checks: number; freshness: number }
  /** What computing the past of the new checks reads. */
  backfill: BackfillCost
  dry_run: boolean
}
