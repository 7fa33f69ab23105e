/** The part of the time axis that a chart shows, or all of it, in seconds since 1970. */
export interface View {
  min: number
  max: number
}

const lengthOf = ({ min, max }: View) => max - min

/** Moves a view into the whole; one that is longer becomes the whole. */
export function clampView(view: View, whole: View): View {
  const length = Math.min(lengthOf(view), lengthOf(whole))
  const min = Math.min(Math.max(view.min, whole.min), whole.max - length)
  return { min, max: min + length }
}

/** Moves a view by a share of its length: to later times, below 0 to earlier ones. */
export function panView(view: View, share: number): View {
  const step = share * lengthOf(view)
  return { min: view.min + step, max: view.max + step }
}

/**
 * Makes a view longer or shorter.
 * @param around the moment that stays where it is, if the view shows it
 * @param minLength the length at which zooming in ends
 */
export function zoomView(view: View, factor: number, around: number, minLength: number): View {
  const length = lengthOf(view)
  const isShown = around >= view.min && around <= view.max
  const fixed = isShown ? around : (view.min + view.max) / 2
  const scale = Math.max(factor, Math.min(1, minLength / length))
  return { min: fixed - (fixed - view.min) * scale, max: fixed + (view.max - fixed) * scale }
}
