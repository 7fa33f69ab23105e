import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { LINEAGE_ORIGINS, type LineageOrigin } from '../api.ts'
import { isStale } from './fading.ts'
import type { LineageEdge } from './unreported.ts'

/** Who reports an edge. */
interface EdgeOrigin {
  origin: LineageOrigin
  detail: string
  confidence: number
  lastSeenAt: Date
}

export interface ColumnPair {
  upstreamColumn: string
  downstreamColumn: string
  kind: 'direct' | 'indirect'
}

/** An edge with all that is known of it. */
export interface DescribedEdge extends LineageEdge {
  /** The strongest first. */
  origins: EdgeOrigin[]
  lastSeenAt: Date
  isStale: boolean
  /** Null where they are not known, or were not asked for. */
  columns: ColumnPair[] | null
}

/** Edges of the tables of a source, also those to and from other sources and outside nodes. */
export function edgesOfSource(
  trx: Transaction,
  sourceId: string,
  { most, foreignKeys }: { most: number; foreignKeys: boolean },
): Promise<LineageEdge[]> {
  return rows<LineageEdge>(
    trx,
    `with own as materialized (
       select id from tables where company_id = :companyId and source_id = :sourceId)
     select upstream_id, downstream_id from lineage_edges e
      where company_id = :companyId and (is_flow or :foreignKeys)
        and (upstream_id in (select id from own) or downstream_id in (select id from own))
      order by upstream_id, downstream_id limit :most`,
    { companyId: companyOf(trx), sourceId, most, foreignKeys },
  )
}

interface OriginRow extends EdgeOrigin {
  upstreamId: string
  downstreamId: string
  hasColumns: boolean
}

/** Reads the origins of edges, and on request their columns, in one statement each. */
export async function describeEdges(
  trx: Transaction,
  edges: readonly LineageEdge[],
  { withColumns = false } = {},
): Promise<DescribedEdge[]> {
  const origins = new Map(edges.map(edge => [edgeKey(edge), [] as OriginRow[]]))
  for (const row of await originsOf(trx, edges)) origins.get(edgeKey(row))?.push(row)
  const columns = withColumns ? await columnsOf(trx, edges) : undefined
  const now = Date.now()
  return edges.map(edge => {
    const own = origins.get(edgeKey(edge)) ?? []
    own.sort((a, b) => LINEAGE_ORIGINS.indexOf(a.origin) - LINEAGE_ORIGINS.indexOf(b.origin))
    const isKnown = own.some(({ hasColumns }) => hasColumns)
    return {
      upstreamId: edge.upstreamId,
      downstreamId: edge.downstreamId,
      origins: own.map(({ origin, detail, confidence, lastSeenAt }) => ({
        origin,
        detail,
        lastSeenAt,
        // A `real` is printed with the digits that distinguish it.
        confidence: Math.round(confidence * 100) / 100,
      })),
      lastSeenAt: new Date(Math.max(...own.map(({ lastSeenAt }) => lastSeenAt.getTime()))),
      isStale: own.every(origin => isStale(origin, now)),
      columns: columns && isKnown ? (columns.get(edgeKey(edge)) ?? []) : null,
    }
  })
}

export const edgeKey = ({ upstreamId, downstreamId }: LineageEdge) => `${upstreamId} ${downstreamId}`

const GIVEN = `unnest(cast(:upstream as uuid[]), cast(:downstream as uuid[])) as g (upstream_id, downstream_id)`

const endsOf = (edges: readonly LineageEdge[]) => ({
  upstream: edges.map(({ upstreamId }) => upstreamId),
  downstream: edges.map(({ downstreamId }) => downstreamId),
})

/** An edge that the version before stored has no origin. */
function originsOf(trx: Transaction, edges: readonly LineageEdge[]): Promise<OriginRow[]> {
  return rows<OriginRow>(
    trx,
    `select e.upstream_id, e.downstream_id,
            coalesce(o.origin, case when e.is_demo then 'demo' else 'manual' end) as origin,
            coalesce(o.detail, '') as detail, coalesce(o.confidence, 1) as confidence,
            coalesce(o.last_seen_at, e.created_at) as last_seen_at, coalesce(o.has_columns, false) as has_columns
       from ${GIVEN}
       join lineage_edges e on e.company_id = :companyId and e.upstream_id = g.upstream_id
        and e.downstream_id = g.downstream_id
       left join lineage_edge_origins o on o.company_id = :companyId and o.upstream_id = e.upstream_id
        and o.downstream_id = e.downstream_id
      order by o.detail collate "C"`,
    { companyId: companyOf(trx), ...endsOf(edges) },
  )
}

async function columnsOf(
  trx: Transaction,
  edges: readonly LineageEdge[],
): Promise<Map<string, ColumnPair[]>> {
  const found = await rows<LineageEdge & { columns: [string, string, ColumnPair['kind']][] }>(
    trx,
    `select c.upstream_id, c.downstream_id,
            json_agg(distinct jsonb_build_array(upstream_column, downstream_column, kind)) as columns
       from ${GIVEN}
       join lineage_column_edges c on c.company_id = :companyId and c.upstream_id = g.upstream_id
        and c.downstream_id = g.downstream_id
      group by c.upstream_id, c.downstream_id`,
    { companyId: companyOf(trx), ...endsOf(edges) },
  )
  return new Map(
    found.map(({ columns, ...edge }) => [
      edgeKey(edge),
      columns.map(([upstreamColumn, downstreamColumn, kind]) => ({ upstreamColumn, downstreamColumn, kind })),
    ]),
  )
}
