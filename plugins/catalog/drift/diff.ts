import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  tablePath,
  type ColumnInfo,
  type ConstraintInfo,
  type TableInfo,
  type TablePartitioning,
} from '../../../connectors/catalog.ts'
import { columnPropertyList, differingProperties } from './column-properties.ts'
import { compareConstraints, propertyList, type RenameMap } from './constraint-changes.ts'

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
export interface SchemaDifference {
  /** `tablePath` of the table it belongs to. */
  path: string
  changeType: ChangeType
  objectName: string
  objectType: 'table' | 'column'
  oldValue: object | null
  newValue: object | null
  impact: Impact
  /** Whether it is of a primary key or unique constraint that went, or no longer guarantees what it did. */
  isKeyWeakened?: boolean
}

/**
 * Everything of a table that is stored and may drift; equal fingerprints mean that nothing changed. Lists instead of
 * objects: half the time over 100,000 columns, and the same for a definition that has been stored as JSON.
 */
export function fingerprint({
  kind,
  comment,
  columns,
  constraints,
  identity,
  partitioning,
}: TableInfo): string {
  const all = [
    kind,
    comment,
    identity,
    columns.map(column => [
      column.name,
      column.ordinal,
      column.type,
      column.rawType,
      column.kind,
      column.nullable,
      column.default,
      column.comment,
      column.identity,
      // Absent where there is none: fingerprints of most tables stay what the version before made.
      ...(column.base === undefined ? [] : [column.base]),
      ...(column.nondeterministicCollation === undefined ? [] : [column.nondeterministicCollation]),
      ...(column.properties === undefined ? [] : [columnPropertyList(column.properties)]),
    ]),
    constraints.map(({ name, type, columns, references, properties }) => [
      name,
      type,
      columns,
      references && [tablePath(references.table), references.columns],
      properties && propertyList(properties),
    ]),
    // No drift, but it is stored, and what is stored is written only where this changes.
    ...(partitioning === undefined ? [] : [partitioningList(partitioning)]),
  ]
  return hash('sha256', JSON.stringify(all), 'base64url')
}

function partitioningList({ columns, clustering, requiresFilter }: TablePartitioning) {
  const keys = columns.map(({ name, method, pseudoType }) => [name, method, pseudoType])
  return [keys, clustering, requiresFilter]
}

/**
 * The differences between what was known and what was found. Tables are matched by name and kind; columns by their
 * identity where the engine has one, else by name.
 *
 * Tables that did not change may be left out of both lists: who refers to what was renamed has changed as well.
 */
export function compareTables(before: readonly TableInfo[], after: readonly TableInfo[]): SchemaDifference[] {
  const beforeByPath = new Map(before.map(table => [tablePath(table), table]))
  const afterByPath = new Map(after.map(table => [tablePath(table), table]))
  // A view in place of a table is another thing under its name, of which no column says anything.
  const stays = ({ kind }: TableInfo, other: TableInfo | undefined) => other?.kind === kind
  const removed = before.filter(table => !stays(table, afterByPath.get(tablePath(table))))
  const added = after.filter(table => !stays(table, beforeByPath.get(tablePath(table))))
  const stayed = before.flatMap((old): [TableInfo, TableInfo][] => {
    const now = afterByPath.get(tablePath(old))
    return now && stays(old, now) ? [[old, now]] : []
  })
  const moved = renamedTables(removed, added)
  const matches = [...stayed, ...moved].map(([old, now]) => ({ old, now, match: matchColumns(old, now) }))
  const matched = new Map(matches.map(matching => [tablePath(matching.old), matching]))
  const follow: RenameMap = {
    table: path => {
      const now = matched.get(path)?.now
      return now ? tablePath(now) : path
    },
    column: (path, column) => matched.get(path)?.match.renames.get(column) ?? column,
  }

  return [
    ...removed.map(table => tableChange('table_removed', table)),
    ...added.map(table => tableChange('table_added', table)),
    ...matches.flatMap(({ old, now, match }) => {
      const changes = columnChanges(now, match)
      // A renamed table is reported as removed and added; among its column changes only renames are new.
      if (tablePath(old) !== tablePath(now)) {
        return changes.filter(change => change.changeType === 'column_renamed')
      }
      return [...changes, ...constraintChanges(old, now, follow)]
    }),
  ]
}

/**
 * The keys of what a change is about: of a column its names before and after, of a constraint its type with its name and
 * with what it is on, as no change records its other name, of a table itself. Changes of one object, found at different
 * times, share a key; of an object renamed in between, each shares one with the next.
 */
export function objectKeys(change: Omit<SchemaDifference, 'impact'>): string[] {
  const { path, changeType, objectName, objectType, oldValue, newValue } = change
  const values = [oldValue, newValue] as (Partial<ConstraintInfo> | null)[]
  const names: unknown[][] =
    changeType === 'constraint_changed'
      ? values.flatMap(value =>
          value
            ? [
                ['constraint', value.type, value.name],
                ['definition', value.type, value.columns, targetOf(value.references)],
              ]
            : [],
        )
      : objectType === 'table'
        ? [['table']]
        : [objectName, ...values.map(value => value?.name ?? objectName)].map(name => ['column', name])
  return [...new Set(names.map(name => JSON.stringify([path, ...name])))]
}

/** In one order: objects that were stored as JSON lose theirs. */
function targetOf(references: { table: unknown; columns: string[] } | undefined): unknown[] {
  return references ? [references.table, references.columns] : []
}

/** Tables that left under one name and came under another, by the engine's identity. */
function renamedTables(removed: readonly TableInfo[], added: readonly TableInfo[]): [TableInfo, TableInfo][] {
  const came = new Map(added.flatMap(table => (table.identity ? [[table.identity, table]] : [])))
  return removed.flatMap((old): [TableInfo, TableInfo][] => {
    const now = old.identity === undefined ? undefined : came.get(old.identity)
    return now && now.kind === old.kind ? [[old, now]] : []
  })
}

interface ColumnMatch {
  pairs: [ColumnInfo, ColumnInfo][]
  removed: ColumnInfo[]
  added: ColumnInfo[]
  /** New names by old ones, of renamed columns. */
  renames: Map<string, string>
}

function matchColumns(old: TableInfo, now: TableInfo): ColumnMatch {
  const byIdentity = isSameRelation(old, now)
    ? pairColumns(old.columns, now.columns, column => column.identity)
    : { pairs: [], removed: old.columns, added: now.columns }
  // A column dropped and made anew under its name has another identity and is still the same to its readers.
  const byName = pairColumns(byIdentity.removed, byIdentity.added, column => column.name)
  const pairs = [...byIdentity.pairs, ...byName.pairs]
  // Where columns have identities, nothing needs to be guessed.
  const guess = old.identity === undefined ? guessRename(byName.removed, byName.added) : undefined
  const left = guess ? { removed: [], added: [] } : byName
  if (guess) pairs.push(guess)
  const renames = new Map(pairs.flatMap(([a, b]) => (a.name === b.name ? [] : [[a.name, b.name] as const])))
  return { pairs, removed: left.removed, added: left.added, renames }
}

/**
 * Whether the columns of two tables can be matched by identity. Columns are numbered upwards and no number is given
 * twice. So one that came with a number below the last one known is in another relation, which by chance got the same
 * identity, as after a restore from a dump.
 */
function isSameRelation(old: TableInfo, now: TableInfo): boolean {
  if (old.identity === undefined || old.identity !== now.identity) return false
  const identities = new Set(old.columns.map(column => column.identity))
  const last = old.columns.reduce((most, { identity }) => Math.max(most, Number(identity)), 0)
  return !now.columns.some(({ identity }) => !identities.has(identity) && Number(identity) < last)
}

function pairColumns(
  old: readonly ColumnInfo[],
  now: readonly ColumnInfo[],
  key: (column: ColumnInfo) => string | undefined,
): Omit<ColumnMatch, 'renames'> {
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

function columnChanges(now: TableInfo, match: ColumnMatch): SchemaDifference[] {
  const path = tablePath(now)
  const change = (
    changeType: ChangeType,
    objectName: string,
    oldValue: object | null,
    newValue: object | null,
  ): SchemaDifference => ({
    path,
    changeType,
    objectName,
    objectType: 'column',
    oldValue,
    newValue,
    impact: IMPACTS[changeType],
  })
  return [
    ...match.pairs.flatMap(([a, b]) => {
      const [was, is] = differingProperties(a, b)
      const isSame =
        isSameType(a, b) &&
        a.nullable === b.nullable &&
        isSameDefault(a, b, match.renames) &&
        Object.keys({ ...was, ...is }).length === 0
      return [
        ...(a.name === b.name ? [] : [change('column_renamed', a.name, columnValue(a), columnValue(b))]),
        ...(isSame
          ? []
          : [
              change(
                'column_type_changed',
                b.name,
                { ...columnValue(a), default: a.default, ...was },
                { ...columnValue(b), default: b.default, ...is },
              ),
            ]),
      ]
    }),
    ...match.removed.map(column => change('column_removed', column.name, columnValue(column), null)),
    ...match.added.map(column => change('column_added', column.name, null, columnValue(column))),
  ]
}

function columnValue({ name, type, nullable, base }: ColumnInfo) {
  return { name, data_type: type, nullable, ...(base !== undefined && { base_type: base }) }
}

/**
 * Whether a column has the same type, also under a domain. The version before stored both in lower case, even where
 * they are case-sensitive, and an even older one stored no type under a domain.
 */
function isSameType(old: ColumnInfo, now: ColumnInfo): boolean {
  const isNamedSame =
    old.type === now.type || (old.rawType === now.rawType && old.type === now.type.toLowerCase())
  const isBaseSame = old.base === undefined || old.base === now.base || old.base === now.base?.toLowerCase()
  return isNamedSame && isBaseSame
}

/**
 * Whether a default is the same; a generated column's names other columns, whose renames the engine follows.
 * Where no properties were known, the expression of a generated column may not have been known either.
 */
function isSameDefault(old: ColumnInfo, now: ColumnInfo, renames: ReadonlyMap<string, string>): boolean {
  if (old.default === now.default) return true
  if (old.default === null && old.properties === undefined && now.properties?.generated) return true
  if (old.default === null || now.default === null || renames.size === 0) return false
  return isDeepStrictEqual(expressionWords(old.default, renames), expressionWords(now.default))
}

const TEXT_OR_NAME = /('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|[\p{L}_][\p{L}\p{N}_$]*)/u

/** An expression in pieces, each name without its quotes and as it is called now. */
function expressionWords(expression: string, renames?: ReadonlyMap<string, string>): string[] {
  return expression.split(TEXT_OR_NAME).map((piece, index) => {
    if (index % 2 === 0 || piece.startsWith("'")) return piece
    const [quote = ''] = /^["`]/.exec(piece) ?? []
    const name = quote ? piece.slice(1, -1).replaceAll(quote + quote, quote) : piece
    return renames?.get(name) ?? name
  })
}

function tableChange(changeType: 'table_added' | 'table_removed', table: TableInfo): SchemaDifference {
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

function constraintChanges(old: TableInfo, now: TableInfo, follow: RenameMap): SchemaDifference[] {
  const path = tablePath(now)
  return compareConstraints(old, now, follow).map(difference => ({
    ...difference,
    path,
    changeType: 'constraint_changed',
    objectName: now.name,
    objectType: 'table',
    impact: IMPACTS.constraint_changed,
  }))
}
