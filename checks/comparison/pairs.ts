/** Which columns can be compared, and by which rule. */
import type { ColumnInfo } from '../../connectors/catalog.ts'
import type { ValueFamily } from '../../connectors/dialect.ts'

export const PRECISIONS = ['second', 'millisecond', 'microsecond'] as const

/** When two values count as equal, beyond being the same. */
export interface ValueRule {
  /** Numbers that are at most this far apart. */
  tolerance?: number
  /** Numbers that are at most this share of the larger one apart: 0.01 is one per cent. */
  relativeTolerance?: number
  /** Numbers are rounded to so many digits behind the point first. */
  round?: number
  /** Blanks at the start and the end of texts do not count. */
  trim?: boolean
  ignoreCase?: boolean
  /** NULL and the empty text are the same. */
  nullIsEmpty?: boolean
  /** Moments are cut to it first. */
  precision?: (typeof PRECISIONS)[number]
}

/** The names of two columns that are compared. */
export interface ColumnNames {
  left: string
  right: string
}

/** Two columns whose values are compared. */
export interface ColumnPair {
  left: ColumnInfo
  right: ColumnInfo
  /** How the values of both are written. */
  family: ValueFamily
  rule: ValueRule
  /** Numbers that are at most this share of the larger one apart are the same: those of floats, as far as they have digits. */
  floatTolerance?: number
}

const FAMILIES: Readonly<Partial<Record<ColumnInfo['kind'], ValueFamily>>> = {
  integer: 'number',
  decimal: 'number',
  float: 'number',
  boolean: 'boolean',
  text: 'text',
  date: 'date',
  timestamp: 'timestamp',
  time: 'time',
  binary: 'binary',
  json: 'json',
}

function familyOf({ kind, type, base = type, properties }: ColumnInfo): ValueFamily | undefined {
  if (base === 'uuid') return 'uuid'
  // A time with a zone is no time of a day: which one it is depends on where one is.
  if (kind === 'time' && /tz|with time zone/.test(base)) return undefined
  // The labels of an enumeration are texts; those of an array of them are not.
  if (kind === 'other' && properties?.labels && !base.endsWith('[]')) return 'text'
  return FAMILIES[kind]
}

/** Families whose values are compared as those of another one. */
const SHARED: Readonly<Record<string, ValueFamily>> = {
  'boolean number': 'boolean',
  'text uuid': 'uuid',
}

/** Doubles that differ in the sixteenth digit only are the same. */
const DOUBLE_TOLERANCE = 1e-15
/** What a 32-bit float may be apart from the number that it was made of. */
const SINGLE_TOLERANCE = 2 ** -24

/**
 * The family that two columns are compared as; a sentence where they cannot be.
 * @param engines whether both are of one engine, which of them are floats of 32 bits, and whether both have exact decimals
 */
export function pairColumns(
  left: ColumnInfo,
  right: ColumnInfo,
  rule: ValueRule,
  {
    isOneEngine,
    areSingle,
    hasExactDecimals,
  }: { isOneEngine: boolean; areSingle: readonly [boolean, boolean]; hasExactDecimals: boolean },
): ColumnPair | string {
  const families = [familyOf(left), familyOf(right)] as const
  const names = left.name === right.name ? left.name : `${left.name} and ${right.name}`
  const unprintable = [left, right].find((_, side) => families[side] === undefined)
  if (unprintable)
    return `${unprintable.name} is of type ${unprintable.type}, whose values cannot be compared: leave it out of columns.`
  const [one, other] = families as [ValueFamily, ValueFamily]
  const family = one === other ? one : SHARED[[one, other].toSorted().join(' ')]
  if (!family)
    return `${names} are of types ${left.type} and ${right.type}, which have no values in common: leave them out of columns, or compare views that cast them.`
  if (family === 'json' && !isOneEngine)
    return `${names} are JSON on two engines, which write the same document differently: leave them out of columns.`
  const problem = findRuleProblem(rule, family, names)
  if (problem !== null) return problem
  const kinds = [left.kind, right.kind]
  const isFloat =
    family === 'number' && (kinds.includes('float') || (kinds.includes('decimal') && !hasExactDecimals))
  const floatTolerance = areSingle[0] === areSingle[1] ? DOUBLE_TOLERANCE : SINGLE_TOLERANCE
  return { left, right, family, rule, ...(isFloat && { floatTolerance }) }
}

/** Why a pair cannot be a key, in a sentence; null if it can: the same value must be written the same on both sides. */
export function findKeyProblem({ left, right, family }: ColumnPair): string | null {
  const isFloat = [left, right].some(({ kind }) => kind === 'float')
  if (!isFloat && family !== 'json') return null
  const column = isFloat && left.kind !== 'float' ? right : left
  return `${column.name} is of type ${column.type}, which cannot be a key: choose columns that have exact values.`
}

const NUMBER_RULES = ['tolerance', 'relativeTolerance', 'round'] as const
const TEXT_RULES = ['trim', 'ignoreCase', 'nullIsEmpty'] as const
const API_NAMES: Readonly<Record<string, string>> = {
  relativeTolerance: 'relative_tolerance',
  ignoreCase: 'ignore_case',
  nullIsEmpty: 'null_is_empty',
}

function findRuleProblem(rule: ValueRule, family: ValueFamily, names: string): string | null {
  const fits: Readonly<Record<string, readonly ValueFamily[]>> = {
    ...Object.fromEntries(NUMBER_RULES.map(name => [name, ['number']])),
    ...Object.fromEntries(TEXT_RULES.map(name => [name, ['text']])),
    precision: ['timestamp'],
  }
  const wrong = Object.entries(rule).find(
    ([name, value]) => value !== undefined && value !== false && !fits[name]?.includes(family),
  )
  return wrong
    ? `${API_NAMES[wrong[0]] ?? wrong[0]} is for ${fits[wrong[0]]?.[0] ?? 'other'} columns, and ${names} is compared as ${family}.`
    : null
}
