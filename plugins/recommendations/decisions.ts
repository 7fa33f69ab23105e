import { companyOf, insertAll, rows, type Transaction } from '../../server/database/database.ts'
import type { StoppedCheck } from '../checks/api.ts'
import type { TableSuggestion } from './create.ts'
import { StoredRecommendation } from './models.ts'
import type { ComputedPast } from './past.ts'
import { KIND_OF_TYPE, type CheckTypeName } from './rules/evidence.ts'
import { suggestionId } from './rules/suggest.ts'

/** A recommendation and its place, as rows of decisions need it. */
interface DecidedRow {
  id: string
  tableId: string
  type: string
  columnName: string | null
}

/** A decision of a caller, or of the policy of a source. */
interface Decision {
  sourceId: string
  decision: 'applied' | 'dismissed'
  reason?: string | null
  by: string
}

const rowOf = ({ table, suggestion }: TableSuggestion): DecidedRow => ({
  id: suggestion.id,
  tableId: table.id,
  type: suggestion.type,
  columnName: suggestion.column,
})

/** Stores a decision on recommendations; a later one replaces it. */
export async function saveDecision(
  trx: Transaction,
  decided: readonly TableSuggestion[],
  { sourceId, decision, reason = null, by }: Decision,
): Promise<void> {
  const stored = decided.map(each => ({
    ...rowOf(each),
    sourceId,
    decision,
    reason,
    decidedBy: by,
    decidedAt: new Date(),
  }))
  await insertAll(stored, chunk =>
    StoredRecommendation.query(trx)
      .insert(chunk)
      .onConflict('id')
      .merge(['decision', 'reason', 'decidedBy', 'decidedAt']),
  )
}

/**
 * Notes that a check was removed, so that its recommendation stays away, no matter who created the check. An earlier decision
 * stays.
 */
export async function saveRemoval(
  trx: Transaction,
  sourceId: string,
  { kind, how, subject, by }: StoppedCheck,
): Promise<void> {
  const type = subject?.type as CheckTypeName
  if (how !== 'removed' || !subject || KIND_OF_TYPE[type] !== kind) return
  const { tableId, column: columnName } = subject
  const id = suggestionId(tableId, { kind: KIND_OF_TYPE[type], type, column: columnName })
  await trx.raw(
    `insert into recommendations as r (id, company_id, source_id, table_id, type, column_name, decision, decided_by, decided_at)
     values (:id, :companyId, :sourceId, :tableId, :type, :columnName, 'applied', :by, now())
     on conflict (id) do update set decision = 'applied', decided_by = excluded.decided_by, decided_at = excluded.decided_at
       where r.decision is null`,
    { id, companyId: companyOf(trx), sourceId, tableId, type, columnName, by },
  )
}

/** Takes dismissals back. @returns how many there were */
export async function removeDismissals(trx: Transaction, ids: readonly string[]): Promise<number> {
  const restored = await rows(
    trx,
    `update recommendations set decision = null, reason = null, decided_by = null, decided_at = null
     where company_id = :companyId and id = any(cast(:ids as text[])) and decision = 'dismissed' returning id`,
    { companyId: companyOf(trx), ids },
  )
  return restored.length
}

/** Stores what a recommended check would have said in the past, beside what was decided on it. */
export async function savePast(
  trx: Transaction,
  sourceId: string,
  suggested: TableSuggestion,
  past: ComputedPast,
): Promise<StoredRecommendation> {
  return StoredRecommendation.query(trx)
    .insert({ ...rowOf(suggested), sourceId, past, pastAt: new Date() })
    .onConflict('id')
    .merge(['past', 'pastAt'])
    .returning('*')
}
