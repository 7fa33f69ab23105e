import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { tablePath, type ColumnInfo, type ConstraintInfo, type TableInfo } from '../../connectors/catalog.ts'

export type Impact = 'low' | 'medium' | 'high'

export const IMPACTS = {
  column_added: 'low',
  column_removed: 'high',
  column_type_changed: 'medium',
  column_renamed: 'high',
  table_added: 'low',
  table_removed: 'high',
  constraint_changed: 'medium',
} as const satisfies Record<string, Impact>

export type ChangeType = keyof typeof IMPACTS

/** A difference between two catalogs, before it is stored. */
export interface Change {
  /** `tablePath` of the table it belongs to. */
  path: string
  changeType: ChangeType
  objectName: string
  objectType: 'table' | 'column'
  oldValue: object | null
  newValue: object | null
  impact: Impact
}

/** Everything of a table that drift looks at; equal fingerprints mean that nothing changed. */
export function fingerprint(table: TableInfo): string {
  const { kind, comment, columns, constraints, identity } = table
  return createHash('sha256')
    .update(JSON.stringify({ kind, comment, columns, constraints, identity }))
    .digest('base64url')
}

/**
 * The differences between what was known and what was found. Tables are matched by name; columns by their
 * identity where the engine has one, else by name.
 */
export function diff(before: readonly TableInfo[], after: readonly TableInfo[]): Change[] {
  const known = new Map(before.map(table => [tablePath(table), table]))
  const found = new Map(after.map(table => [tablePath(table), table]))
  const removed = before.filter(table => !found.has(tablePath(table)))
  const added = after.filter(table => !known.has(tablePath(table)))
  const moved = renamedTables(removed, added)
  const pairs = [...pairsByName(known, found), ...moved]
  const matches = pairs.map(([old, now]) => ({ old, now, match: matchColumns(old, now) }))
  const matched = new Map(matches.map(matching => [tablePath(matching.old), matching]))
  const follow: Follow = (path, column) => matched.get(path)?.match.renames.get(column) ?? column
  const followTable = (path: string) => {
    const now = matched.get(path)?.now
    return now ? tablePath(now) : path
  }

  return [
    ...removed.map(table => tableChange('table_removed', table)),
    ...added.map(table => tableChange('table_added', table)),
    ...matches.flatMap(({ old, now, match }) => {
      const changes = columnChanges(now, match)
      // A renamed table is told as one that left and one that came; of its columns only renames are news.
      if (tablePath(old) !== tablePath(now))
        return changes.filter(change => change.changeType === 'column_renamed')
      return [...changes, ...constraintChanges(old, now, follow, followTable)]
    }),
  ]
}

function pairsByName(known: Map<string, TableInfo>, found: Map<string, TableInfo>): [TableInfo, TableInfo][] {
  return [...known].flatMap(([path, old]): [TableInfo, TableInfo][] => {
    const now = found.get(path)
    return now ? [[old, now]] : []
  })
}

/** Tables that left under one name and came under another, by the engine's identity. */
function renamedTables(removed: readonly TableInfo[], added: readonly TableInfo[]): [TableInfo, TableInfo][] {
  const came = new Map(added.flatMap(table => (table.identity ? [[table.identity, table]] : [])))
  return removed.flatMap((old): [TableInfo, TableInfo][] => {
    const now = old.identity === undefined ? undefined : came.get(old.identity)
    return now ? [[old, now]] : []
  })
}

interface Match {
  pairs: [ColumnInfo, ColumnInfo][]
  removed: ColumnInfo[]
  added: ColumnInfo[]
  /** New names by old ones, of renamed columns. */
  renames: Map<string, string>
}

type Follow = (path: string, column: string) => string

function matchColumns(old: TableInfo, now: TableInfo): Match {
  const sameRelation = old.identity !== undefined && old.identity === now.identity
  const byIdentity = sameRelation ? pair(old.columns, now.columns, column => column.identity) : none(old, now)
  // A column dropped and made anew under its name has another identity and is still the same to its readers.
  const byName = pair(byIdentity.removed, byIdentity.added, column => column.name)
  const pairs = [...byIdentity.pairs, ...byName.pairs]
  // Where columns have identities, nothing needs to be guessed.
  const guess = old.identity === undefined ? guessRename(byName.removed, byName.added) : undefined
  const left = guess ? { removed: [], added: [] } : byName
  if (guess) pairs.push(guess)
  const renames = new Map(pairs.flatMap(([a, b]) => (a.name === b.name ? [] : [[a.name, b.name] as const])))
  return { pairs, removed: left.removed, added: left.added, renames }
}

function none(old: TableInfo, now: TableInfo): Omit<Match, 'renames'> {
  return { pairs: [], removed: old.columns, added: now.columns }
}

function pair(
  old: readonly ColumnInfo[],
  now: readonly ColumnInfo[],
  key: (column: ColumnInfo) => string | undefined,
): Omit<Match, 'renames'> {
  const byKey = new Map(
    now.flatMap(column => (key(column) === undefined ? [] : [[key(column), column] as const])),
  )
  const pairs = old.flatMap((column): [ColumnInfo, ColumnInfo][] => {
    const match = key(column) === undefined ? undefined : byKey.get(key(column))
    return match ? [[column, match]] : []
  })
  const [paired, matched] = [new Set(pairs.map(([a]) => a)), new Set(pairs.map(([, b]) => b))]
  return {
    pairs,
    removed: old.filter(column => !paired.has(column)),
    added: now.filter(column => !matched.has(column)),
  }
}

/** Without identities, one column that left and one that came are a rename only if all else is equal. */
function guessRename(
  removed: readonly ColumnInfo[],
  added: readonly ColumnInfo[],
): [ColumnInfo, ColumnInfo] | undefined {
  const [old, now] = [removed[0], added[0]]
  if (!old || !now || removed.length !== 1 || added.length !== 1) return undefined
  const same = old.type === now.type && old.nullable === now.nullable && old.ordinal === now.ordinal
  return same ? [old, now] : undefined
}

function columnChanges(now: TableInfo, match: Match): Change[] {
  const path = tablePath(now)
  const change = (
    changeType: ChangeType,
    objectName: string,
    oldValue: object | null,
    newValue: object | null,
  ): Change => ({
    path,
    changeType,
    objectName,
    objectType: 'column',
    oldValue,
    newValue,
    impact: IMPACTS[changeType],
  })
  return [
    ...match.pairs.flatMap(([a, b]) => [
      ...(a.name === b.name ? [] : [change('column_renamed', a.name, columnValue(a), columnValue(b))]),
      ...(a.type === b.type && a.nullable === b.nullable && a.default === b.default
        ? []
        : [
            change(
              'column_type_changed',
              b.name,
              { ...columnValue(a), default: a.default },
              { ...columnValue(b), default: b.default },
            ),
          ]),
    ]),
    ...match.removed.map(column => change('column_removed', column.name, columnValue(column), null)),
    ...match.added.map(column => change('column_added', column.name, null, columnValue(column))),
  ]
}

function columnValue(column: ColumnInfo): object {
  return { name: column.name, data_type: column.type, nullable: column.nullable }
}

function tableChange(changeType: 'table_added' | 'table_removed', table: TableInfo): Change {
  const value = { name: table.name, type: table.kind, columns: table.columns.length }
  return {
    path: tablePath(table),
    changeType,
    objectName: table.name,
    objectType: 'table',
    oldValue: changeType === 'table_removed' ? value : null,
    newValue: changeType === 'table_added' ? value : null,
    impact: IMPACTS[changeType],
  }
}

function constraintChanges(
  old: TableInfo,
  now: TableInfo,
  follow: Follow,
  followTable: (path: string) => string,
): Change[] {
  const before = new Map(
    old.constraints.map(constraint => [
      constraint.name,
      constraintValue(constraint, tablePath(old), follow, followTable),
    ]),
  )
  const keep: Follow = (_, column) => column
  const after = new Map(
    now.constraints.map(constraint => [
      constraint.name,
      constraintValue(constraint, tablePath(now), keep, path => path),
    ]),
  )
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(name => {
    const [oldValue, newValue] = [before.get(name) ?? null, after.get(name) ?? null]
    if (isDeepStrictEqual(oldValue, newValue)) return []
    return {
      path: tablePath(now),
      changeType: 'constraint_changed' as const,
      objectName: now.name,
      objectType: 'table' as const,
      oldValue,
      newValue,
      impact: IMPACTS.constraint_changed,
    }
  })
}

/** A constraint as it is told; names of renamed columns and tables are followed, as the engine does itself. */
function constraintValue(
  constraint: ConstraintInfo,
  path: string,
  follow: Follow,
  followTable: (path: string) => string,
): object {
  const { name, type, columns, references } = constraint
  const value = { name, type, columns: columns.map(column => follow(path, column)) }
  if (!references) return value
  const target = tablePath(references.table)
  return {
    ...value,
    references: {
      table: followTable(target),
      columns: references.columns.map(column => follow(target, column)),
    },
  }
}
