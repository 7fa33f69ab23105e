import { v7 } from 'uuid'
import { formatName } from '../../../connectors/catalog.ts'
import { companyOf, insertAll, rows, type Transaction } from '../../../server/database/database.ts'
import { storable } from '../../../server/database/storable.ts'
import type { AlertEvent } from '../../alerts/api.ts'
import type { Source } from '../../catalog/api.ts'
import { contractViolation } from './alert-kind.ts'
import type { ClauseVerdict } from './clause.ts'
import { ContractEvent, type Contract, type ContractClause } from '../models.ts'
import type { ContractsDeps } from '../deps.ts'

/** What of a contract its alerts name. */
export type JudgedContract = Pick<Contract, 'id' | 'name' | 'version' | 'owner'>

/** A stored clause and what was found of it. */
export interface JudgedClause {
  clause: ContractClause
  verdict: ClauseVerdict
  /** Whether it was just stored: then its history begins with a failure, if with anything. */
  isNew?: true
}

/**
 * Stores verdicts on clauses of one contract, adds changed statuses to its history, raises alerts for clauses that fail,
 * and resolves those of clauses that no longer do. The caller holds the lock of the source.
 */
export async function recordVerdicts(
  deps: ContractsDeps,
  trx: Transaction,
  { contract, source, actor }: { contract: JudgedContract; source: Source; actor: string },
  judged: readonly JudgedClause[],
): Promise<void> {
  const changed = judged.filter(
    ({ clause, verdict }) => clause.status !== verdict.status || clause.reason !== verdict.reason,
  )
  await storeVerdicts(trx, changed)
  const moved = changed.filter(({ clause, verdict }) => clause.status !== verdict.status)
  const shown = moved.filter(({ verdict, isNew }) => !isNew || verdict.status === 'failing')
  const events = shown.map(({ clause, verdict }) => ({
    id: v7(),
    contractId: contract.id,
    event: 'status' as const,
    clauseKey: clause.key,
    clauseTitle: clause.title,
    fromStatus: clause.status,
    toStatus: verdict.status,
    reason: verdict.reason === null ? null : storable(verdict.reason),
    actor,
  }))
  await insertAll(events, chunk => ContractEvent.query(trx).insert(chunk))
  const { alerts } = deps
  const mended = moved.filter(({ clause }) => clause.status === 'failing').map(({ clause }) => clause.id)
  await alerts.resolveAll(trx, contractViolation.name, mended, 'The clause no longer fails')
  // Nothing would resolve the alerts of an inactive source.
  if (!source.isActive) return
  const failing = judged.filter(({ verdict }) => verdict.status === 'failing' && !verdict.needsNoAlert)
  await alerts.raiseAll(trx, await eventsOf(deps, trx, { contract, source }, failing))
}

async function storeVerdicts(trx: Transaction, changed: readonly JudgedClause[]): Promise<void> {
  if (changed.length === 0) return
  const records = changed
    .map(({ clause, verdict }) => ({ id: clause.id, ...storableVerdict(verdict) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  await trx.raw(
    `update contract_clauses c
     set since = case when c.status = r.status then c.since else now() end, status = r.status, reason = r.reason
     from jsonb_to_recordset(cast(:records as jsonb)) as r(id uuid, status text, reason text)
     where c.company_id = :companyId and c.id = r.id`,
    { companyId: companyOf(trx), records: JSON.stringify(records) },
  )
}

const MAX_REASON_LENGTH = 1_000

function storableVerdict({ status, reason }: ClauseVerdict): ClauseVerdict {
  return { status, reason: reason === null ? null : storable(reason.slice(0, MAX_REASON_LENGTH)) }
}

async function eventsOf(
  deps: ContractsDeps,
  trx: Transaction,
  { contract, source }: { contract: JudgedContract; source: Source },
  failing: readonly JudgedClause[],
): Promise<AlertEvent[]> {
  if (failing.length === 0) return []
  const ids = [...new Set(failing.flatMap(({ clause }) => clause.tableId ?? []))]
  const tables = await rows<{
    id: string
    qualifiedName: string
    kind: string
    tags: string[]
    columnTags: Record<string, string[]>
  }>(
    trx,
    `select id, qualified_name, kind, tags, column_tags from tables
     where company_id = ? and id = any(cast(? as uuid[]))`,
    [companyOf(trx), ids],
  )
  const byId = new Map(tables.map(table => [table.id, table]))
  return failing.map(({ clause, verdict }) => {
    const table = byId.get(clause.tableId ?? '')
    const tags = table ? deps.catalog.tagsOf(source, table, [clause.columnName]) : source.tags
    return {
      type: contractViolation.name,
      cause: clause.id,
      severity: clause.severity,
      sourceId: source.id,
      asset: table
        ? { id: table.id, qualifiedName: table.qualifiedName, assetType: table.kind, tags }
        : { id: source.id, qualifiedName: formatName([source.name]), assetType: 'source', tags },
      ruleName: contract.name,
      title: {
        column: table ? clause.columnName : null,
        found: `breaks contract ${contract.name}: ${verdict.reason ?? clause.title}`,
      },
      details: {
        contract: contract.name,
        contract_version: contract.version,
        owner: contract.owner,
        clause: clause.title,
        clause_key: clause.key,
        clause_kind: clause.kind,
        reason: verdict.reason,
        table_path: clause.tableName,
        column_name: clause.columnName,
      },
    }
  })
}
