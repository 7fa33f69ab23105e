import type { Reading, Transaction } from '../../../server/database/database.ts'
import type { AttentionItem } from '../../alerts/api.ts'
import type { Source } from '../models.ts'

/** Parameters that narrow the list of assets to tables by what features know of them, and what each can be. */
export const TABLE_FILTERS = {
  quality_status: ['passing', 'failing', 'error', 'none'],
  freshness_status: ['fresh', 'stale', 'error', 'unknown'],
} as const

export type TableFilterName = keyof typeof TABLE_FILTERS

/** What the latest profile of a table found in its columns with dates or times. */
export interface ProfiledTimes {
  profiledAt: Date
  /** By name; `max` in ISO 8601, UTC where it names no zone. */
  columns: Readonly<Record<string, { count: number | null; nulls: number | null; max: unknown }>>
}

/** What another feature adds to assets: fields of their records, outcomes of its checks, and its part in their removal. */
export interface AssetExtension {
  /** Fields of representation A, by source id. */
  sourceFields?(trx: Transaction, sources: readonly Source[]): Promise<Map<string, object>>
  /** Fields of representation B. */
  tableFields?(companyId: string, tableIds: readonly string[]): TableFields
  /**
   * Filters of the list of assets by what the feature knows of tables: each gives the condition in SQL, on tables called
   * `a`, for some statuses of which any will do. It may name `:companyId`, and has no other bindings.
   */
  tableFilters?: Partial<Record<TableFilterName, (statuses: readonly string[]) => string>>
  /** Fields of representation B that lists leave out. */
  singleTableFields?(companyId: string, tableId: string): TableFields
  /** What the latest profiles found in columns with dates or times, by table; tables without a profile are left out. */
  profiledTimes?(trx: Transaction, tableIds: readonly string[]): Promise<Map<string, ProfiledTimes>>
  /** Asked after all features are registered. */
  outcomes?(): readonly OutcomeQuery[]
  /**
   * What tables are made from, as a part of statements: a SELECT of `company_id`, `table_id` and `upstream_id` without
   * bindings; the statement around it names the company.
   */
  upstreamQuery?: string
  /**
   * What the columns of views show, as a part of statements: a SELECT of `company_id`, `table_id`, `column_name`, `view_id`
   * and `view_column` without bindings; the statement around it names the company. Both columns are null where those of
   * the view are not known.
   */
  viewColumnQuery?: string
  /** The tables that active checks watch, by the kind of check. Asked after all features are registered. */
  coverage?(): readonly CoverageQuery[]
  /**
   * What the feature reports of the health of a company.
   * @param since the time from which `since` of the part counts
   */
  health?(trx: Transaction, since?: Date): Promise<HealthPart>
  /** Removes what of other sources cannot be without some tables, which are deleted in the same transaction. */
  releaseTables?(trx: Transaction, tableIds: readonly string[]): Promise<void>
  /** Deletes what refers to a source and its tables, whose rows were deleted before in the same transaction. */
  forgetAssets?(trx: Transaction, assetIds: readonly string[]): Promise<void>
}

/** What the columns of views show, as `AssetExtension` has it; none without lineage. */
export function viewColumnQueries(extensions: readonly AssetExtension[]): string[] {
  return extensions.flatMap(({ viewColumnQuery }) => viewColumnQuery ?? [])
}

/** Fields of the records of some tables: the statement that reads them, and what its rows become, by table id. */
export interface TableFields<Row extends object = object> {
  reading: Reading<Row>
  fieldsByTable(rows: readonly Row[]): Map<string, object>
}

/** The last outcomes of one kind of check, as a part of statements that join several kinds. */
export interface OutcomeQuery {
  kind: 'check' | 'freshness'
  /**
   * A SELECT of `company_id`, `source_id`, `table_id` and `outcome` (`pass`, `warning`, `fail` or `error`) of all active
   * checks that have one. It has no bindings, and the statement around it names the company.
   */
  text: string
}

/** The tables that one kind of active check watches, as a part of statements that join several kinds. */
export interface CoverageQuery {
  /** As replies name it: `freshness`, `validity`. */
  kind: string
  /** A SELECT of `company_id`, `source_id` and `table_id`, without bindings; the statement around it names the company. */
  text: string
}

/** What one feature reports of the health of a company. */
export interface HealthPart {
  /** The name of the summary in the reply: `freshness`. */
  name: string
  summary: object
  /** What is wrong, the worst first, at most 20. */
  attention: AttentionItem[]
  /** Counts of what happened since the time that was given, by name: `schema_changes`. */
  since?: Record<string, number>
}
