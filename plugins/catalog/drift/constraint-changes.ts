import { isDeepStrictEqual } from 'node:util'
import {
  tablePath,
  type ConstraintInfo,
  type ConstraintProperties,
  type TableInfo,
} from '../../../connectors/catalog.ts'
import { nameProperties } from './named-properties.ts'

/** The names that tables and columns have now, by those that they had. */
export interface RenameMap {
  table(path: string): string
  column(path: string, column: string): string
}

/** One constraint that came, went or was modified. */
interface ConstraintDifference {
  oldValue: object | null
  newValue: object | null
  /** Whether a key went, or lets in rows that it refused. */
  isKeyWeakened: boolean
}

/** Properties as the API names them. */
const PROPERTY_NAMES = {
  onDelete: 'on_delete',
  onUpdate: 'on_update',
  match: 'match',
  deferrable: 'deferrable',
  initiallyDeferred: 'initially_deferred',
  nullsNotDistinct: 'nulls_not_distinct',
  prefixLengths: 'prefix_lengths',
} as const satisfies Record<keyof ConstraintProperties, string>

const PROPERTIES = Object.keys(PROPERTY_NAMES) as (keyof ConstraintProperties)[]

/** Properties in an order of their own, for a fingerprint: objects that were stored as JSON lose theirs. */
export function propertyList(properties: ConstraintProperties): unknown[] {
  return PROPERTIES.map(name => properties[name])
}

/** The differences between the constraints of one table; that one only has another name is none. */
export function compareConstraints(
  old: TableInfo,
  now: TableInfo,
  follow: RenameMap,
): ConstraintDifference[] {
  const path = tablePath(now)
  return pairDifferent(old.constraints, now.constraints, { path, follow }).map(([a, b]) => ({
    oldValue: a ? constraintValue(a, path) : null,
    newValue: b ? constraintValue(b, path) : null,
    isKeyWeakened: isKeyWeakened(a, b, column => follow.column(path, column)),
  }))
}

type OptionalConstraint = ConstraintInfo | undefined

/** The table that two lists of constraints belong to, and its names now. */
interface ComparedTable {
  path: string
  follow: RenameMap
}

/**
 * Pairs constraints that differ, by name and type, as a unique index may be called what a foreign key is; what is left,
 * by name alone. Equal ones are left out first, those of other names too: of two that swapped their names, neither
 * changed.
 */
function pairDifferent(
  old: readonly ConstraintInfo[],
  now: readonly ConstraintInfo[],
  table: ComparedTable,
): [OptionalConstraint, OptionalConstraint][] {
  const [before, after] = [new Set(old), new Set(now)]
  const take = ([a, b]: readonly [ConstraintInfo, ConstraintInfo]): [ConstraintInfo, ConstraintInfo] => {
    before.delete(a)
    after.delete(b)
    return [a, b]
  }
  const named = pairByKey(before, after, ({ name, type }) => `${type} ${name}`)
  named.filter(([a, b]) => isSameConstraint(a, b, table.path, table.follow)).forEach(take)
  for (const keys of definitionKeys(table)) pairByKey(before, after, ...keys).forEach(take)
  return [
    ...pairByKey(before, after, ({ name, type }) => `${type} ${name}`).map(take),
    ...pairByKey(before, after, ({ name }) => name).map(take),
    ...[...before].map((a): [OptionalConstraint, OptionalConstraint] => [a, undefined]),
    ...[...after].map((b): [OptionalConstraint, OptionalConstraint] => [undefined, b]),
  ]
}

type ConstraintKey = (constraint: ConstraintInfo) => string | undefined

/** Pairs constraints of equal keys in their order, each once; those without a key are left. */
function pairByKey(
  old: Iterable<ConstraintInfo>,
  now: Iterable<ConstraintInfo>,
  oldKey: ConstraintKey,
  nowKey = oldKey,
): [ConstraintInfo, ConstraintInfo][] {
  const byKey = Map.groupBy([...now].toReversed(), nowKey)
  return [...old].flatMap((a): [ConstraintInfo, ConstraintInfo][] => {
    const key = oldKey(a)
    const b = key === undefined ? undefined : byKey.get(key)?.pop()
    return b ? [[a, b]] : []
  })
}

/** What may be unknown of a constraint. */
const UNKNOWN_PARTS = [[], ['properties'], ['references'], ['properties', 'references']] as const

/** Keys of constraints that are equal but for their names, for pairs of which one does not know some parts too. */
function* definitionKeys({ path, follow }: ComparedTable): Generator<[ConstraintKey, ConstraintKey]> {
  const define = (constraint: ConstraintInfo, unknown: readonly string[], renames: RenameMap) => {
    const lacking = Object.fromEntries(unknown.map(part => [part, undefined]))
    return JSON.stringify({ ...constraintValue({ ...constraint, ...lacking }, path, renames), name: null })
  }
  for (const unknown of UNKNOWN_PARTS) {
    const isUnknown = (constraint: ConstraintInfo) =>
      unknown.every(
        part =>
          constraint[part] === undefined && (part === 'properties' || constraint.type === 'foreign_key'),
      )
    const ofOld = (constraint: ConstraintInfo) => define(constraint, unknown, follow)
    const ofNow = (constraint: ConstraintInfo) => define(constraint, unknown, NO_RENAMES)
    yield [constraint => (isUnknown(constraint) ? ofOld(constraint) : undefined), ofNow]
    if (unknown.length > 0)
      yield [ofOld, constraint => (isUnknown(constraint) ? ofNow(constraint) : undefined)]
  }
}

/** What one of the two does not know is not compared: an older version stored no properties, a role may not see them. */
function isSameConstraint(a: ConstraintInfo, b: ConstraintInfo, path: string, follow: RenameMap): boolean {
  const hasReferences = (a.references && b.references) !== undefined || a.type !== b.type
  const hasProperties = (a.properties && b.properties) !== undefined
  const comparable = (constraint: ConstraintInfo): ConstraintInfo => ({
    ...constraint,
    ...(!hasReferences && { references: undefined }),
    ...(!hasProperties && { properties: undefined }),
  })
  return isDeepStrictEqual(constraintValue(comparable(a), path, follow), constraintValue(comparable(b), path))
}

const NO_RENAMES: RenameMap = { table: path => path, column: (_, column) => column }

/**
 * Takes properties that accepted constraints lack from states of the table that came later, the first that knows them of
 * a constraint that is otherwise the same.
 * @returns undefined where that adds none
 */
export function completeConstraints(
  accepted: readonly ConstraintInfo[],
  later: readonly (TableInfo | null)[],
): ConstraintInfo[] | undefined {
  let isCompleted = false
  const known = later.flatMap(table =>
    table ? [{ path: tablePath(table), byName: Map.groupBy(table.constraints, ({ name }) => name) }] : [],
  )
  const completed = accepted.map(constraint => {
    if (constraint.properties) return constraint
    for (const { path, byName } of known) {
      const same = byName
        .get(constraint.name)
        ?.find(
          other => other.properties !== undefined && isSameConstraint(constraint, other, path, NO_RENAMES),
        )
      if (!same?.properties) continue
      isCompleted = true
      return { ...constraint, properties: same.properties }
    }
    return constraint
  })
  return isCompleted ? completed : undefined
}

/** A constraint in replies, with the names of its time; or, for a comparison, with names renamed by `follow`. */
function constraintValue(
  { name, type, columns, references, properties = {} }: ConstraintInfo,
  path: string,
  follow = NO_RENAMES,
) {
  const target = references && tablePath(references.table)
  return {
    name,
    type,
    columns: columns.map(column => follow.column(path, column)),
    ...(references &&
      target !== undefined && {
        references: {
          table: follow.table(target),
          columns: references.columns.map(column => follow.column(target, column)),
        },
      }),
    ...nameProperties(properties, PROPERTY_NAMES),
  }
}

/**
 * Whether a primary key or unique constraint went, or no longer guarantees what it did: rows that it refused are let in.
 * @param follow the name that a column of the table has now
 */
function isKeyWeakened(old: OptionalConstraint, now: OptionalConstraint, follow: (column: string) => string) {
  if (!old || old.type === 'foreign_key') return false
  if (!now || now.type === 'foreign_key') return true
  if (old.type === 'primary_key' && now.type === 'unique') return true
  const [before, after] = [old.properties, now.properties]
  if (before && after) {
    if (after.deferrable && !before.deferrable) return true
    if (after.initiallyDeferred && !before.initiallyDeferred) return true
    if (before.nullsNotDistinct && !after.nullsNotDistinct && now.type === 'unique') return true
  }
  // Unique in fewer columns, or in shorter parts of them, is unique in more.
  const lengths = new Map(
    old.columns.map((column, index) => [follow(column), before?.prefixLengths?.[index] ?? Infinity]),
  )
  return now.columns.some((column, index) => {
    const length = lengths.get(column)
    return length === undefined || (before && after && (after.prefixLengths?.[index] ?? Infinity) > length)
  })
}
