import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A drawing as wide as its place, in pixels: a scaled one would scale its words too. */
export function Drawing({
  height,
  label,
  children,
}: {
  height: number
  label: string
  children: (width: number) => ComponentChildren
}) {
  const holder = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const { current } = holder
    if (!current) return
    const measure = () => setWidth(current.clientWidth)
    measure()
    const resize = new ResizeObserver(measure)
    resize.observe(current)
    return () => resize.disconnect()
  }, [])
  return (
    <div class="scroll history-chart">
      <svg ref={holder} height={height} role="img" aria-label={label}>
        {width > 0 && children(width)}
      </svg>
    </div>
  )
}
