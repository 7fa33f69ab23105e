import { createHash } from 'node:crypto'
import { CHECK_TYPES, type CheckKindName, type Suggestion, type TableEvidence } from './evidence.ts'
import { suggestMeasures } from './measures.ts'
import { suggestReplica } from './replicas.ts'
import { suggestReferences, type ParentIndex, type ParentProfiles } from './references.ts'
import { suggestRules } from './value-rules.ts'

/** A suggestion with the id under which it is applied and dismissed. */
export type IdentifiedSuggestion = Suggestion & { id: string }

const ORDER = new Map(CHECK_TYPES.map((type, index) => [type, index]))

/**
 * Everything that the evidence of a table speaks for, in the order of confidence, then of types and columns. The same
 * evidence gives the same suggestions with the same ids.
 * @param kind the only one that is wanted; defaults to all
 */
export function suggestChecks(
  table: TableEvidence,
  parents: ParentIndex,
  profiles: ParentProfiles,
  kind?: CheckKindName,
): IdentifiedSuggestion[] {
  const isWanted = (...kinds: CheckKindName[]) => kind === undefined || kinds.includes(kind)
  return [
    ...(isWanted('metric', 'freshness') ? suggestMeasures(table) : []),
    ...(isWanted('validity') ? suggestRules(table) : []),
    ...(isWanted('referential') ? suggestReferences(table, parents, profiles) : []),
    ...(isWanted('comparison') ? suggestReplica(table) : []),
  ]
    .filter(suggestion => isWanted(suggestion.kind))
    .map(suggestion => ({ ...suggestion, id: suggestionId(table.id, suggestion) }))
    .sort(
      (a, b) =>
        b.confidence - a.confidence ||
        ORDER.get(a.type)! - ORDER.get(b.type)! ||
        compareText(a.column ?? '', b.column ?? ''),
    )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const ID_PATTERN = /^rec_([0-9a-f]{32})_[0-9a-f]{16}$/

/** The id of a recommendation: its table, and a hash of what the check is. */
export function suggestionId(
  tableId: string,
  { kind, column, type }: Pick<Suggestion, 'kind' | 'column' | 'type'>,
): string {
  // A table has one schedule, whatever column it reads.
  const subject = kind === 'freshness' ? [kind, tableId] : [kind, tableId, column, type]
  const hash = createHash('sha256').update(JSON.stringify(subject)).digest('hex').slice(0, 16)
  return `rec_${tableId.replaceAll('-', '')}_${hash}`
}

/** The table of a recommendation by its id; undefined for what is no such id. */
export function tableOfId(id: string): string | undefined {
  const hex = ID_PATTERN.exec(id)?.[1]
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
