/** What a statement would read, from the text of Databricks' plan of it. */
import type { CatalogReader } from '../catalog-reader.ts'
import { sumEstimates } from '../costs.ts'
import type { CostEstimate } from '../connector.ts'
import { sql, type Sql } from '../sql.ts'

/** A table in the optimized plan: `Relation main.shop.orders[id#1,…] parquet`, and what other sources call it. */
const TABLE = /\b(?!Local|OneRow)\w*Relation(?:V2)?\b|\bLogicalRDD\b/
const STATISTICS = /\bStatistics\(sizeInBytes=([\d.E+]+) (\w+)(?:, rowCount=([\d.E+]+))?/
const OPTIMIZED_PLAN = /^== Optimized Logical Plan ==\n([^]*?)(?:\n== |$(?![^]))/m
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
/** Spark's size of what it knows nothing of: 8 EiB. */
const UNKNOWN_BYTES = 2 ** 63

/**
 * What a statement would read, by one statement: the sizes of the tables in the optimized plan, after files were skipped
 * (https://docs.databricks.com/sql/language-manual/sql-ref-syntax-qry-explain.html). Rows are there where they were counted
 * (ANALYZE TABLE).
 */
export async function estimateCost(read: CatalogReader, statement: Sql): Promise<CostEstimate> {
  const [row = {}] = await read(sql`explain cost ${statement}`)
  const [, plan] = OPTIMIZED_PLAN.exec(String(Object.values(row)[0] ?? '')) ?? []
  if (plan === undefined) return { rows: null, bytes: null }
  const tables = plan.split('\n').filter(line => TABLE.test(line))
  return sumEstimates(tables.map(readStatistics))
}

function readStatistics(line: string): CostEstimate {
  const [, size, unit = '', count] = STATISTICS.exec(line) ?? []
  const bytes = UNITS.includes(unit) ? Number(size) * 1024 ** UNITS.indexOf(unit) : NaN
  return {
    rows: count === undefined ? null : Number(count),
    bytes: bytes < UNKNOWN_BYTES ? bytes : null,
  }
}
