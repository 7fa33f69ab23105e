import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import {
  ALL_COLUMNS,
  LINEAGE_ORIGINS,
  type LineageApi,
  type LineageOrigin,
  type WalkEdge,
  type WalkNode,
  type WalkOptions,
} from '../api.ts'

/** Most edges that are followed; a graph of more can be neither drawn nor read. */
export const MAX_EDGES = 2_000

/** An edge that leaves the nodes of one step. */
interface StepEdge {
  fromId: string
  toId: string
  isTable: boolean
  origins: LineageOrigin[]
  /** Whether its columns are known. */
  hasColumns: boolean
  /** Pairs of a column of the step and a column of the next. */
  pairs: [string, string][]
}

/** The columns of a node that were reached; null where columns are not known or not followed. */
type ReachedColumns = Set<string> | null

/** Breadth first, so that the distance of a node is that of its shortest way; a node is left again for new columns alone. */
export const walkEdges: LineageApi['walk'] = async (trx, ids, options) => {
  const { direction, depth = Infinity, most = MAX_EDGES } = options
  const start = (): ReachedColumns => (options.columns ? new Set(options.columns) : null)
  const reached = new Map(ids.map(id => [id, start()]))
  const nodes = new Map<string, Pick<WalkNode, 'distance' | 'isTable'>>()
  const edges = new Map<string, WalkEdge>()
  let frontier = new Map(ids.map(id => [id, start()]))
  for (let step = 1; step <= depth && frontier.size > 0 && edges.size <= most; step++) {
    const found = await edgesFrom(trx, frontier, options, most + 1)
    const next = new Map<string, ReachedColumns>()
    for (const edge of found) {
      const columns = nextColumns(edge, frontier.get(edge.fromId) ?? null)
      if (columns?.size === 0) continue
      const [upstreamId, downstreamId] =
        direction === 'upstream' ? [edge.toId, edge.fromId] : [edge.fromId, edge.toId]
      edges.set(`${upstreamId} ${downstreamId}`, { upstreamId, downstreamId, origins: edge.origins })
      if (!nodes.has(edge.toId)) nodes.set(edge.toId, { distance: step, isTable: edge.isTable })
      addReached(reached, next, edge.toId, columns)
    }
    frontier = next
  }
  return {
    nodes: [...nodes]
      .filter(([id]) => !ids.includes(id))
      .map(([id, node]) => ({ id, ...node, columns: sortColumns(reached.get(id) ?? null) })),
    edges: [...edges.values()].slice(0, most),
    isComplete: edges.size <= most,
  }
}

/** What an edge leads to from some columns: nothing where its columns are known and none of them is used. */
function nextColumns(edge: StepEdge, from: ReachedColumns): ReachedColumns {
  if (from === null || !edge.hasColumns) return null
  if (from.has(ALL_COLUMNS)) return new Set([ALL_COLUMNS])
  return new Set(edge.pairs.flatMap(([column, next]) => (isReached(from, column) ? [next] : [])))
}

/** Upstream, what filters a table is behind each column of it. */
const isReached = (from: ReadonlySet<string>, column: string) => column === ALL_COLUMNS || from.has(column)

/** Adds what is new of a node to the next step. */
function addReached(
  reached: Map<string, ReachedColumns>,
  next: Map<string, ReachedColumns>,
  id: string,
  columns: ReachedColumns,
): void {
  const known = reached.get(id)
  if (known === null) return
  if (columns === null) {
    reached.set(id, null)
    next.set(id, null)
    return
  }
  const added = [...columns].filter(column => !known?.has(column))
  if (added.length === 0) return
  reached.set(id, new Set([...(known ?? []), ...added]))
  next.set(id, new Set([...(next.get(id) ?? []), ...added]))
}

const sortColumns = (columns: ReachedColumns) => (columns ? [...columns].sort() : null)

/** The edges that leave some nodes in one direction, with the pairs of their columns where columns are followed. */
async function edgesFrom(
  trx: Transaction,
  frontier: ReadonlyMap<string, ReachedColumns>,
  { direction, columns: start, foreignKeys = false }: WalkOptions,
  most: number,
): Promise<StepEdge[]> {
  const isUp = direction === 'upstream'
  const [from, to] = isUp ? ['downstream', 'upstream'] : ['upstream', 'downstream']
  const columns = [...new Set([...frontier.values()].flatMap(each => [...(each ?? [])]))]
  const ofEdge = (row: string) =>
    `${row}.company_id = :companyId and ${row}.upstream_id = e.upstream_id and ${row}.downstream_id = e.downstream_id`
  const pairs = `(select json_agg(distinct jsonb_build_array(c.${from}_column, c.${to}_column))
      from lineage_column_edges c
     where ${ofEdge('c')} and c.${from}_column = any(cast(:columns as text[])))`
  const found = await rows<StepEdge & { pairs: StepEdge['pairs'] | null }>(
    trx,
    `select e.${from}_id as from_id, e.${to}_id as to_id, t.id is not null as is_table,
            coalesce(o.origins, array[case when e.is_demo then 'demo' else 'manual' end]) as origins,
            coalesce(o.has_columns, false) as has_columns${start ? `, ${pairs} as pairs` : ''}
       from lineage_edges e
       left join tables t on t.company_id = :companyId and t.id = e.${to}_id
      cross join lateral (
        select array_agg(distinct o.origin) as origins, bool_or(o.has_columns) as has_columns
          from lineage_edge_origins o where ${ofEdge('o')}) o
      where e.company_id = :companyId and e.${from}_id = any(cast(:ids as uuid[])) and (e.is_flow or :foreignKeys)
      order by e.${from}_id, e.${to}_id limit :most`,
    {
      companyId: companyOf(trx),
      ids: [...frontier.keys()],
      columns: [...columns, ALL_COLUMNS],
      foreignKeys,
      most,
    },
  )
  return found.map(({ pairs, origins, ...edge }) => ({
    ...edge,
    origins: LINEAGE_ORIGINS.filter(origin => origins.includes(origin)),
    pairs: pairs ?? [],
  }))
}
