import { countOf, inWords } from '../../lib/format.ts'
import { tableAddress } from '../../lib/router.ts'
import { Loaded } from '../../parts/states.tsx'
import { Shape, toneOf, type Tone } from '../../parts/status.tsx'
import { ArrowHead, EdgeLines } from '../lineage/drawing.tsx'
import type { LineageReply, Node } from '../lineage/graph.ts'
import { describeHealth } from '../lineage/health.tsx'
import { layOutGraph } from '../lineage/layout.ts'
import type { Downstream, Incident } from './requests.ts'
import { chooseNodes } from './strip-nodes.ts'
import { incidentTexts as texts } from './texts.ts'

const BOX_HEIGHT = 44
/** Wide enough for names of usual length, where the columns have the room. */
const WIDTHS = { least: 144, most: 220, perCharacter: 8, around: 28 }
/** The room on a window of 1,280 px, and what of a larger one is not for the strip. */
const ROOM = { least: 1_012, beside: 268 }
const GAPS = { gapX: 30, gapY: 10 }
/** Room for the shadow of a focused box. */
const MARGIN = 4
const SEVERITIES = ['critical', 'warning', 'info']

/** From left to right what the data of the cause goes into, each box as it stands. */
export function Strip({ incident, lineage }: { incident: Incident; lineage: Downstream }) {
  const { qualified_name: name } = incident.root_cause
  return (
    <section class="lineage incident-strip">
      <h2>{texts.strip}</h2>
      <Loaded of={lineage} what={texts.strip.toLowerCase()} rows={4}>
        {(reply: LineageReply | null) =>
          reply === null || reply.nodes.length <= 1 ? (
            <p class="quiet">{texts.nothingMade}</p>
          ) : (
            <Drawing incident={incident} reply={reply} address={tableAddress(name, 'lineage')} />
          )
        }
      </Loaded>
    </section>
  )
}

function Drawing({ incident, reply, address }: { incident: Incident; reply: LineageReply; address: string }) {
  const { root_cause: cause, alerts } = incident
  const byTable = Map.groupBy(alerts, ({ asset_id: id }) => id)
  const { nodes, edges, hiddenCount } = chooseNodes(reply, cause.asset_id, new Set(byTable.keys()))
  const longest = Math.max(...nodes.map(({ name }) => name.length))
  const fitting = longest * WIDTHS.perCharacter + WIDTHS.around
  const layOut = (width: number) =>
    layOutGraph(
      nodes.map(({ id }) => ({ id, height: BOX_HEIGHT })),
      edges.map(edge => ({ from: edge.upstream_id, to: edge.downstream_id })),
      { width, ...GAPS },
    )
  const columnCount = Math.round((layOut(WIDTHS.least).width + GAPS.gapX) / (WIDTHS.least + GAPS.gapX))
  const room = Math.max(ROOM.least, innerWidth - ROOM.beside)
  const boxWidth = Math.max(
    WIDTHS.least,
    Math.min(WIDTHS.most, fitting, (room + GAPS.gapX) / columnCount - GAPS.gapX),
  )
  const layout = layOut(boxWidth)
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN]
  return (
    <>
      <div class="strip-box">
        <svg
          width={width}
          height={height}
          viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
          role="group"
          aria-label={texts.strip}
        >
          <defs>
            <ArrowHead id="arrow" />
          </defs>
          <EdgeLines edges={edges} layout={layout} trace={undefined} />
          {nodes.map(node => {
            const { x, y } = layout.places.get(node.id)!
            return (
              <foreignObject key={node.id} x={x} y={y} width={boxWidth} height={BOX_HEIGHT}>
                <Box node={node} isCause={node.id === cause.asset_id} alerts={byTable.get(node.id) ?? []} />
              </foreignObject>
            )
          })}
        </svg>
      </div>
      <p>
        {hiddenCount > 0 && <>{texts.moreBoxes(hiddenCount)} </>}
        <a href={address}>{texts.wholeLineage}</a>
      </p>
    </>
  )
}

function Box({ node, isCause, alerts }: { node: Node; isCause: boolean; alerts: Incident['alerts'] }) {
  const { tone, words } = stateOf(node, isCause, alerts)
  const content = (
    <>
      <strong>
        <bdi>{node.name}</bdi>
      </strong>
      <span>
        {tone !== 'unknown' && (
          <>
            <Shape tone={tone} />{' '}
          </>
        )}
        {words}
      </span>
    </>
  )
  const className = `strip-node tone-${tone}`
  const { qualified_name: whole, url } = node
  if (!node.is_external)
    return (
      <a class={className} href={tableAddress(whole)} title={whole}>
        {content}
      </a>
    )
  return url ? (
    <a class={className} href={url} title={whole} target="_blank" rel="noreferrer">
      {content}
    </a>
  ) : (
    <div class={className} title={whole}>
      {content}
    </div>
  )
}

/** By its alerts of the incident; what has none by what is known of it. */
function stateOf(node: Node, isCause: boolean, alerts: Incident['alerts']): { tone: Tone; words: string } {
  const open = alerts.filter(({ resolved_at: at }) => at === null)
  const [worst] = open
    .map(({ severity }) => severity)
    .sort((a, b) => SEVERITIES.indexOf(a) - SEVERITIES.indexOf(b))
  const count = alerts.length === 0 ? [] : [open.length === 0 ? texts.boxOver : countOf(open.length, 'alert')]
  if (alerts.length > 0 || isCause)
    return {
      tone: worst ? toneOf(worst) : alerts.length > 0 ? 'ok' : 'critical',
      words: [...(isCause ? [texts.boxCause] : []), ...count].join(' · '),
    }
  const { tone, words } = describeHealth(node)
  return node.is_external
    ? { tone: 'unknown', words: inWords(node.asset_type) }
    : { tone, words: words[0] ?? '' }
}
