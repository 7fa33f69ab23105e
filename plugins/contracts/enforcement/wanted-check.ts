import { findFilterProblem } from '../../../checks/plan.ts'
import { checkCustomSql } from '../../../checks/sql/custom-sql.ts'
import { formatDuration } from '../../../server/settings/durations.ts'
import { findColumn } from './bindings.ts'
import type { Clause } from './clause.ts'
import { qualityRule } from './quality.ts'
import {
  sqlRule,
  writeName,
  writeTable,
  type CheckTarget,
  type NoRule,
  type ClauseCheck,
  type WantedMetric,
  type WantedRule,
} from './rule.ts'

const MAX_NAME_LENGTH = 200

/**
 * The check that a clause needs, where the catalog alone cannot tell whether it holds.
 * @param contract its name, for that of the check
 * @returns why there is none, if there is none
 */
export async function wantedCheckOf(
  clause: Clause,
  target: CheckTarget,
  contract: string,
): Promise<ClauseCheck | NoRule> {
  const { demand } = clause
  if (demand.of === 'freshness')
    return {
      kind: 'freshness',
      body: {
        monitoring_mode: 'explicit',
        sla_threshold: formatDuration(demand.seconds),
        ...(target.column !== null && { freshness_column: target.column }),
        is_active: true,
      },
    }
  const general = {
    name: `${contract}: ${clause.title}`.slice(0, MAX_NAME_LENGTH).toWellFormed(),
    severity: clause.severity,
    is_active: true,
  }
  if (demand.of === 'reference')
    return {
      kind: 'referential',
      body: {
        child_column_name: target.column,
        parent_table_path: demand.parentTable,
        parent_column_name: demand.parentColumn,
        ...general,
      },
    }
  const wanted = ruleOf(clause, target)
  if ('reason' in wanted) return wanted
  if ('metric_type' in wanted && (await canFilter(wanted.filter, target))) {
    const { otherwise: _, ...metric } = wanted
    return { kind: 'metric', body: { ...metric, ...general } }
  }
  const rule = 'metric_type' in wanted ? wanted.otherwise : wanted
  const { column_name: column, query, ...others } = rule
  const refusal = query === undefined ? null : await refuseQuery(query, target)
  if (refusal !== null) return { reason: refusal }
  return {
    kind: 'validity',
    body: {
      ...others,
      ...(column !== undefined && { column_name: column }),
      ...general,
    },
  }
}

async function canFilter(
  filter: string | undefined,
  { dialect, info: table }: CheckTarget,
): Promise<boolean> {
  return filter === undefined || (await findFilterProblem(filter, { dialect, table })) === null
}

/** The query of a contract must be a SELECT by itself, not only inside of what is made of it. */
async function refuseQuery(query: string, { dialect, info }: CheckTarget): Promise<string | null> {
  const reading = await checkCustomSql(query, { dialect, columns: info.columns })
  if ('error' in reading)
    return `its query was refused: ${reading.error.replaceAll('sql_expression', 'query')}`
  return reading.form === 'select' ? null : 'its query is no SELECT'
}

function ruleOf({ demand }: Clause, target: CheckTarget): WantedRule | WantedMetric | NoRule {
  const column = target.column ?? undefined
  switch (demand.of) {
    case 'required':
      return { rule_type: 'NOT_NULL', column_name: column }
    case 'unique':
      return { rule_type: 'UNIQUE', column_name: column, treat_null_as_valid: true }
    case 'primary_key':
      return keyRule(demand.columns, target)
    case 'option':
      return optionRule(demand.option, demand.value, target)
    case 'quality':
      return qualityRule(demand.rule, target)
    default:
      return { reason: 'no check can tell whether it holds' }
  }
}

/** No two rows have the same key, and none has a part of it that is null. */
function keyRule(columns: readonly string[], target: CheckTarget): WantedRule {
  const names = columns.map(name => findColumn(target.info, name)?.name ?? name)
  const [only] = names
  if (only !== undefined && names.length === 1) return { rule_type: 'UNIQUE', column_name: only }
  const parts = names.map(name => writeName(target, name))
  const key = parts.join(', ')
  const hasNull = parts.map(part => `${part} is null`).join(' or ')
  return sqlRule(`select ${key} from ${writeTable(target)} group by ${key} having count(*) > 1 or ${hasNull}`)
}

function optionRule(option: string, value: unknown, target: CheckTarget): WantedRule | NoRule {
  const column = target.column ?? ''
  const common = { column_name: column, treat_null_as_valid: true }
  switch (option) {
    case 'minimum':
      return { rule_type: 'RANGE', rule_config: { min: value }, ...common }
    case 'maximum':
      return { rule_type: 'RANGE', rule_config: { max: value }, ...common }
    case 'pattern':
      return { rule_type: 'REGEX', rule_config: { pattern: value }, ...common }
    case 'minLength':
    case 'maxLength': {
      const name = writeName(target, column)
      // The LENGTH of MySQL counts bytes.
      const length = `${target.engine === 'mysql' ? 'char_length' : 'length'}(${name})`
      return sqlRule(`${name} is null or ${length} ${option === 'minLength' ? '>=' : '<='} ${Number(value)}`)
    }
    default:
      return { reason: `${option} is not checked: minimum, maximum, pattern, minLength and maxLength are` }
  }
}
