/** Soda's checks as monitors, by the language of Soda Core 3: https://docs.soda.io/soda-v3/soda-cl-overview */
import { parseSodaYaml } from './tool-yaml.ts'
import {
  fieldsOfFile,
  Inconvertible,
  type Construct,
  type DraftCheck,
  type ImportDraft,
  type ImportFile,
} from './import-draft.ts'
import {
  convertSodaMetric,
  readComparison,
  readMetric,
  type Level,
  type SodaMetric,
  type SodaTarget,
} from './soda-metrics.ts'
import { checkIntervalFor } from './dbt-freshness.ts'
import { customSql, selectWhenFailed, writeTable, type SqlEngine } from './sql-text.ts'
import { isRecord, type Fields } from './values.ts'

export interface SodaOptions {
  engine: SqlEngine
}

/** Fields of a check that are no part of what it measures. */
const NEUTRAL = [
  'name',
  'attributes',
  'identity',
  'samples limit',
  'samples columns',
  'collect failed rows',
  'title',
]

/** @throws YamlParseError */
export function importSoda(files: readonly ImportFile[], draft: ImportDraft, options: SodaOptions): void {
  for (const { name: file, text } of files) {
    const { positionOf, ...parsed } = parseSodaYaml(text)
    for (const [section, content] of Object.entries(fieldsOfFile(file, parsed, draft))) {
      const own = /^checks for (\S+)$/.exec(section)?.[1]
      const leave = (reason: string) =>
        draft.leave({ file, line: positionOf([section])?.line ?? null, name: section }, reason)
      const each = /^for each (dataset|table)/.test(section) && isRecord(content) ? content : null
      const names = own === undefined ? namesIn(each ?? {}) : [own]
      const checks = each ? each.checks : content
      const path = each ? [section, 'checks'] : [section]
      if (own === undefined && !each) leave(reasonFor(section))
      else if (names.length === 0) leave('it names no table')
      else if (!Array.isArray(checks)) leave('it has no list of checks')
      else
        for (const table of names)
          importChecks(
            table,
            checks,
            { file, at: index => positionOf([...path, String(index)])?.line ?? null },
            draft,
            options,
          )
    }
  }
}

/** Tables that are named one by one; patterns are left, since only the source knows what they match. */
function namesIn(content: Fields): string[] {
  const names = [content.datasets ?? content.tables].flat().filter(name => typeof name === 'string')
  const excluded = names.flatMap(name => /^exclude (.*)$/.exec(name)?.[1] ?? []).map(toPattern)
  return names
    .filter(name => !name.startsWith('exclude '))
    .map(name => name.replace(/^include /, ''))
    .filter(name => !excluded.some(pattern => pattern.test(name)))
}

function toPattern(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[^\w%]/g, String.raw`\$&`).replaceAll('%', '.*')}$`)
}

function reasonFor(section: string): string {
  if (/^checks for .*\[/.test(section))
    return 'checks of a partition need its filter: give each check the filter'
  if (section.startsWith('filter ')) return 'a named filter is not converted: give each check the filter'
  if (/^(discover|profile|sample|automated)/.test(section))
    return 'discovery, profiles and recommendations do this'
  return 'no checks of a table'
}

function importChecks(
  table: string,
  checks: readonly unknown[],
  { file, at }: { file: string; at: (index: number) => Construct['line'] },
  draft: ImportDraft,
  options: SodaOptions,
): void {
  for (const [index, check] of checks.entries()) {
    const [text, config] = readCheck(check)
    const construct = { file, line: at(index), name: `${text} for ${table}` }
    if (/[%*]/.test(table)) draft.leave(construct, 'the name of the table is a pattern')
    else if (isRecord(check) && Object.keys(check).length > 1)
      draft.leave(construct, 'it has several keys: indent its settings below it')
    else draft.convert(construct, () => convertCheck(text, config, { table, ...options }))
  }
}

/** A check is a text, or a text with its configuration. */
function readCheck(check: unknown): [text: string, config: Fields] {
  if (!isRecord(check)) return [String(check), {}]
  const [text = '', config] = Object.entries(check)[0] ?? []
  return [text, isRecord(config) ? config : config === null || config === undefined ? {} : { value: config }]
}

function convertCheck(text: string, config: Fields, target: SodaTarget): DraftCheck[] {
  if (
    Object.values(config).some(value => typeof value === 'string' && /\$\{/.test(value)) ||
    /\$\{/.test(text)
  )
    throw new Inconvertible('it takes a variable that is given when the scan runs')
  const common = typeof config.name === 'string' ? { name: config.name.slice(0, 200) } : {}
  const checks = convertByKind(text, config, target)
  return checks.map(check =>
    check.kind === 'freshness' ? check : { ...check, body: { ...check.body, ...common } },
  )
}

function convertByKind(text: string, config: Fields, target: SodaTarget): DraftCheck[] {
  if (text === 'schema')
    throw new Inconvertible('every discovery compares the schema; a data contract says what it must be')
  if (/^(anomaly (detection|score)|change |distribution|group by|group evolution)/.test(text))
    throw new Inconvertible(
      text.startsWith('anomaly')
        ? 'its detector learns in its own way: use a metric'
        : 'it has no exact counterpart',
    )
  if (text === 'failed rows') return [failedRows(config, target)]
  const reference = /^values in \(([^,)]+)\) must exist in (\S+) \(([^,)]+)\)$/.exec(text)
  if (reference) return [referenceCheck(reference, config, target)]
  const freshness = /^freshness ?\(([^)]+)\)\s*(.*)$/.exec(text)
  if (freshness) return [freshnessCheck(freshness, config, target)]
  const other = /^row_count same as (\S+)$/.exec(text)?.[1]
  if (other !== undefined) return [sameCount(other, config, target)]
  const metric = readMetric(text)
  return convertSodaMetric(metric, config, levelsOf(metric, config), target)
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

function sameCount(other: string, config: Fields, { table, engine }: SodaTarget): DraftCheck {
  allow(config, ...NEUTRAL)
  const value = `count(*) - (select count(*) from ${writeTable(other, engine)})`
  const text = selectWhenFailed({ value, from: writeTable(table, engine) }, 'value <> 0')
  return validity(table, ['row_count_same_as', other], customSql(text))
}

function failedRows(config: Fields, { table }: SodaTarget): DraftCheck {
  allow(config, 'fail condition', 'fail query', ...NEUTRAL)
  const { 'fail condition': condition, 'fail query': query } = config
  if (typeof condition === 'string')
    // A row for which the condition is null does not fail.
    return validity(table, ['failed_rows'], customSql(`coalesce(not (${condition.trim()}), true)`))
  if (typeof query === 'string')
    return validity(table, ['failed_rows'], customSql(query.trim().replace(/;\s*$/, '')))
  throw new Inconvertible('it has neither a fail condition nor a fail query')
}

function referenceCheck(
  [, child = '', parent = '', field = '']: RegExpExecArray,
  config: Fields,
  { table }: SodaTarget,
): DraftCheck {
  allow(config, ...NEUTRAL)
  return {
    kind: 'referential',
    table,
    key: [child, 'exists_in', parent],
    body: {
      child_column_name: child,
      parent_table_path: parent,
      parent_column_name: field,
      severity: 'critical',
    },
  }
}

function freshnessCheck(
  [, column = '', comparison = '']: RegExpExecArray,
  config: Fields,
  { table }: SodaTarget,
): DraftCheck {
  allow(config, 'fail', ...NEUTRAL)
  const given = config.fail === undefined ? comparison : `not ${String(config.fail).replace(/^when /, '')}`
  const match = /^(?:<|<=|not (?:>|>=))\s*((?:\d+[dhm])+)$/.exec(given)
  if (!match) throw new Inconvertible('freshness is compared with one greatest age, such as < 24h')
  const minutes = Array.from(
    match[1]!.matchAll(/(\d+)([dhm])/g),
    ([, count, unit]) => Number(count) * { d: 1_440, h: 60, m: 1 }[unit as 'd' | 'h' | 'm'],
  ).reduce((sum, part) => sum + part, 0)
  if (/,/.test(column)) throw new Inconvertible('the time now is a variable of the scan')
  return {
    kind: 'freshness',
    table,
    key: ['freshness'],
    body: {
      ...{
        monitoring_mode: 'explicit',
        sla_threshold: minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`,
      },
      ...{ freshness_column: column.trim(), check_interval: checkIntervalFor(minutes) },
    },
  }
}

const validity = (table: string, key: readonly string[], body: Fields): DraftCheck => ({
  ...{ kind: 'validity', table, key },
  body: { ...body, severity: 'critical' },
})

function allow(config: Fields, ...known: string[]): void {
  const other = Object.keys(config).find(name => !known.includes(name))
  if (other !== undefined) throw new Inconvertible(`${other} has no counterpart here`)
}
