import { formatName } from '../../connectors/catalog.ts'
import type { TakenSamples } from '../../checks/samples.ts'
import { presentFields } from '../../server/http/fields.ts'
import { detailFields, listedFields } from './fields.ts'
import type { NamedRule, ValidityResult, ValidityRule } from './models.ts'
import type { ListedRule } from './rules.ts'

/** The list form of a rule. */
export function presentRule(rule: ListedRule): object {
  return {
    id: Number(rule.id),
    uuid: `v_${rule.uuid}`,
    table_path: formatName([rule.catalogName, rule.schemaName, rule.ofTable]),
    column_name: rule.columnName,
    rule_type: rule.ruleType,
    ...presentFields(listedFields, rule),
    created_at: rule.createdAt,
    latest_status: rule.latestStatus,
  }
}

/** The detail form: every field of the rule table. */
export function presentRuleDetail(rule: NamedRule): object {
  return {
    ...presentRule(rule),
    rule_config: rule.ruleConfig,
    ...presentFields(detailFields, rule),
  }
}

/**
 * The counts of a judged check. A check that failed has none: its status says so, and the numbers, which are stored as
 * null, are shown as 0.
 */
export function presentCounts({
  totalRows,
  invalidCount,
  invalidPercent,
}: Pick<ValidityResult, 'totalRows' | 'invalidCount' | 'invalidPercent'>) {
  return {
    total_rows: Number(totalRows ?? 0),
    invalid_count: Number(invalidCount ?? 0),
    invalid_percent: invalidPercent ?? 0,
  }
}

/** A result; with samples on the reply of a check. */
export function presentResult(result: ValidityResult, taken?: TakenSamples): object {
  return {
    id: Number(result.id),
    validity_rule_id: Number(result.validityRuleId),
    status: result.status,
    ...presentCounts(result),
    ...(taken && {
      invalid_samples: {
        samples: taken.samples,
        ...(taken.samplesNote !== undefined && { note: taken.samplesNote }),
      },
    }),
    execution_duration_ms: result.executionDurationMs,
    checked_at: result.checkedAt,
    expected_value: result.expectedValue,
    expected_range_low: result.expectedRangeLow,
    expected_range_high: result.expectedRangeHigh,
    learning: result.isLearning,
    is_backfilled: result.isBackfilled ?? false,
    is_confirmed: result.isConfirmed ?? false,
    was_active: result.wasActive ?? null,
    error_message: result.errorMessage,
  }
}

/** What a rule warns of; nothing where there is nothing. */
export function presentWarnings(warnings: readonly string[] = []): object {
  return warnings.length > 0 ? { warnings } : {}
}

/** A result in words. */
export function describeResult(rule: ValidityRule, result: ValidityResult) {
  const { status, invalidCount, totalRows, errorMessage } = result
  const share = Number((result.invalidPercent ?? 0).toPrecision(3))
  const counted = result.finding ?? `${invalidCount} of ${totalRows} rows are invalid (${share} %)`
  const message = status === 'error' ? (errorMessage ?? 'The check could not run') : counted
  return { id: `v_${rule.uuid}`, name: rule.name, severity: rule.severity, status, message }
}
