import { formatName } from '../../connectors/catalog.ts'
import type { TakenSamples } from '../../checks/samples.ts'
import { presentFields } from '../../server/http/fields.ts'
import { checkFields, limitFields } from './fields.ts'
import { limitsOf, type JudgedOrphans } from './judge.ts'
import type { NamedCheck, ReferentialCheck, ReferentialResult } from './models.ts'

/** `catalog.schema.table` of the child. */
export function childPath(check: NamedCheck): string {
  return formatName([check.childCatalog, check.childSchema, check.childTable])
}

/** `catalog.schema.table` of the parent. */
export function parentPath(check: NamedCheck): string {
  return formatName([check.parentCatalog, check.parentSchema, check.parentTable])
}

/** A referential check as the API shows it, in lists too. */
export function presentCheck(check: NamedCheck): object {
  return {
    id: check.id,
    internal_id: Number(check.internalId),
    asset_id: check.sourceId,
    ...presentFields(checkFields, check),
    child_table_path: childPath(check),
    child_column_name: check.childColumnName,
    parent_table_path: parentPath(check),
    parent_column_name: check.parentColumnName,
    ...presentFields(limitFields, limitsOf(check)),
    latest_status: check.latestStatus,
    last_check_at: check.lastCheckAt,
    last_checked_at: check.lastCheckAt,
    created_at: check.createdAt,
    updated_at: check.updatedAt,
  }
}

/** The counts of a judged check. One that failed has none: its status says so, and they are shown as 0. */
export function presentOrphans(result: Omit<JudgedOrphans, 'status' | 'errorMessage'>) {
  return {
    orphan_count: Number(result.orphanCount ?? 0),
    orphan_percent: result.orphanPercent ?? 0,
    total_child_rows: Number(result.totalChildRows ?? 0),
    parents_below_min: number(result.parentsBelowMin),
    parents_above_max: number(result.parentsAboveMax),
  }
}

/** A result of a check; its orphans stand only in the reply of the execution that found them. */
export function presentResult(
  { id, internalId }: Pick<ReferentialCheck, 'id' | 'internalId'>,
  result: ReferentialResult,
  taken: TakenSamples | null = null,
): object {
  return {
    id: Number(result.id),
    // The number, as other results refer to their rule or metric.
    referential_check_id: Number(internalId),
    check_id: id,
    status: result.status,
    ...presentOrphans(result),
    orphan_sample: taken?.samples ?? null,
    ...(taken?.samplesNote !== undefined && { orphan_sample_note: taken.samplesNote }),
    query_duration_ms: result.queryDurationMs,
    checked_at: result.checkedAt,
    error_message: result.errorMessage,
  }
}

/** A result in words. */
export function describeResult(check: ReferentialCheck, result: ReferentialResult) {
  const { status, errorMessage } = result
  const counts = [
    `${result.orphanCount} of ${result.totalChildRows} rows have no parent`,
    ...(result.parentsBelowMin === null ? [] : [`${result.parentsBelowMin} parents have too few rows`]),
    ...(result.parentsAboveMax === null ? [] : [`${result.parentsAboveMax} parents have too many`]),
  ]
  const message = status === 'error' ? (errorMessage ?? 'The check could not run') : counts.join('; ')
  return { id: check.id, name: check.name, severity: check.severity, status, message }
}

function number(value: string | number | null): number | null {
  return value === null ? null : Number(value)
}
