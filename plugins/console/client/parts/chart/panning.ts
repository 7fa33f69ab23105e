import { useEffect, useRef } from 'preact/hooks'

interface Ref {
  current: HTMLElement | null
}

/**
 * Moves what a chart shows: by dragging with Shift or a finger, and by the wheel with Shift. Without Shift a drag of
 * the mouse zooms, and the wheel scrolls the page.
 * @param pan takes the share of the shown range to move by
 */
export function usePanning(holder: Ref, pan: (share: number) => void): void {
  const latest = useRef(pan)
  latest.current = pan
  useEffect(() => {
    const element = holder.current
    if (!element) return
    let lastX: number | null = null
    const shareOf = (pixels: number) =>
      pixels / (element.querySelector('.u-over')?.clientWidth || element.clientWidth || 1)
    const start = (event: PointerEvent) => {
      const isTouch = event.pointerType === 'touch'
      if (!isTouch && !(event.shiftKey && event.button === 0)) return
      lastX = event.clientX
      element.setPointerCapture(event.pointerId)
      if (isTouch) return
      // The mouse events that follow would select a part to zoom to.
      event.preventDefault()
      element.focus()
    }
    const move = ({ clientX }: PointerEvent) => {
      if (lastX === null || clientX === lastX) return
      latest.current(shareOf(lastX - clientX))
      lastX = clientX
    }
    const end = () => (lastX = null)
    const turn = (event: WheelEvent) => {
      if (!event.shiftKey || event.ctrlKey) return
      event.preventDefault()
      latest.current(shareOf(event.deltaX || event.deltaY))
    }
    element.addEventListener('pointerdown', start)
    element.addEventListener('pointermove', move)
    element.addEventListener('pointerup', end)
    element.addEventListener('pointercancel', end)
    element.addEventListener('wheel', turn, { passive: false })
    return () => {
      element.removeEventListener('pointerdown', start)
      element.removeEventListener('pointermove', move)
      element.removeEventListener('pointerup', end)
      element.removeEventListener('pointercancel', end)
      element.removeEventListener('wheel', turn)
    }
  }, [])
}
