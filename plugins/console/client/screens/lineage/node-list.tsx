import { countOf, inWords } from '../../lib/format.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { lineageTexts } from './texts.ts'
import { measureSteps, type Graph, type Node, type Trace } from './graph.ts'
import { NodeStatus } from './health.tsx'
import { describeOrigins, NodeLink } from './node-panel.tsx'

/** The lineage as a table, for those who read better than they see, and for small windows. */
export function NodeList({
  root,
  graph,
  shown,
  trace,
}: {
  root: string
  graph: Graph
  shown: ReadonlySet<string>
  trace: Trace | undefined
}) {
  const up = measureSteps(graph, root, 'upstream')
  const down = measureSteps(graph, root, 'downstream')
  const placeOf = (id: string) => down.get(id) ?? -(up.get(id) ?? (id === root ? 0 : -1_000))
  const nodes = [...graph.nodes.values()]
    .filter(({ id }) => shown.has(id))
    .sort((a, b) => placeOf(a.id) - placeOf(b.id) || a.name.localeCompare(b.name))
  const where = ({ id }: Node) => {
    if (id === root) return 'this one'
    const [before, after] = [up.get(id), down.get(id)]
    return (
      [
        before !== undefined && `${countOf(before, 'step')} upstream`,
        after !== undefined && `${countOf(after, 'step')} downstream`,
      ]
        .filter(Boolean)
        .join(', ') || 'beside it'
    )
  }
  const madeFrom = ({ id }: Node) =>
    [...graph.edges.values()].filter(edge => edge.downstream_id === id && shown.has(edge.upstream_id))
  const columns: (Column<Node> | false)[] = [
    { label: 'Name', isName: true, cell: node => <NodeLink node={node} /> },
    {
      label: 'Status',
      cellClass: 'state',
      cell: node => (node.is_external ? <span class="quiet">–</span> : <NodeStatus node={node} />),
    },
    { label: 'Where', cell: where },
    { label: 'Kind', cell: node => inWords(node.asset_type) },
    {
      label: lineageTexts.place,
      cell: node => <bdi>{node.namespace ?? node.qualified_name.split('.').slice(0, -1).join('.')}</bdi>,
    },
    trace !== undefined && { label: lineageTexts.columns, cell: node => reachedColumns(trace, node) },
    {
      label: lineageTexts.madeFrom,
      cell: node =>
        madeFrom(node).map(edge => (
          <div key={edge.upstream_id}>
            <bdi>{graph.nodes.get(edge.upstream_id)!.name}</bdi>
            <span class="quiet">{` ${describeOrigins(edge)}`}</span>
          </div>
        )),
    },
  ]
  return (
    <DataTable
      className="stacked two-line"
      label={lineageTexts.list}
      columns={columns}
      rows={nodes}
      chosen={root}
    />
  )
}

function reachedColumns(trace: Trace, { id }: Node): string {
  if (!trace.columns.has(id)) return '–'
  const columns = trace.columns.get(id)
  if (columns === null) return 'not known by column'
  return [...columns!].join(', ') || 'decides which rows there are'
}
