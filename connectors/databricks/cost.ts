/** What a statement would read, from the text of Databricks' plan of it. */
import type { CatalogReader } from '../catalog-reader.ts'
import type { CostEstimate } from '../connector.ts'
import { sql, type Sql } from '../sql.ts'

/** A table in the optimized plan: `Relation main.shop.orders[id#1,…] parquet, Statistics(sizeInBytes=1.3 GiB, rowCount=…)`. */
const RELATION = /\bRelation\b.*\bStatistics\(sizeInBytes=([\d.E+]+) (\w+)(?:, rowCount=([\d.E+]+))?/
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
  const text = String(Object.values(row)[0] ?? '')
  const [, plan = ''] = text.split('== Optimized Logical Plan ==')
  const [optimized = ''] = plan.split(/^== /m)
  const lines = optimized.split('\n').filter(line => /\bRelation\b/.test(line))
  let [rows, bytes]: [number | null, number | null] = [0, 0]
  for (const line of lines) {
    const [, size, unit = '', count] = RELATION.exec(line) ?? []
    rows = rows === null || count === undefined ? null : rows + Number(count)
    const read = size === undefined ? NaN : Number(size) * 1024 ** UNITS.indexOf(unit)
    bytes =
      bytes === null || !(read < UNKNOWN_BYTES) || !UNITS.includes(unit) ? null : bytes + Math.round(read)
  }
  return { rows, bytes }
}
