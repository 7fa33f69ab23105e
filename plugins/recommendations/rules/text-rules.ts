/** Rules on how texts are written: REGEX and DATE_FORMAT. */
import type { ColumnProfile } from '../../profiles/api.ts'
import { confidenceAfter, formatCount, round, type ProfiledColumn } from './evidence.ts'
import { MIN_ROWS, MIN_VALUES, type RuleDraft, type RuleName } from './rule-draft.ts'

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

/** Lengths that a rule asks for at most: what is cut is shorter by far. */
const MAX_LENGTH = 20

/** That texts are not much shorter than those seen: all of one length, or at least half of the shortest. */
export function suggestLength({ column, profile, values, isSampled }: ProfiledColumn): RuleDraft | null {
  const { minLength, maxLength } = profile
  if (column.kind !== 'text' || minLength === null || values < MIN_ROWS || hasForm(profile)) return null
  const length = Math.min(MAX_LENGTH, minLength === maxLength ? minLength : Math.ceil(minLength / 2))
  if (length < 2) return null
  return {
    config: { pattern: `^.{${length},}` },
    confidence: confidenceAfter(values, isSampled ? 0.9 : 0.95),
    reason: `All ${formatCount(values)} values of ${column.name} have at least ${minLength} characters, so a much shorter one was cut.`,
    basis: ['profiles'],
    evidence: { values, min_length: minLength, max_length: maxLength, is_sampled: isSampled },
    isQuietByProfile: !isSampled,
  }
}

/** Whether all texts have a form that a rule can ask for. */
function hasForm({ pattern, maxLength }: Pick<ColumnProfile, 'pattern' | 'maxLength'>): boolean {
  if (!pattern || pattern.share < 1) return false
  return pattern.name in REGEXES || (pattern.name === 'iso_date' && maxLength === 10)
}

export function suggestTextRules(
  { column, profile, values, isSampled }: ProfiledColumn,
  tags: readonly string[],
): [RuleName, RuleDraft][] {
  const { pattern } = profile
  if (column.kind !== 'text' || !hasForm(profile) || !pattern || values < MIN_VALUES) return []
  const evidence = { values, pattern: pattern.name, share: pattern.share, is_sampled: isSampled }
  const confidence = confidenceAfter(values, isSampled ? 0.88 : 0.94)
  const isQuietByProfile = !isSampled
  if (pattern.name === 'iso_date')
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
