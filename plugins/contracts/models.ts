import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'
import type { CheckKindName } from '../checks/api.ts'
import type { ContractNode } from './elements.ts'
import type { ClauseKind, ClauseSeverity, ClauseStatus, Domain } from './enforcement/clause.ts'

/** A contract that is enforced on a source. */
export class Contract extends CompanyRow {
  static override tableName = 'data_contracts'
  static override cap = defineCap({
    name: 'data_contracts',
    most: 10_000,
    what: 'contracts',
    advice: 'delete one first',
  })
  static override jsonAttributes = ['document']

  declare id: string
  declare sourceId: string
  /** Unique in the company; that of the path, which need not be the one in the document. */
  declare name: string
  /** As it was sent. */
  declare text: string
  declare document: ContractNode
  /** Whether columns that the contract does not name break it, unless it says so itself. */
  declare extraColumns: 'allow' | 'fail'
  /** The parts that are enforced; null for all. */
  declare domains: Domain[] | null
  declare apiVersion: string
  declare documentId: string | null
  declare title: string | null
  declare version: string | null
  declare owner: string | null
  /** Part of the URL of its badge. */
  declare publicId: string
  /** What its tables were when it was last judged. */
  declare catalogState: string
  declare createdAt: Date
  declare updatedAt: Date
  declare judgedAt: Date
}

/** A clause of a contract with what is known of it. */
export class ContractClause extends CompanyRow {
  static override tableName = 'contract_clauses'

  declare id: string
  declare contractId: string
  declare key: string
  declare position: number
  declare kind: ClauseKind
  declare path: string
  declare title: string
  declare severity: ClauseSeverity
  declare tableName: string | null
  declare columnName: string | null
  declare tableId: string | null
  declare checkKind: CheckKindName | null
  declare checkId: string | null
  /** Whether the check was there before: it stays when the contract no longer needs it. */
  declare isAdopted: boolean
  declare status: ClauseStatus
  declare reason: string | null
  /** When its status changed last. */
  declare since: Date
}

/** Something that happened to a contract, or a changed status of a clause. */
export class ContractEvent extends CompanyRow {
  static override tableName = 'contract_events'

  declare id: string
  declare contractId: string
  declare event: 'created' | 'replaced' | 'status'
  declare version: string | null
  declare clauseKey: string | null
  declare clauseTitle: string | null
  declare fromStatus: ClauseStatus | null
  declare toStatus: ClauseStatus | null
  declare reason: string | null
  declare actor: string
  declare at: Date
}

/** A contract that a job tests, until that has ended. */
export class ContractTestRequest extends CompanyRow {
  static override tableName = 'contract_tests'
  static override idColumn = 'runId'
  static override jsonAttributes = ['document']

  declare runId: string
  declare sourceId: string
  declare document: ContractNode
  declare extraColumns: 'allow' | 'fail'
  declare createdAt: Date
}

/** Contracts of several sources that a job writes into an archive. */
export class ContractExport extends CompanyRow {
  static override tableName = 'contract_exports'
  static override jsonAttributes = ['request']

  declare id: string
  declare status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  /** Which sources, and which parts; empty once it has ended. */
  declare request: Partial<ExportRequest>
  /** The number of contracts in the archive. */
  declare contracts: number
  declare archive: Buffer | null
  declare error: string | null
  declare createdAt: Date
  declare completedAt: Date | null
}

/** The body of a request for an archive, validated. */
export interface ExportRequest {
  scope: 'all' | 'assets' | 'warehouse'
  mode: 'extended' | 'odcs-pure'
  scope_name?: string
  asset_public_ids?: string[]
  include?: string[]
  exclude?: string[]
}
