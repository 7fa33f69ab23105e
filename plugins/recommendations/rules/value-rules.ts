/** Rules on the values of one column: NOT_NULL, UNIQUE, ENUM, RANGE, REGEX and DATE_FORMAT. */
import { NUMERIC_KINDS } from '../../../connectors/catalog.ts'
import { isIdentifier, isQuantity, isReference, isSigned, meaningOf } from './names.ts'
import {
  confidenceAfter,
  formatCount,
  formatValue,
  hasFewRowsPerDay,
  isKeyLike,
  primaryKeyOf,
  profiledColumn,
  rowsPerDay,
  toleranceOf,
  type EvidenceColumn,
  type ProfiledColumn,
  type Suggestion,
  type TableEvidence,
} from './evidence.ts'
import { suggestEnum } from './lists.ts'
import { MIN_ROWS, MIN_VALUES, type RuleDraft, type RuleName } from './rule-draft.ts'
import { suggestLength, suggestTextRules } from './text-rules.ts'

/** After so many rows without NULL a single one is news. */
const MANY_ROWS = 1_000
/** The share of NULLs up to which a column has none but for single rows. */
const MAX_RARE_NULLS = 1 / 200

/** The rules that the evidence of a table speaks for. */
export function suggestRules(table: TableEvidence): Suggestion[] {
  const key = primaryKeyOf(table)
  const isSmall = hasFewRowsPerDay(table)
  return table.columns.flatMap(column => {
    const profiled = profiledColumn(table, column)
    const rules: [RuleName, RuleDraft | null][] = [
      ['NOT_NULL', suggestNotNull(table, column, key, profiled)],
      ['UNIQUE', suggestUnique(table, column, key, profiled)],
    ]
    if (profiled) {
      const isKey = isKeyLike(table, profiled)
      const list = isKey ? null : suggestEnum(profiled, isSmall)
      rules.push(
        ['ENUM', list],
        ['RANGE', isKey ? null : suggestRange(profiled)],
        ...suggestTextRules(profiled, table.columnTags[column.name] ?? []),
        // What is cut is on no list.
        ['REGEX', list ? null : suggestLength(profiled)],
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
    isQuietByProfile: false,
    ...draft,
    // NULL is what NOT_NULL and null_percent are for.
    settings: {
      ...(type !== 'NOT_NULL' && type !== 'UNIQUE' && { treat_null_as_valid: true }),
      ...draft.settings,
    },
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
  if (profiled && profiled.nulls > profiled.rows * MAX_RARE_NULLS) return null
  const hasNulls = profiled !== null && profiled.nulls > 0
  const isQuietByProfile = profiled !== null && !profiled.isSampled && !hasNulls
  if (key.includes(name) && !hasNulls)
    return {
      confidence: 0.99,
      reason: `${name} is part of the primary key, which has no NULL.`,
      basis: ['constraints'],
      evidence: { constraint: 'primary_key', columns: key, ...seen },
      isQuietByProfile,
    }
  if (column.nullable === false && !hasNulls)
    return {
      confidence: 0.7,
      reason: `${name} is declared NOT NULL, and the rule notices once that is dropped.`,
      basis: ['constraints'],
      evidence: { constraint: 'not_null', ...seen },
      isQuietByProfile,
    }
  if (!profiled || profiled.rows < MIN_ROWS) return null
  const { rows, nulls, isSampled } = profiled
  const isFew = hasFewRowsPerDay(table)
  if (hasNulls && isFew) return null
  return {
    confidence: confidenceAfter(rows, isSampled ? 0.88 : 0.94),
    reason: `${hasNulls ? `Only ${formatCount(nulls)}` : 'None'} of ${formatCount(rows)} rows of ${table.name} ${nulls > 1 ? 'have' : 'has'} NULL in ${name}, although it is allowed.`,
    basis: ['profiles'],
    evidence: { ...seen },
    settings: hasNulls || (rows < MANY_ROWS && !isFew) ? toleranceOf(nulls, rows) : {},
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
  if (!profiled?.profile.isKeyCandidate) return null
  // Amounts and times may be distinct by chance, but not the day of a table of one row a day.
  const perDay = rowsPerDay(table)
  if (kind === 'date' && perDay !== null && perDay <= 1 && isQuietByProfile && profiled.rows >= MIN_ROWS)
    return {
      confidence: confidenceAfter(profiled.rows, 0.95),
      reason: `${table.name} has one row of each ${name}, and a load that runs twice has two.`,
      basis: ['profiles'],
      evidence: { rows: profiled.rows, distinct: profiled.profile.distinct },
      isQuietByProfile,
    }
  if (profiled.rows < MIN_VALUES) return null
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

/** Bounds by the meaning of the name, or far beyond what was seen. */
function suggestRange({ column, profile, values, isSampled }: ProfiledColumn): RuleDraft | null {
  const { min, max, quantiles, distinct } = profile
  if (!NUMERIC_KINDS.includes(column.kind) || values < MIN_ROWS || isIdentifier(column.name)) return null
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
  const isSkewed = min >= 0 && max > MIN_SKEW * middle
  const isNamed = isQuantity(column.name)
  const slack = values < FEW_VALUES ? SLACK_OF_FEW : SLACK
  const least = min - slack * (middle - min)
  // A temperature that was above zero for a month may fall below. Zero bounds what is a quantity, touches it, is far off, or
  // has a longer tail above, as amounts have.
  const isAmount = isNamed || min === 0 || least >= 0 || max - middle > MIN_TAIL * (middle - min)
  const isFloored = min >= 0 && !isSigned(column.name) && isAmount
  const bounds = {
    min: isFloored ? 0 : -roundUp(-least),
    max: roundUp(Math.max(max + slack * (max - middle), isSkewed ? SKEWED_SLACK * max : max)),
  }
  const isNatural = bounds.min === 0 && isNamed
  return {
    config: bounds,
    confidence: confidenceAfter(values, isNatural ? 0.97 : 0.95),
    reason: `All ${formatCount(values)} values of ${column.name} lie from ${formatValue(min)} to ${formatValue(max)}${isNatural ? ', and its name means a quantity' : ''}.`,
    basis: isNamed ? ['profiles', 'names'] : ['profiles'],
    evidence,
    isQuietByProfile,
  }
}

/** How far beyond the values seen a bound lies, in distances from the median to the extreme. */
const SLACK = 3
/** The same where few values were seen, whose extremes the next month passes by more. */
const SLACK_OF_FEW = 5
/** Values below which they are few. */
const FEW_VALUES = 200
/** How much longer the tail above the median of an amount is than the one below. */
const MIN_TAIL = 1.5
/** A number whose extreme is more than this many medians, such as a rainfall or a count of views, doubles it now and then. */
const MIN_SKEW = 5
/** How many times the extreme of such a number a bound is. */
const SKEWED_SLACK = 10

const STEPS = [1, 2, 5, 10]

/** Rounds up to 1, 2 or 5 times a power of ten, so that a bound reads as one that a person chose. */
function roundUp(value: number): number {
  if (value === 0) return 0
  const size = Math.abs(value)
  const power = 10 ** Math.floor(Math.log10(size))
  const step =
    value > 0
      ? STEPS.find(each => size <= each * power * (1 + 1e-9))
      : STEPS.findLast(each => size >= each * power * (1 - 1e-9))
  // A power below one has no exact double: it is printed and read.
  return Math.sign(value) * Number(((step ?? 1) * power).toPrecision(12))
}
