import { parseDuration } from '../../../server/settings/durations.ts'
import type { DeclaredCheck } from '../../checks/api.ts'
import type { ContractNode } from '../elements.ts'

type Config = Record<string, unknown>

/** A rule to write: of a check, or one that the rows keep without one. */
export interface DraftRule extends Pick<DeclaredCheck, 'fields'> {
  /** The id of the check. */
  id?: string
}

/** A rule as a quality rule of the standard; null if it is written as an option, or if the standard has no such rule. */
export function qualityOf({ id, fields }: DraftRule, isExtended: boolean): ContractNode | null {
  const rule = ruleOf(String(fields.rule_type), (fields.rule_config ?? {}) as Config, fields)
  if (!rule || fields.is_active === false || fields.detection_mode === 'auto') return null
  return {
    ...(typeof fields.name === 'string' && { name: fields.name }),
    ...rule,
    ...(typeof fields.severity === 'string' && { severity: fields.severity }),
    ...(isExtended && id !== undefined && { customProperties: [{ property: 'tidemarkCheck', value: id }] }),
  }
}

/** Whether a rule says only what the schema of a contract promises anyway. */
export function isPromised(
  { fields }: DraftRule,
  { isRequired, isUnique }: { isRequired: boolean; isUnique: boolean },
): boolean {
  if (!isNone(limitOf(fields))) return false
  return (fields.rule_type === 'NOT_NULL' && isRequired) || (fields.rule_type === 'UNIQUE' && isUnique)
}

function ruleOf(type: string, config: Config, fields: Config): ContractNode | null {
  const limit = limitOf(fields)
  switch (type) {
    case 'NOT_NULL':
      return { type: 'library', metric: 'nullValues', ...limit }
    case 'UNIQUE':
      // The standard counts values that occur more than once, the rule counts their rows.
      return isNone(limit) ? { type: 'library', metric: 'duplicateValues', ...limit } : null
    case 'ENUM':
      return {
        type: 'library',
        metric: 'invalidValues',
        arguments: { validValues: config.allowed_values },
        ...limit,
      }
    case 'REGEX':
      return { type: 'library', metric: 'invalidValues', arguments: { pattern: config.pattern }, ...limit }
    case 'CUSTOM_SQL':
      return isNone(limit) ? queryOf(String(config.sql_expression)) : null
    default:
      return null
  }
}

const isNone = (limit: ContractNode) => limit.mustBe === 0

function limitOf({ alert_threshold_percent: percent }: Config): ContractNode {
  return typeof percent === 'number' && percent > 0
    ? { unit: 'percent', mustBeLessOrEqualTo: percent }
    : { mustBe: 0 }
}

function queryOf(expression: string): ContractNode {
  const text = expression.trim().replace(/;$/, '')
  const query = /^[(\s]*(select|with)\b/i.test(text)
    ? `select count(*) from (\n${text}\n) invalid`
    : `select count(*) from \${table} where case when (\n${text}\n) then 0 else 1 end = 1`
  return { type: 'sql', query, mustBe: 0 }
}

/** Bounds of RANGE rules as options of the type of a column. */
export function optionsOf(rules: readonly DraftRule[], logicalType: string): ContractNode {
  if (!['integer', 'number', 'date', 'timestamp'].includes(logicalType)) return {}
  const isNumber = logicalType === 'integer' || logicalType === 'number'
  const fits = (bound: unknown) => typeof bound === (isNumber ? 'number' : 'string')
  const options: ContractNode = {}
  for (const { fields } of rules) {
    if (fields.rule_type !== 'RANGE' || fields.is_active === false || fields.detection_mode === 'auto')
      continue
    const { min, max } = (fields.rule_config ?? {}) as Config
    if (fits(min)) options.minimum = min
    if (fits(max)) options.maximum = max
  }
  return options
}

const HOUR_SECONDS = 3_600

/** The service level of a freshness schedule; null if it has no threshold of its own. */
export function agreementOf({ fields }: DeclaredCheck, table: string): ContractNode | null {
  const { sla_threshold: threshold, freshness_column: column } = fields
  const seconds = typeof threshold === 'string' ? parseDuration(threshold) : null
  if (seconds === null || fields.is_active === false) return null
  const isWhole = seconds % HOUR_SECONDS === 0
  return {
    property: 'latency',
    value: isWhole ? seconds / HOUR_SECONDS : seconds / 60,
    unit: isWhole ? 'h' : 'minutes',
    element: typeof column === 'string' ? `${table}.${column}` : table,
  }
}
