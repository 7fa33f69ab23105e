import { useEffect, useMemo, useRef } from 'preact/hooks'
import {
  ArrowHead,
  ColumnLines,
  EdgeLines,
  heightOf,
  MAX_COLUMNS,
  NodeBox,
  NODE_WIDTH,
  type DrawnNode,
} from './drawing.tsx'
import { columnsOf, edgesAmong, neighboursOf, type Direction, type Graph, type Trace } from './graph.ts'
import { layOutGraph, type Layout, type Point } from './layout.ts'
import { Minimap } from './minimap.tsx'
import {
  ALL_WORDS_SCALE,
  centreView,
  fitView,
  MARGIN,
  readableView,
  revealBox,
  zoomView,
  type Size,
  type View,
} from './view.ts'
import { useViewport } from './viewport.ts'

const SPACING = { width: NODE_WIDTH, gapX: 96, gapY: 20 }
const MIN_HEIGHT = 220
const MAX_HEIGHT = 560
/** How far Shift and an arrow key move the picture, in pixels. */
const STEP = 80
/** Fewer nodes are seen at once. */
const MIN_MAPPED_NODES = 12

export interface PictureProps {
  name: string
  root: string
  graph: Graph
  shown: ReadonlySet<string>
  selected: string
  trace: Trace | undefined
  /** Whose columns are shown, beside those that the trace passes. */
  opened: readonly string[]
  select: (id: string) => void
  follow: (id: string, column: string) => void
  expand: (id: string, direction: Direction) => void
}

/** The lineage as a layered graph, moved and zoomed by pointer, wheel and keys. The list has the same in words. */
export function Picture(props: PictureProps) {
  const { name, root, graph, shown, selected, trace, opened, select, follow, expand } = props
  const svg = useRef<SVGSVGElement>(null)
  const nodes = useMemo(() => drawNodes(graph, shown, trace, opened), [graph, shown, trace, opened.join(' ')])
  const edges = useMemo(() => edgesAmong(graph, shown), [graph, shown])
  const layout = useMemo(
    () =>
      layOutGraph(
        [...nodes.values()].map(drawn => ({ id: drawn.node.id, height: heightOf(drawn) })),
        edges.map(edge => ({ from: edge.upstream_id, to: edge.downstream_id })),
        SPACING,
      ),
    [nodes, edges],
  )
  const boxOf = (id: string) => {
    const place = layout.places.get(id)
    return place && { ...place, width: NODE_WIDTH, height: heightOf(nodes.get(id)!) }
  }
  const frame = useRef<SVGRectElement>(null)
  const viewport = useViewport(
    svg,
    window => readableView(layout, window, centreOf(boxOf(root)!)),
    (view, window) => frameView(frame.current, view, window),
  )
  const current = nodes.has(selected) ? selected : root
  useStillness(layout, current, viewport.move)
  useEffect(() => {
    const box = boxOf(current)
    if (box) viewport.move((view, window) => revealBox(view, window, box))
  }, [current])

  const zoom = (factor: number) =>
    viewport.move((view, { width, height }) => zoomView(view, factor, { x: width / 2, y: height / 2 }))
  const showAll = () => viewport.move((_view, window) => fitView(layout, window))
  const pan = (x: number, y: number) =>
    viewport.move(view => ({
      ...view,
      x: view.x + (x * STEP) / view.scale,
      y: view.y + (y * STEP) / view.scale,
    }))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const focused = (event.target as Element).id.replace(/^node-/, '')
    const [x, y] = ARROWS[event.key] ?? [0, 0]
    if (x !== 0 || y !== 0) {
      if (event.shiftKey) pan(x, y)
      else focusNode(nextNode(layout, neighboursOf(graph, focused), focused, x, y))
    } else if (event.key === 'Enter' || event.key === ' ') select(focused)
    else if (event.key === '+' || event.key === '=') zoom(1.25)
    else if (event.key === '-' || event.key === '_') zoom(0.8)
    else if (event.key === '0') showAll()
    else return
    event.preventDefault()
  }
  const focusNode = (id: string | undefined) => {
    const box = id === undefined ? undefined : boxOf(id)
    if (!box) return
    viewport.move((view, window) => revealBox(view, window, box))
    document.getElementById(`node-${id}`)?.focus({ preventScroll: true })
  }
  return (
    <div class="lineage-picture">
      <p class="zoom">
        <button class="small" onClick={() => zoom(1.25)} aria-label="Zoom in">
          +
        </button>
        <button class="small" onClick={() => zoom(0.8)} aria-label="Zoom out">
          −
        </button>
        <button class="small" onClick={showAll}>
          Show all
        </button>
      </p>
      <svg
        ref={svg}
        class="drawing"
        role="group"
        aria-label={`Lineage of ${name}`}
        aria-describedby="lineage-keys"
        style={sizeOf(layout)}
        onKeyDown={onKeyDown}
      >
        <defs>
          {['arrow', 'arrow-traced'].map(id => (
            <ArrowHead key={id} id={id} />
          ))}
        </defs>
        <EdgeLines edges={edges} layout={layout} trace={trace} />
        {[...nodes.values()]
          .toSorted((one, other) => inReadingOrder(layout, one.node.id, other.node.id))
          .map(drawn => (
            <NodeBox
              key={drawn.node.id}
              drawn={drawn}
              at={layout.places.get(drawn.node.id)!}
              isRoot={drawn.node.id === root}
              isSelected={drawn.node.id === selected}
              isCurrent={drawn.node.id === current}
              trace={trace}
              select={select}
              follow={follow}
              expand={expand}
            />
          ))}
        {trace && <ColumnLines pairs={trace.pairs} nodes={nodes} layout={layout} />}
      </svg>
      <div class="hint-keys">
        <p id="lineage-keys" class="quiet">
          Drag to move, pinch to zoom.
          <span class="with-keyboard">
            {' '}
            Ctrl and the wheel zoom, too, as do + and −. Arrow keys go from node to node, with Shift they move
            the picture, 0 shows all.
          </span>
        </p>
        {nodes.size >= MIN_MAPPED_NODES && (
          <Minimap
            nodes={nodes}
            layout={layout}
            frame={frame}
            show={(point: Point) => viewport.move((view, window) => centreView(view, window, point))}
          />
        )}
      </div>
    </div>
  )
}

const centreOf = ({ x, y, width, height }: Point & Size): Point => ({ x: x + width / 2, y: y + height / 2 })

/** As high as the drawing is at the width that it has, so that no part of the picture is empty. */
function sizeOf(layout: Layout) {
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN]
  const limit = (pixels: number) => `${Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, pixels))}px`
  return {
    'aspect-ratio': `${width} / ${height}`,
    'min-height': limit(height * ALL_WORDS_SCALE),
    'max-height': limit(height),
  }
}

/** Shows in the map which part the picture shows. */
function frameView(frame: SVGRectElement | null, { x, y, scale }: View, { width, height }: Size): void {
  const box = { x, y, width: width / scale, height: height / scale }
  for (const [name, value] of Object.entries(box)) frame?.setAttribute(name, String(value))
}

const ARROWS: Record<string, [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

function drawNodes(
  graph: Graph,
  shown: ReadonlySet<string>,
  trace: Trace | undefined,
  opened: readonly string[],
): Map<string, DrawnNode> {
  const drawn = [...graph.nodes.values()].filter(({ id }) => shown.has(id))
  return new Map(
    drawn.map(node => {
      const reached = [...(trace?.columns.get(node.id) ?? [])]
      const others = opened.includes(node.id)
        ? columnsOf(graph, node.id).filter(column => !reached.includes(column))
        : []
      const columns = [...reached, ...others]
      // In the order of their names as far as there is room: a click must not move what it was on.
      const visible = columns.slice(0, MAX_COLUMNS).sort((a, b) => a.localeCompare(b))
      const { upstream, downstream } = neighboursOf(graph, node.id)
      const count = (all: readonly string[]) => all.filter(id => shown.has(id)).length
      return [
        node.id,
        {
          node,
          columns: visible,
          hiddenColumns: columns.length - visible.length,
          hidden: {
            upstream: Math.max(0, (node.upstream_count ?? 0) - count(upstream)),
            downstream: Math.max(0, (node.downstream_count ?? 0) - count(downstream)),
          },
        },
      ]
    }),
  )
}

/** Keeps a node where it is seen when the drawing around it changes. */
function useStillness(
  layout: Layout,
  anchor: string,
  move: (
    change: (view: { x: number; y: number; scale: number }) => { x: number; y: number; scale: number },
  ) => void,
): void {
  const last = useRef(layout)
  useEffect(() => {
    const [before, after] = [last.current.places.get(anchor), layout.places.get(anchor)]
    last.current = layout
    if (before && after)
      move(view => ({ ...view, x: view.x + after.x - before.x, y: view.y + after.y - before.y }))
  }, [layout])
}

/** Layer by layer, from above. */
function inReadingOrder({ places }: Layout, one: string, other: string): number {
  const [a, b] = [places.get(one)!, places.get(other)!]
  return a.layer - b.layer || a.y - b.y
}

/** Where an arrow key leads: along an edge if there is one, else to what stands nearest in that direction. */
function nextNode(
  { places }: Layout,
  linked: Record<Direction, readonly string[]>,
  from: string,
  x: number,
  y: number,
): string | undefined {
  const start = places.get(from)
  if (!start) return places.keys().next().value
  const others = [...places].filter(([id]) => id !== from)
  const ahead = others.filter(([, place]) =>
    x === 0
      ? place.layer === start.layer && (place.y - start.y) * y > 0
      : (place.layer - start.layer) * x > 0,
  )
  const neighbours = x === 0 ? [] : [...linked.upstream, ...linked.downstream]
  const near = ahead.filter(([id]) => neighbours.includes(id))
  const distance = ([, place]: (typeof others)[number]) =>
    Math.abs(place.layer - start.layer) * 10_000 + Math.abs(place.y - start.y)
  return (near.length > 0 ? near : ahead).toSorted((a, b) => distance(a) - distance(b))[0]?.[0]
}
