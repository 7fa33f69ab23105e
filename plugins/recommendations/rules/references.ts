/** References between tables: by foreign keys, or by names and values. */
import { NUMERIC_KINDS, tablePath } from '../../../connectors/catalog.ts'
import type { TableProfile } from '../../profiles/api.ts'
import {
  formatCount,
  primaryKeyOf,
  profiledColumn,
  round,
  type EvidenceColumn,
  type ParentColumn,
  type Suggestion,
  type TableEvidence,
} from './evidence.ts'
import { singularOf, wordsOf } from './names.ts'

/** A table that others may refer to, by a key of one column. */
interface ParentTable {
  table: TableEvidence
  key: EvidenceColumn
  /** Whether the catalog says that it is the key, and not its name alone. */
  isDeclared: boolean
}

/** The tables of a source that may be parents, without their profiles. */
export interface ParentIndex {
  byPath: ReadonlyMap<string, TableEvidence>
  byName: ReadonlyMap<string, readonly ParentTable[]>
}

/** The profiles of parents, by table. */
export type ParentProfiles = ReadonlyMap<string, TableProfile>

/** Words that warehouses put before the names of tables. */
const PREFIXES = new Set(['dim', 'fact', 'fct', 'stg', 'raw', 'src', 'tbl', 'int', 'mart'])
/** The last words of columns that hold keys. */
const KEY_WORDS = new Set(['id', 'uuid', 'guid', 'key', 'sk', 'code', 'number'])

/** The words of a table's name, the last in singular: what the columns that refer to it are called after. */
export function nameOfThing(name: string): string {
  const words = wordsOf(name)
  const own = PREFIXES.has(words[0] ?? '') ? words.slice(1) : words
  return [...own.slice(0, -1), singularOf(own.at(-1) ?? '')].join('_')
}

/** Indexes the tables that others may refer to. */
export function indexParents(tables: readonly TableEvidence[]): ParentIndex {
  const parents = tables.flatMap(table => findKey(table) ?? [])
  return {
    byPath: new Map(tables.map(table => [tablePath(table), table])),
    byName: Map.groupBy(parents, ({ table }) => nameOfThing(table.name)),
  }
}

/** The key of a table: its primary key, or without one the column that is called as its key would be. */
function findKey(table: TableEvidence): ParentTable | undefined {
  const primary = primaryKeyOf(table)
  if (primary.length > 1) return undefined
  const thing = nameOfThing(table.name)
  const key = table.columns.find(({ name }) => {
    if (primary.length === 1) return name === primary[0]
    const words = wordsOf(name)
    const ofThing = words.slice(0, -1).join('_')
    const isNamed = KEY_WORDS.has(words.at(-1) ?? '') && (ofThing === '' || ofThing === thing)
    return isNamed || words.join('_') === thing
  })
  return key && { table, key, isDeclared: primary.length === 1 }
}

/** The tables whose profiles decide on the references of a table. */
export function findParentIds(table: TableEvidence, parents: ParentIndex): string[] {
  return table.columns.flatMap(column => parentByName(table, column, parents)?.table.id ?? [])
}

/** The references that the evidence of a table speaks for, one a column. */
export function suggestReferences(
  table: TableEvidence,
  parents: ParentIndex,
  profiles: ParentProfiles,
): Suggestion[] {
  return table.columns.flatMap(
    column => byForeignKey(table, column, parents) ?? byName(table, column, parents, profiles) ?? [],
  )
}

function byForeignKey(
  table: TableEvidence,
  { name }: EvidenceColumn,
  parents: ParentIndex,
): Suggestion | undefined {
  const key = table.constraints.find(
    ({ type, columns }) => type === 'foreign_key' && columns.length === 1 && columns[0] === name,
  )
  const parent = key?.references && parents.byPath.get(tablePath(key.references.table))
  const [column] = key?.references?.columns ?? []
  if (!key || !parent || column === undefined) return undefined
  return referenceOf(name, parent, column, {
    confidence: 0.95,
    reason: `${name} has a foreign key to ${parent.name}.${column}.`,
    basis: ['constraints'],
    evidence: { constraint: key.name },
  })
}

/** The thing that a column is called after: `customer` of `customer_id`, `carrier` of itself; undefined for `id`. */
function thingOfColumn({ name }: EvidenceColumn): string | undefined {
  const words = wordsOf(name)
  const isKey = KEY_WORDS.has(words.at(-1) ?? '')
  return (isKey ? words.slice(0, -1) : words).join('_') || undefined
}

/** Whether a column may refer to a key: by its last word, or by the name that both have, as `carriers.carrier`. */
function isCalledLike({ name }: EvidenceColumn, key: EvidenceColumn): boolean {
  return KEY_WORDS.has(wordsOf(name).at(-1) ?? '') || wordsOf(name).join('_') === wordsOf(key.name).join('_')
}

/** What the columns of a table refer to, by their names and foreign keys, as `nameOfThing` calls it. */
export function thingsOf({ columns, constraints }: Pick<TableEvidence, 'columns' | 'constraints'>): string[] {
  const named = columns.flatMap(each => thingOfColumn(each) ?? [])
  const keyed = constraints.flatMap(({ references }) =>
    references ? [nameOfThing(references.table.name)] : [],
  )
  return [...new Set([...named, ...keyed])]
}

/** The only table, the nearest first, that a column is called after. */
function parentByName(
  table: TableEvidence,
  column: EvidenceColumn,
  { byName: index }: ParentIndex,
): ParentTable | undefined {
  const thing = thingOfColumn(column)
  if (thing === undefined) return undefined
  const candidates = (index.get(thing) ?? []).filter(
    ({ table: other, key }) =>
      other.id !== table.id && other.kind === 'table' && isSameKind(column, key) && isCalledLike(column, key),
  )
  const near = candidates.filter(
    ({ table: other }) => other.schema === table.schema && other.catalog === table.catalog,
  )
  const [parent, second] = near.length > 0 ? near : candidates
  return second ? undefined : parent
}

function byName(
  table: TableEvidence,
  column: EvidenceColumn,
  parents: ParentIndex,
  profiles: ParentProfiles,
): Suggestion | undefined {
  const parent = parentByName(table, column, parents)
  if (!parent) return undefined
  const profile = profiles.get(parent.table.id)
  const key = profile ? profiledColumn({ ...parent.table, profile }, parent.key) : null
  if (!parent.isDeclared && !key?.profile.isKeyCandidate) return undefined
  const inclusion = compareValues(profiledColumn(table, column), key)
  if (inclusion.confidence === 0) return undefined
  const parentKey = `${parent.table.name}.${parent.key.name}`
  const { isSeen, confidence, evidence } = inclusion
  return referenceOf(column.name, parent.table, parent.key.name, {
    confidence,
    reason: isSeen
      ? `${column.name} is called like ${parentKey}, and its values may all be among those of that key.`
      : `${column.name} is called like ${parentKey}.`,
    basis: isSeen ? ['names', 'profiles'] : ['names'],
    evidence,
  })
}

function isSameKind(child: EvidenceColumn, parent: EvidenceColumn): boolean {
  const isNumber = ({ kind }: EvidenceColumn) => NUMERIC_KINDS.includes(kind)
  return child.kind === parent.kind ? child.kind !== 'json' : isNumber(child) && isNumber(parent)
}

type Profiled = ReturnType<typeof profiledColumn>

interface Inclusion {
  /** 0 where a value is certainly none of the parent's. */
  confidence: number
  /** Whether values were compared. */
  isSeen: boolean
  evidence: Record<string, unknown>
}

/** Whether the values of a child may be among those of a parent, by extremes and numbers of distinct values. */
function compareValues(child: Profiled, parent: Profiled): Inclusion {
  if (!child || !parent || child.values === 0) return { confidence: 0.5, isSeen: false, evidence: {} }
  const isSampled = child.isSampled || parent.isSampled
  const distinct = { child: child.profile.distinct, parent: parent.profile.distinct }
  const evidence = { child_distinct: distinct.child, parent_distinct: distinct.parent }
  if (!isSampled && (distinct.child ?? 0) > (distinct.parent ?? Infinity))
    return { confidence: 0, isSeen: true, evidence }
  const bounds = [child.profile, parent.profile].flatMap(({ min, max }) => [min, max])
  if (!bounds.every(bound => typeof bound === 'number'))
    return { confidence: round(isSampled ? 0.6 : 0.75), isSeen: true, evidence }
  const [from, to, first, last] = bounds as [number, number, number, number]
  const isWithin = from >= first && to <= last
  return {
    confidence: isWithin ? (isSampled ? 0.75 : 0.85) : 0,
    isSeen: true,
    evidence: {
      ...evidence,
      child_range: `${formatCount(from)} to ${formatCount(to)}`,
      parent_range: `${formatCount(first)} to ${formatCount(last)}`,
    },
  }
}

function referenceOf(
  column: string,
  { id, catalog, schema, name }: TableEvidence,
  parentColumn: string,
  because: Pick<Suggestion, 'confidence' | 'reason' | 'basis' | 'evidence'>,
): Suggestion {
  const parent: ParentColumn = { tableId: id, table: { catalog, schema, name }, column: parentColumn }
  return {
    kind: 'referential',
    type: 'referential',
    column,
    config: {},
    settings: {},
    ...because,
    parent,
    isQuietByProfile: false,
  }
}
