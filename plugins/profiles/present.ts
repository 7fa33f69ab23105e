import type { ColumnProfile, TableProfile } from './api.ts'
import { nullPercent, type ProfileDiff } from './diff.ts'

/** A profile in lists: without its columns. */
export function presentSummary(profile: Omit<TableProfile, 'columns' | 'sourceId'>) {
  return {
    id: profile.id,
    asset_id: profile.tableId,
    profiled_at: profile.profiledAt,
    row_count: profile.rowCount,
    is_row_count_exact: profile.isRowCountExact,
    profiled_rows: profile.profiledRows,
    is_sampled: profile.isSampled,
    profiled_window: profile.profiledWindow,
    statements: profile.statements,
    duration_ms: profile.milliseconds,
  }
}

/** A profile as the API shows it. @param diff from an earlier profile, where one is asked for */
export function presentProfile(profile: TableProfile, diff: ProfileDiff | null) {
  return {
    ...presentSummary(profile),
    columns: profile.columns.map(presentColumn),
    comparison: diff && {
      profile: presentSummary(diff.earlier),
      added_columns: diff.addedColumns,
      removed_columns: diff.removedColumns,
      changes: diff.changes,
    },
  }
}

function presentColumn(column: ColumnProfile) {
  return {
    name: column.name,
    type: column.type,
    kind: column.kind,
    count: column.count,
    nulls: column.nulls,
    null_percent: nullPercent(column),
    distinct: column.distinct,
    is_distinct_exact: column.isDistinctExact,
    min: column.min,
    max: column.max,
    mean: column.mean,
    stddev: column.stddev,
    quantiles: column.quantiles,
    min_length: column.minLength,
    max_length: column.maxLength,
    mean_length: column.meanLength,
    top_values: column.topValues,
    pattern: column.pattern,
    is_key_candidate: column.isKeyCandidate,
    is_masked: column.isMasked,
  }
}
