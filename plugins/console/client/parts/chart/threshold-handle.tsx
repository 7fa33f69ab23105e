import type uPlot from 'uplot'
import { useEffect, useRef } from 'preact/hooks'

/** A value of a chart that a person moves. */
export interface ChartHandle {
  value: number
  label: string
  /** The value in words. */
  text: string
  /** A value that the pointer was moved to. */
  drag(value: number): void
  /** A key was pressed: up or down by one step. */
  step(direction: 1 | -1): void
}

type Ref<T> = { current: T }

/** What a handle needs of its chart. */
export interface PlaceHandle {
  plot: Ref<uPlot | undefined>
  /** Receives the function that puts the handle at its value, for the chart to call after it has drawn. */
  place: Ref<((u: uPlot) => void) | undefined>
}

/** A handle at the right edge of a chart. It moves by the pointer and by arrow keys. */
export function ThresholdHandle({
  plot,
  place,
  handle,
}: PlaceHandle & {
  handle: ChartHandle
}) {
  const element = useRef<HTMLDivElement>(null)
  const latest = useRef(handle)
  latest.current = handle
  /** Where the drag began: the scale of the chart follows the value, and must not move it on. */
  const start = useRef<{ y: number; value: number; perPixel: number }>(undefined)
  const put = (u: uPlot) => {
    const { current } = element
    if (!current) return
    const top = u.valToPos(latest.current.value, 'y')
    const height = u.over.clientHeight
    current.style.top = `${u.over.offsetTop + Math.min(height, Math.max(0, top))}px`
  }
  useEffect(() => {
    place.current = put
    if (plot.current) put(plot.current)
    return () => {
      place.current = undefined
    }
  })
  return (
    <div
      ref={element}
      class="chart-handle"
      role="slider"
      tabindex={0}
      aria-orientation="vertical"
      aria-label={handle.label}
      aria-valuenow={handle.value}
      aria-valuetext={handle.text}
      onKeyDown={(event: KeyboardEvent) => {
        const direction = ({ ArrowUp: 1, ArrowDown: -1 } as const)[event.key]
        if (direction === undefined) return
        event.preventDefault()
        handle.step(direction)
      }}
      onPointerDown={(event: PointerEvent) => {
        const u = plot.current
        if (!u || event.button !== 0) return
        ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
        const perPixel = u.posToVal(0, 'y') - u.posToVal(1, 'y')
        start.current = { y: event.clientY, value: handle.value, perPixel }
      }}
      onPointerMove={(event: PointerEvent) => {
        const { current: from } = start
        if (from) latest.current.drag(from.value + (from.y - event.clientY) * from.perPixel)
      }}
      onPointerUp={() => (start.current = undefined)}
      onPointerCancel={() => (start.current = undefined)}
    />
  )
}
