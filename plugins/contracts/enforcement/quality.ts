import { limitsOf } from '../../../checks/sql/limits.ts'
import type { ContractNode } from '../elements.ts'
import { isNode } from '../elements.ts'
import { findColumn } from './bindings.ts'
import { textOf } from './document.ts'
import { areWritable, comparisonOf, NONE_AT_ALL, type Comparison } from './operators.ts'
import {
  sqlRule,
  writeName,
  writeTable,
  writeText,
  type CheckTarget,
  type NoRule,
  type WantedMetric,
  type WantedRule,
} from './rule.ts'

/** The metrics of the library of 3.1, and the names that rules before it had for them. */
const METRICS: Record<string, string> = {
  nullValues: 'nullValues',
  nullCheck: 'nullValues',
  nullCount: 'nullValues',
  missingValues: 'missingValues',
  missingCount: 'missingValues',
  invalidValues: 'invalidValues',
  invalidCount: 'invalidValues',
  validValues: 'invalidValues',
  duplicateValues: 'duplicateValues',
  duplicateCount: 'duplicateValues',
  uniqueCheck: 'duplicateValues',
  rowCount: 'rowCount',
}

/** The check that a `quality` rule of a contract asks for, or why there is none. */
export function qualityRule(rule: ContractNode, target: CheckTarget): WantedRule | WantedMetric | NoRule {
  const name = textOf(rule.metric) ?? textOf(rule.rule)
  const type = textOf(rule.type) ?? 'library'
  if (type === 'text' && name === undefined) return { reason: 'it is text for people' }
  if (type === 'custom')
    return { reason: `it is a rule of ${textOf(rule.engine) ?? 'another tool'}, which does not run here` }
  const comparison = comparisonOf(rule)
  if (comparison && 'reason' in comparison) return comparison
  if (comparison && !areWritable(comparison)) return { reason: 'its number is too large or too small' }
  if (type === 'sql') return queryRule(textOf(rule.query) ?? '', comparison, target)
  const metric = Object.hasOwn(METRICS, name ?? '') ? METRICS[name ?? ''] : undefined
  if (metric === undefined)
    return {
      reason: `${name ?? 'it'} is no metric of the library: nullValues, missingValues, invalidValues, duplicateValues and rowCount are`,
    }
  if (metric === 'rowCount') {
    if (isPercent(rule)) return { reason: 'a count of rows has no percentage' }
    if (!comparison) return { reason: 'it has no operator such as mustBeGreaterThan' }
    const rows = `select count(*) as n from ${writeTable(target)}`
    return countMetric(undefined, comparison, countRule(rows, comparison, 'rows'))
  }
  // Before 3.1, the operator was left out of rules that nothing may break.
  const wanted = comparison ?? NONE_AT_ALL
  return metric === 'duplicateValues'
    ? duplicateRule(rule, wanted, target)
    : rowRule(metric, rule, wanted, target)
}

function isPercent({ unit }: ContractNode): boolean {
  return textOf(unit)?.toLowerCase() === 'percent'
}

/** A SELECT that returns a number, `n` of `select`, if it is not what it must be. */
function countRule(select: string, comparison: Comparison, unit?: string): WantedRule {
  return sqlRule(
    `select n as value from (${select}) counted where case when ${comparison.write('n')} then 0 else 1 end = 1`,
    {
      expected: unit === undefined ? comparison.words : `${comparison.words} ${unit}`,
      value_column: 'value',
      ...(unit !== undefined && { value_unit: unit }),
    },
  )
}

/** A number of rows: a metric with limits, where there are any that say the same, else the rule. @param filter which rows, absent for all */
function countMetric(
  filter: string | undefined,
  { holds }: Comparison,
  otherwise: WantedRule,
): WantedMetric | WantedRule {
  const limits = holds && limitsOf(holds, 'whole')
  return limits
    ? { metric_type: 'row_count', ...(filter !== undefined && { filter }), ...limits, otherwise }
    : otherwise
}

/** What of a row a metric counts. */
interface RowCondition {
  /** A rule that counts the same rows. */
  rule: WantedRule
  /** The condition in SQL; absent where only the engine's own way of writing it can tell. */
  sql?: string
}

function rowRule(
  metric: string,
  rule: ContractNode,
  comparison: Comparison,
  target: CheckTarget,
): WantedRule | WantedMetric | NoRule {
  if (target.column === null)
    return { reason: `${metric} counts values of a column, and this is a rule of a table` }
  const found = rowCondition(metric, rule, target)
  if ('reason' in found) return found
  const limit = thresholdOf(comparison, isPercent(rule))
  if (limit !== null) return { ...found.rule, ...(limit > 0 && { alert_threshold_percent: limit }) }
  if (found.sql === undefined)
    return { reason: `${metric} of a pattern is checked for none, or for at most a percentage` }
  const counted = `select count(*) as total, coalesce(sum(case when ${found.sql} then 1 else 0 end), 0) as bad from ${writeTable(target)}`
  const number = isPercent(rule) ? 'case when total = 0 then 0 else 100.0 * bad / total end' : 'bad'
  const unit = isPercent(rule) ? '%' : 'rows'
  const otherwise = countRule(`select ${number} as n from (${counted}) rows_counted`, comparison, unit)
  if (!isPercent(rule)) return countMetric(found.sql, comparison, otherwise)
  const limits = comparison.holds && limitsOf(comparison.holds, 'percent')
  return limits && found.rule.rule_type === 'NOT_NULL'
    ? { metric_type: 'null_percent', column_name: target.column, ...limits, otherwise }
    : otherwise
}

/** The percentage of invalid rows above which a rule fails, where that says the same; else null. */
function thresholdOf({ atMost, write, numbers }: Comparison, percent: boolean): number | null {
  if (atMost === 0) return 0
  if (percent && atMost !== null && atMost <= 100) return atMost
  // Fewer than one row is none.
  return !percent && numbers.length === 1 && write('n') === 'n < 1' ? 0 : null
}

function rowCondition(metric: string, rule: ContractNode, target: CheckTarget): RowCondition | NoRule {
  const column = target.column ?? ''
  const name = writeName(target, column)
  if (metric === 'nullValues')
    return { rule: { rule_type: 'NOT_NULL', column_name: column }, sql: `${name} is null` }
  const given = isNode(rule.arguments) ? rule.arguments : rule
  if (metric === 'missingValues') return missingCondition(given.missingValues, name, target)
  const { validValues, pattern } = given
  const unknown = Object.keys(isNode(rule.arguments) ? rule.arguments : {}).filter(
    argument => !['validValues', 'pattern'].includes(argument),
  )
  if (unknown.length > 0) return { reason: `the argument ${unknown.join(', ')} is not known` }
  const common = { column_name: column, treat_null_as_valid: true }
  if (Array.isArray(validValues)) {
    const list = writeList(validValues, target)
    const condition = { rule: { rule_type: 'ENUM', rule_config: { allowed_values: validValues }, ...common } }
    return list === null
      ? condition
      : { ...condition, sql: `${name} is not null and ${name} not in (${list})` }
  }
  if (typeof pattern === 'string')
    return { rule: { rule_type: 'REGEX', rule_config: { pattern }, ...common } }
  return { reason: 'invalidValues needs the argument validValues or pattern' }
}

/** `missingValues` lists what stands for a missing value, with null for NULL. */
function missingCondition(given: unknown, name: string, target: CheckTarget): RowCondition | NoRule {
  const values = Array.isArray(given) ? (given as unknown[]) : [null]
  const list = writeList(
    values.filter(value => value !== null),
    target,
  )
  if (list === null) return { reason: 'missingValues must be a list of texts and numbers' }
  const hasNull = values.includes(null)
  if (list === '' && hasNull)
    return { rule: { rule_type: 'NOT_NULL', column_name: target.column ?? '' }, sql: `${name} is null` }
  if (list === '') return { reason: 'missingValues is an empty list' }
  const condition = hasNull
    ? `${name} is null or ${name} in (${list})`
    : `${name} is not null and ${name} in (${list})`
  const valid = hasNull
    ? `${name} is not null and ${name} not in (${list})`
    : `${name} is null or ${name} not in (${list})`
  return { rule: sqlRule(valid), sql: condition }
}

/** Values written out; null if one is neither a text nor a plain number. */
function writeList(values: readonly unknown[], target: CheckTarget): string | null {
  const written = values.map(value => {
    if (typeof value === 'string') return writeText(target, value)
    return typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(String(value)) ? String(value) : null
  })
  return written.includes(null) ? null : written.join(', ')
}

function duplicateRule(rule: ContractNode, comparison: Comparison, target: CheckTarget): WantedRule | NoRule {
  const properties = isNode(rule.arguments) ? rule.arguments.properties : undefined
  const named = Array.isArray(properties)
    ? properties.map(String)
    : target.column === null
      ? []
      : [target.column]
  if (named.length === 0) return { reason: 'duplicateValues of a table needs the argument properties' }
  const found = named.map(name => findColumn(target.info, name)?.name)
  const missing = named.find((_, place) => found[place] === undefined)
  if (missing !== undefined) return { reason: `there is no column ${missing}` }
  const isNone = thresholdOf(comparison, isPercent(rule)) === 0
  if (!isNone && isPercent(rule))
    return { reason: 'the standard does not say of what duplicates are a percentage: count them in rows' }
  const columns = found.map(name => name ?? '')
  if (isNone && columns.length === 1)
    return { rule_type: 'UNIQUE', column_name: columns[0], treat_null_as_valid: true }
  const names = columns.map(name => writeName(target, name))
  const key = names.join(', ')
  const present = names.map(name => `${name} is not null`).join(' and ')
  const repeated = `select ${key} from ${writeTable(target)} where ${present} group by ${key} having count(*) > 1`
  return isNone
    ? sqlRule(repeated)
    : countRule(`select count(*) as n from (${repeated}) repeated`, comparison, 'duplicates')
}

/** A query that returns one number; `${table}`, `${column}` and the like are replaced. */
function queryRule(
  query: string,
  comparison: Comparison | null,
  target: CheckTarget,
): WantedRule | WantedMetric | NoRule {
  if (!comparison) return { reason: 'it has no operator such as mustBe' }
  if (query === '') return { reason: 'it has no query' }
  const table = writeTable(target)
  const names: Record<string, string | null> = {
    table,
    object: table,
    model: table,
    schema: table,
    ...Object.fromEntries(
      ['column', 'property', 'field'].map(name => [
        name,
        target.column === null ? null : writeName(target, target.column),
      ]),
    ),
  }
  let unknown: string | undefined
  const replaceNames = (given: string) =>
    given.replaceAll(/\$?\{\s*(\w+)\s*\}/g, (placeholder, name: string) => {
      const value = names[name.toLowerCase()]
      if (value == null) unknown ??= placeholder
      return value ?? placeholder
    })
  const text = replaceNames(query.replace(/;\s*$/, ''))
  if (unknown !== undefined) return { reason: `${unknown} stands for nothing here` }
  if (!/^\s*(select|with)\b/i.test(text)) return { reason: 'its query is no SELECT' }
  const rule = { ...countRule(`select (\n${text}\n) as n`, comparison), query: text }
  const counted = readRowCount(query)
  if (counted === null) return rule
  return countMetric(counted.where && replaceNames(counted.where), comparison, rule)
}

/** More than a condition may follow these. */
const MORE_THAN_CONDITION =
  /\b(group|having|order|limit|union|intersect|except|minus|fetch|offset|window|qualify|for|into)\b/i

/** The condition of a query that counts rows of the table, undefined of one that counts all; null of any other query. */
function readRowCount(query: string): { where: string | undefined } | null {
  // The end is cut off before: an expression would look for it from each blank.
  const text = query.trim().replace(/;$/, '').trimEnd()
  const read =
    /^select\s+count\s*\(\s*\*\s*\)(?:\s+as\s+\w+)?\s+from\s+\$?\{\s*(?:table|object|model|schema)\s*\}(?:\s+where\s([^]*))?$/i.exec(
      text,
    )
  if (!read) return null
  const where = read[1]?.trim()
  const isPlain =
    where === undefined ||
    (!MORE_THAN_CONDITION.test(where) && !/\{\s*(table|object|model|schema)\s*\}/i.test(where))
  return isPlain ? { where } : null
}
