/** How a test stands in a properties file: its name, arguments and configuration. */
import { refuseTemplates } from './dbt-config.ts'
import { Inconvertible } from './import-draft.ts'
import { isRecord, type Fields } from './values.ts'

/** What decides when a test fails. */
export const SETTING_FIELDS = ['severity', 'warn_if', 'error_if', 'where', 'limit', 'fail_calc', 'enabled']
const CONFIG_FIELDS = [
  ...SETTING_FIELDS,
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

/** A test as its file defines it. */
export interface DbtTest {
  name: string
  args: Fields
  config: Fields
  label: string | undefined
  column: string | undefined
}

/**
 * The three forms of a test: its name, its name with arguments, and with the name as an argument.
 * @throws Inconvertible
 */
export function readTest(test: unknown): DbtTest {
  if (typeof test === 'string')
    return { name: test, args: {}, config: {}, label: undefined, column: undefined }
  if (!isRecord(test)) throw new Inconvertible('a test is a name, or a name with its arguments')
  const isNamed = typeof test.test_name === 'string'
  const name = isNamed ? String(test.test_name) : Object.keys(test).find(key => !NAMING_FIELDS.includes(key))
  if (name === undefined) throw new Inconvertible('it has no name')
  const inner = isNamed ? test : test[name]
  if (inner !== null && !isRecord(inner))
    throw new Inconvertible(`${name} has a value that is no object of arguments`)
  const outer: Fields = {
    ...inner,
    ...(isNamed ? {} : Object.fromEntries(Object.entries(test).filter(([key]) => key !== name))),
  }
  // dbt takes what stands in `arguments` for what stands beside it, configuration too.
  const given = { ...outer, ...(isRecord(outer.arguments) ? outer.arguments : {}) }
  if (outer.arguments !== undefined && outer.arguments !== null && !isRecord(outer.arguments))
    refuseTemplates(outer.arguments)
  const config = {
    ...Object.fromEntries(Object.entries(given).filter(([key]) => CONFIG_FIELDS.includes(key))),
    ...[outer, given].reduce<Fields>(
      (all, { config }) => (isRecord(config) ? { ...all, ...config } : all),
      {},
    ),
  }
  refuseTemplates([outer.config, given.config].filter(value => typeof value === 'string'))
  const args = Object.fromEntries(
    Object.entries(given).filter(([key]) => ![...CONFIG_FIELDS, ...NAMING_FIELDS].includes(key)),
  )
  return {
    name,
    args,
    config,
    label: typeof given.name === 'string' ? given.name : undefined,
    column: typeof given.column_name === 'string' ? given.column_name : undefined,
  }
}

/** When a test fails, and how much that matters: a comparison of the number of failures, null for any. */
interface DbtLevel {
  severity: 'critical' | 'warning'
  failed: string | null
}

/** @throws Inconvertible for a threshold that is no comparison with a number */
export function levelsOf(config: Fields): DbtLevel[] {
  if (config.fail_calc !== undefined && config.fail_calc !== 'count(*)')
    throw new Inconvertible('fail_calc computes the failures in its own way')
  const [error, warn] = [thresholdOf(config.error_if), thresholdOf(config.warn_if)]
  if (config.limit !== undefined && (error !== null || warn !== null))
    throw new Inconvertible('limit stops counting before the threshold')
  const severity = String(config.severity ?? 'error').toLowerCase()
  if (severity !== 'warn' && severity !== 'error')
    throw new Inconvertible(`severity is ${JSON.stringify(config.severity)}, neither warn nor error`)
  if (severity === 'warn') return [{ severity: 'warning', failed: warn }]
  const levels: DbtLevel[] = [{ severity: 'critical', failed: error }]
  return error === warn ? levels : [...levels, { severity: 'warning', failed: warn }]
}

function thresholdOf(text: unknown): string | null {
  if (text === undefined) return null
  const match = /^\s*(=|!=|<>|<=|>=|<|>)\s*(\d+)\s*$/.exec(String(text))
  if (!match) throw new Inconvertible(`the threshold ${JSON.stringify(text)} is no comparison with a number`)
  const [, operator, number] = match
  return (operator === '!=' || operator === '<>') && number === '0' ? null : `${operator} ${number}`
}
