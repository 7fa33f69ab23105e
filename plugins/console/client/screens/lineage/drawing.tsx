import { formatDay, inWords } from '../../lib/format.ts'
import { Shape } from '../../parts/status.tsx'
import { lineageTexts } from './texts.ts'
import {
  edgeKey,
  isFlow,
  type Direction,
  type Edge,
  type Node,
  type Trace,
  type TracedPair,
} from './graph.ts'
import { describeHealth } from './health.tsx'
import type { Layout, Point } from './layout.ts'

export const NODE_WIDTH = 208
const HEAD_HEIGHT = 48
const COLUMN_HEIGHT = 20
/** Columns that a node shows; all are listed beside the drawing. */
export const MAX_COLUMNS = 10

/** A node as it is drawn. */
export interface DrawnNode {
  node: Node
  columns: readonly string[]
  /** How many columns there is no room for. */
  hiddenColumns: number
  /** Neighbours that are not drawn. */
  hidden: Record<Direction, number>
}

export const heightOf = ({ columns, hiddenColumns }: Pick<DrawnNode, 'columns' | 'hiddenColumns'>) =>
  HEAD_HEIGHT +
  (columns.length === 0 ? 0 : (columns.length + (hiddenColumns > 0 ? 1 : 0)) * COLUMN_HEIGHT + 6)

/** The middle of the row of a column; of the head for one that is not shown. */
function rowOf({ columns }: DrawnNode, column: string | null): number {
  const place = column === null ? -1 : columns.indexOf(column)
  return place < 0 ? HEAD_HEIGHT / 2 : HEAD_HEIGHT + (place + 0.5) * COLUMN_HEIGHT
}

/** A smooth line through points, that leaves and reaches each of them level. */
function curve(points: readonly Point[]): string {
  return points
    .map(({ x, y }, n) => {
      const last = points[n - 1]
      if (!last) return `M${x} ${y}`
      const bend = Math.abs(x - last.x) / 2
      const way = x >= last.x ? 1 : -1
      return `C${last.x + bend * way} ${last.y} ${x - bend * way} ${y} ${x} ${y}`
    })
    .join('')
}

const middleOf = (points: readonly Point[]): Point => {
  const [one, other] = [points[Math.ceil(points.length / 2) - 1]!, points[Math.ceil(points.length / 2)]!]
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 }
}

/** The end of an edge, for the definitions of a drawing. */
export function ArrowHead({ id }: { id: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="8"
      refY="4"
      markerWidth="8"
      markerHeight="8"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M0 0 8 4 0 8z" />
    </marker>
  )
}

/** The edges below the nodes. Those that a followed column does not pass step back. */
export function EdgeLines({
  edges,
  layout,
  trace,
}: {
  edges: readonly Edge[]
  layout: Layout
  trace: Trace | undefined
}) {
  return (
    <g aria-hidden="true">
      {edges.map((edge, n) => {
        const route = layout.routes[n]!
        if (route.length === 0) return null
        const isTraced = trace?.edges.has(edgeKey(edge))
        const names = [
          'edge',
          !isFlow(edge) && 'foreign-key',
          edge.is_stale && 'stale',
          trace && (isTraced ? 'traced' : 'faded'),
        ]
        const { x, y } = middleOf(route)
        return (
          <g key={edgeKey(edge)} class={names.filter(Boolean).join(' ')}>
            <path d={curve(route)} marker-end={isTraced ? 'url(#arrow-traced)' : 'url(#arrow)'} />
            {edge.is_stale && (
              <text x={x} y={y - 6} text-anchor="middle">
                {lineageTexts.notSeen(formatDay(edge.last_seen_at))}
              </text>
            )}
          </g>
        )
      })}
    </g>
  )
}

/** The lines from column to column that a followed column passes. */
export function ColumnLines({
  pairs,
  nodes,
  layout,
}: {
  pairs: readonly TracedPair[]
  nodes: ReadonlyMap<string, DrawnNode>
  layout: Layout
}) {
  return (
    <g aria-hidden="true">
      {pairs.map(({ edge, upstream, downstream, isDirect }) => {
        const [from, to] = [nodes.get(edge.upstream_id), nodes.get(edge.downstream_id)]
        const [start, end] = [layout.places.get(edge.upstream_id), layout.places.get(edge.downstream_id)]
        if (!from || !to || !start || !end) return null
        const points = [
          { x: start.x + NODE_WIDTH, y: start.y + rowOf(from, upstream) },
          { x: end.x, y: end.y + rowOf(to, downstream) },
        ]
        return (
          <path
            key={`${edgeKey(edge)} ${upstream} ${downstream}`}
            class={isDirect ? 'column-line' : 'column-line indirect'}
            d={curve(points)}
          />
        )
      })}
    </g>
  )
}

/** A table or an outside thing: its name, how it is, and its columns. A click selects it, one on a column follows that. */
export function NodeBox({
  drawn,
  at: { x, y },
  isRoot,
  isSelected,
  isCurrent,
  trace,
  select,
  follow,
  expand,
}: {
  drawn: DrawnNode
  at: Point
  isRoot: boolean
  isSelected: boolean
  /** Whether the Tab key leads to it. */
  isCurrent: boolean
  trace: Trace | undefined
  select: (id: string) => void
  follow: (id: string, column: string) => void
  expand: (id: string, direction: Direction) => void
}) {
  const { node, columns, hiddenColumns, hidden } = drawn
  const { tone, words } = describeHealth(node)
  const height = heightOf(drawn)
  const reached = trace?.columns.get(node.id)
  const names = [
    'node',
    `tone-${tone}`,
    node.is_external && 'external',
    isRoot && 'root',
    trace && !trace.columns.has(node.id) && 'faded',
  ]
  return (
    <g class={names.filter(Boolean).join(' ')} transform={`translate(${x} ${y})`}>
      <g
        id={`node-${node.id}`}
        role="button"
        tabindex={isCurrent ? 0 : -1}
        aria-pressed={isSelected}
        onClick={() => select(node.id)}
      >
        <title>{node.qualified_name}</title>
        <rect class="box" width={NODE_WIDTH} height={height} rx={node.is_external ? 16 : 6} />
        <foreignObject width={NODE_WIDTH} height={HEAD_HEIGHT}>
          <div class="node-text">
            <strong>
              <bdi>{node.name}</bdi>
            </strong>
            <span>
              {!node.is_external && <Shape tone={tone} />}
              <em>
                {!node.is_external && ` ${words[0]} · `}
                {inWords(node.asset_type)}
              </em>
            </span>
          </div>
        </foreignObject>
      </g>
      {columns.map((column, n) => {
        const top = HEAD_HEIGHT + n * COLUMN_HEIGHT
        return (
          <g
            key={column}
            class={reached?.has(column) ? 'column reached' : 'column'}
            onClick={() => follow(node.id, column)}
          >
            <rect x="4" y={top} width={NODE_WIDTH - 8} height={COLUMN_HEIGHT} rx="3" />
            <foreignObject y={top} width={NODE_WIDTH} height={COLUMN_HEIGHT}>
              <div class="node-text">
                <bdi title={column}>{column}</bdi>
              </div>
            </foreignObject>
          </g>
        )
      })}
      {hiddenColumns > 0 && (
        <text class="word" x="12" y={HEAD_HEIGHT + columns.length * COLUMN_HEIGHT + 14}>
          {lineageTexts.moreColumns(hiddenColumns)}
        </text>
      )}
      {(['upstream', 'downstream'] as const).map(
        direction =>
          hidden[direction] > 0 && (
            <g
              key={direction}
              class="expand"
              transform={`translate(${direction === 'upstream' ? -40 : NODE_WIDTH + 4} 12)`}
              onClick={() => expand(node.id, direction)}
            >
              <title>
                {lineageTexts[direction === 'upstream' ? 'moreUpstream' : 'moreDownstream'](
                  hidden[direction],
                )}
              </title>
              <rect width="36" height="24" rx="12" />
              <text x="18" y="16" text-anchor="middle">
                {lineageTexts.more(hidden[direction])}
              </text>
            </g>
          ),
      )}
    </g>
  )
}
