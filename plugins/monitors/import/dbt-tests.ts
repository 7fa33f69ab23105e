/** The tests of dbt-core and dbt_utils, one by one. */
import { describeFolderSetting, refuseTemplates, whyDisabled } from './dbt-config.ts'
import { REFERENCE, type DbtProject } from './dbt-project.ts'
import { levelsOf, readTest, SETTING_FIELDS } from './dbt-test-definition.ts'
import { allowFields, Inconvertible, type DraftCheck } from './import-draft.ts'
import { PythonNumber, toPlain, writePython } from './python-scalars.ts'
import {
  allOf,
  customSql,
  isScalar,
  readColumn,
  failsWhen,
  isSelect,
  rowsOf,
  selectWhenFailed,
  writeList,
  writeName,
  writeTable,
  type Scalar,
  type SqlEngine,
  type WrittenColumn,
} from './sql-text.ts'
import type { Fields } from './values.ts'

/** What a test is attached to. */
export interface DbtNode {
  table: string
  /** Absent: the test is about the whole table. */
  column?: string
  /** Whether dbt quotes the name of the column. */
  isQuoted?: boolean
  engine: SqlEngine
  project: Pick<DbtProject, 'resolve' | 'isSetByFolders'>
  /** What is to be known of the table. */
  note?: string
}

/** A test as a check. */
interface Converted {
  /** The check of a test that has neither a filter nor a threshold. */
  plain: { kind: 'validity' | 'referential'; body: Fields; note?: string }
  /** The rows that dbt counts as failures, as a SELECT from a table or a filtered subquery. */
  failing(from: string): string
  /** What is to be known, whatever check it becomes. */
  note?: string
}

/** @throws Inconvertible */
export function convertDbtTest(test: unknown, place: DbtNode): DraftCheck[] {
  const { name, args, config, label, column } = readTest(test)
  const node = { ...place, ...(column !== undefined && { column: place.column ?? column }) }
  const settings = SETTING_FIELDS.map(field => config[field])
  refuseTemplates([name, node.column, args, settings], value => REFERENCE.test(value))
  const own = name.replace(/^dbt\./, '')
  const make = Object.hasOwn(TESTS, own) ? TESTS[own] : undefined
  if (!make)
    throw new Inconvertible(
      `${name} is a test of the project or of another package: only its SQL says what it does`,
    )
  const disabled = whyDisabled('the test', config)
  if (disabled !== null) throw new Inconvertible(disabled)
  const unknown = SETTING_FIELDS.find(
    field => config[field] === undefined && node.project.isSetByFolders(field),
  )
  if (unknown !== undefined) throw new Inconvertible(describeFolderSetting(unknown))
  const converted = make(args, node)
  const filter = filterIn(config)
  const common = label === undefined ? {} : { name: label.slice(0, 200) }
  return levelsOf(config).map(({ severity, failed }, index) => {
    const draft = ({ kind, body, note }: Converted['plain']): DraftCheck => {
      const notes = [node.note, note, converted.note].filter(each => each !== undefined)
      return {
        kind,
        table: node.table,
        key: [node.column, name, label, index > 0 ? severity : undefined],
        body: { ...body, ...common, severity },
        ...(index === 0 && notes.length > 0 && { note: notes.join('; ') }),
      }
    }
    const select = () => draft(selectOf(converted, filter, failed, node))
    const { plain } = converted
    const isPlain = failed === null && !isExpression(node) && (filter === undefined || !isSelect(plain.body))
    return isPlain ? { ...draft(plain), filter, select } : select()
  })
}

/** The rows that a test is about: dbt takes an empty `where` for none. */
function filterIn({ where }: Fields): string | undefined {
  return where === undefined || where === null || where === false ? undefined : allOf(String(where).trim())
}

function selectOf(
  { failing }: Converted,
  filter: string | undefined,
  failed: string | null,
  { table, engine }: DbtNode,
): Converted['plain'] {
  const select = failing(rowsOf(writeTable(table, engine), filter))
  if (failed === null) return { kind: 'validity', body: customSql(select) }
  const failures = { value: 'count(*)', from: `(${select}) failures` }
  return { kind: 'validity', body: failsWhen(failures, `value ${failed}`, 'failing rows') }
}

/** dbt writes a name as it is, unless the column says `quote: true`. */
function columnOf({ column, isQuoted, engine }: DbtNode): WrittenColumn {
  if (column === undefined) throw new Inconvertible('it names no column')
  if (isQuoted) return { name: column, text: writeName(column, engine) }
  return isExpression({ column }) ? { name: column, text: column } : readColumn(column, engine)
}

/** Whether a test is about a SQL expression, such as `(a || b)`, which only SQL can measure. */
function isExpression({ column, isQuoted }: Pick<DbtNode, 'column' | 'isQuoted'>): boolean {
  return column !== undefined && isQuoted !== true && /[(|]/.test(column)
}

function scalarsOf(args: Fields, field: string): Scalar[] {
  const values = args[field]
  if (!Array.isArray(values) || values.length === 0 || !values.every(isScalar))
    throw new Inconvertible(`${field} must be a list of texts, numbers or booleans`)
  return values as Scalar[]
}

/** The values that a column is compared with: in quotes as texts, which is the default, or as they are. */
function listOf(args: Fields, engine: SqlEngine): string {
  const values = scalarsOf(args, 'values').map(writePython)
  if (args.quote !== false) return writeList(values, engine)
  if (!values.every(value => /^(-?\d+(\.\d+)?|true|false)$/i.test(value)))
    throw new Inconvertible('the values are SQL expressions')
  return values.join(', ')
}

/** A number of a file; undefined for what is none. */
function numberOf(value: unknown): number | undefined {
  return value instanceof PythonNumber ? value.value : typeof value === 'number' ? value : undefined
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
    allowFields(args)
    const { name, text } = columnOf(node)
    return {
      plain: rule(name, 'NOT_NULL'),
      failing: from => `select 1 as failed from ${from} where ${text} is null`,
    }
  },
  unique(args, node) {
    allowFields(args)
    const { name, text } = columnOf(node)
    return {
      plain: rule(name, 'UNIQUE', undefined, NULL_IS_VALID),
      failing: from =>
        `select ${text} from ${from} where ${text} is not null group by ${text} having count(*) > 1`,
    }
  },
  accepted_values(args, node) {
    allowFields(args, 'values', 'quote')
    const { name, text } = columnOf(node)
    const list = listOf(args, node.engine)
    // As dbt compares them: 1.0 is not 1 for a text.
    const allowed = scalarsOf(args, 'values').map(value =>
      typeof value === 'number' ? value : writePython(value),
    )
    return {
      plain: rule(name, 'ENUM', { allowed_values: allowed }, NULL_IS_VALID),
      // dbt counts values, not rows.
      failing: from => `select ${text} from ${from} where ${text} not in (${list}) group by ${text}`,
    }
  },
  relationships(args, node) {
    allowFields(args, 'to', 'field')
    const { name, text } = columnOf(node)
    const { path: parent, note } = node.project.resolve(args.to)
    if (typeof args.field !== 'string') throw new Inconvertible('field must be the column of the other table')
    const { name: parentColumn, text: field } = readColumn(args.field, node.engine)
    const orphans = (from: string) =>
      `select 1 as failed from ${from} where ${text} is not null and ${text} not in (select ${field} from ${writeTable(parent, node.engine)} where ${field} is not null)`
    return {
      plain: {
        kind: 'referential',
        body: { child_column_name: name, parent_table_path: parent, parent_column_name: parentColumn },
      },
      failing: orphans,
      ...(note !== undefined && { note }),
    }
  },
  'dbt_utils.expression_is_true'(args, node) {
    allowFields(args, 'expression', 'column_name')
    if (typeof args.expression !== 'string') throw new Inconvertible('expression must be SQL')
    return expressionTest(
      node.column === undefined ? args.expression : `${columnOf(node).text} ${args.expression}`,
    )
  },
  'dbt_utils.accepted_range'(args, node) {
    allowFields(args, 'min_value', 'max_value', 'inclusive')
    const { name, text } = columnOf(node)
    const bounds = [
      ['min', args.min_value, '>'],
      ['max', args.max_value, '<'],
    ] as const
    const given = bounds.flatMap(([bound, value, operator]) => {
      if (value === undefined || value === null) return []
      if (!isScalar(value)) throw new Inconvertible(`${bound}_value must be a number or SQL`)
      return [{ bound, value, operator }]
    })
    if (given.length === 0) throw new Inconvertible('it has neither min_value nor max_value')
    const isInclusive = args.inclusive !== false
    const tested = expressionTest(
      given
        .map(({ value, operator }) => `${text} ${operator}${isInclusive ? '=' : ''} ${writePython(value)}`)
        .join(' and '),
    )
    if (!isInclusive || !given.every(({ value }) => numberOf(value) !== undefined)) return tested
    if (!given.every(({ value }) => Number.isFinite(numberOf(value))))
      throw new Inconvertible('a bound is no number that SQL can write')
    const config = Object.fromEntries(given.map(({ bound, value }) => [bound, toPlain(value)]))
    const plain = rule(name, 'RANGE', config, NULL_IS_VALID)
    if (given.some(({ bound }) => bound === 'max')) return { ...tested, plain }
    return { ...tested, plain: { ...plain, note: 'NaN is invalid here; dbt takes it as above every number' } }
  },
  'dbt_utils.not_empty_string'(args, node) {
    allowFields(args, 'trim_whitespace')
    const { text } = columnOf(node)
    return expressionTest(`${args.trim_whitespace === false ? text : `trim(${text})`} <> ''`)
  },
  'dbt_utils.not_accepted_values'(args, node) {
    allowFields(args, 'values', 'quote')
    const { text } = columnOf(node)
    const list = listOf(args, node.engine)
    return {
      plain: expressionTest(`${text} not in (${list})`).plain,
      failing: from => `select ${text} from ${from} where ${text} in (${list}) group by ${text}`,
    }
  },
  'dbt_utils.unique_combination_of_columns'(args, node) {
    allowFields(args, 'combination_of_columns', 'quote_columns')
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
    allowFields(args, 'at_least', 'at_most')
    const { name, text } = columnOf(node)
    const { at_least: least, at_most: most } = args
    const share = numberOf(least)
    const isAll = most === undefined || most === null || numberOf(most) === 1
    if (share === undefined || share < 0 || share > 1)
      throw new Inconvertible('at_least must be a number from 0 to 1')
    if (!isAll && numberOf(most) === undefined)
      throw new Inconvertible('at_most must be a number from 0 to 1')
    const failed = `value < ${share}${isAll ? '' : ` or value > ${numberOf(most)}`}`
    const value = `1.0 * sum(case when ${text} is null then 0 else 1 end) / nullif(count(*), 0)`
    const failing = (from: string) => selectWhenFailed({ value, from }, failed)
    const plain = isAll
      ? rule(name, 'NOT_NULL', undefined, { alert_threshold_percent: percentOf(share) })
      : {
          kind: 'validity' as const,
          body: failsWhen({ value, from: writeTable(node.table, node.engine) }, failed),
        }
    return { plain, failing }
  },
}

/** What may be invalid, in percent, where a share must be valid. */
function percentOf(validShare: number): number {
  return Number((100 - validShare * 100).toFixed(6))
}
