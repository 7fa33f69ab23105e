import { tablePath } from '../../connectors/catalog.ts'
import { NO_BACKFILL, presentBackfill } from './backfill.ts'
import { countCreated, type AppliedRecommendations } from './applied.ts'
import type { Offer, OfferCost } from './offers.ts'

/** A recommendation as replies show it; lists leave the points of its past out. */
/** @param labelOf what people call a type */
export function presentOffer(
  { table, suggestion, status, cost, stored }: Offer,
  labelOf: (type: string) => string,
  { hasSeries = false } = {},
) {
  const { id, kind, type, column, config, settings, parent, confidence, reason, basis, evidence } = suggestion
  const past = stored?.past ?? null
  return {
    id,
    asset_id: table.id,
    table_path: tablePath(table),
    kind,
    type,
    type_label: labelOf(type),
    column_name: column,
    config: { ...config, ...settings },
    parent: parent ? { table_path: tablePath(parent.table), column_name: parent.column } : null,
    confidence,
    reason,
    basis,
    evidence,
    cost: presentCost(cost),
    status,
    dismiss_reason: status === 'dismissed' ? (stored?.reason ?? null) : null,
    decided_by: stored?.decidedBy ?? null,
    decided_at: stored?.decidedAt ?? null,
    quiet_by: suggestion.isQuietByProfile ? 'profile' : past?.alerts === 0 ? 'past' : null,
    past: past && { ...past, ...(!hasSeries && { series: [] }), computed_at: stored?.pastAt },
  }
}

function presentCost({ statementsPerDay, rowsPerDay, isShared }: OfferCost) {
  return { statements_per_day: statementsPerDay, rows_per_day: rowsPerDay, is_shared: isShared }
}

/** What was applied, as replies show it. */
/** @param bytes what computing the past reads, where it is known */
export function presentApplied(
  applied: AppliedRecommendations,
  { isDryRun, bytes }: { isDryRun: boolean; bytes: number | null },
) {
  const { created, existing, declined, noisy, statementsPerDay, rowsPerDay, backfill = NO_BACKFILL } = applied
  return {
    created,
    created_count: countCreated(applied),
    existing,
    declined,
    noisy,
    cost: presentCost({ statementsPerDay, rowsPerDay, isShared: true }),
    backfill: presentBackfill(backfill, bytes),
    dry_run: isDryRun,
  }
}
