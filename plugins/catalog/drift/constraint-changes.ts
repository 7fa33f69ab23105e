import { isDeepStrictEqual } from 'node:util'
import {
  tablePath,
  type ConstraintInfo,
  type ConstraintProperties,
  type TableInfo,
} from '../../../connectors/catalog.ts'

/** The names that tables and columns have now, by those that they had. */
export interface RenameMap {
  table(path: string): string
  column(path: string, column: string): string
}

/** One constraint that came, went or was modified. */
interface ConstraintDifference {
  oldValue: object | null
  newValue: object | null
  impact: 'high' | 'medium'
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

/** The differences between the constraints of one table. */
export function compareConstraints(
  old: TableInfo,
  now: TableInfo,
  follow: RenameMap,
): ConstraintDifference[] {
  const path = tablePath(now)
  return pairConstraints(old.constraints, now.constraints).flatMap(([a, b]) => {
    if (a && b && isSameConstraint(a, b, path, follow)) return []
    return {
      oldValue: a ? constraintValue(a, path) : null,
      newValue: b ? constraintValue(b, path) : null,
      impact: isKeyWeakened(a, b, column => follow.column(path, column)) ? 'high' : 'medium',
    }
  })
}

type OptionalConstraint = ConstraintInfo | undefined

/** By name and type, as a unique index may be called what a foreign key is; what is left, by name alone. */
function pairConstraints(
  old: readonly ConstraintInfo[],
  now: readonly ConstraintInfo[],
): [OptionalConstraint, OptionalConstraint][] {
  const left = new Set(now)
  const byName = Map.groupBy(now, ({ name }) => name)
  const take = ({ name }: ConstraintInfo, fits: (constraint: ConstraintInfo) => boolean) => {
    const found = byName.get(name)?.find(constraint => left.has(constraint) && fits(constraint))
    if (found) left.delete(found)
    return found
  }
  const same = old.map(a => [a, take(a, ({ type }) => type === a.type)] as const)
  const pairs = same.map(([a, b]): [OptionalConstraint, OptionalConstraint] => [a, b ?? take(a, () => true)])
  return [...pairs, ...[...left].map((b): [OptionalConstraint, OptionalConstraint] => [undefined, b])]
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
): object {
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
    ...Object.fromEntries(
      PROPERTIES.flatMap(property => {
        const value = properties[property]
        return value === undefined ? [] : [[PROPERTY_NAMES[property], value]]
      }),
    ),
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
