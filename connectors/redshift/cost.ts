/** What a statement would read, from the text of Redshift's plan. */
import type { CatalogReader } from '../catalog-reader.ts'
import type { CostEstimate } from '../connector.ts'
import { sumEstimates } from '../postgresql/cost.ts'
import { sql, type Sql } from '../sql.ts'

/** `XN Seq Scan on sales  (cost=0.00..1724.56 rows=172456 width=14)`; the scan of a sub-query is on none. */
const SCAN = /\b(?:Seq|Index|Index Only|Bitmap Heap) Scan\b.* on .*\(cost=\S+ rows=(\d+) width=(\d+)\)/
/** Scans of what lies outside, of which Redshift assumes rows where it has no statistics. */
const FOREIGN_SCAN = /\b(?:S3|Spectrum|PG|Foreign)\b.*\bScan\b.*\(cost=/

/**
 * What a statement would read, by one statement. The plan says how many rows each scan is expected to give, and how wide
 * they are with the columns that are read (https://docs.aws.amazon.com/redshift/latest/dg/r_EXPLAIN.html). It does not say
 * which blocks are skipped, so that a filter which no sort key serves reads more. A scan without columns has no width.
 */
export async function estimateCost(read: CatalogReader, statement: Sql): Promise<CostEstimate> {
  const plan = await read(sql`explain ${statement}`)
  return sumEstimates(
    plan.flatMap((row): CostEstimate[] => {
      const line = String(row['QUERY PLAN'])
      if (FOREIGN_SCAN.test(line)) return [{ rows: null, bytes: null }]
      const [, rows, width] = SCAN.exec(line) ?? []
      if (rows === undefined) return []
      return [{ rows: Number(rows), bytes: Number(width) === 0 ? null : Number(rows) * Number(width) }]
    }),
  )
}
