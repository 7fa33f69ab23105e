import { isDeepStrictEqual } from 'node:util'
import { sortTables, type ConstraintInfo, type TableInfo } from '../../../connectors/catalog.ts'
import type { HiddenParts, ReducedTable } from '../../../connectors/connector.ts'

/** A table with what was known of it put back where it could not be read. */
interface CompletedTable {
  table: TableInfo
  /** Whether columns or whole constraints were put back that the connector reported as hidden. */
  isPartlyHidden: boolean
}

/**
 * Which known columns and keys a table no longer shows as they were.
 * @returns null when it shows all of them
 */
export function reducedTable(read: TableInfo, known: TableInfo): ReducedTable | null {
  if (read.kind !== known.kind) return null
  // A name that differs only in case is the same column in some engines: it was renamed, not hidden. So was a column
  // whose identity is still shown.
  const names = new Set(read.columns.map(({ name }) => name.toLowerCase()))
  const identities = new Set(read.columns.map(({ identity }) => identity))
  const missingColumns = known.columns
    .filter(({ name, identity }) => !names.has(name.toLowerCase()) && !(identity && identities.has(identity)))
    .map(({ name }) => name)
  const counterpart = makeCounterpart(read.constraints)
  const isSame = (old: ConstraintInfo) => {
    const now = counterpart(old)
    return now !== undefined && isDeepStrictEqual(now.columns, old.columns)
  }
  if (missingColumns.length === 0 && known.constraints.every(isSame)) return null
  const { catalog, schema, name } = read
  return { catalog, schema, name, missingColumns }
}

/**
 * Puts back what was known of a table and could not be read: hidden columns, constraints that use one, constraints that
 * the catalog could not give, and of a constraint the target or the properties that the role may not see.
 */
export function withUnread(read: TableInfo, known: TableInfo, hidden?: HiddenParts): CompletedTable {
  // A view in place of a table has nothing of it.
  if (read.kind !== known.kind) return { table: read, isPartlyHidden: false }
  const names = new Set(hidden?.columns)
  for (const { name } of read.columns) names.delete(name)
  const columns = known.columns.filter(({ name }) => names.has(name))
  const { constraints, isPartlyHidden } = read.constraintsError
    ? { constraints: known.constraints, isPartlyHidden: false }
    : mergeConstraints(read.constraints, known.constraints, {
        columns: names,
        foreignKeys: hidden?.foreignKeys === true,
      })
  const [table] = sortTables([
    { ...read, columns: [...read.columns, ...columns], constraints: [...constraints] },
  ])
  return { table: table ?? read, isPartlyHidden: columns.length > 0 || isPartlyHidden }
}

interface HiddenObjects {
  columns: ReadonlySet<string>
  foreignKeys: boolean
}

function mergeConstraints(
  read: readonly ConstraintInfo[],
  known: readonly ConstraintInfo[],
  hidden: HiddenObjects,
): { constraints: ConstraintInfo[]; isPartlyHidden: boolean } {
  const isHidden = (old: ConstraintInfo) =>
    old.columns.some(column => hidden.columns.has(column)) ||
    (hidden.foreignKeys && old.type === 'foreign_key')
  const [inRead, inKnown] = [makeCounterpart(read), makeCounterpart(known)]
  const kept = new Set(
    known.filter(old => {
      const now = inRead(old)
      return now ? isPartOf(now, old, hidden) : isHidden(old)
    }),
  )
  const constraints = read.flatMap(now => {
    const old = inKnown(now)
    if (!old) return [now]
    return kept.has(old) ? [] : [withUnseen(now, old)]
  })
  return { constraints: [...constraints, ...kept], isPartlyHidden: kept.size > 0 }
}

/** Finds the constraint of a name and type. */
function makeCounterpart(among: readonly ConstraintInfo[]) {
  const byName = Map.groupBy(among, ({ name }) => name)
  return ({ name, type }: ConstraintInfo) => byName.get(name)?.find(other => other.type === type)
}

/** Whether a constraint is shown as it was, less columns that are hidden. */
function isPartOf(now: ConstraintInfo, old: ConstraintInfo, hidden: HiddenObjects): boolean {
  if (now.columns.length >= old.columns.length) return false
  return isDeepStrictEqual(
    now.columns,
    old.columns.filter(column => !hidden.columns.has(column)),
  )
}

/** A constraint with the target and the properties that it had, where the role may not see them and nothing else changed. */
function withUnseen(now: ConstraintInfo, old: ConstraintInfo): ConstraintInfo {
  if (!isDeepStrictEqual(now.columns, old.columns)) return now
  const references = now.references ?? old.references
  if (!isDeepStrictEqual(references, old.references)) return now
  const properties = now.properties ?? old.properties
  return { ...now, ...(references && { references }), ...(properties && { properties }) }
}
