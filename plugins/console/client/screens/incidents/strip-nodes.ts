import {
  isFlow,
  measureSteps,
  mergeGraph,
  type Edge,
  type LineageReply,
  type Node,
} from '../lineage/graph.ts'

/** More boxes are no strip. */
const MAX_BOXES = 12

/** What a strip shows of a lineage. */
export interface StripGraph {
  nodes: Node[]
  edges: Edge[]
  /** How many there is no room for. */
  hiddenCount: number
}

/**
 * The cause and what is made from it: first what has alerts of the incident, each with its way from the cause, then
 * dashboards, then the nearest others.
 */
export function chooseNodes(reply: LineageReply, root: string, hit: ReadonlySet<string>): StripGraph {
  const graph = mergeGraph(undefined, reply)
  const steps = measureSteps(graph, root, 'downstream', { isFlowOnly: true })
  const edges = [...graph.edges.values()].filter(isFlow)
  const rankOf = (id: string) => (hit.has(id) ? 0 : graph.nodes.get(id)!.is_external ? 1 : 2)
  const wanted = [...steps]
    .filter(([id]) => graph.nodes.has(id))
    .toSorted(([a, near], [b, far]) => rankOf(a) - rankOf(b) || near - far)
    .map(([id]) => id)
  const chosen = new Set(graph.nodes.has(root) ? [root] : [])
  for (const id of wanted) {
    const way = findWay(id, edges, steps).filter(each => !chosen.has(each))
    if (chosen.size + way.length <= MAX_BOXES) for (const each of way) chosen.add(each)
  }
  return {
    nodes: [...chosen].map(id => graph.nodes.get(id)!),
    edges: edges.filter(edge => chosen.has(edge.upstream_id) && chosen.has(edge.downstream_id)),
    hiddenCount: wanted.filter(id => !chosen.has(id)).length,
  }
}

/** What is made from a table, the nearest first. */
export function listDownstream(reply: LineageReply, root: string): Node[] {
  const graph = mergeGraph(undefined, reply)
  const steps = measureSteps(graph, root, 'downstream', { isFlowOnly: true })
  return [...steps.keys()].flatMap(id => graph.nodes.get(id) ?? [])
}

/** The owners of nodes, each with how many of them it owns, the most first. */
export function countOwners(nodes: readonly Node[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { owners } of nodes)
    for (const { name, email } of owners) {
      const owner = name ?? email
      if (owner) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    }
  return new Map([...counts].sort(([, a], [, b]) => b - a))
}

/** A node with those on a shortest way to it, without the root. */
function findWay(id: string, edges: readonly Edge[], steps: ReadonlyMap<string, number>): string[] {
  const way = [id]
  for (let step = steps.get(id)! - 1; step > 0; step--) {
    const last = way.at(-1)
    const before = edges.find(edge => edge.downstream_id === last && steps.get(edge.upstream_id) === step)
    if (!before) break
    way.push(before.upstream_id)
  }
  return way
}
