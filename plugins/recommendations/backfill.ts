/** The past that checks which are made in bulk learn at once, and what computing it costs. */
import { timestampColumn } from '../../checks/history.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { RecommendationsDeps } from './deps.ts'
import type { EvidenceColumn } from './rules/evidence.ts'

/** Days of the past that are computed. */
export const BACKFILL_DAYS = 30

/** What computing the past of new checks reads: one grouped statement a table that has a column with times. */
export interface BackfillCost {
  tables: number
  /** By the estimates of the catalog; null where it has none of any table. */
  rows: number | null
  /** The tables, unless there are too many to ask the engine about each. */
  estimated?: readonly string[]
}

/** Tables whose bytes the engine is asked about. */
const MAX_ESTIMATED_TABLES = 50

/** A table, as the cost of its past depends on it. */
export interface BackfilledTable {
  id: string
  columns: readonly EvidenceColumn[]
  estimatedRows: number | null
}

export const NO_BACKFILL: BackfillCost = { tables: 0, rows: 0 }

/** Sums what the pasts of tables read; a table counts once. */
export function costOfBackfill(tables: readonly BackfilledTable[]): BackfillCost {
  const dated = new Map(
    tables
      .filter(({ columns }) => timestampColumn({ columns }) !== undefined)
      .map(table => [table.id, table.estimatedRows]),
  )
  const known = [...dated.values()].filter(count => count !== null)
  const isUnknown = known.length === 0 && dated.size > 0
  return {
    tables: dated.size,
    rows: isUnknown ? null : known.reduce((sum, count) => sum + count, 0),
    ...(dated.size <= MAX_ESTIMATED_TABLES && { estimated: [...dated.keys()] }),
  }
}

/** The cost of a past in a reply. */
export function presentBackfill({ tables, rows }: BackfillCost, bytes: number | null) {
  return { days: tables === 0 ? 0 : BACKFILL_DAYS, tables, statements: tables, rows, bytes }
}

/** The bytes of a past that is not computed yet, by the engine. No transaction is open meanwhile. */
export async function estimateBackfill(
  { checks }: Pick<RecommendationsDeps, 'checks'>,
  companyId: string,
  { estimated = [] }: BackfillCost,
): Promise<number | null> {
  return estimated.length === 0 ? null : checks.estimateBytes(companyId, estimated)
}

const TABLES_PER_STATEMENT = 4_000

/** What the cost of the past depends on, of tables by their ids. */
export async function readBackfilled(trx: Transaction, ids: readonly string[]): Promise<BackfilledTable[]> {
  const found: BackfilledTable[] = []
  for (let from = 0; from < ids.length; from += TABLES_PER_STATEMENT)
    found.push(
      ...(await rows<BackfilledTable>(
        trx,
        `select id, columns, cast(estimated_rows as float8) as estimated_rows from tables
          where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
        { companyId: companyOf(trx), ids: ids.slice(from, from + TABLES_PER_STATEMENT) },
      )),
    )
  return found
}
