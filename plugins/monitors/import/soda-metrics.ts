/** Soda's metrics with a comparison: `missing_count(id) = 0`. */
import { Inconvertible, type DraftCheck } from './import-draft.ts'
import { PythonNumber, toPlain } from './python-scalars.ts'
import {
  allOf,
  countWhere,
  isScalar,
  readColumn,
  failsWhen,
  limitedMetric,
  writeLength,
  writeList,
  writeMatch,
  writePercent,
  writeScalar,
  writeTable,
  type Aggregate,
  type Scalar,
  type SqlEngine,
  type WrittenColumn,
} from './sql-text.ts'
import type { Fields } from './values.ts'

export interface SodaTarget {
  table: string
  engine: SqlEngine
  /** The condition of the section on the rows that its checks are about. */
  rows?: string | undefined
}

/** A check splits into a metric and a comparison. */
export interface SodaMetric {
  metric: string
  args: string[]
  comparison: string
}

/** When a check fails, as a condition on `value`, and how much that matters. */
export interface Level {
  severity: 'critical' | 'warning'
  failed: string
}

const METRIC =
  /^([A-Za-z_][\w ]*?)\s*(?:\(((?:"[^"]*"|`[^`]*`|[^)"`])*)\))?\s*((?:not\s+)?between\b.*|[<>=!].*)?$/

/** @throws Inconvertible for what is no metric with or without a comparison */
export function readMetric(text: string): SodaMetric {
  const match = METRIC.exec(text.trim())
  if (!match) throw new Inconvertible('it is no metric with a comparison')
  const [, metric = '', args = '', comparison = ''] = match
  return {
    metric: metric.trim(),
    args: Array.from(args.matchAll(/(?:"[^"]*"|`[^`]*`|[^,"`])+/g), ([arg]) => arg.trim()).filter(
      arg => arg !== '',
    ),
    comparison,
  }
}

/** A comparison as a condition on `value`. @throws Inconvertible */
export function readComparison(text: string): string {
  const number = String.raw`(-?\d+(?:\.\d+)?)\s*%?`
  const simple = new RegExp(`^(<=|>=|!=|<>|<|>|=)\\s*${number}$`).exec(text.trim())
  if (simple) return `value ${simple[1] === '!=' ? '<>' : simple[1]} ${simple[2]}`
  const range = new RegExp(
    `^(not\\s+)?between\\s*([[(]?)\\s*${number}\\s*and\\s*${number}\\s*([\\])]?)$`,
  ).exec(text.trim())
  if (!range) throw new Inconvertible(`the comparison ${JSON.stringify(text)} is not understood`)
  const [, negation, start, low, high, end] = range
  // Without brackets both bounds belong to the range; a round one keeps its bound out.
  const inside = `value ${start === '(' ? '>' : '>='} ${low} and value ${end === ')' ? '<' : '<='} ${high}`
  return negation ? `not (${inside})` : `(${inside})`
}

const VALID_FIELDS = [
  'valid values',
  'valid min',
  'valid max',
  'valid length',
  'valid min length',
  'valid max length',
  'valid regex',
  'invalid values',
]
const MISSING_FIELDS = ['missing values']
/** Fields of a check that are no part of what it measures. */
export const NEUTRAL_FIELDS = [
  'name',
  'attributes',
  'identity',
  'samples limit',
  'samples columns',
  'collect failed rows',
  'title',
]
const OTHER_FIELDS = ['filter', 'fail', 'warn', ...NEUTRAL_FIELDS]

/** @param levels when it fails @throws Inconvertible */
export function convertSodaMetric(
  { metric, args }: SodaMetric,
  config: Fields,
  levels: readonly Level[],
  target: SodaTarget,
): DraftCheck[] {
  const { table, engine } = target
  const known = [...OTHER_FIELDS, ...VALID_FIELDS, ...MISSING_FIELDS, `${metric} expression`]
  const other = Object.keys(config).find(name => !known.includes(name))
  if (other !== undefined) throw new Inconvertible(`${other} has no counterpart here`)
  const columns = args.map(arg => readColumn(arg, engine))
  const plain = plainRule(metric, columns, config)
  const filter = filterOf(config, target)
  const type = metricTypeOf(metric, columns, config, engine)
  return levels.map(({ severity, failed }): DraftCheck => {
    const key = [...columns.map(({ name }) => name), metric, ...(levels.length > 1 ? [severity] : [])]
    const rule = (body: Fields): DraftCheck => ({ kind: 'validity', table, key, body: { ...body, severity } })
    const select = () => rule(failsWhen(aggregateOf(metric, columns, config, target), failed, unitOf(metric)))
    const limited = type && limitedMetric(type, columns[0]?.name, failed)
    if (limited) return { kind: 'metric', table, key, body: { ...limited, severity }, filter, select }
    const isNone = failed === 'not (value = 0)' || failed === 'value > 0'
    if (isNone && plain) return { ...rule(plain), filter, select }
    const counted = countedRows(metric, columns, config, engine)
    const count = counted === null ? null : limitedMetric('row_count', undefined, failed)
    if (!counted || !count) return select()
    return {
      kind: 'metric',
      table,
      key,
      body: { ...count, severity },
      filter: allOf(filter, counted),
      select,
    }
  })
}

/** The condition of the rows whose number a metric is; null of any other metric. */
function countedRows(
  metric: string,
  columns: readonly WrittenColumn[],
  config: Fields,
  engine: SqlEngine,
): string | null {
  const [column] = columns
  if (column === undefined || columns.length > 1 || config[`${metric} expression`] !== undefined) return null
  if (metric === 'missing_count') return missingCondition(column.text, config, engine)
  return metric === 'invalid_count' ? invalidCondition(column.text, config, engine) : null
}

/** Soda's metrics that are metrics here, too; the standard deviation of MySQL is not that of a sample. */
const METRIC_TYPES: Record<string, string> = {
  row_count: 'row_count',
  missing_percent: 'null_percent',
  distinct_count: 'distinct_count',
  min: 'min_value',
  max: 'max_value',
  avg: 'mean',
  sum: 'sum',
  stddev: 'standard_deviation',
  stddev_samp: 'standard_deviation',
  min_length: 'min_length',
  avg_length: 'mean_length',
  max_length: 'max_length',
}

/** The metric that measures the same rows; null where there is none. */
function metricTypeOf(
  metric: string,
  columns: readonly WrittenColumn[],
  config: Fields,
  engine: SqlEngine,
): string | null {
  const isPlain = Object.keys(config).every(name => OTHER_FIELDS.includes(name))
  if (!isPlain) return null
  if (metric === 'stddev' && engine === 'mysql') return null
  const type = Object.hasOwn(METRIC_TYPES, metric) ? METRIC_TYPES[metric] : undefined
  return type !== undefined && columns.length === (type === 'row_count' ? 0 : 1) ? type : null
}

/** The rule of a count that must be 0, where there is one that counts the same rows. */
function plainRule(metric: string, columns: readonly WrittenColumn[], config: Fields): Fields | null {
  const [column] = columns
  if (column === undefined || columns.length > 1) return null
  const given = Object.keys(config).filter(name => !OTHER_FIELDS.includes(name))
  const rule = (type: string, more: Fields = {}) => ({ rule_type: type, column_name: column.name, ...more })
  if (/^missing_(count|percent)$/.test(metric)) return given.length === 0 ? rule('NOT_NULL') : null
  if (metric === 'duplicate_count' || metric === 'duplicate_percent')
    return given.length === 0 ? rule('UNIQUE', { treat_null_as_valid: true }) : null
  if (!/^invalid_(count|percent)$/.test(metric)) return null
  const nullIsValid = { treat_null_as_valid: true }
  if (given.length === 1 && given[0] === 'valid values')
    return rule('ENUM', {
      rule_config: { allowed_values: scalarsIn(config, 'valid values').map(toPlain) },
      ...nullIsValid,
    })
  if (given.length === 1 && given[0] === 'valid regex')
    return rule('REGEX', { rule_config: { pattern: textIn(config, 'valid regex') }, ...nullIsValid })
  const [min, max] = ['valid min', 'valid max'].map(name =>
    config[name] === undefined ? undefined : toPlain(scalarIn(config, name)),
  )
  // With a least value alone, NaN is valid for Soda and invalid for RANGE.
  if (given.every(name => name === 'valid min' || name === 'valid max') && max !== undefined)
    return rule('RANGE', { rule_config: { ...(min !== undefined && { min }), max }, ...nullIsValid })
  return null
}

/** The rows that a check is about, by its own filter and that of its section. */
function filterOf({ filter }: Fields, { rows }: SodaTarget): string | undefined {
  return allOf(rows, typeof filter === 'string' ? filter.trim() : undefined)
}

function aggregateOf(
  metric: string,
  columns: readonly WrittenColumn[],
  config: Fields,
  target: SodaTarget,
): Aggregate {
  const args = columns.map(({ text }) => text)
  if (metric === 'duplicate_count') return { value: 'count(*)', from: duplicatesOf(args, config, target) }
  const { table, engine } = target
  return {
    value: valueOf(metric, args, config, engine),
    from: writeTable(table, engine),
    where: filterOf(config, target),
  }
}

/** A metric as an expression over the rows of a table. */
function valueOf(metric: string, args: readonly string[], config: Fields, engine: SqlEngine): string {
  const own = config[`${metric} expression`]
  if (typeof own === 'string') return own.trim()
  if (metric === 'row_count') return 'count(*)'
  const [column] = args
  if (column === undefined)
    throw new Inconvertible(`${metric} is a metric of the project: only its query says what it is`)
  const missing = countWhere(missingCondition(column, config, engine))
  switch (metric) {
    case 'missing_count':
      return missing
    case 'missing_percent':
      return writePercent(missing)
    case 'invalid_count':
      return countWhere(invalidCondition(column, config, engine))
    case 'invalid_percent':
      return writePercent(countWhere(invalidCondition(column, config, engine)))
  }
  if (args.length > 1) throw new Inconvertible(`${metric} of several columns has no counterpart`)
  const compute = Object.hasOwn(AGGREGATES, metric) ? AGGREGATES[metric] : undefined
  if (!compute) throw new Inconvertible(`${metric} is a metric of the project or has no counterpart`)
  if (Object.keys(config).some(name => MISSING_FIELDS.includes(name) || VALID_FIELDS.includes(name)))
    throw new Inconvertible(`${metric} of the valid values only has no counterpart`)
  return compute(column, engine)
}

/** The values that occur more than once, each once; one with NULL in a column is none. */
function duplicatesOf(columns: readonly string[], config: Fields, target: SodaTarget): string {
  const { table, engine } = target
  const filter = filterOf(config, target)
  if (columns.length === 0) throw new Inconvertible('duplicate_count names no column')
  if (Object.keys(config).some(name => MISSING_FIELDS.includes(name) || VALID_FIELDS.includes(name)))
    throw new Inconvertible('duplicate_count of the valid values only has no counterpart')
  const list = columns.join(', ')
  const conditions = [
    ...columns.map(name => `${name} is not null`),
    ...(filter === undefined ? [] : [`(${filter})`]),
  ]
  return `(select ${list} from ${writeTable(table, engine)} where ${conditions.join(' and ')} group by ${list} having count(*) > 1) duplicates`
}

const AGGREGATES: Record<string, (column: string, engine: SqlEngine) => string> = {
  min: column => `min(${column})`,
  max: column => `max(${column})`,
  avg: column => `avg(${column})`,
  sum: column => `sum(${column})`,
  // Each engine's own functions, by whose names Soda asks too.
  ...Object.fromEntries(
    ['stddev', 'stddev_pop', 'stddev_samp', 'variance', 'var_pop', 'var_samp'].map(name => [
      name,
      (column: string) => `${name}(${column})`,
    ]),
  ),
  distinct_count: column => `count(distinct ${column})`,
  min_length: (column, engine) => `min(${writeLength(column, engine)})`,
  max_length: (column, engine) => `max(${writeLength(column, engine)})`,
  avg_length: (column, engine) => `avg(${writeLength(column, engine)})`,
}

function missingCondition(column: string, config: Fields, engine: SqlEngine): string {
  if (config['missing values'] === undefined) return `${column} is null`
  return `(${column} is null or ${column} in (${writeList(scalarsIn(config, 'missing values'), engine)}))`
}

function invalidCondition(column: string, config: Fields, engine: SqlEngine): string {
  const length = writeLength(column, engine)
  const has = (name: string) => config[name] !== undefined
  const valid = [
    ...(has('valid values')
      ? [`${column} in (${writeList(scalarsIn(config, 'valid values'), engine)})`]
      : []),
    ...(has('invalid values')
      ? [`${column} not in (${writeList(scalarsIn(config, 'invalid values'), engine)})`]
      : []),
    ...(has('valid min') ? [`${column} >= ${numberIn(config, 'valid min')}`] : []),
    ...(has('valid max') ? [`${column} <= ${numberIn(config, 'valid max')}`] : []),
    ...(has('valid length') ? [`${length} = ${numberIn(config, 'valid length')}`] : []),
    ...(has('valid min length') ? [`${length} >= ${numberIn(config, 'valid min length')}`] : []),
    ...(has('valid max length') ? [`${length} <= ${numberIn(config, 'valid max length')}`] : []),
    ...(has('valid regex') ? [writeMatch(column, textIn(config, 'valid regex'), engine)] : []),
  ]
  if (valid.length === 0) throw new Inconvertible('it says nothing of what is valid')
  return `not ${missingCondition(column, config, engine)} and not (${valid.join(' and ')})`
}

/** Soda takes lists of one kind only. */
function scalarsIn(config: Fields, field: string): Scalar[] {
  const values: unknown = config[field]
  const isText = (value: unknown) => typeof value === 'string'
  if (
    !Array.isArray(values) ||
    values.length === 0 ||
    !values.every(isScalar) ||
    !(values.every(isText) || !values.some(isText))
  )
    throw new Inconvertible(`${field} must be a list of texts or of numbers`)
  return values as Scalar[]
}

function scalarIn(config: Fields, field: string): Scalar {
  const value = config[field]
  if (typeof value !== 'number' && !(value instanceof PythonNumber))
    throw new Inconvertible(`${field} must be a number`)
  return value
}

const numberIn = (config: Fields, field: string): string => writeScalar(scalarIn(config, field), 'postgresql')

function textIn(config: Fields, field: string): string {
  const value = config[field]
  if (typeof value !== 'string') throw new Inconvertible(`${field} must be a text`)
  if (value === '') throw new Inconvertible(`${field} is empty, which matches every value`)
  return value
}

/** What people count in the numbers of a metric. */
function unitOf(metric: string): string | undefined {
  if (metric.endsWith('_percent')) return '%'
  return ['row_count', 'missing_count', 'invalid_count'].includes(metric) ? 'rows' : undefined
}
