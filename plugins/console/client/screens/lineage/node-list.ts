import { inWords } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { lineageTexts } from '../../texts/lineage.ts'
import { measureSteps, type Graph, type Node, type Trace } from './graph.ts'
import { NodeStatus } from './health.ts'
import { describeOrigins, NodeLink } from './node-panel.ts'

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
    if (id === root) return lineageTexts.here
    const [before, after] = [up.get(id), down.get(id)]
    return (
      [
        before !== undefined && lineageTexts.upstreamSteps(before),
        after !== undefined && lineageTexts.downstreamSteps(after),
      ]
        .filter(Boolean)
        .join(', ') || lineageTexts.aside
    )
  }
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${lineageTexts.list}>
    <table>
      <thead>
        <tr>
          <th scope="col">${lineageTexts.name}</th>
          <th scope="col">${lineageTexts.status}</th>
          <th scope="col">${lineageTexts.where}</th>
          <th scope="col">${lineageTexts.kind}</th>
          <th scope="col">${lineageTexts.place}</th>
          ${trace && html`<th scope="col">${lineageTexts.columns}</th>`}
          <th scope="col">${lineageTexts.madeFrom}</th>
        </tr>
      </thead>
      <tbody>
        ${nodes.map(node => {
          const edges = [...graph.edges.values()].filter(
            edge => edge.downstream_id === node.id && shown.has(edge.upstream_id),
          )
          return html`<tr key=${node.id} class=${node.id === root ? 'chosen' : ''}>
            <th scope="row"><${NodeLink} node=${node} /></th>
            <td>
              ${node.is_external ? html`<span class="quiet">–</span>` : html`<${NodeStatus} node=${node} />`}
            </td>
            <td>${where(node)}</td>
            <td>${inWords(node.asset_type)}</td>
            <td><bdi>${node.namespace ?? node.qualified_name.split('.').slice(0, -1).join('.')}</bdi></td>
            ${trace && html`<td>${reachedColumns(trace, node)}</td>`}
            <td>
              ${edges.map(
                edge =>
                  html`<div key=${edge.upstream_id}>
                    <bdi>${graph.nodes.get(edge.upstream_id)!.name}</bdi>
                    <span class="quiet">${` ${describeOrigins(edge)}`}</span>
                  </div>`,
              )}
            </td>
          </tr>`
        })}
      </tbody>
    </table>
  </div>`
}

function reachedColumns(trace: Trace, { id }: Node): string {
  if (!trace.columns.has(id)) return '–'
  const columns = trace.columns.get(id)
  if (columns === null) return lineageTexts.columnsUnknown
  return [...columns!].join(', ') || lineageTexts.rowsOnly
}
