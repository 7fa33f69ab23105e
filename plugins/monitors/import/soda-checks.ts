/** The checks of SodaCL, by their kinds. */
import { allowFields, Inconvertible, type DraftCheck } from './import-draft.ts'
import {
  convertSodaMetric,
  readComparison,
  readMetric,
  type Level,
  type SodaMetric,
  type SodaTarget,
  NEUTRAL_FIELDS,
} from './soda-metrics.ts'
import { explicitSchedule } from './dbt-freshness.ts'
import { hasVariable, readSodaTable, type SodaConfigurations } from './soda-configurations.ts'
import {
  customSql,
  failsWhen,
  readColumn,
  readQuery,
  rowsOf,
  writeTable,
  type SqlEngine,
} from './sql-text.ts'
import { isRecord, type Fields } from './values.ts'

/**
 * A check of a table.
 * @param configurations what the files say of the columns of tables
 * @throws Inconvertible
 */
export function convertSodaCheck(
  text: string,
  config: Fields,
  target: SodaTarget,
  configurations: SodaConfigurations,
): DraftCheck[] {
  if (hasVariable([text, config]))
    throw new Inconvertible('it takes a variable that is given when the scan runs')
  const common = typeof config.name === 'string' ? { name: config.name.slice(0, 200) } : {}
  const checks = convertByKind(text, config, target, configurations)
  return checks.map(check =>
    check.kind === 'freshness' ? check : { ...check, body: { ...check.body, ...common } },
  )
}

function convertByKind(
  text: string,
  config: Fields,
  target: SodaTarget,
  configurations: SodaConfigurations,
): DraftCheck[] {
  if (text === 'schema')
    throw new Inconvertible('every discovery compares the schema; a data contract says what it must be')
  if (/^(anomaly (detection|score)|change |distribution|group by|group evolution)/.test(text))
    throw new Inconvertible(
      text.startsWith('anomaly')
        ? 'its detector learns in its own way: use a metric'
        : 'it has no exact counterpart',
    )
  if (text === 'failed rows') return [failedRows(config, target)]
  const reference =
    /^values in \(((?:"[^"]+"|`[^`]+`|[^,)"`])+)\) must exist in ("[^"]+"|`[^`]+`|\S+) \(((?:"[^"]+"|`[^`]+`|[^,)"`])+)\)$/.exec(
      text,
    )
  if (reference) return [referenceCheck(reference, config, target)]
  const freshness = /^freshness ?\(((?:"[^"]+"|`[^`]+`|[^)"`])+)\)\s*(.*)$/.exec(text)
  if (freshness) return [freshnessCheck(freshness, config, target)]
  const other = /^row_count same as ("[^"]+"|`[^`]+`|\S+)$/.exec(text)?.[1]
  if (other !== undefined) return [sameCount(other, config, target)]
  const metric = readMetric(text)
  if (metric.metric.startsWith('duplicate_')) refuseAlternatives(target)
  const settings = configurations.merge(target, metric, config)
  return convertSodaMetric(metric, settings, levelsOf(metric, config), target)
}

/** The comparison behind a metric, or those of `warn` and `fail`. */
function levelsOf(metric: SodaMetric, config: Fields): Level[] {
  const alerts = (['fail', 'warn'] as const).flatMap(level => {
    const when = config[level]
    if (when === undefined) return []
    const condition = isRecord(when) ? undefined : /^when (.*)$/.exec(String(when))?.[1]
    if (condition === undefined) throw new Inconvertible(`${level} is no condition that begins with when`)
    return [
      {
        severity: level === 'fail' ? ('critical' as const) : ('warning' as const),
        failed: readComparison(condition),
      },
    ]
  })
  if (alerts.length > 0) return alerts
  if (metric.comparison === '') throw new Inconvertible('it has no comparison')
  return [{ severity: 'critical', failed: `not (${readComparison(metric.comparison)})` }]
}

/** @throws Inconvertible where Soda writes the filter of a section beside AND without parentheses, and an OR takes them apart */
function refuseAlternatives({ rows = '' }: SodaTarget): void {
  let outer = rows.replaceAll(/'[^']*'|"[^"]*"|`[^`]*`/g, ' ')
  for (let whole = ''; whole !== outer;) {
    whole = outer
    outer = whole.replaceAll(/\([^()]*\)/g, ' ')
  }
  if (/\bor\b/i.test(outer))
    throw new Inconvertible(
      'Soda reads the OR of its filter together with conditions of its own: put the filter in parentheses',
    )
}

function refuseRows({ rows }: SodaTarget): void {
  if (rows !== undefined) throw new Inconvertible('with the filter of its section it has no counterpart')
}

function sameCount(other: string, config: Fields, target: SodaTarget): DraftCheck {
  allowFields(config, ...NEUTRAL_FIELDS)
  refuseRows(target)
  const { table, engine } = target
  const value = `count(*) - (select count(*) from ${writeTable(readSodaTable(other), engine)})`
  const rule = failsWhen({ value, from: writeTable(table, engine) }, 'value <> 0', 'rows')
  return validity(table, ['row_count_same_as', other], rule)
}

function failedRows(config: Fields, { table, engine, rows }: SodaTarget): DraftCheck {
  allowFields(config, 'fail condition', 'fail query', ...NEUTRAL_FIELDS)
  const { 'fail condition': condition, 'fail query': query } = config
  if (typeof condition === 'string') {
    const from = rowsOf(writeTable(table, engine), rows)
    return {
      // A row for which the condition is null does not fail.
      ...validity(table, ['failed_rows'], customSql(`coalesce(not (${condition.trim()}), true)`)),
      filter: rows,
      select: () =>
        validity(table, ['failed_rows'], customSql(`select * from ${from} where ${condition.trim()}`)),
    }
  }
  // The filter of its section does not hold for a query.
  if (typeof query === 'string') return validity(table, ['failed_rows'], customSql(readQuery(query)))
  throw new Inconvertible('it has neither a fail condition nor a fail query')
}

function referenceCheck(
  [, child = '', parent = '', field = '']: RegExpExecArray,
  config: Fields,
  target: SodaTarget,
): DraftCheck {
  allowFields(config, ...NEUTRAL_FIELDS)
  refuseAlternatives(target)
  const { table, engine, rows } = target
  const column = readColumn(child, engine).name
  return {
    kind: 'referential',
    table,
    key: [column, 'exists_in', parent],
    filter: rows,
    body: {
      child_column_name: column,
      parent_table_path: readSodaTable(parent),
      parent_column_name: readColumn(field, engine).name,
      severity: 'critical',
    },
  }
}

function freshnessCheck(
  [, column = '', comparison = '']: RegExpExecArray,
  config: Fields,
  target: SodaTarget,
): DraftCheck {
  allowFields(config, 'fail', ...NEUTRAL_FIELDS)
  refuseRows(target)
  const { table, engine } = target
  const given = config.fail === undefined ? comparison : `not ${String(config.fail).replace(/^when /, '')}`
  const match = /^(?:<|<=|not (?:>|>=))\s*((?:\d+[dhm])+)$/.exec(given)
  if (!match) throw new Inconvertible('freshness is compared with one greatest age, such as < 24h')
  const minutes = Array.from(
    match[1]!.matchAll(/(\d+)([dhm])/g),
    ([, count, unit]) => Number(count) * { d: 1_440, h: 60, m: 1 }[unit as 'd' | 'h' | 'm'],
  ).reduce((sum, part) => sum + part, 0)
  if (/^[^"`]*,/.test(column)) throw new Inconvertible('the time now is a variable of the scan')
  return {
    kind: 'freshness',
    table,
    key: ['freshness'],
    body: explicitSchedule({ minutes }, freshnessSignal(column.trim(), engine)),
  }
}

/** A column, or one with a cast, such as `created::timestamp`. */
function freshnessSignal(column: string, engine: SqlEngine): Fields {
  const [, base, cast] = /^([^:]*)(::.*)?$/.exec(column) ?? []
  if (base === undefined) throw new Inconvertible(`${JSON.stringify(column)} is no column`)
  const { name, text } = readColumn(base, engine)
  return cast === undefined ? { freshness_column: name } : { freshness_expression: `${text}${cast}` }
}

const validity = (table: string, key: readonly string[], body: Fields): DraftCheck => ({
  kind: 'validity',
  table,
  key,
  body: { ...body, severity: 'critical' },
})
