/** What is missing and what is invalid in a contract of Soda Core 4. */
import { Inconvertible } from './import-draft.ts'
import { toPlain } from './python-scalars.ts'
import {
  isScalar,
  writeLength,
  writeList,
  writeMatch,
  writeScalar,
  type Scalar,
  type SqlEngine,
} from './sql-text.ts'
import { isRecord, type Fields } from './values.ts'

export const MISSING_FIELDS = ['missing_values', 'missing_format']
export const VALID_FIELDS = [
  ...['valid_values', 'invalid_values', 'valid_format', 'invalid_format', 'valid_min', 'valid_max'],
  ...['valid_length', 'valid_min_length', 'valid_max_length', 'valid_reference_data'],
]

/** Settings of a check, or of its column where the check has none of their group. */
export function settingsIn(config: Fields, column: Fields | undefined, group: readonly string[]): Fields {
  const pick = (owner: Fields) =>
    Object.fromEntries(
      Object.entries(owner).filter(
        ([field, value]) => group.includes(field) && value !== undefined && value !== null,
      ),
    )
  const own = pick(config)
  return Object.keys(own).length > 0 ? own : pick(column ?? {})
}

function valuesIn(settings: Fields, field: string): Scalar[] {
  const values = settings[field]
  if (!Array.isArray(values) || values.length === 0 || !values.every(isScalar))
    throw new Inconvertible(`${field} must be a list of texts or numbers`)
  return values as Scalar[]
}

function regexIn(settings: Fields, field: string): string {
  const format = settings[field]
  if (!isRecord(format) || typeof format.regex !== 'string' || format.regex === '')
    throw new Inconvertible(`${field} must have a regex`)
  return format.regex
}

function boundIn(settings: Fields, field: string): Scalar {
  const value = settings[field]
  if (!isScalar(value)) throw new Inconvertible(`${field} must be a number or a text`)
  return value
}

export function missingCondition(text: string, settings: Fields, engine: SqlEngine): string {
  const { isListed, matches } = makeConditions(text, settings, engine)
  return [`${text} is null`, ...isListed('missing_values'), ...matches('missing_format')].join(' or ')
}

export function invalidCondition(text: string, settings: Fields, engine: SqlEngine): string {
  const { isListed, matches, compares } = makeConditions(text, settings, engine)
  const not = (conditions: string[]) => conditions.map(condition => `not (${condition})`)
  const length = writeLength(text, engine)
  return [
    ...not(isListed('valid_values')),
    ...isListed('invalid_values'),
    ...not(matches('valid_format')),
    ...matches('invalid_format'),
    ...compares(text, '<', 'valid_min'),
    ...compares(text, '>', 'valid_max'),
    ...compares(length, '<>', 'valid_length'),
    ...compares(length, '<', 'valid_min_length'),
    ...compares(length, '>', 'valid_max_length'),
  ].join(' or ')
}

/** The condition of each setting, in a list; an empty one for a setting that is not given. */
function makeConditions(text: string, settings: Fields, engine: SqlEngine) {
  const when = (field: string, write: () => string) => (settings[field] === undefined ? [] : [write()])
  return {
    isListed: (field: string) =>
      when(field, () => `${text} in (${writeList(valuesIn(settings, field), engine)})`),
    matches: (field: string) => when(field, () => writeMatch(text, regexIn(settings, field), engine)),
    compares: (left: string, operator: string, field: string) =>
      when(field, () => `${left} ${operator} ${writeScalar(boundIn(settings, field), engine)}`),
  }
}

/** The rule that counts the same rows, if there is one. */
export function ruleOf(name: string, settings: Fields): Fields | null {
  const rule = (type: string, config: Fields) => ({
    rule_type: type,
    column_name: name,
    rule_config: config,
    treat_null_as_valid: true,
  })
  const [field, ...more] = Object.keys(settings)
  const { valid_min: min, valid_max: max } = settings
  // With a least value alone, NaN is valid for Soda and invalid for RANGE.
  if (typeof max === 'number' && (more.length === 0 || (more.length === 1 && typeof min === 'number')))
    return rule('RANGE', { ...(min !== undefined && { min }), max })
  if (more.length > 0) return null
  if (field === 'valid_values')
    return rule('ENUM', { allowed_values: valuesIn(settings, field).map(toPlain) })
  return field === 'valid_format' ? rule('REGEX', { pattern: regexIn(settings, field) }) : null
}
