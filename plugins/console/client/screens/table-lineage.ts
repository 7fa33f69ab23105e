import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { inWords } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { tableAddress } from '../lib/router.ts'
import { Empty, Loaded } from '../parts/states.ts'
import { texts } from '../texts.ts'
import type { TabProps } from './props.ts'

const load = async (table: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/lineage/{asset_id}', { path: { asset_id: table }, signal })).data
type Lineage = Awaited<ReturnType<typeof load>>
type Node = Lineage['nodes'][number]

export function LineageTab({ table }: TabProps) {
  const lineage = useData(`lineage ${table.id}`, signal => load(table.id, signal))
  return html`<${Loaded} of=${lineage} what=${texts.tabLineage.toLowerCase()} rows=${6}>
    ${({ nodes }: Lineage) =>
      nodes.length <= 1
        ? html`<${Empty} title=${texts.noLineage}>
            <p><a class="button" href="/api/public/docs/lineage.md">${texts.readDocs}</a></p>
          <//>`
        : html`<div class="columns">
            <${Neighbours} title=${texts.upstream} nodes=${nodes} distance="upstream_distance" />
            <${Neighbours} title=${texts.downstream} nodes=${nodes} distance="downstream_distance" />
          </div>`}
  <//>`
}

function Neighbours({
  title,
  nodes,
  distance,
}: {
  title: string
  nodes: readonly Node[]
  distance: 'upstream_distance' | 'downstream_distance'
}) {
  const near = nodes
    .filter(node => (node[distance] ?? 0) > 0)
    .sort((a, b) => (a[distance] ?? 0) - (b[distance] ?? 0))
  return html`<section>
    <h2>${title}</h2>
    ${near.length === 0 && html`<p class="quiet">${texts.none}</p>`}
    <ul class="list">
      ${near.map(
        node =>
          html`<li key=${node.id}>
            <a href=${tableAddress(node.qualified_name)}>
              <span class="text"><bdi>${node.qualified_name}</bdi></span>
              <span class="quiet">${inWords(node.asset_type)} · ${node[distance]}</span>
            </a>
          </li>`,
      )}
    </ul>
  </section>`
}
