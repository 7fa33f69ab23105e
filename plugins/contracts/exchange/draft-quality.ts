import { parseDuration } from '../../../server/settings/durations.ts'
import type { DeclaredCheck } from '../../checks/api.ts'
import type { ContractNode } from '../elements.ts'

type Config = Record<string, unknown>

/** A rule or metric to write: of a check, or one that the rows keep without one. */
export interface DraftRule extends Pick<DeclaredCheck, 'fields'> {
  /** The id of the check. */
  id?: string
}

/** A rule as a quality rule of the standard; null if it is written as an option, or if the standard has no such rule. */
export function qualityOf(check: DraftRule, isExtended: boolean): ContractNode | null {
  const { id, fields } = check
  const rule = ruleOfCheck(check)
  return (
    rule && {
      ...(typeof fields.name === 'string' && { name: fields.name }),
      ...rule,
      ...(typeof fields.severity === 'string' && { severity: fields.severity }),
      ...(isExtended && id !== undefined && { customProperties: [referenceTo(id)] }),
    }
  )
}

/** The custom property that names the check which a part of a contract was written from. */
export function referenceTo(id: string): ContractNode {
  return { property: 'tidemarkCheck', value: id }
}

/** What must hold for a check to pass, as a quality rule without a name. */
export function ruleOfCheck({ fields }: Pick<DraftRule, 'fields'>): ContractNode | null {
  if (fields.is_active === false || fields.detection_mode === 'auto') return null
  return fields.metric_type === undefined
    ? ruleOf(String(fields.rule_type), (fields.rule_config ?? {}) as Config, fields)
    : limitedNumberOf(fields)
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

/** A number with limits as a quality rule; null of a metric that is judged in another way, or that the standard does not have. */
function limitedNumberOf(fields: Config): ContractNode | null {
  const { metric_type: type, filter, group_by_columns: groups, max_change_percent: change } = fields
  const isPlain = change === null && fields.detection !== 'both' && (groups as unknown[]).length === 0
  const limit = limitsOf(fields)
  if (!isPlain || !limit) return null
  if (type === 'row_count' && typeof filter === 'string')
    return { type: 'sql', query: `select count(*) from \${table} where ${filter}`, ...limit }
  if (type === 'row_count') return { type: 'library', metric: 'rowCount', ...limit }
  return type === 'null_percent' && filter === null
    ? { type: 'library', metric: 'nullValues', unit: 'percent', ...limit }
    : null
}

function limitsOf({ min, max }: Config): ContractNode | null {
  if (typeof min === 'number' && typeof max === 'number')
    return min === max ? { mustBe: min } : { mustBeBetween: [min, max] }
  if (typeof min === 'number') return { mustBeGreaterOrEqualTo: min }
  return typeof max === 'number' ? { mustBeLessOrEqualTo: max } : null
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
  return Object.assign({}, ...rangesOf(rules, logicalType).map(boundsOf)) as ContractNode
}

/** The RANGE rules that options of the type of a column can state. */
export function rangesOf(rules: readonly DraftRule[], logicalType: string): DraftRule[] {
  if (!['integer', 'number', 'date', 'timestamp'].includes(logicalType)) return []
  const type = logicalType === 'integer' || logicalType === 'number' ? 'number' : 'string'
  return rules.filter(rule => {
    const bounds = Object.values(boundsOf(rule))
    return bounds.length > 0 && bounds.every(bound => typeof bound === type)
  })
}

/** The bounds of a RANGE rule in manual mode, by the names of options. */
export function boundsOf({ fields }: Pick<DraftRule, 'fields'>): ContractNode {
  const isStated =
    fields.rule_type === 'RANGE' && fields.is_active !== false && fields.detection_mode !== 'auto'
  const { min, max } = (isStated ? (fields.rule_config ?? {}) : {}) as Config
  return { ...(min != null && { minimum: min }), ...(max != null && { maximum: max }) }
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
