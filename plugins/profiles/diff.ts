import type { ColumnProfile, TableProfile } from './api.ts'

/** A field of a column that differs between two profiles. Fields are named as the API names them. */
export interface ColumnChange {
  column: string
  field: string
  before: unknown
  after: unknown
}

/** What changed of a table between two profiles. */
export interface ProfileDiff {
  earlier: TableProfile
  addedColumns: string[]
  removedColumns: string[]
  changes: ColumnChange[]
}

/** The fields that are compared, by their names in the API. */
const COMPARED: readonly (readonly [field: string, read: (column: ColumnProfile) => unknown])[] = [
  ['type', ({ type }) => type],
  ['count', ({ count }) => count],
  ['nulls', ({ nulls }) => nulls],
  ['null_percent', nullPercent],
  ['distinct', ({ distinct }) => distinct],
  ['min', ({ min }) => min],
  ['max', ({ max }) => max],
  ['mean', ({ mean }) => mean],
  ['stddev', ({ stddev }) => stddev],
  ['quantiles.p05', ({ quantiles }) => quantiles?.p05 ?? null],
  ['quantiles.p25', ({ quantiles }) => quantiles?.p25 ?? null],
  ['quantiles.p50', ({ quantiles }) => quantiles?.p50 ?? null],
  ['quantiles.p75', ({ quantiles }) => quantiles?.p75 ?? null],
  ['quantiles.p95', ({ quantiles }) => quantiles?.p95 ?? null],
  ['min_length', ({ minLength }) => minLength],
  ['max_length', ({ maxLength }) => maxLength],
  ['mean_length', ({ meanLength }) => meanLength],
  ['pattern.name', ({ pattern }) => pattern?.name ?? null],
  ['pattern.share', ({ pattern }) => pattern?.share ?? null],
  ['is_key_candidate', ({ isKeyCandidate }) => isKeyCandidate],
]

/** The share of rows without a value, in per cent; null where it is not known. */
export function nullPercent({ count, nulls }: ColumnProfile): number | null {
  if (count === null || nulls === null || count + nulls === 0) return null
  return (100 * nulls) / (count + nulls)
}

/** What changed from an earlier profile of a table to a later one. What is hidden of either is not compared. */
export function diffProfiles(earlier: TableProfile, later: TableProfile): ProfileDiff {
  const before = new Map(earlier.columns.map(column => [column.name, column]))
  const after = new Map(later.columns.map(column => [column.name, column]))
  return {
    earlier,
    addedColumns: later.columns.flatMap(({ name }) => (before.has(name) ? [] : [name])),
    removedColumns: earlier.columns.flatMap(({ name }) => (after.has(name) ? [] : [name])),
    changes: later.columns.flatMap(column => {
      const old = before.get(column.name)
      return old ? changesOf(old, column) : []
    }),
  }
}

/** Fields that an engine adds up in doubles, in another order each time. */
const SUMMED_FIELDS = /^(mean|stddev)$/
/** How far such sums of the same values are apart at most, as a part of them. */
const ROUNDING = 1e-12

/** The fields that personal data may lack: null in one of two profiles says nothing of the values. */
const HIDDEN_FIELDS = /^(min|max|mean|stddev|quantiles[.].*)$/

function changesOf(before: ColumnProfile, after: ColumnProfile): ColumnChange[] {
  const isHidden = before.isMasked || after.isMasked
  const changes = COMPARED.flatMap(([field, read]) => {
    const [old, now] = [read(before), read(after)]
    const isUnknown = isHidden && HIDDEN_FIELDS.test(field) && (old === null || now === null)
    const isSame = old === now || (SUMMED_FIELDS.test(field) && isRounding(old, now, after.stddev ?? 0))
    return isSame || isUnknown ? [] : [{ column: after.name, field, before: old, after: now }]
  })
  const [oldValues, values] = [listValues(before), listValues(after)]
  if (!oldValues || !values || oldValues.toSorted().join('\n') === values.toSorted().join('\n'))
    return changes
  return [...changes, { column: after.name, field: 'top_values', before: oldValues, after: values }]
}

function isRounding(before: unknown, after: unknown, stddev: number): boolean {
  if (typeof before !== 'number' || typeof after !== 'number') return false
  return Math.abs(before - after) <= ROUNDING * Math.max(Math.abs(before), Math.abs(after), stddev)
}

/** The frequent values of a column, whatever their counts are. */
function listValues({ topValues }: ColumnProfile): string[] | null {
  return topValues?.map(({ value }) => String(value)) ?? null
}
