/** What a statement would read, from Snowflake's plan of it. */
import type { CatalogReader } from '../catalog-reader.ts'
import type { CostEstimate } from '../connector.ts'
import { sql, type Sql } from '../sql.ts'

/** The part of a plan that sums all of it up: https://docs.snowflake.com/en/sql-reference/sql/explain */
interface SnowflakePlan {
  GlobalStats?: { bytesAssigned?: number }
}

/**
 * What a statement would read, by one statement, which needs no running warehouse: the bytes of the micro-partitions that
 * are left after pruning. Plans have no rows.
 */
export async function estimateCost(read: CatalogReader, statement: Sql): Promise<CostEstimate> {
  const [row = {}] = await read(sql`explain using json ${statement}`)
  const [content] = Object.values(row)
  const plan = (typeof content === 'string' ? JSON.parse(content) : content) as SnowflakePlan | null
  const bytes = plan?.GlobalStats?.bytesAssigned
  return { rows: null, bytes: typeof bytes === 'number' ? bytes : null }
}
