import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Point } from './layout.ts'
import { levelOf, zoomView, type Size, type View } from './view.ts'

export interface Viewport {
  move(change: (view: View, window: Size) => View): void
}

/** How far a pointer goes before it drags instead of clicking. */
const DRAG_PIXELS = 4

/**
 * Shows a part of an SVG, which a person moves by dragging and zooms by two fingers, or by the wheel with Ctrl; the
 * wheel alone scrolls the page, sideways it moves the drawing. The view is set on the element: a drag draws nothing anew.
 * @param moved is called with each view, with the same function at each render
 */
export function useViewport(
  svg: { current: SVGSVGElement | null },
  first: (window: Size) => View,
  moved: (view: View, window: Size) => void,
): Viewport {
  const view = useRef<View | null>(null)
  const latest = useRef(first)
  latest.current = first
  const viewport = useRef<Viewport>({
    move(change) {
      const { current: element } = svg
      if (!element) return
      const window = { width: element.clientWidth || 1, height: element.clientHeight || 1 }
      view.current = change(view.current ?? latest.current(window), window)
      const { x, y, scale } = view.current
      element.setAttribute('viewBox', `${x} ${y} ${window.width / scale} ${window.height / scale}`)
      element.dataset.level = levelOf(view.current)
      // How many units a pixel has: names stay as large as they can be read.
      element.style.setProperty('--unit', String(1 / scale))
      moved(view.current, window)
    },
  }).current
  // Before the first paint, which would show the drawing at another place.
  useLayoutEffect(() => {
    const { current: element } = svg
    if (!element) return
    const show = () => viewport.move(same => same)
    show()
    const resize = new ResizeObserver(show)
    resize.observe(element)
    const stop = followPointers(element, viewport)
    return () => {
      resize.disconnect()
      stop()
    }
  }, [])
  return viewport
}

function followPointers(element: SVGSVGElement, { move }: Viewport): () => void {
  const ends = new AbortController()
  const { signal } = ends
  const pointers = new Map<number, Point>()
  let isDragging = false
  const placeOf = (event: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }
  const spanOf = () => {
    const [one, other] = [...pointers.values()]
    return one && other
      ? {
          length: Math.hypot(one.x - other.x, one.y - other.y) || 1,
          middle: { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 },
        }
      : undefined
  }
  let start: Point = { x: 0, y: 0 }
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return
    pointers.set(event.pointerId, placeOf(event))
    start = placeOf(event)
    isDragging = pointers.size > 1
  }
  const drag = (event: PointerEvent) => {
    const last = pointers.get(event.pointerId)
    if (!last) return
    const place = placeOf(event)
    if (!isDragging && Math.hypot(place.x - start.x, place.y - start.y) < DRAG_PIXELS) return
    // Captured from here on only: a captured pointer clicks the drawing, not what is under it.
    if (!isDragging) element.setPointerCapture(event.pointerId)
    isDragging = true
    const before = spanOf()
    pointers.set(event.pointerId, place)
    const after = spanOf()
    if (before && after) move(view => zoomView(view, after.length / before.length, after.middle))
    else
      move(view => ({
        ...view,
        x: view.x - (place.x - last.x) / view.scale,
        y: view.y - (place.y - last.y) / view.scale,
      }))
  }
  const up = (event: PointerEvent) => pointers.delete(event.pointerId)
  const turn = (event: WheelEvent) => {
    const isZoom = event.ctrlKey || event.metaKey
    const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX
    if (!isZoom && sideways === 0) return
    event.preventDefault()
    if (isZoom) move(view => zoomView(view, Math.exp(-event.deltaY / 300), placeOf(event)))
    else move(view => ({ ...view, x: view.x + sideways / view.scale }))
  }
  const click = (event: MouseEvent) => {
    // The end of a drag is no click on what is under it.
    if (isDragging) event.stopPropagation()
    isDragging = false
  }
  element.addEventListener('pointerdown', down, { signal })
  element.addEventListener('pointermove', drag, { signal })
  element.addEventListener('pointerup', up, { signal })
  element.addEventListener('pointercancel', up, { signal })
  element.addEventListener('wheel', turn, { signal, passive: false })
  element.addEventListener('click', click, { signal, capture: true })
  return () => ends.abort()
}
