/** What a statement would read, from the text of Redshift's plan. */
import type { CatalogReader } from '../catalog-reader.ts'
import type { CostEstimate } from '../connector.ts'
import { sumEstimates } from '../costs.ts'
import { sql, type Sql } from '../sql.ts'

/** `XN Seq Scan on sales  (cost=0.00..1724.56 rows=172456 width=14)` */
const TABLE_SCAN = /\b(?:Seq|Index|Index Only|Bitmap Heap) Scan\b.* on .*\(cost=\S+ rows=(\d+) width=(\d+)\)/
/** Scans of what is no table: the tables of a sub-query have scans of their own. */
const INNER_SCAN = /\b(?:Subquery|Function|Values|CTE|Bitmap Index) Scan\b/

/**
 * What a statement would read, by one statement. The plan says how many rows each scan is expected to give, and how wide
 * they are with the columns that are read (https://docs.aws.amazon.com/redshift/latest/dg/r_EXPLAIN.html). It does not say
 * which blocks are skipped, so that a filter which no sort key serves reads more. A scan without columns has no width.
 */
export async function estimateCost(read: CatalogReader, statement: Sql): Promise<CostEstimate> {
  const plan = await read(sql`explain ${statement}`)
  const scans = plan.map(row => String(row['QUERY PLAN'])).filter(line => /\bScan\b.*\(cost=/.test(line))
  return sumEstimates(scans.filter(line => !INNER_SCAN.test(line)).map(estimateScan))
}

/** Scans outside, such as those of Spectrum, give rows that are assumed where there are no statistics: they are unknown. */
function estimateScan(line: string): CostEstimate {
  const [, rows, width] = (/\b(?:S3|PG|Foreign)\b/.test(line) ? null : TABLE_SCAN.exec(line)) ?? []
  if (rows === undefined) return { rows: null, bytes: null }
  return { rows: Number(rows), bytes: Number(width) === 0 ? null : Number(rows) * Number(width) }
}
