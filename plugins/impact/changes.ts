/** What can be planned for a table, and how its change is judged. */

export const CHANGE_TYPES = [
  'drop_table',
  'rename_table',
  'truncate_table',
  'drop_column',
  'rename_column',
  'retype_column',
  'add_not_null',
  'drop_not_null',
  'drop_schema',
] as const
export type ChangeType = (typeof CHANGE_TYPES)[number]

/** A planned change, as the API takes it. */
export interface PlannedChange {
  change: ChangeType
  /** `catalog.schema.table`, or less where that is clear; of `drop_schema` the schema. */
  table?: string
  schema?: string
  column?: string
  new_type?: string
  new_name?: string
}

/** In the order in which they get worse. */
export const LEVELS = ['none', 'low', 'medium', 'high', 'critical'] as const
export type Level = (typeof LEVELS)[number]

export const worstLevel = (levels: readonly Level[]): Level =>
  levels.reduce((worst, level) => (LEVELS.indexOf(level) > LEVELS.indexOf(worst) ? level : worst), 'none')

const COLUMN_CHANGES: ReadonlySet<ChangeType> = new Set([
  'drop_column',
  'rename_column',
  'retype_column',
  'add_not_null',
  'drop_not_null',
])

export function isOfColumn(change: ChangeType): boolean {
  return COLUMN_CHANGES.has(change)
}

/**
 * What a change does to those who read the table: their queries fail (`break`), or go on with other values (`shift`); no
 * reader notices that writers may not send nulls any more (`write`).
 */
export type Effect = 'break' | 'shift' | 'write'

export function effectOf(
  { change, new_type: newType }: PlannedChange,
  oldType: string | undefined,
): Effect | null {
  if (change === 'add_not_null') return 'write'
  if (change === 'truncate_table' || change === 'drop_not_null') return 'shift'
  if (change !== 'retype_column') return 'break'
  if (oldType === undefined || newType === undefined) return 'break'
  if (isSameType(oldType, newType)) return null
  return isWider(oldType, newType) ? 'shift' : 'break'
}

interface TypeParts {
  name: string
  sizes: number[]
}

/** Names of one type, without length and precision. */
const SYNONYMS: Record<string, string> = {
  int: 'integer',
  int4: 'integer',
  int2: 'smallint',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
  double: 'double precision',
  bool: 'boolean',
  decimal: 'numeric',
  varchar: 'character varying',
  bpchar: 'character',
  char: 'character',
  timestamptz: 'timestamp with time zone',
  timestamp: 'timestamp without time zone',
  timetz: 'time with time zone',
  time: 'time without time zone',
}

function typeParts(type: string): TypeParts {
  const lower = type.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  const sizes = /\(([\d, ]+)\)/.exec(lower)?.[1]?.split(',').map(Number) ?? []
  const open = lower.indexOf('(')
  const close = open === -1 ? -1 : lower.indexOf(')', open)
  const name = (close === -1 ? lower : `${lower.slice(0, open).trimEnd()}${lower.slice(close + 1)}`).trim()
  return { name: SYNONYMS[name] ?? name, sizes }
}

function isSameType(one: string, other: string): boolean {
  const [a, b] = [typeParts(one), typeParts(other)]
  return a.name === b.name && a.sizes.join() === b.sizes.join()
}

/** Types that hold all values of those before them. */
const WIDENING = [
  ['smallint', 'integer', 'bigint', 'numeric'],
  ['real', 'double precision'],
  ['character', 'character varying', 'text'],
]

/** Whether each value of the old type is one of the new type, so that readers find their values still. */
function isWider(oldType: string, newType: string): boolean {
  const [from, to] = [typeParts(oldType), typeParts(newType)]
  if (from.name === to.name) {
    // Without sizes there is no limit.
    if (to.sizes.length === 0) return true
    if (from.sizes.length === 0) return false
    const [precision = 0, scale = 0] = from.sizes
    const [newPrecision = 0, newScale = 0] = to.sizes
    return newScale >= scale && newPrecision - newScale >= precision - scale
  }
  const family = WIDENING.find(types => types.includes(from.name) && types.includes(to.name))
  if (!family || family.indexOf(to.name) < family.indexOf(from.name)) return false
  return to.sizes.length === 0 || (to.name !== 'numeric' && (from.sizes[0] ?? Infinity) <= (to.sizes[0] ?? 0))
}
