import { heightOf, NODE_WIDTH, type DrawnNode } from './drawing.tsx'
import { describeHealth } from './health.tsx'
import type { Layout, Point } from './layout.ts'

/** The whole lineage in small, with a frame around what the picture shows; a click moves the picture there. */
export function Minimap({
  nodes,
  layout: { places, width, height },
  frame,
  show,
}: {
  nodes: ReadonlyMap<string, DrawnNode>
  layout: Layout
  /** The frame, which the picture moves. */
  frame: { current: SVGRectElement | null }
  show: (point: Point) => void
}) {
  return (
    <svg
      class="minimap"
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
      onClick={(event: MouseEvent) => {
        const svg = event.currentTarget as SVGSVGElement
        const toUnits = svg.getScreenCTM()?.inverse()
        if (toUnits) show(new DOMPoint(event.clientX, event.clientY).matrixTransform(toUnits))
      }}
    >
      {[...nodes.values()].map(drawn => {
        const { x = 0, y = 0 } = places.get(drawn.node.id) ?? {}
        return (
          <rect
            key={drawn.node.id}
            class={`tone-${describeHealth(drawn.node).tone}`}
            x={x}
            y={y}
            width={NODE_WIDTH}
            height={heightOf(drawn)}
          />
        )
      })}
      <rect ref={frame} class="frame" />
    </svg>
  )
}
