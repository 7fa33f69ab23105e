import { countOf } from '../../lib/format.ts'
import { html, type Children } from '../../lib/html.ts'
import { tableAddress } from '../../lib/router.ts'
import { Loaded } from '../../parts/states.ts'
import type { LineageReply, Node } from '../lineage/graph.ts'
import type { Downstream, Incident } from './requests.ts'
import { countOwners, listDownstream } from './strip-nodes.ts'
import { incidentTexts as texts } from './texts.ts'

type Root = Incident['root_cause']

/** Names of each kind that are shown; the lineage has all. */
const MAX_NAMED = 8

/** How much is made from the table of the cause, what it is, and who owns it. */
export function Reach({ root, lineage }: { root: Root; lineage: Downstream }) {
  return html`<div class="incident-reach">
    <h3>${texts.reach}</h3>
    <${Loaded} of=${lineage} what=${texts.reach.toLowerCase()} rows=${3}>
      ${(reply: LineageReply | null) =>
        reply === null || reply.nodes.length <= 1
          ? html`<p class="quiet">${texts.nothingMade}</p>`
          : html`<${ReachLists} root=${root} reply=${reply} />`}
    <//>
  </div>`
}

function ReachLists({ root, reply }: { root: Root; reply: LineageReply }) {
  const nodes = listDownstream(reply, root.asset_id)
  const isTable = ({ is_external: isOutside, asset_type: kind }: Node) => !isOutside || kind === 'dataset'
  const lists: [name: string, names: Children[]][] = [
    [countOf(nodes.filter(isTable).length, 'table'), nodes.filter(isTable).map(nameOf)],
    [
      countOf(nodes.filter(node => !isTable(node)).length, 'dashboard'),
      nodes.filter(node => !isTable(node)).map(nameOf),
    ],
    [
      countOf(countOwners(nodes).size, 'owner'),
      [...countOwners(nodes)].map(
        ([name, count]) =>
          html`<span key=${name}><bdi>${name}</bdi> <span class="quiet">${texts.owns(count)}</span></span>`,
      ),
    ],
  ]
  return html`<dl class="reach">
      ${lists.map(
        ([name, names]) =>
          html`<div key=${name}>
            <dt>${name}</dt>
            <dd>
              ${names.length === 0 ? html`<span class="quiet">–</span>` : names.slice(0, MAX_NAMED)}
              ${
                names.length > MAX_NAMED &&
                html`<a href=${tableAddress(root.qualified_name, 'lineage')}
                  >${texts.moreNames(names.length - MAX_NAMED)}</a
                >`
              }
            </dd>
          </div>`,
      )}
    </dl>
    ${!reply.is_complete && html`<p class="quiet">${texts.notFollowed}</p>`}`
}

function nameOf({ id, name, qualified_name: whole, is_external: isOutside, url }: Node): Children {
  if (!isOutside) return html`<a key=${id} href=${tableAddress(whole)} title=${whole}><bdi>${name}</bdi></a>`
  return url
    ? html`<a key=${id} href=${url} target="_blank" rel="noreferrer"><bdi>${name}</bdi></a>`
    : html`<bdi key=${id}>${name}</bdi>`
}
