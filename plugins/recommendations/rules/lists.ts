/** Lists of values: closed ones, and those to which rare values may come. */
import { confidenceAfter, formatCount, toleranceOf, type ProfiledColumn } from './evidence.ts'
import { isClosedList, isCode, isOpenText } from './names.ts'
import { MIN_ROWS, MIN_VALUES, type RuleDraft } from './rule-draft.ts'

/** A value that was seen less often may be one of many rare ones. */
const MIN_COUNT_OF_VALUE = 3
const MAX_ENUM_VALUES = 20
/**
 * A list is closed if its rarest value has this of an equal share, as weekdays have: then one that was not seen would be
 * rarer by far than all others. Carriers and airports have rare values, and others that were not seen yet.
 */
const MIN_OF_EQUAL_SHARE = 1 / 2
/** A list is closed, too, if no value is rare: each has so many rows and this share of them. */
const MIN_COUNT_OF_FREQUENT = 5
const MIN_SHARE_OF_FREQUENT = 1 / 40
/**
 * The share of rows with a value of which there is one row only is the chance that the next row has a new one (Good and
 * Turing). Above this a list says little.
 */
const MAX_UNSEEN_SHARE = 0.01

/**
 * A list of values that are all known. Where it is closed, each row with another value alerts; where rare values may come,
 * only more of them than are usual.
 */
export function suggestEnum(
  { column, profile, values, isSampled }: ProfiledColumn,
  isSmall: boolean,
): RuleDraft | null {
  const { topValues, distinct } = profile
  const isSuited = column.kind === 'text' || (column.kind === 'integer' && isCode(column.name))
  if (!isSuited || isSampled || topValues === null || distinct === null || values < MIN_ROWS) return null
  // Neither one value nor many with few rows each show a list.
  if (distinct < 2 || distinct > values / MIN_COUNT_OF_VALUE) return null
  const covered = topValues.reduce((sum, { count }) => sum + count, 0)
  if (topValues.length !== distinct || covered !== values || distinct > MAX_ENUM_VALUES) return null
  const [rarest = 0, nextRarest = 0] = topValues.map(({ count }) => count).toSorted((a, b) => a - b)
  // One may be rare where the values are few by their meaning, as states and sizes are.
  const mayHaveRare = isClosedList(column.name) && distinct >= 3 && values >= MIN_VALUES
  const isEven = rarest >= MIN_COUNT_OF_VALUE && rarest * distinct >= values * MIN_OF_EQUAL_SHARE
  const isFrequent = rarest >= MIN_COUNT_OF_FREQUENT && rarest >= values * MIN_SHARE_OF_FREQUENT
  const isClosed = isEven || isFrequent || (mayHaveRare && Math.max(rarest, nextRarest) >= MIN_COUNT_OF_VALUE)
  const single = topValues.filter(({ count }) => count === 1).length
  const unseen = single / values
  if (!isClosed && (isSmall || values < MIN_VALUES || unseen > MAX_UNSEEN_SHARE)) return null
  const most = isOpenText(column.name) ? 0.6 : 0.95
  const evidence = { values, distinct, rarest }
  const common = {
    config: { allowed_values: topValues.map(({ value }) => value) },
    confidence: confidenceAfter(values, most),
    basis: ['profiles' as const],
    isQuietByProfile: true,
  }
  const has = `${column.name} has ${distinct} values in ${formatCount(values)} rows`
  return isClosed
    ? { ...common, evidence, reason: `${has}, the rarest in ${formatCount(rarest)}, so that all are known.` }
    : {
        ...common,
        settings: toleranceOf(single, values),
        evidence: { ...evidence, unseen_share: Math.round(unseen * 10_000) / 10_000 },
        reason: `${has}; rare ones may come, and many rows with a value that is none of them show a broken load.`,
      }
}
