/** The checks of Soda Core 4's contracts, by type, and their thresholds. */
import { formatName } from '../../../connectors/catalog.ts'
import { explicitSchedule } from './dbt-freshness.ts'
import { allowFields, Inconvertible } from './import-draft.ts'
import {
  invalidCondition,
  MISSING_FIELDS,
  missingCondition,
  ruleOf,
  settingsIn,
  VALID_FIELDS,
} from './soda-contract-conditions.ts'
import { failsAboveZero, filterIn, isPercent, levelsOf } from './soda-contract-thresholds.ts'
import {
  allOf,
  countWhere,
  customSql,
  failsWhen,
  limitedMetric,
  readQuery,
  rowsOf,
  writeLength,
  writeName,
  writePercent,
  type SqlEngine,
} from './sql-text.ts'
import { isRecord, type Fields } from './values.ts'

/** What a check of a contract is about. */
export interface ContractTarget {
  engine: SqlEngine
  /** The path of the table, and how SQL names it. */
  table: string
  own: string
  /** The condition of the contract on the rows that its checks are about. */
  filter?: string | undefined
  dataset: string
  /** Absent for a check of the whole table. */
  column?: Fields
}

/** A check without what its contract says of it. */
export interface ContractCheck {
  kind?: 'validity' | 'metric' | 'referential' | 'freshness'
  key?: (string | undefined)[]
  body: Fields
  severity: 'critical' | 'warning'
  note?: string
  filter?: string | undefined
  select?(): ContractCheck
}

type Make = (config: Fields, target: ContractTarget) => ContractCheck[]

function columnOf({ column, engine }: ContractTarget): { name: string; text: string } {
  if (typeof column?.name !== 'string') throw new Inconvertible('it is a check of columns')
  return { name: column.name, text: writeName(column.name, engine) }
}

/** A number that a check of a contract is about. */
interface MeasuredNumber {
  value(): string
  /** A table in SQL that holds the rows, where it is not that of the contract. */
  from?: string
  /** The rule that fails where the number is not 0. */
  rule?: Fields | null
  /** The metric that is the number. */
  metric?: string | undefined
  /** The condition of the rows whose number it is. */
  counted?(): string
  fallback?: string
}

/** A check for each level: the rule where it fails above zero, a metric with limits, or else a SELECT of the number. */
function measured(
  config: Fields,
  { own, filter: ofContract, column }: ContractTarget,
  { value, from = rowsOf(own, ofContract), rule, metric, counted, fallback }: MeasuredNumber,
): ContractCheck[] {
  const where = filterIn(config)
  const filter = allOf(ofContract, where)
  const name = typeof column?.name === 'string' ? column.name : undefined
  const levels = levelsOf(config.threshold, fallback)
  return levels.map((level): ContractCheck => {
    const { severity } = level
    const unit = isPercent(config) ? '%' : undefined
    const select = () => ({
      severity,
      body: failsWhen({ value: value(), from, where }, level.failed, unit),
    })
    if (rule && failsAboveZero(level)) return { severity, body: rule, filter, select }
    const limited = metric === undefined ? null : limitedMetric(metric, name, level.failed)
    if (limited) return { kind: 'metric', severity, body: limited, filter, select }
    const count = counted && limitedMetric('row_count', undefined, level.failed)
    return count
      ? { kind: 'metric', severity, body: count, filter: allOf(filter, counted()), select }
      : select()
  })
}

function referenceCheck(config: Fields, target: ContractTarget, reference: unknown): ContractCheck[] {
  const { name } = columnOf(target)
  const levels = levelsOf(config.threshold, 'value = 0')
  if (!isRecord(reference) || typeof reference.dataset !== 'string' || typeof reference.column !== 'string')
    throw new Inconvertible('valid_reference_data must have a dataset and a column')
  const [source, ...parts] = reference.dataset.split('/')
  if (source !== target.dataset.split('/')[0] || parts.length === 0)
    throw new Inconvertible('the reference data lies in another data source')
  if (!levels.every(failsAboveZero))
    throw new Inconvertible('reference data with a threshold has no counterpart')
  return levels.map(({ severity }) => ({
    kind: 'referential',
    key: [name, 'exists_in', formatName(parts)],
    body: {
      ...{
        child_column_name: name,
        parent_table_path: formatName(parts),
        parent_column_name: reference.column,
      },
    },
    severity,
    // Its rows are those that refer, not those that are referred to.
    filter: allOf(target.filter, filterIn(config)),
  }))
}

const AGGREGATES: Record<string, (text: string, engine: SqlEngine) => string> = {
  avg: text => `avg(${text})`,
  sum: text => `sum(${text})`,
  min: text => `min(${text})`,
  max: text => `max(${text})`,
  minlength: (text, engine) => `min(${writeLength(text, engine)})`,
  maxlength: (text, engine) => `max(${writeLength(text, engine)})`,
  avglength: (text, engine) => `avg(${writeLength(text, engine)})`,
}

/** The metrics that those of `AGGREGATES` are here. */
const METRIC_TYPES: Record<string, string> = {
  avg: 'mean',
  sum: 'sum',
  min: 'min_value',
  max: 'max_value',
  minlength: 'min_length',
  maxlength: 'max_length',
  avglength: 'mean_length',
}

const PERIOD_MINUTES: Record<string, number> = { minute: 1, hour: 60, day: 1_440 }

/** By type. @throws Inconvertible */
export const CONTRACT_CHECKS: Record<string, Make> = {
  missing(config, target) {
    allowFields(config, 'threshold', 'filter', ...MISSING_FIELDS)
    const { name, text } = columnOf(target)
    const settings = settingsIn(config, target.column, MISSING_FIELDS)
    const condition = missingCondition(text, settings, target.engine)
    const count = countWhere(condition)
    const rule = Object.keys(settings).length === 0 ? { rule_type: 'NOT_NULL', column_name: name } : null
    const isShare = isPercent(config)
    const value = isShare ? writePercent(count) : count
    const metric = isShare && rule ? 'null_percent' : undefined
    return measured(config, target, {
      ...{ value: () => value, rule, metric, fallback: 'value = 0' },
      ...(!isShare && { counted: () => condition }),
    })
  },
  invalid(config, target) {
    allowFields(config, 'threshold', 'filter', ...MISSING_FIELDS, ...VALID_FIELDS)
    const { name, text } = columnOf(target)
    const missing = settingsIn(config, target.column, MISSING_FIELDS)
    const { valid_reference_data: reference, ...settings } = settingsIn(config, target.column, VALID_FIELDS)
    const hasMissing = Object.keys(missing).length > 0
    if (reference !== undefined && !hasMissing && Object.keys(settings).length === 0)
      return referenceCheck(config, target, reference)
    if (reference !== undefined)
      throw new Inconvertible('reference data beside other settings has no counterpart')
    if (Object.keys(settings).length === 0) throw new Inconvertible('it says nothing of what is valid')
    const { engine } = target
    const rule = hasMissing ? null : ruleOf(name, settings)
    // The SQL of a pattern is not known for all engines: only a rule will do there.
    const counted = () =>
      `not (${missingCondition(text, missing, engine)}) and (${invalidCondition(text, settings, engine)})`
    const isShare = isPercent(config)
    const value = () => (isShare ? writePercent(countWhere(counted())) : countWhere(counted()))
    return measured(config, target, {
      ...{ value, rule, fallback: 'value = 0' },
      ...(!isShare && { counted }),
    })
  },
  duplicate(config, target) {
    if (!target.column) return duplicateRows(config, target)
    allowFields(config, 'threshold', 'filter', ...MISSING_FIELDS)
    const { name, text } = columnOf(target)
    const settings = settingsIn(config, target.column, MISSING_FIELDS)
    const isPlain = Object.keys(settings).length === 0
    const tested = isPlain
      ? text
      : `case when not (${missingCondition(text, settings, target.engine)}) then ${text} end`
    const count = `(count(${tested}) - count(distinct ${tested}))`
    return measured(config, target, {
      value: () => (isPercent(config) ? writePercent(count, `count(${tested})`) : count),
      rule: isPlain ? { rule_type: 'UNIQUE', column_name: name, treat_null_as_valid: true } : null,
      fallback: 'value = 0',
    })
  },
  aggregate(config, target) {
    allowFields(config, 'threshold', 'filter', 'function')
    const { text } = columnOf(target)
    const name = String(config.function).toLowerCase()
    const compute = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined
    if (!compute)
      throw new Inconvertible(`the function ${JSON.stringify(config.function)} has no counterpart`)
    if (Object.keys(settingsIn(config, target.column, [...MISSING_FIELDS, ...VALID_FIELDS])).length > 0)
      throw new Inconvertible('an aggregate of the valid values only has no counterpart')
    return measured(config, target, {
      value: () => compute(text, target.engine),
      metric: METRIC_TYPES[name],
    })
  },
  row_count(config, target) {
    allowFields(config, 'threshold', 'filter')
    return measured(config, target, {
      value: () => 'count(*)',
      metric: 'row_count',
      fallback: 'value > 0',
    })
  },
  failed_rows(config, target) {
    allowFields(config, 'threshold', 'filter', 'expression', 'query')
    const { expression, query } = config
    if (typeof expression === 'string') {
      const count = countWhere(`(${expression.trim()})`)
      return measured(config, target, {
        value: () => (isPercent(config) ? writePercent(count) : count),
        // A row for which the expression is null does not fail.
        rule: customSql(`coalesce(not (${expression.trim()}), true)`),
        fallback: 'value = 0',
        ...(!isPercent(config) && { counted: () => expression.trim() }),
      })
    }
    if (typeof query !== 'string' || isPercent(config) || filterIn(config) !== undefined)
      throw new Inconvertible('it has neither an expression nor a query of the failed rows alone')
    const text = readQuery(query)
    // The query names its tables itself: the filter of the contract does not hold for it.
    return measured(
      config,
      { ...target, filter: undefined },
      {
        value: () => 'count(*)',
        from: `(${text}) failed_rows`,
        rule: customSql(text),
        fallback: 'value = 0',
      },
    )
  },
  metric(config, target) {
    allowFields(config, 'threshold', 'expression', 'query')
    if (typeof config.expression !== 'string')
      throw new Inconvertible('its query returns the number: write it as CUSTOM_SQL')
    const value = config.expression.trim()
    return measured(config, target, { value: () => value })
  },
  freshness(config, target) {
    allowFields(config, 'threshold', 'filter', 'column')
    const { column, threshold } = config
    if (typeof column !== 'string' || !isRecord(threshold))
      throw new Inconvertible('it has no column or no threshold')
    const { unit = 'hour', level = 'fail', ...conditions } = threshold
    const [[field = '', age] = [], ...more] = Object.entries(conditions)
    const minutes = typeof age === 'number' ? age * (PERIOD_MINUTES[String(unit)] ?? NaN) : NaN
    if (
      !/^must_be_less_than(_or_equal)?$/.test(field) ||
      more.length > 0 ||
      !Number.isInteger(minutes) ||
      minutes < 1
    )
      throw new Inconvertible('freshness is compared with one greatest age, in whole minutes')
    const filter = filterIn(config)
    if (target.filter !== undefined)
      throw new Inconvertible('a schedule does not take the filter of the contract')
    const text = writeName(column, target.engine)
    const signal =
      filter === undefined
        ? { freshness_column: column }
        : { freshness_expression: `case when ${filter} then ${text} end` }
    return [
      {
        kind: 'freshness',
        key: ['freshness'],
        body: explicitSchedule({ minutes }, signal),
        severity: 'critical',
        ...(level === 'warn' && { note: 'Soda only warns; a schedule alerts as critical' }),
      },
    ]
  },
  schema() {
    throw new Inconvertible('every discovery compares the schema; a data contract says what it must be')
  },
}

/** Rows that occur more than once. NULL is a value as others for Soda here. */
function duplicateRows(config: Fields, { engine, own, filter: ofContract }: ContractTarget): ContractCheck[] {
  allowFields(config, 'threshold', 'filter', 'columns')
  const names = config.columns
  if (!Array.isArray(names) || names.length === 0 || !names.every(name => typeof name === 'string'))
    throw new Inconvertible('columns must be a list of columns')
  const list = (names as string[]).map(name => writeName(name, engine)).join(', ')
  const filter = allOf(ofContract, filterIn(config))
  const levels = levelsOf(config.threshold, 'value = 0')
  if (!levels.every(failsAboveZero))
    throw new Inconvertible(
      'a number of duplicates of several columns has no counterpart, only that there are none',
    )
  const where = filter === undefined ? '' : ` where ${filter}`
  const text = `select ${list} from ${own}${where} group by ${list} having count(*) > 1`
  return levels.map(({ severity }) => ({
    key: [...(names as string[]), 'duplicate'],
    body: customSql(text),
    severity,
  }))
}
