/** Comparisons of a table with one of another source that has its name and its columns: a replica, a load, a migration. */
import { tablePath, type TableRef } from '../../../connectors/catalog.ts'
import {
  formatCount,
  primaryKeyOf,
  round,
  type ReplicaCandidate,
  type Suggestion,
  type TableEvidence,
} from './evidence.ts'

/** The share of the columns of both tables that both have, from which they count as copies of each other. */
const MIN_SHARED = 0.9
const MIN_SHARED_COLUMNS = 2
/** Estimated rows above which only the numbers of rows are compared: all rows cross the wire where much differs. */
const MAX_COMPARED_ROWS = 10_000_000

/** The comparison that the evidence of a table speaks for, with the best of its candidates. */
export function suggestReplica(table: TableEvidence): Suggestion[] {
  const ranked = (table.replicas ?? [])
    .map(candidate => ({ candidate, share: sharedShare(table, candidate) }))
    .filter(
      ({ candidate, share }) => share >= MIN_SHARED && candidate.sharedColumns.length >= MIN_SHARED_COLUMNS,
    )
    .toSorted((a, b) => rankOf(table, b) - rankOf(table, a))
  return ranked.slice(0, 1).map(best => comparisonWith(table, best.candidate, best.share))
}

interface RankedCandidate {
  candidate: ReplicaCandidate
  share: number
}

const isSameSchema = (table: TableRef, other: TableRef) =>
  table.schema.toLowerCase() === other.schema.toLowerCase()

/** Tables of the same schema name come first, then those that have more columns in common. */
function rankOf(table: TableEvidence, { candidate, share }: RankedCandidate): number {
  return (isSameSchema(table, candidate.table) ? 1 : 0) + share
}

function sharedShare({ columns }: TableEvidence, { columns: others, sharedColumns }: ReplicaCandidate) {
  return sharedColumns.length / (columns.length + others - sharedColumns.length)
}

/** Names alone never reach the 0.8 from which checks are created without a look: a comparison reads both tables. */
function comparisonWith(table: TableEvidence, other: ReplicaCandidate, share: number): Suggestion {
  const shared = new Set(other.sharedColumns)
  const keys = [primaryKeyOf(table), other.primaryKey].find(
    columns => columns.length > 0 && columns.every(name => shared.has(name)),
  )
  const isSmall = (table.estimatedRows ?? 0) <= MAX_COMPARED_ROWS
  const byRows = keys !== undefined && isSmall
  const rightPath = tablePath(other.table)
  return {
    kind: 'comparison',
    type: 'comparison',
    column: null,
    config: {
      right_source: other.sourceName,
      right_table_path: rightPath,
      level: byRows ? 'rows' : 'counts',
      ...(byRows && { key_columns: keys }),
    },
    settings: {},
    confidence: round((isSameSchema(table, other.table) ? 0.4 : 0.3) + 0.35 * share),
    reason: `${other.sourceName} has a table of the same name, ${rightPath}, with ${formatCount(shared.size)} of its ${formatCount(table.columns.length)} columns.`,
    basis: ['names'],
    evidence: {
      right_source: other.sourceName,
      right_table: rightPath,
      shared_columns: shared.size,
      columns: table.columns.length,
      right_columns: other.columns,
    },
    isQuietByProfile: false,
  }
}
