import { formatName } from '../../connectors/catalog.ts'
import type { CheckOutcome } from '../../checks/check.ts'
import type { DifferingRow } from '../../checks/comparison.ts'
import { presentBucket } from '../../server/http/check-schemas.ts'
import { presentFields } from '../../server/http/fields.ts'
import type { CheckResult } from '../checks/kit.ts'
import { comparisonFields, limitFields, presentPair } from './fields.ts'
import { limitsOf } from './judge.ts'
import { detailsOf, type Comparison, type NamedComparison } from './models.ts'

/** `catalog.schema.table` of the left table. */
export function leftPath(comparison: NamedComparison): string {
  return formatName([comparison.catalogName, comparison.schemaName, comparison.ofTable])
}

/** `catalog.schema.table` of the right table. */
export function rightPath(comparison: NamedComparison): string {
  return formatName([comparison.otherCatalog!, comparison.otherSchema!, comparison.otherTable!])
}

/** The fields of a comparison, as bodies take them. */
export function presentSettings(comparison: Comparison) {
  const { keyColumns, comparedColumns, groupPairs } = comparison
  return {
    ...presentFields(comparisonFields, comparison),
    key_columns: keyColumns.map(presentPair),
    columns: comparedColumns?.map(presentPair) ?? null,
    group_by_columns: groupPairs.map(presentPair),
  }
}

/** A comparison as the API shows it, in lists too. */
export function presentComparison(comparison: NamedComparison) {
  return {
    id: `c_${comparison.uuid}`,
    internal_id: Number(comparison.id),
    asset_id: comparison.sourceId,
    table_path: leftPath(comparison),
    right_source: comparison.otherSource ?? '',
    right_table_path: rightPath(comparison),
    ...presentSettings(comparison),
    ...presentFields(limitFields, limitsOf(comparison)),
    latest_status: comparison.status,
    last_checked_at: comparison.lastCheckedAt,
    created_at: comparison.createdAt,
    updated_at: comparison.updatedAt,
  }
}

/** The numbers of a result; those of one that could not run are null. */
export function presentNumbers(result: Pick<CheckResult, 'status' | 'value' | 'details'>) {
  const details = detailsOf(result)
  return {
    differing_rows: result.value,
    rows_left: details?.rowsLeft ?? null,
    rows_right: details?.rowsRight ?? null,
    only_left: details?.onlyLeft ?? null,
    only_right: details?.onlyRight ?? null,
    differing: details?.differing ?? null,
    differing_percent: details?.differingPercent ?? null,
    differing_columns: details?.byColumn ?? {},
    differing_aggregates: details?.aggregates ?? [],
    segments: details?.segments ?? null,
    rows_fetched: details?.rowsFetched ?? null,
  }
}

/** A result. */
export function presentResult({ uuid }: Pick<Comparison, 'uuid'>, result: CheckResult) {
  return {
    id: Number(result.id),
    comparison_id: `c_${uuid}`,
    status: result.status,
    ...presentNumbers(result),
    ...presentBucket(result),
    query_duration_ms: result.durationMs,
    checked_at: result.at,
    error_message: result.errorMessage,
  }
}

/** Rows that are not the same, as the reply of the run that found them shows them; they are not kept. */
export function presentSamples({ keyColumns }: Pick<Comparison, 'keyColumns'>, outcome: CheckOutcome) {
  return samplesOf(outcome).map(({ key, kind, values = [] }) => ({
    key: Object.fromEntries(keyColumns.map(({ left }, place) => [left, key[place]!])),
    kind,
    values,
  }))
}

function samplesOf(outcome: CheckOutcome): DifferingRow[] {
  if (outcome.status === 'windowed') return samplesOf(outcome.buckets.at(-1)!.outcome)
  return outcome.status === 'compared' && outcome.found.by === 'rows' ? outcome.found.samples : []
}
