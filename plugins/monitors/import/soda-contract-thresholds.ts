/** The thresholds of Soda Core 4's checks. */
import { Inconvertible } from './import-draft.ts'
import { isScalar } from './sql-text.ts'
import { isRecord, type Fields } from './values.ts'

const COMPARISONS = {
  must_be: '=',
  must_not_be: '<>',
  must_be_greater_than: '>',
  must_be_greater_than_or_equal: '>=',
  must_be_less_than: '<',
  must_be_less_than_or_equal: '<=',
} as const
const BOUNDS = {
  greater_than: '>',
  greater_than_or_equal: '>=',
  less_than: '<',
  less_than_or_equal: '<=',
} as const

export interface ContractLevel {
  severity: 'critical' | 'warning'
  /** A condition on `value`, which is false or null for a good one: without a value Soda does not judge. */
  failed: string
}

/** @param fallback the condition of a check without a threshold; absent where it must have one */
export function levelsOf(threshold: unknown, fallback?: string): ContractLevel[] {
  if (threshold !== undefined && threshold !== null && !isRecord(threshold))
    throw new Inconvertible('threshold must be an object')
  const { additional, ...outer } = threshold ?? {}
  if (additional === undefined || additional === null) return [levelOf(outer, fallback)]
  if (!isRecord(additional)) throw new Inconvertible('additional must be an object')
  const levels = [levelOf(outer), levelOf(additional)]
  if (levels[0]?.severity === levels[1]?.severity)
    throw new Inconvertible('both thresholds have the same level')
  return levels.toSorted(({ severity: a }, { severity: b }) => a.localeCompare(b))
}

function levelOf(
  { level = 'fail', metric: _metric, unit: _unit, ...conditions }: Fields,
  fallback?: string,
): ContractLevel {
  if (level !== 'fail' && level !== 'warn') throw new Inconvertible(`level is neither fail nor warn`)
  const severity = level === 'warn' ? 'warning' : 'critical'
  const given = Object.entries(conditions).filter(([, value]) => value !== null)
  if (given.length === 0 && fallback !== undefined) return { severity, failed: `not (${fallback})` }
  const [[field = '', value] = []] = given
  if (given.length !== 1) throw new Inconvertible('a threshold has one comparison')
  if (Object.hasOwn(COMPARISONS, field))
    return {
      severity,
      failed: `not (value ${COMPARISONS[field as keyof typeof COMPARISONS]} ${numberOf(value, field)})`,
    }
  const isBetween = field === 'must_be_between'
  if ((!isBetween && field !== 'must_be_not_between') || !isRecord(value))
    throw new Inconvertible(`${field} is no comparison of a threshold`)
  const bounds = Object.entries(BOUNDS).flatMap(([bound, operator]) =>
    value[bound] === undefined || value[bound] === null
      ? []
      : [`value ${operator} ${numberOf(value[bound], bound)}`],
  )
  if (
    bounds.length !== 2 ||
    bounds.some(bound => bound.startsWith('value >')) === bounds.every(bound => bound.startsWith('value >'))
  )
    throw new Inconvertible(`${field} has one bound of each side`)
  return { severity, failed: `not (${bounds.join(isBetween ? ' and ' : ' or ')})` }
}

function numberOf(value: unknown, field: string): string {
  if (!isScalar(value) || typeof value === 'string' || typeof value === 'boolean')
    throw new Inconvertible(`${field} must be a number`)
  return String(value)
}

export const isPercent = ({ threshold }: Fields): boolean =>
  isRecord(threshold) && threshold.metric === 'percent'

/** Whether a level fails above zero, which rules do that count invalid rows. */
export const failsAboveZero = ({ failed }: ContractLevel): boolean => /^not \(value (=|<=) 0\)$/.test(failed)

export const filterIn = ({ filter }: Fields): string | undefined => {
  if (filter === undefined || filter === null) return undefined
  if (typeof filter !== 'string') throw new Inconvertible('filter must be SQL')
  return filter.trim()
}
