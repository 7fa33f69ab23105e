/** What a statement would read, from PostgreSQL's plan of it and the sizes of the relations that the plan reads. */
import type { CatalogReader } from '../catalog-reader.ts'
import type { CostEstimate, Row } from '../connector.ts'
import { sumEstimates } from '../costs.ts'
import { sql, type Sql } from '../sql.ts'

/** A node of `explain (format json, verbose)`; only what is used here. */
interface PlanNode {
  'Node Type': string
  'Parallel Aware'?: boolean
  'Plan Rows'?: number
  'Workers Planned'?: number
  'Sampling Method'?: string
  'Relation Name'?: string
  Schema?: string
  Filter?: string
  Plans?: PlanNode[]
}

/** A scan of a relation in a plan. */
interface RelationScan {
  schema: string
  name: string
  /** How many rows it reads; null for all blocks of the relation. */
  rows: number | null
}

/** What a relation holds: the file's size now, and the rows that the last VACUUM or ANALYZE counted on as many bytes. */
interface RelationSize {
  rows: number | null
  bytes: number
}

/** What the nodes above a scan make of it. */
interface PlanContext {
  /** Workers of a Gather above. */
  workers: number
  /** How often the node is run. */
  loops: number
  /** A LIMIT above that ends a scan which drops no row. */
  limit: number
}

/** Nodes through which a LIMIT reaches the scans below. */
const PASSING_LIMIT: ReadonlySet<string> = new Set([
  'Append',
  'Merge Append',
  'Gather',
  'Gather Merge',
  'Subquery Scan',
  'Result',
])

/** Nodes that keep what is below, which is then read once however often they are asked. */
const KEEPING_ROWS: ReadonlySet<string> = new Set(['Materialize', 'Memoize', 'Hash', 'Sort'])

/**
 * What a statement would read, by two statements: its plan, and the sizes of the relations in it. Partitions that the
 * planner prunes are not in the plan. A sequential scan reads all blocks of its relation, whatever its filter leaves; a
 * scan by an index reads the rows that the planner expects. Values that are kept apart (TOAST) do not count.
 */
export async function estimateCost(read: CatalogReader, statement: Sql): Promise<CostEstimate> {
  const [row] = await read(sql`explain (format json, verbose) ${statement}`)
  const plans = row?.['QUERY PLAN']
  // What speaks PostgreSQL's protocol may explain in words of its own.
  if (!Array.isArray(plans)) return { rows: null, bytes: null }
  const scans = scansOfPlan((plans as [{ Plan: PlanNode }])[0].Plan)
  if (scans.length === 0) return { rows: 0, bytes: 0 }
  const sizes = await readSizes(read, scans)
  return sumEstimates(scans.map(scan => estimateScan(scan, sizes.get(keyOf(scan)))))
}

function scansOfPlan(root: PlanNode): RelationScan[] {
  const scans: RelationScan[] = []
  const visit = (node: PlanNode, above: PlanContext) => {
    const type = node['Node Type']
    const { Schema: schema, 'Relation Name': name, Plans: children = [] } = node
    if (schema !== undefined && name !== undefined)
      scans.push({ schema, name, rows: scannedRows(node, above) })
    const below = {
      workers: node['Workers Planned'] ?? above.workers,
      loops: KEEPING_ROWS.has(type) ? 1 : above.loops,
      limit:
        type === 'Limit' ? (node['Plan Rows'] ?? Infinity) : PASSING_LIMIT.has(type) ? above.limit : Infinity,
    }
    for (const [place, child] of children.entries()) {
      const isInner = type === 'Nested Loop' && place === 1
      visit(child, isInner ? { ...below, loops: below.loops * (children[0]!['Plan Rows'] ?? 1) } : below)
    }
  }
  visit(root, { workers: 0, loops: 1, limit: Infinity })
  return scans
}

/** The rows that a scan reads as the planner expects; null for all blocks of its relation. */
function scannedRows(node: PlanNode, { workers, loops, limit }: PlanContext): number | null {
  const { 'Plan Rows': planned = 0, 'Parallel Aware': isShared = false, Filter: filter } = node
  const isLimited = filter === undefined && limit < planned
  if (readsAllBlocks(node) && !isLimited) return null
  // As the planner does: the process itself takes less the more workers it gathers from.
  const processes = isShared ? workers + Math.max(0, 1 - 0.3 * workers) : 1
  return Math.min(planned * processes, isLimited ? limit : Infinity) * loops
}

function readsAllBlocks({ 'Node Type': type, 'Sampling Method': method }: PlanNode): boolean {
  return type === 'Seq Scan' || (type === 'Sample Scan' && method !== 'system')
}

function estimateScan({ rows }: RelationScan, size: RelationSize | undefined): CostEstimate {
  // A foreign table has no file here.
  if (!size) return { rows, bytes: null }
  const { rows: all, bytes } = size
  if (rows === null) return { rows: all, bytes }
  if (all === null) return { rows, bytes: null }
  const read = Math.min(rows, all)
  return { rows: read, bytes: all === 0 ? 0 : bytes * (read / all) }
}

function keyOf({ schema, name }: Pick<RelationScan, 'schema' | 'name'>): string {
  return JSON.stringify([schema, name])
}

/** The sizes of relations that have a file, by `keyOf`. */
async function readSizes(
  read: CatalogReader,
  scans: readonly RelationScan[],
): Promise<Map<string, RelationSize>> {
  const names = JSON.stringify([...new Set(scans.map(keyOf))].map(key => JSON.parse(key) as unknown))
  const found = await read(sql`
    select n.nspname as schema, c.relname as name, c.reltuples, c.relpages,
      pg_catalog.pg_relation_size(c.oid) as bytes,
      cast(pg_catalog.current_setting('block_size') as integer) as block_size
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'm', 't')
      and (n.nspname, c.relname) in (select e->>0, e->>1 from pg_catalog.json_array_elements(${names}::json) e)`)
  return new Map(
    found.map(row => {
      const { schema, name } = row
      return [keyOf({ schema: String(schema), name: String(name) }), sizeOf(row)]
    }),
  )
}

function sizeOf({ reltuples, relpages, bytes: size, block_size: block }: Row): RelationSize {
  const [tuples, pages, bytes] = [Number(reltuples), Number(relpages), Number(size)]
  if (bytes === 0) return { rows: 0, bytes }
  // Never vacuumed or analyzed: -1 since PostgreSQL 14, and no pages before.
  if (tuples < 0 || pages === 0) return { rows: null, bytes }
  return { rows: (tuples / pages) * (bytes / Number(block)), bytes }
}
