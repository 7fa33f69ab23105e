import type { TableInfo } from '../../../connectors/catalog.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
import type { CHECK_KINDS } from '../check-kinds.ts'

/** A check that tells whether a clause holds: its kind, and the body that creates it. */
export interface ClauseCheck {
  kind: (typeof CHECK_KINDS)[number]
  body: Record<string, unknown>
}

/** Where a check runs. */
export interface CheckTarget {
  info: TableInfo
  dialect: Dialect
  /** The kind of the source: `mysql`. */
  engine: string
  /** The name of the column in the catalog; null for the whole table. */
  column: string | null
}

/** A rule, without what all rules of contracts have. */
export interface WantedRule {
  rule_type: string
  column_name?: string | undefined
  rule_config?: Record<string, unknown>
  alert_threshold_percent?: number
  treat_null_as_valid?: boolean
  /** The SELECT of the contract that the SQL is made of. */
  query?: string
}

/** A metric with limits, without what all checks of contracts have. */
export interface WantedMetric {
  metric_type: 'row_count' | 'null_percent'
  column_name?: string
  /** The rows that are counted. */
  filter?: string
  min?: number
  max?: number
  /** The rule that says the same, for a condition that cannot be a filter. */
  otherwise: WantedRule
}

/** Why a clause gets no check, a sentence without a full stop. */
export interface NoRule {
  reason: string
}

/**
 * A rule of SQL: a condition that is true for valid rows, or a SELECT of what breaks the contract.
 * @param number what a SELECT of a number is described by
 */
export function sqlRule(text: string, number: Record<string, string> = {}): WantedRule {
  return { rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: text, ...number } }
}

/** The name of a column, or of another part, as the engine quotes it. */
export function writeName({ dialect }: CheckTarget, name: string): string {
  return dialect.render(dialect.quote(name)).text
}

export function writeTable({ dialect, info }: CheckTarget): string {
  return dialect.render(dialect.table(info)).text
}

export function writeText({ dialect }: CheckTarget, text: string): string {
  return dialect.render(dialect.textLiteral(text)).text
}
