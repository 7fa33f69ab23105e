/** Rules on the values of one column: NOT_NULL, UNIQUE, ENUM, RANGE, REGEX and DATE_FORMAT. */
import { NUMERIC_KINDS } from '../../../connectors/catalog.ts'
import {
  isClosedList,
  isCode,
  isIdentifier,
  isOpenText,
  isQuantity,
  isReference,
  isSigned,
  meaningOf,
} from './names.ts'
import {
  confidenceAfter,
  formatCount,
  formatValue,
  isKeyLike,
  primaryKeyOf,
  profiledColumn,
  round,
  type EvidenceColumn,
  type ProfiledColumn,
  type Suggestion,
  type TableEvidence,
} from './evidence.ts'

/** Fewer rows say nothing of the next. */
const MIN_ROWS = 30
/** Fewer values say nothing of how a column is written. */
const MIN_VALUES = 100

type RuleName = 'NOT_NULL' | 'UNIQUE' | 'ENUM' | 'RANGE' | 'REGEX' | 'DATE_FORMAT'
type RuleDraft = Pick<Suggestion, 'confidence' | 'reason' | 'basis' | 'evidence'> &
  Partial<Pick<Suggestion, 'config' | 'isQuietByProfile'>>

/** The rules that the evidence of a table speaks for. */
export function suggestRules(table: TableEvidence): Suggestion[] {
  const key = primaryKeyOf(table)
  return table.columns.flatMap(column => {
    const profiled = profiledColumn(table, column)
    const rules: [RuleName, RuleDraft | null][] = [
      ['NOT_NULL', suggestNotNull(table, column, key, profiled)],
      ['UNIQUE', suggestUnique(table, column, key, profiled)],
    ]
    if (profiled) {
      const isKey = isKeyLike(table, profiled)
      rules.push(
        ['ENUM', isKey ? null : suggestEnum(profiled)],
        ['RANGE', isKey ? null : suggestRange(profiled)],
        ...suggestTextRules(profiled, table.columnTags[column.name] ?? []),
      )
    }
    return rules.flatMap(([type, draft]) => (draft ? [ruleOf(type, column, draft)] : []))
  })
}

function ruleOf(type: RuleName, column: EvidenceColumn, draft: RuleDraft): Suggestion {
  return {
    kind: 'validity',
    type,
    column: column.name,
    config: {},
    // NULL is what NOT_NULL and null_percent are for.
    settings: type === 'NOT_NULL' || type === 'UNIQUE' ? {} : { treat_null_as_valid: true },
    isQuietByProfile: false,
    ...draft,
  }
}

function suggestNotNull(
  table: TableEvidence,
  column: EvidenceColumn,
  key: readonly string[],
  profiled: ProfiledColumn | null,
): RuleDraft | null {
  const { name } = column
  const seen = profiled && { rows: profiled.rows, nulls: profiled.nulls, is_sampled: profiled.isSampled }
  if (profiled && profiled.nulls > 0) return null
  const isQuietByProfile = profiled !== null && !profiled.isSampled
  if (key.includes(name))
    return {
      confidence: 0.99,
      reason: `${name} is part of the primary key, which has no NULL.`,
      basis: ['constraints'],
      evidence: { constraint: 'primary_key', columns: key, ...seen },
      isQuietByProfile,
    }
  if (column.nullable === false)
    return {
      confidence: 0.7,
      reason: `${name} is declared NOT NULL, and the rule notices once that is dropped.`,
      basis: ['constraints'],
      evidence: { constraint: 'not_null', ...seen },
      isQuietByProfile,
    }
  if (!profiled || profiled.rows < MIN_ROWS) return null
  return {
    confidence: confidenceAfter(profiled.rows, profiled.isSampled ? 0.88 : 0.94),
    reason: `None of ${formatCount(profiled.rows)} rows of ${table.name} has NULL in ${name}, although it is allowed.`,
    basis: ['profiles'],
    evidence: { ...seen },
    isQuietByProfile,
  }
}

function suggestUnique(
  table: TableEvidence,
  { name, kind }: EvidenceColumn,
  key: readonly string[],
  profiled: ProfiledColumn | null,
): RuleDraft | null {
  if (kind === 'json' || kind === 'binary') return null
  const isDuplicated =
    profiled?.profile.isDistinctExact === true &&
    profiled.profile.distinct !== null &&
    profiled.profile.distinct < profiled.values
  if (isDuplicated) return null
  const isQuietByProfile = profiled?.profile.isKeyCandidate === true
  const constraint = table.constraints.find(
    ({ type, columns, properties }) =>
      (type === 'unique' || type === 'primary_key') &&
      columns.length === 1 &&
      columns[0] === name &&
      properties?.prefixLengths === undefined,
  )
  if (constraint)
    return {
      confidence: key.includes(name) ? 0.99 : 0.95,
      reason:
        constraint.type === 'primary_key'
          ? `${name} is the primary key, whose values occur once.`
          : `${name} has a unique constraint.`,
      basis: ['constraints'],
      evidence: { constraint: constraint.type, columns: constraint.columns },
      isQuietByProfile,
    }
  if (!profiled?.profile.isKeyCandidate || profiled.rows < MIN_VALUES) return null
  // Amounts and times may be distinct by chance.
  if (kind !== 'integer' && kind !== 'text' && kind !== 'other') return null
  if (isQuantity(name) && !isIdentifier(name)) return null
  // A column that refers to another table may be distinct while that is young.
  const isForeign =
    isReference(name, table.name) ||
    table.constraints.some(({ type, columns }) => type === 'foreign_key' && columns.includes(name))
  const isNamed = isIdentifier(name) && !isForeign
  return {
    confidence: confidenceAfter(profiled.rows, isNamed ? 0.95 : isForeign ? 0.5 : 0.6),
    reason: `All ${formatCount(profiled.rows)} values of ${name} are distinct.`,
    basis: isNamed ? ['profiles', 'names'] : ['profiles'],
    evidence: { rows: profiled.rows, distinct: profiled.profile.distinct, is_identifier: isNamed },
    isQuietByProfile: true,
  }
}

/** A value that was seen less often may be one of many rare ones. */
const MIN_COUNT_OF_VALUE = 3
const MAX_ENUM_VALUES = 20
/**
 * Above so many values, a list is open if its rarest value has less than this of an equal share: carriers and airports have
 * such values, and others that were not seen yet.
 */
const MAX_OF_OPEN_LIST = 8
const MIN_OF_EQUAL_SHARE = 1 / 20

/**
 * A list of values, where all that were seen are known and none of them is rare. One may be where the values are few by their
 * meaning, as states and sizes are.
 */
function suggestEnum({ column, profile, values, isSampled }: ProfiledColumn): RuleDraft | null {
  const { topValues, distinct } = profile
  const isSuited = column.kind === 'text' || (column.kind === 'integer' && isCode(column.name))
  if (!isSuited || isSampled || topValues === null || distinct === null || values < MIN_VALUES) return null
  const covered = topValues.reduce((sum, { count }) => sum + count, 0)
  const [rarest = 0, nextRarest = 0] = topValues.map(({ count }) => count).toSorted((a, b) => a - b)
  const mayHaveRare = isClosedList(column.name) && distinct >= 3
  const decisive = mayHaveRare && rarest < nextRarest ? nextRarest : rarest
  const isKnown = topValues.length === distinct && covered === values && topValues.length <= MAX_ENUM_VALUES
  if (!isKnown || decisive < MIN_COUNT_OF_VALUE || distinct > values / 10) return null
  const isOpen = distinct > MAX_OF_OPEN_LIST && decisive < (values / distinct) * MIN_OF_EQUAL_SHARE
  if (isOpen) return null
  // A value that many rows share tells little of a column that holds nothing else.
  if (distinct < 2) return null
  const most = isOpenText(column.name) ? 0.6 : 0.95
  return {
    config: { allowed_values: topValues.map(({ value }) => value) },
    confidence: confidenceAfter(decisive, most),
    reason: `${column.name} has ${distinct} values in ${formatCount(values)} rows, ${decisive === rarest ? 'each' : 'all but one'} at least ${formatCount(decisive)} times.`,
    basis: ['profiles'],
    evidence: { values, distinct, rarest },
    isQuietByProfile: true,
  }
}

/** Bounds by the meaning of the name, or far beyond what was seen. */
function suggestRange({ column, profile, values, isSampled }: ProfiledColumn): RuleDraft | null {
  const { min, max, quantiles, distinct } = profile
  if (!NUMERIC_KINDS.includes(column.kind) || values < MIN_VALUES || isIdentifier(column.name)) return null
  if (typeof min !== 'number' || typeof max !== 'number' || (distinct ?? 0) < 2) return null
  const evidence = { values, min, max, is_sampled: isSampled }
  const isQuietByProfile = !isSampled
  const meaning = meaningOf(column.name, min, max)
  if (meaning)
    return {
      config: { min: meaning.min, max: meaning.max },
      confidence: confidenceAfter(values, 0.95),
      reason: `${column.name} means a number from ${meaning.min} to ${meaning.max}, and all ${formatCount(values)} values are.`,
      basis: ['profiles', 'names'],
      evidence,
      isQuietByProfile,
    }
  const middle = quantiles?.p50 ?? (min + max) / 2
  const isNamed = isQuantity(column.name)
  const bounds = {
    min: min >= 0 && !isSigned(column.name) ? 0 : roundAway(min - SLACK * (middle - min)),
    max: roundAway(max + SLACK * (max - middle)),
  }
  const isNatural = bounds.min === 0 && isNamed
  return {
    config: bounds,
    confidence: confidenceAfter(values, isNatural ? 0.9 : min >= 0 ? 0.8 : 0.7),
    reason: `All ${formatCount(values)} values of ${column.name} lie from ${formatValue(min)} to ${formatValue(max)}${isNatural ? ', and its name means a quantity' : ''}.`,
    basis: isNamed ? ['profiles', 'names'] : ['profiles'],
    evidence,
    isQuietByProfile,
  }
}

/** How far beyond the values seen a bound lies, in distances from the median to the extreme. */
const SLACK = 3

/** Rounds away from zero to 1, 2 or 5 times a power of ten, so that a bound reads as one that a person chose. */
function roundAway(value: number): number {
  if (value === 0) return 0
  const size = Math.abs(value)
  const power = 10 ** Math.floor(Math.log10(size))
  const digit = [1, 2, 5, 10].find(step => size <= step * power * (1 + 1e-9)) ?? 10
  // A power below one has no exact double: it is printed and read.
  return Math.sign(value) * Number((digit * power).toPrecision(12))
}

/** Patterns in the portable part of regular expressions, which all engines read in the same way. */
const REGEXES: Partial<Record<string, { pattern: string; says: string; tag?: string }>> = {
  email: { pattern: '^[^@ ]+@[^@ ]+[.][^@ ]+$', says: 'an email address', tag: 'pii.email' },
  uuid: {
    pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
    says: 'a UUID',
  },
  url: { pattern: '^[a-zA-Z][a-zA-Z0-9+.-]*://[^ ]+$', says: 'a URL' },
  phone: { pattern: '^[+(0-9][0-9 ()./-]*$', says: 'a phone number', tag: 'pii.phone' },
  numeric_text: { pattern: '^[+-]?[0-9]+([.,][0-9]+)?$', says: 'a number' },
  iso_timestamp: {
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}',
    says: 'an ISO timestamp',
  },
}

function suggestTextRules(
  { column, profile, values, isSampled }: ProfiledColumn,
  tags: readonly string[],
): [RuleName, RuleDraft][] {
  const { pattern } = profile
  if (column.kind !== 'text' || !pattern || pattern.share < 1 || values < MIN_VALUES) return []
  const evidence = { values, pattern: pattern.name, share: pattern.share, is_sampled: isSampled }
  const confidence = confidenceAfter(values, isSampled ? 0.88 : 0.94)
  const isQuietByProfile = !isSampled
  if (pattern.name === 'iso_date' && profile.maxLength === 10)
    return [
      [
        'DATE_FORMAT',
        {
          config: { format: '%Y-%m-%d' },
          reason: `All ${formatCount(values)} values of ${column.name} are dates such as 2024-12-31.`,
          confidence,
          basis: ['profiles'],
          evidence,
          isQuietByProfile,
        },
      ],
    ]
  const regex = REGEXES[pattern.name]
  if (!regex) return []
  const isTagged = regex.tag !== undefined && tags.includes(regex.tag)
  return [
    [
      'REGEX',
      {
        config: { pattern: regex.pattern },
        confidence: round(confidence + (isTagged ? 0.02 : 0)),
        reason: `All ${formatCount(values)} values of ${column.name} look like ${regex.says}.`,
        basis: isTagged ? ['profiles', 'tags'] : ['profiles'],
        evidence: { ...evidence, ...(isTagged && { tag: regex.tag }) },
        isQuietByProfile,
      },
    ],
  ]
}
