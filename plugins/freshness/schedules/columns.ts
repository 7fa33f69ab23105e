import { TEMPORAL_KINDS, type ColumnInfo, type ColumnKind } from '../../../connectors/catalog.ts'
import type { CatalogApi, ProfiledTimes, Table } from '../../catalog/api.ts'

/** Conventional names of columns with the time a row was written, the most reliable first. */
const CONVENTIONAL_NAMES = [
  'updated_at',
  'modified_at',
  'last_updated',
  'created_at',
  'inserted_at',
  'loaded_at',
  'event_time',
  'timestamp',
  'ts',
  'date',
]

/** Kinds of a column that a user names: numbers are epochs, texts ISO dates. */
const READABLE_KINDS: readonly ColumnKind[] = [...TEMPORAL_KINDS, 'integer', 'decimal', 'float', 'text']
/** The type of SQLite columns without a declared type, which may contain anything. */
const UNTYPED_TYPE = 'any'
/** MySQL's types with a fixed list of texts, and the year, which as a number of seconds would be one of 1970. */
const UNREADABLE_TYPE = /^((enum|set)\(|year\b)/

export type TypedColumn = Pick<ColumnInfo, 'name' | 'type' | 'base' | 'kind'>

/**
 * Columns whose newest value must not be shown: those tagged as personal data themselves, or that show such a column.
 * A tag on a table or source does not make the time of writing personal.
 */
export function hiddenColumns(
  catalog: CatalogApi,
  table: Pick<Table, 'columnTags' | 'personalFromUpstream'> & { columns: readonly TypedColumn[] },
): ReadonlySet<string> {
  const fromColumns = Object.entries(table.personalFromUpstream).filter(([, level]) => level === 'column')
  const tagged = { ...table, tags: [], personalFromUpstream: Object.fromEntries(fromColumns) }
  return catalog.personalColumns({ source: { tags: [] }, table: tagged })
}

/** Endings of names of columns with a time, where no profile shows their values. */
const TIME_ENDINGS = new Set(['at', 'date', 'day', 'datetime', 'hour', 'on', 'time', 'timestamp', 'ts'])

/** Words of names of times that no load moves, or that lie ahead. */
const OTHER_TIMES = new Set(
  `birth birthday dob born cancelled closed deadline deleted due effective end ends expected expiration expire expires
   expiry hired next planned scheduled start starts target until valid validity`.split(/\s+/),
)

export interface ColumnChoice {
  /** Columns to skip. */
  hidden?: ReadonlySet<string>
  /** Names from the source's defaults, the most reliable first. */
  preferred?: readonly string[]
  /** Without one, columns are judged by their names. */
  profile?: ProfiledTimes | undefined
}

const DAY_MS = 86_400_000
/** Columns with fewer NULLs than this share have about a value in each row. */
const FEW_NULLS_SHARE = 0.1

/**
 * The column that shows when a table was last updated: the first preferred name with a readable kind; else the date or
 * timestamp whose newest value, by the profile, is closest to now and not ahead of it; else, without a profile, the first
 * with a conventional name, or one that ends like a time. Among columns that are about equally new, those with few NULLs
 * come first, then conventional names.
 */
export function detectColumn<Column extends TypedColumn>(
  columns: readonly Column[],
  { hidden = new Set(), preferred = [], profile }: ColumnChoice = {},
): Column | undefined {
  const shown = columns.filter(({ name }) => !hidden.has(name))
  const readable = shown.filter(isReadable)
  const chosen = preferred
    .map(name => readable.find(column => column.name.toLowerCase() === name.toLowerCase()))
    .find(Boolean)
  if (chosen) return chosen
  const temporal = shown.filter(isTemporal).toSorted((a, b) => nameRank(a) - nameRank(b))
  const times = new Map(temporal.map(column => [column, profiledTime(column, profile)]))
  const moving = temporal.filter(column => times.get(column)?.isAhead === false)
  if (moving.length === 0)
    return temporal.find(column => times.get(column) === undefined && nameRank(column) < UNLIKELY_RANK)
  const ages = moving.map(column => times.get(column)!.ageMs)
  const near = Math.min(...ages) + Math.max(DAY_MS, Math.min(...ages))
  const newest = moving.filter(column => times.get(column)!.ageMs <= near)
  return newest.find(column => times.get(column)!.hasFewNulls) ?? newest[0]
}

/** Why `detectColumn` finds none, as the end of a sentence. */
export function describeNoColumn(
  columns: readonly TypedColumn[],
  { hidden = new Set(), profile }: ColumnChoice = {},
): string {
  const temporal = columns.filter(isTemporal)
  if (temporal.length === 0) return 'it has no date or timestamp column'
  const shown = temporal.filter(({ name }) => !hidden.has(name))
  const named = (some: readonly TypedColumn[]) => some.map(({ name }) => name).join(', ')
  if (shown.length === 0) return `${named(temporal)} may not be read: tagged as personal data`
  const ahead = shown.filter(column => profiledTime(column, profile)?.isAhead)
  if (ahead.length > 0) return `${named(ahead)} has values in the future`
  return profile
    ? `${named(shown)} has no values`
    : `it was not profiled, and ${named(shown)} is not named like a time of loading`
}

function isTemporal({ kind }: TypedColumn): boolean {
  return TEMPORAL_KINDS.includes(kind)
}

/** From here on, a name says that a column is something else. */
const UNLIKELY_RANK = CONVENTIONAL_NAMES.length + 1

/** How well a name suits a time of loading; lower is better. */
function nameRank({ name }: TypedColumn): number {
  const lower = name.toLowerCase()
  const conventional = CONVENTIONAL_NAMES.indexOf(lower)
  if (conventional >= 0) return conventional
  const words = wordsOf(name)
  if (words.some(word => OTHER_TIMES.has(word))) return UNLIKELY_RANK + 1
  return TIME_ENDINGS.has(words.at(-1) ?? '') ? CONVENTIONAL_NAMES.length : UNLIKELY_RANK
}

/** The words of `shippedAt`, `shipped_at` and `SHIPPED_AT` in small letters. */
function wordsOf(name: string): string[] {
  return name
    .replace(/[a-z0-9][A-Z]/g, ([before, after]) => `${before} ${after}`)
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter(word => word !== '')
}

/** How the values of a column lie to the time of the profile; undefined where it does not show that. */
function profiledTime({ name }: TypedColumn, profile: ProfiledTimes | undefined) {
  const column = profile?.columns[name]
  if (!profile || typeof column?.max !== 'string') return undefined
  const hasZone = !column.max.includes('T') || /(Z|[+-]\d{2}:?\d{2})$/.test(column.max)
  const ageMs = profile.profiledAt.getTime() - Date.parse(hasZone ? column.max : `${column.max}Z`)
  if (Number.isNaN(ageMs)) return undefined
  const { count, nulls } = column
  const isFull = count === null || nulls === null || nulls <= FEW_NULLS_SHARE * (count + nulls)
  // Local times may be up to a day ahead of UTC.
  return { ageMs: Math.max(0, ageMs), isAhead: ageMs < -DAY_MS, hasFewNulls: isFull }
}

/** Whether values of a column can be moments, judging by its type. */
export function isReadable({ kind, type }: Pick<ColumnInfo, 'kind' | 'type'>): boolean {
  return (READABLE_KINDS.includes(kind) && !UNREADABLE_TYPE.test(type)) || type === UNTYPED_TYPE
}
