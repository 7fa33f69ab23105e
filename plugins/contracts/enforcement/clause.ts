import type { TableKind } from '../../../connectors/catalog.ts'
import type { ContractNode } from '../elements.ts'

export const CLAUSE_STATUSES = ['passing', 'failing', 'pending', 'not_enforced'] as const
export type ClauseStatus = (typeof CLAUSE_STATUSES)[number]

export const CLAUSE_KINDS = [
  'table',
  'column',
  'type',
  'extra_columns',
  'required',
  'unique',
  'primary_key',
  'option',
  'relationship',
  'quality',
  'sla',
] as const
export type ClauseKind = (typeof CLAUSE_KINDS)[number]

/** The parts of a contract that can be enforced apart. */
export const DOMAINS = ['schema', 'validity', 'freshness'] as const
export type Domain = (typeof DOMAINS)[number]

/** The part of a contract that a kind of clause belongs to. */
export function domainOf(kind: ClauseKind): Domain {
  if (kind === 'quality') return 'validity'
  return kind === 'sla' ? 'freshness' : 'schema'
}

export type ClauseSeverity = 'info' | 'warning' | 'critical'

/** What a clause demands, in the names of the contract. */
export type Demand =
  | { of: 'table' }
  | { of: 'table_kind'; kind: TableKind }
  | { of: 'column' }
  | { of: 'type'; logicalType?: string; physicalType?: string; isWideDate: boolean }
  | { of: 'extra_columns'; columns: readonly string[] }
  | { of: 'required' }
  | { of: 'unique' }
  | { of: 'primary_key'; columns: readonly string[] }
  /** With the ids of the checks that the options of the column were written from. */
  | { of: 'option'; option: string; value: unknown; checks: readonly unknown[] }
  | { of: 'quality'; rule: ContractNode }
  /** Every value is in the column of the other table, by the contract's names for the database. */
  | { of: 'reference'; parentTable: string; parentColumn: string }
  | { of: 'freshness'; property: string; seconds: number }
  | { of: 'nothing'; reason: string }

/** One thing that a contract promises. */
export interface Clause {
  /** Unique in the contract; stays the same while names do: `orders/amount/type`. */
  key: string
  kind: ClauseKind
  /** A JSON Pointer into the contract. */
  path: string
  /** What is promised, in words: `orders.amount is of type number`. */
  title: string
  severity: ClauseSeverity
  /** The table, as the contract names it for the database; null if it concerns no single one. */
  table: string | null
  /** The column, as the contract names it for the database. */
  column: string | null
  demand: Demand
}

/** What is known of a clause now. A reason is a sentence without a full stop; null if it passes. */
export interface ClauseVerdict {
  status: ClauseStatus
  reason: string | null
  /** Whether the alert of another clause or of its check, or an earlier one of this, is enough. */
  needsNoAlert?: true
}
