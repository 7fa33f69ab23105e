import { formatName } from '../../connectors/catalog.ts'
import type { TakenSamples } from '../../checks/check.ts'
import { presentBucket } from '../../server/http/check-schemas.ts'
import { presentFields } from '../../server/http/fields.ts'
import { checkFields, limitFields } from './fields.ts'
import type { CheckResult } from '../checks/kit.ts'
import { limitsOf } from './judge.ts'
import { numbersOf, type NamedCheck, type OrphanNumbers, type ReferentialCheck } from './models.ts'

/** `catalog.schema.table` of the child. */
export function childPath(check: NamedCheck): string {
  return formatName([check.catalogName, check.schemaName, check.ofTable])
}

/** `catalog.schema.table` of the parent. */
export function parentPath(check: NamedCheck): string {
  return formatName([check.otherCatalog!, check.otherSchema!, check.otherTable!])
}

/** A referential check as the API shows it, in lists too. */
export function presentCheck(check: NamedCheck) {
  return {
    id: check.uuid,
    internal_id: Number(check.id),
    asset_id: check.sourceId,
    ...presentFields(checkFields, check),
    child_table_path: childPath(check),
    child_column_name: check.columnName,
    parent_table_path: parentPath(check),
    parent_column_name: check.parentColumnName,
    ...presentFields(limitFields, limitsOf(check)),
    latest_status: check.status,
    last_check_at: check.lastCheckedAt,
    last_checked_at: check.lastCheckedAt,
    created_at: check.createdAt,
    updated_at: check.updatedAt,
  }
}

/** The counts of a judged check. One that failed has none: its status says so, and they are shown as 0. */
export function presentOrphans(numbers: OrphanNumbers) {
  return {
    orphan_count: numbers.orphanCount ?? 0,
    orphan_percent: numbers.orphanPercent ?? 0,
    total_child_rows: numbers.totalChildRows ?? 0,
    parents_below_min: numbers.parentsBelowMin,
    parents_above_max: numbers.parentsAboveMax,
  }
}

/** A result of a check; its orphans stand only in the reply of the execution that found them. */
export function presentResult(
  { id, uuid }: Pick<ReferentialCheck, 'id' | 'uuid'>,
  result: CheckResult,
  taken: TakenSamples | null = null,
) {
  return {
    id: Number(result.id),
    // The number, as other results refer to their rule or metric.
    referential_check_id: Number(id),
    check_id: uuid,
    status: result.status,
    ...presentOrphans(numbersOf(result)),
    ...presentBucket(result),
    orphan_sample: taken?.samples ?? null,
    ...(taken?.samplesNote !== undefined && { orphan_sample_note: taken.samplesNote }),
    query_duration_ms: result.durationMs,
    checked_at: result.at,
    error_message: result.errorMessage,
  }
}
