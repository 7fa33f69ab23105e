import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import type { LookUps } from '../../api.ts'

/** How far up the flow of data causes are looked for. */
const MAX_HOPS = 10
/** The most tables of a walk. More than this are upstream of little else than everything. */
const MAX_TABLES = 5_000

/** A table of the flow. */
interface FlowTable {
  id: string
  sourceId: string
  qualifiedName: string
}

/** Which tables lie upstream of which. A source lies upstream of its tables. */
export class Flow {
  readonly #upstream: ReadonlyMap<string, readonly string[]>
  readonly #tables: ReadonlyMap<string, FlowTable>
  readonly #distances = new Map<string, ReadonlyMap<string, number>>()

  /** @param edges upstream and downstream */
  constructor(tables: readonly FlowTable[], edges: readonly (readonly [string, string])[]) {
    this.#tables = new Map(tables.map(table => [table.id, table]))
    const byDownstream = Map.groupBy(edges, ([, downstream]) => downstream)
    this.#upstream = new Map(
      [...byDownstream].map(([downstream, own]) => [downstream, own.map(([upstream]) => upstream)]),
    )
  }

  table(id: string): FlowTable | undefined {
    return this.#tables.get(id)
  }

  /** What lies upstream of an asset, with the number of steps; its own source is half a step away. */
  above(id: string): ReadonlyMap<string, number> {
    const measured = this.#distances.get(id)
    if (measured) return measured
    const distances = new Map<string, number>()
    const note = (of: string, distance: number) => {
      const { sourceId } = this.#tables.get(of) ?? {}
      if (sourceId !== undefined && !distances.has(sourceId)) distances.set(sourceId, distance + 0.5)
    }
    note(id, 0)
    let frontier = [id]
    for (let step = 1; step <= MAX_HOPS && frontier.length > 0; step++) {
      const next = new Set<string>()
      for (const from of frontier)
        for (const upstream of this.#upstream.get(from) ?? [])
          if (upstream !== id && !distances.has(upstream)) {
            distances.set(upstream, step)
            next.add(upstream)
            note(upstream, step)
          }
      frontier = [...next]
    }
    this.#distances.set(id, distances)
    return distances
  }

  /** The steps from one asset down to another; undefined if it does not lie there. */
  distance(from: string, to: string): number | undefined {
    return from === to ? 0 : this.above(to).get(from)
  }
}

/** Reads the flow of data above some assets. What is no table has none above it. */
export async function readFlow(
  { lineage }: Partial<LookUps>,
  trx: Transaction,
  assetIds: readonly string[],
): Promise<Flow> {
  const ids = [...new Set(assetIds)]
  const { nodes, edges } = (await lineage?.walk(trx, ids, {
    direction: 'upstream',
    depth: MAX_HOPS,
    most: MAX_TABLES,
  })) ?? { nodes: [], edges: [] }
  const tables = await rows<FlowTable>(
    trx,
    `select id, source_id, qualified_name from tables
      where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids: [...new Set([...ids, ...nodes.map(({ id }) => id)])] },
  )
  return new Flow(
    tables,
    edges.map(({ upstreamId, downstreamId }) => [upstreamId, downstreamId]),
  )
}
