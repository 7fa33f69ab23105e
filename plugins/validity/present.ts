import { presentBucket } from '../../server/http/check-schemas.ts'
import { formatName } from '../../connectors/catalog.ts'
import type { TakenSamples } from '../../checks/check.ts'
import { presentFields } from '../../server/http/fields.ts'
import { detailFields, listedFields } from './fields.ts'
import { consecutiveOf, detailsOf, directionOf, type NamedRule } from './models.ts'
import { configOf, type ListedRule } from './rules.ts'
import { failingRunOf, type CheckResult } from '../checks/kit.ts'

/** The list form of a rule. */
export function presentRule(rule: ListedRule) {
  return {
    id: Number(rule.id),
    uuid: `v_${rule.uuid}`,
    table_path: formatName([rule.catalogName, rule.schemaName, rule.ofTable]),
    column_name: rule.columnName,
    rule_type: rule.type,
    ...presentFields(listedFields, rule),
    created_at: rule.createdAt,
    latest_status: rule.status,
  }
}

/** The detail form: every field of the rule table. */
export function presentRuleDetail(rule: NamedRule) {
  return {
    ...presentRule(rule),
    rule_config: configOf(rule),
    ...presentFields(detailFields, rule),
    direction: directionOf(rule),
    consecutive: consecutiveOf(rule),
    failing_runs: rule.failingRuns,
  }
}

/**
 * The counts of a judged check. A check that failed has none: its status says so, and the numbers, which are stored as
 * null, are shown as 0.
 */
export function presentCounts(result: Pick<CheckResult, 'totalRows' | 'value' | 'details'>) {
  return {
    total_rows: Number(result.totalRows ?? 0),
    invalid_count: detailsOf(result).invalidCount ?? 0,
    invalid_percent: result.value ?? 0,
  }
}

/** A result; with samples on the reply of a check. */
export function presentResult(result: CheckResult, taken?: TakenSamples) {
  return {
    id: Number(result.id),
    validity_rule_id: Number(result.checkId),
    status: result.status,
    ...presentCounts(result),
    ...(taken && {
      invalid_samples: {
        samples: taken.samples,
        ...(taken.samplesNote !== undefined && { note: taken.samplesNote }),
        ...(taken.samplesSql && { sql: taken.samplesSql }),
      },
    }),
    execution_duration_ms: result.durationMs,
    checked_at: result.at,
    ...presentBucket(result),
    expected_value: result.expected,
    expected_range_low: result.low,
    expected_range_high: result.high,
    learning: result.isLearning,
    is_backfilled: result.isBackfilled ?? false,
    is_confirmed: result.isConfirmed ?? false,
    was_active: detailsOf(result).wasActive,
    failing_run: failingRunOf(result),
    error_message: result.errorMessage,
  }
}

/** What a rule warns of; nothing where there is nothing. */
export function presentWarnings(warnings: readonly string[] = []) {
  return warnings.length > 0 ? { warnings } : {}
}
