import { useEffect, useState } from 'preact/hooks'
import { api } from '../../lib/api.ts'
import { useData, type Data } from '../../lib/data.ts'
import { notify } from '../../parts/notices.tsx'
import { describeError } from '../../parts/states.tsx'
import { texts } from '../../texts.ts'
import {
  chooseNearest,
  mergeGraph,
  neighboursOf,
  type Direction,
  type Graph,
  type LineageReply,
} from './graph.ts'

/** More nodes are no picture that a person reads; the others are shown on request. */
const FIRST_NODES = 60
/** How many neighbours are shown at once. */
const MORE_NODES = 20

export interface LineageQuery {
  depth: number
  withForeignKeys: boolean
}

/** The lineage around a table, and which of its nodes are shown. */
export interface Lineage {
  reply: Data<LineageReply>
  graph: Graph | undefined
  shown: ReadonlySet<string>
  /** Shows neighbours of a node that are not shown, and loads them first if need be. */
  expand(id: string, direction: Direction): void
  /** Shows all nodes that were loaded. */
  showAll(): void
  /** Shows a node that was loaded. */
  show(id: string): void
}

async function loadLineage(
  id: string,
  { depth, withForeignKeys }: LineageQuery,
  {
    direction = 'both' as Direction | 'both',
    signal,
  }: { direction?: Direction | 'both'; signal?: AbortSignal },
): Promise<LineageReply> {
  const { data } = await api.get('/api/v1/sdk/lineage/{asset_id}', {
    path: { asset_id: id },
    query: {
      ...{ depth, direction, columns: true, details: true },
      ...(withForeignKeys && { include: 'foreign_keys' as const }),
    },
    ...(signal && { signal }),
  })
  return data
}

interface Shown {
  graph: Graph
  ids: ReadonlySet<string>
}

/** Loads the lineage around a table; what is loaded further on is added until another query is made. */
export function useLineage(root: string, query: LineageQuery): Lineage {
  const key = `lineage ${root} ${query.depth} ${query.withForeignKeys}`
  const reply = useData<LineageReply>(key, signal => loadLineage(root, query, { signal }))
  const [state, setState] = useState<Shown>()
  useEffect(() => {
    if (!reply.data) return
    const graph = mergeGraph(undefined, reply.data)
    setState({ graph, ids: chooseNearest(graph, root, FIRST_NODES) })
  }, [reply.data])
  const expand = async (id: string, direction: Direction) => {
    let { graph } = state!
    const node = graph.nodes.get(id)!
    const counted = (direction === 'upstream' ? node.upstream_count : node.downstream_count) ?? 0
    if (neighboursOf(graph, id)[direction].length < counted)
      graph = mergeGraph(graph, await loadLineage(id, { ...query, depth: 1 }, { direction }))
    setState(last => {
      const shown = last?.ids ?? new Set()
      const more = neighboursOf(graph, id)[direction].filter(each => !shown.has(each))
      return { graph, ids: new Set([...shown, ...more.slice(0, MORE_NODES)]) }
    })
  }
  return {
    reply,
    // Data of another query would be drawn with the links of this one for a moment.
    graph: reply.data && state?.graph,
    shown: state?.ids ?? new Set(),
    expand: (id, direction) =>
      void expand(id, direction).catch((error: unknown) =>
        notify(`${texts.failedTo(texts.tabLineage.toLowerCase())} ${describeError(error)}`, {
          isError: true,
        }),
      ),
    showAll: () => setState(last => last && { ...last, ids: new Set(last.graph.nodes.keys()) }),
    show: id => setState(last => last && { ...last, ids: new Set([...last.ids, id]) }),
  }
}
