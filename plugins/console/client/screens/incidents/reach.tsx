import type { ComponentChildren } from 'preact'
import { countOf } from '../../lib/format.ts'
import { tableAddress } from '../../lib/router.ts'
import { Loaded } from '../../parts/states.tsx'
import { AssetName } from '../impact/asset-name.tsx'
import type { LineageReply, Node } from '../lineage/graph.ts'
import type { Downstream, Incident } from './requests.ts'
import { countOwners, listDownstream } from './strip-nodes.ts'
import { incidentTexts as texts } from './texts.ts'

type Root = Incident['root_cause']

/** Names of each kind that are shown; the lineage has all. */
const MAX_NAMED = 8

/** How much is made from the table of the cause, what it is, and who owns it. */
export function Reach({ root, lineage }: { root: Root; lineage: Downstream }) {
  return (
    <div class="incident-reach">
      <h3>{texts.reach}</h3>
      <Loaded of={lineage} what={texts.reach.toLowerCase()} rows={3}>
        {(reply: LineageReply | null) =>
          reply === null || reply.nodes.length <= 1 ? (
            <p class="quiet">{texts.nothingMade}</p>
          ) : (
            <ReachLists root={root} reply={reply} />
          )
        }
      </Loaded>
    </div>
  )
}

function ReachLists({ root, reply }: { root: Root; reply: LineageReply }) {
  const nodes = listDownstream(reply, root.asset_id)
  const isTable = ({ is_external: isOutside, asset_type: kind }: Node) => !isOutside || kind === 'dataset'
  const { tables = [], dashboards = [] } = Object.groupBy(nodes, node =>
    isTable(node) ? 'tables' : 'dashboards',
  )
  const owners = [...countOwners(nodes)]
  const lists: [name: string, names: ComponentChildren[]][] = [
    [countOf(tables.length, 'table'), tables.map(nameOf)],
    [countOf(dashboards.length, 'dashboard'), dashboards.map(nameOf)],
    [
      countOf(owners.length, 'owner'),
      owners.map(([name, count]) => (
        <span key={name}>
          <bdi>{name}</bdi> <span class="quiet">{texts.owns(count)}</span>
        </span>
      )),
    ],
  ]
  return (
    <>
      <dl class="reach">
        {lists.flatMap(([name, names]) =>
          names.length === 0 ? (
            []
          ) : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {names.slice(0, MAX_NAMED)}
                {names.length > MAX_NAMED && (
                  <a href={tableAddress(root.qualified_name, 'lineage')}>
                    {texts.moreNames(names.length - MAX_NAMED)}
                  </a>
                )}
              </dd>
            </div>
          ),
        )}
      </dl>
      {!reply.is_complete && <p class="quiet">{texts.notFollowed}</p>}
    </>
  )
}

const nameOf = (node: Node) => <AssetName key={node.id} of={node} isTable={!node.is_external} />
