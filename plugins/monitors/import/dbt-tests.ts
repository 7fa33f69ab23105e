/** The tests of dbt-core and dbt_utils, one by one. */
import { Inconvertible, type DraftCheck } from './import-draft.ts'
import {
  customSql,
  isScalar,
  selectWhenFailed,
  writeList,
  writeName,
  writeTable,
  type Scalar,
  type SqlEngine,
} from './sql-text.ts'
import { isRecord, type Fields } from './values.ts'

/** What a test is attached to. */
export interface DbtNode {
  table: string
  /** Absent: the test is about the whole table. */
  column?: string
  /** Whether dbt quotes the name of the column. */
  isQuoted?: boolean
  engine: SqlEngine
  schema?: string | undefined
  /** Paths of source tables, by `source.table`. */
  sources: ReadonlyMap<string, string>
}

/** A test as a check. */
interface Converted {
  /** The check of a test that has neither a filter nor a threshold. */
  plain: { kind: 'validity' | 'referential'; body: Fields; note?: string }
  /** The rows that dbt counts as failures, as a SELECT from a table or a filtered subquery. */
  failing(from: string): string
}

/** @throws Inconvertible */
export function convertDbtTest(test: unknown, node: DbtNode): DraftCheck[] {
  const { name, args, config, label } = readTest(test)
  for (const value of leaves({ args, where: config.where }))
    if (typeof value === 'string' && /\{[{%]/.test(value) && !REFERENCE.test(value))
      throw new Inconvertible(`${JSON.stringify(value)} is a Jinja expression: render it first`)
  const own = name.replace(/^dbt\./, '')
  const make = Object.hasOwn(TESTS, own) ? TESTS[own] : undefined
  if (!make)
    throw new Inconvertible(
      `${name} is a test of the project or of another package: only its SQL says what it does`,
    )
  if (config.enabled === false) throw new Inconvertible('it is disabled')
  const converted = make(args, node)
  const common = label === undefined ? {} : { name: label.slice(0, 200) }
  return levelsOf(config).map(({ severity, failed }, index) => {
    const { body, ...check } = checkOf(converted, config.where, failed, node)
    return {
      ...check,
      table: node.table,
      key: [node.column, name, label, index > 0 ? severity : undefined],
      body: { ...body, ...common, severity },
    }
  })
}

function checkOf(
  { plain, failing }: Converted,
  where: unknown,
  failed: string | null,
  { table, engine }: DbtNode,
): Converted['plain'] {
  if (where === undefined && failed === null) return plain
  const own = writeTable(table, engine)
  const select = failing(where === undefined ? own : `(select * from ${own} where ${String(where)}) filtered`)
  if (failed === null) return { kind: 'validity', body: customSql(select) }
  const text = selectWhenFailed({ value: 'count(*)', from: `(${select}) failures` }, `value ${failed}`)
  return { kind: 'validity', body: customSql(text) }
}

const CONFIG_FIELDS = [
  'severity',
  'warn_if',
  'error_if',
  'where',
  'limit',
  'fail_calc',
  'enabled',
  'store_failures',
  'store_failures_as',
  'tags',
  'meta',
  'group',
  'database',
  'schema',
  'alias',
]
const NAMING_FIELDS = ['name', 'test_name', 'description', 'config', 'arguments', 'column_name']

/** The three forms of a test: its name, its name with arguments, and with the name as an argument. */
function readTest(test: unknown): { name: string; args: Fields; config: Fields; label: string | undefined } {
  if (typeof test === 'string') return { name: test, args: {}, config: {}, label: undefined }
  if (!isRecord(test)) throw new Inconvertible('a test is a name, or a name with its arguments')
  const isNamed = typeof test.test_name === 'string'
  const name = isNamed ? String(test.test_name) : Object.keys(test).find(key => !NAMING_FIELDS.includes(key))
  if (name === undefined) throw new Inconvertible('it has no name')
  const inner = isNamed ? test : test[name]
  const given: Fields = {
    ...(isRecord(inner) ? inner : {}),
    ...(isNamed ? {} : Object.fromEntries(Object.entries(test).filter(([key]) => key !== name))),
  }
  const config = {
    ...Object.fromEntries(Object.entries(given).filter(([key]) => CONFIG_FIELDS.includes(key))),
    ...(isRecord(given.config) ? given.config : {}),
  }
  const args = {
    ...Object.fromEntries(
      Object.entries(given).filter(([key]) => ![...CONFIG_FIELDS, ...NAMING_FIELDS].includes(key)),
    ),
    ...(isRecord(given.arguments) ? given.arguments : {}),
  }
  return { name, args, config, label: typeof given.name === 'string' ? given.name : undefined }
}

function leaves(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value]
}

/** When a test fails, and how much that matters. @returns a comparison of the number of failures, null for any */
function levelsOf(config: Fields): { severity: 'critical' | 'warning'; failed: string | null }[] {
  if (config.fail_calc !== undefined && config.fail_calc !== 'count(*)')
    throw new Inconvertible('fail_calc computes the failures in its own way')
  const [error, warn] = [thresholdOf(config.error_if), thresholdOf(config.warn_if)]
  if (config.limit !== undefined && (error !== null || warn !== null))
    throw new Inconvertible('limit stops counting before the threshold')
  if (String(config.severity ?? 'error').toLowerCase() === 'warn')
    return [{ severity: 'warning', failed: warn }]
  const levels: ReturnType<typeof levelsOf> = [{ severity: 'critical', failed: error }]
  return error === warn ? levels : [...levels, { severity: 'warning', failed: warn }]
}

function thresholdOf(text: unknown): string | null {
  if (text === undefined) return null
  const match = /^\s*(=|!=|<>|<=|>=|<|>)\s*(\d+)\s*$/.exec(String(text))
  if (!match) throw new Inconvertible(`the threshold ${JSON.stringify(text)} is no comparison with a number`)
  const [, operator, number] = match
  return (operator === '!=' || operator === '<>') && number === '0' ? null : `${operator} ${number}`
}

const REFERENCE =
  /^\s*\{?\{?\s*(ref|source)\(\s*['"]([^'"]+)['"]\s*(?:,\s*['"]([^'"]+)['"]\s*)?\)\s*\}?\}?\s*$/

/** The table that `ref('orders')` or `source('shop', 'orders')` stands for. */
function resolveReference(text: unknown, { schema, sources }: DbtNode): string {
  const match = REFERENCE.exec(String(text))
  if (!match) throw new Inconvertible(`${JSON.stringify(text)} is neither ref('…') nor source('…', '…')`)
  const [, kind, first = '', second] = match
  if (kind === 'ref') return schema === undefined ? (second ?? first) : `${schema}.${second ?? first}`
  const path = sources.get(`${first}.${second}`)
  if (path === undefined)
    throw new Inconvertible(
      `source('${first}', '${second}') is in none of the files: import the file that declares it too`,
    )
  return path
}

function columnOf({ column, isQuoted, engine }: DbtNode, args: Fields = {}): { name: string; text: string } {
  const name = column ?? (typeof args.column_name === 'string' ? args.column_name : undefined)
  if (name === undefined) throw new Inconvertible('it names no column')
  // dbt writes a name as it is, unless the column says quote: true.
  return { name, text: isQuoted || !/^[A-Za-z_]\w*$/.test(name) ? writeName(name, engine) : name }
}

function scalarsOf(args: Fields, field: string): Scalar[] {
  const values = args[field]
  if (!Array.isArray(values) || values.length === 0 || !values.every(isScalar))
    throw new Inconvertible(`${field} must be a list of texts, numbers or booleans`)
  return values as Scalar[]
}

/** @throws Inconvertible for arguments whose meaning is not known here */
function allow(args: Fields, ...known: string[]): void {
  const other = Object.keys(args).find(name => !known.includes(name))
  if (other !== undefined) throw new Inconvertible(`the argument ${other} has no counterpart`)
}

const rule = (column: string, type: string, config?: Fields, more: Fields = {}): Converted['plain'] => ({
  kind: 'validity',
  body: { rule_type: type, column_name: column, ...(config && { rule_config: config }), ...more },
})
const NULL_IS_VALID = { treat_null_as_valid: true }

/** Rows for which a condition is false fail; those for which it is null do not. */
function expressionTest(condition: string): Converted {
  return {
    plain: { kind: 'validity', body: customSql(`coalesce((${condition}), true)`) },
    failing: from => `select 1 as failed from ${from} where not (${condition})`,
  }
}

const TESTS: Record<string, (args: Fields, node: DbtNode) => Converted> = {
  not_null(args, node) {
    allow(args)
    const { name, text } = columnOf(node)
    return {
      plain: rule(name, 'NOT_NULL'),
      failing: from => `select 1 as failed from ${from} where ${text} is null`,
    }
  },
  unique(args, node) {
    allow(args)
    const { name, text } = columnOf(node)
    return {
      plain: rule(name, 'UNIQUE', undefined, NULL_IS_VALID),
      failing: from =>
        `select ${text} from ${from} where ${text} is not null group by ${text} having count(*) > 1`,
    }
  },
  accepted_values(args, node) {
    allow(args, 'values', 'quote')
    const { name, text } = columnOf(node)
    const values = scalarsOf(args, 'values')
    const list =
      args.quote === false ? values.map(String).join(', ') : writeList(values.map(String), node.engine)
    if (args.quote === false && values.some(value => !/^(-?\d+(\.\d+)?|true|false)$/i.test(String(value))))
      throw new Inconvertible('the values are SQL expressions')
    return {
      plain: rule(name, 'ENUM', { allowed_values: values }, NULL_IS_VALID),
      // dbt counts values, not rows.
      failing: from => `select ${text} from ${from} where ${text} not in (${list}) group by ${text}`,
    }
  },
  relationships(args, node) {
    allow(args, 'to', 'field')
    const { name, text } = columnOf(node)
    const parent = resolveReference(args.to, node)
    if (typeof args.field !== 'string') throw new Inconvertible('field must be the column of the other table')
    const field = args.field
    const orphans = (from: string) =>
      `select 1 as failed from ${from} where ${text} is not null and ${text} not in (select ${field} from ${writeTable(parent, node.engine)} where ${field} is not null)`
    return {
      plain: {
        kind: 'referential',
        body: { child_column_name: name, parent_table_path: parent, parent_column_name: field },
      },
      failing: orphans,
    }
  },
  'dbt_utils.expression_is_true'(args, node) {
    allow(args, 'expression', 'column_name')
    if (typeof args.expression !== 'string') throw new Inconvertible('expression must be SQL')
    return expressionTest(
      node.column === undefined ? args.expression : `${columnOf(node).text} ${args.expression}`,
    )
  },
  'dbt_utils.accepted_range'(args, node) {
    allow(args, 'min_value', 'max_value', 'inclusive')
    const { name, text } = columnOf(node)
    const { min_value: min, max_value: max } = args
    const isInclusive = args.inclusive !== false
    const conditions = [
      ...(min === undefined ? [] : [`${text} ${isInclusive ? '>=' : '>'} ${String(min)}`]),
      ...(max === undefined ? [] : [`${text} ${isInclusive ? '<=' : '<'} ${String(max)}`]),
    ]
    if (conditions.length === 0) throw new Inconvertible('it has neither min_value nor max_value')
    const tested = expressionTest(conditions.join(' and '))
    const isPlain = isInclusive && [min, max].every(bound => bound === undefined || typeof bound === 'number')
    if (!isPlain) return tested
    const bounds = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
    const note = max === undefined ? { note: 'NaN is invalid here; dbt takes it as above every number' } : {}
    return { ...tested, plain: { ...rule(name, 'RANGE', bounds, NULL_IS_VALID), ...note } }
  },
  'dbt_utils.not_empty_string'(args, node) {
    allow(args, 'trim_whitespace')
    const { text } = columnOf(node)
    return expressionTest(`${args.trim_whitespace === false ? text : `trim(${text})`} <> ''`)
  },
  'dbt_utils.not_accepted_values'(args, node) {
    allow(args, 'values', 'quote')
    const { text } = columnOf(node)
    const values = scalarsOf(args, 'values')
    const list =
      args.quote === false ? values.map(String).join(', ') : writeList(values.map(String), node.engine)
    return {
      plain: expressionTest(`${text} not in (${list})`).plain,
      failing: from => `select ${text} from ${from} where ${text} in (${list}) group by ${text}`,
    }
  },
  'dbt_utils.unique_combination_of_columns'(args, node) {
    allow(args, 'combination_of_columns', 'quote_columns')
    const names = scalarsOf(args, 'combination_of_columns').map(String)
    const list = (args.quote_columns === true ? names.map(name => writeName(name, node.engine)) : names).join(
      ', ',
    )
    const failing = (from: string) => `select ${list} from ${from} group by ${list} having count(*) > 1`
    return {
      plain: { kind: 'validity', body: customSql(failing(writeTable(node.table, node.engine))) },
      failing,
    }
  },
  'dbt_utils.not_null_proportion'(args, node) {
    allow(args, 'at_least', 'at_most')
    const { name, text } = columnOf(node)
    const { at_least: least, at_most: most } = args
    if (typeof least !== 'number') throw new Inconvertible('at_least must be a number from 0 to 1')
    const failed = `value < ${least}${most === undefined || most === 1 ? '' : ` or value > ${String(most)}`}`
    const failing = (from: string) =>
      selectWhenFailed(
        { value: `1.0 * sum(case when ${text} is null then 0 else 1 end) / nullif(count(*), 0)`, from },
        failed,
      )
    const plain =
      most === undefined || most === 1
        ? rule(name, 'NOT_NULL', undefined, { alert_threshold_percent: percentOf(least) })
        : { kind: 'validity' as const, body: customSql(failing(writeTable(node.table, node.engine))) }
    return { plain, failing }
  },
}

/** What may be invalid, in percent, where a share must be valid. */
function percentOf(validShare: number): number {
  return Number((100 - validShare * 100).toFixed(6))
}
