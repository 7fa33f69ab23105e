import type { Contract, ContractClause, ContractEvent } from '../models.ts'
import { statusOfContract, type ClauseCounts } from './contracts.ts'

export function contractBadgeUrl({ publicId }: Pick<Contract, 'publicId'>, baseUrl: string): string {
  return `${baseUrl}/badges/contracts/${publicId}.svg`
}

/** A contract in lists. */
export function presentContract(
  contract: Contract,
  { counts, source, baseUrl }: { counts: ClauseCounts; source: string; baseUrl: string },
) {
  const { name, sourceId, title, version, owner, apiVersion, documentId, extraColumns } = contract
  const url = contractBadgeUrl(contract, baseUrl)
  return {
    name,
    source_id: sourceId,
    source_name: source,
    status: statusOfContract(counts),
    counts,
    title,
    version,
    owner,
    api_version: apiVersion,
    document_id: documentId,
    extra_columns: extraColumns,
    badge_url: url,
    markdown: `![contract](${url})`,
    created_at: contract.createdAt,
    updated_at: contract.updatedAt,
    judged_at: contract.judgedAt,
  }
}

export function presentClause(clause: ContractClause) {
  const { key, kind, path, title, severity, status, reason, since } = clause
  return {
    key,
    kind,
    path,
    title,
    severity,
    status,
    reason,
    since,
    table_name: clause.tableName,
    column_name: clause.columnName,
    asset_id: clause.tableId,
    check_kind: clause.checkKind,
    check_id: clause.checkId,
    is_adopted: clause.isAdopted,
  }
}

export function presentEvent({ id, event, version, actor, at, reason, ...clause }: ContractEvent) {
  return {
    id,
    event,
    version,
    clause_key: clause.clauseKey,
    clause_title: clause.clauseTitle,
    from_status: clause.fromStatus,
    to_status: clause.toStatus,
    reason,
    actor,
    at,
  }
}
