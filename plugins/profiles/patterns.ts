import type { PatternName } from './api.ts'

const DATE = '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
const HEX = '[0-9a-fA-F]'

/**
 * Forms of text, the most specific first: of two that as many values have, the first is the pattern. Written with
 * character classes alone, which all engines read alike.
 */
export const TEXT_PATTERNS: readonly { name: PatternName; expression: string }[] = [
  { name: 'uuid', expression: `^${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}$` },
  { name: 'email', expression: '^[^@ ]+@[^@ ]+[.][^@ .]+$' },
  { name: 'url', expression: '^[a-zA-Z][a-zA-Z0-9+.-]*://[^ ]+$' },
  { name: 'iso_date', expression: `^${DATE}$` },
  {
    name: 'iso_timestamp',
    expression: `^${DATE}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)?$`,
  },
  { name: 'numeric_text', expression: '^[+-]?[0-9]+([.][0-9]+)?$' },
  { name: 'phone', expression: '^[+]?[(]?[0-9][0-9 ()/-]{5,17}[0-9]$' },
]

/** The least share of values that have a pattern, for it to be named. */
export const MIN_PATTERN_SHARE = 0.5

/** The pattern that most values of a sample have, of those that at least half of them have; undefined for none. */
export function likeliestPattern(
  values: number,
  matching: (name: PatternName) => number,
): PatternName | undefined {
  if (values === 0) return undefined
  const shares = TEXT_PATTERNS.map(({ name }) => ({ name, share: matching(name) / values }))
  const [best] = shares.toSorted((a, b) => b.share - a.share)
  return best && best.share >= MIN_PATTERN_SHARE ? best.name : undefined
}
