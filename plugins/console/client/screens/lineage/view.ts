import type { Point } from './layout.ts'

/** What of a drawing is seen: its upper left corner, and how many pixels a unit of it has. */
export interface View extends Point {
  scale: number
}

export interface Size {
  width: number
  height: number
}

const MIN_SCALE = 0.05
const MAX_SCALE = 2
/** Below this, only names are shown, as large as they can be read; below the other, boxes in the colour of their state. */
export const ALL_WORDS_SCALE = 0.6
const NAMES_SCALE = 0.3
/** As wide as the button beside a node that shows more of its neighbours. */
export const MARGIN = 48

const clampScale = (scale: number) => Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale))

/** What of the words there is room for. */
export const levelOf = ({ scale }: View): 'words' | 'names' | 'boxes' =>
  scale >= ALL_WORDS_SCALE ? 'words' : scale >= NAMES_SCALE ? 'names' : 'boxes'

/** All of a drawing, no larger than it is. */
export function fitView(drawing: Size, window: Size): View {
  const scale = clampScale(
    Math.min(1, window.width / (drawing.width + 2 * MARGIN), window.height / (drawing.height + 2 * MARGIN)),
  )
  return {
    scale,
    x: (drawing.width - window.width / scale) / 2,
    y: (drawing.height - window.height / scale) / 2,
  }
}

/** All of a drawing where it can be read then, else what is around a place of it. */
export function readableView(drawing: Size, window: Size, centre: Point): View {
  const fitted = fitView(drawing, window)
  if (fitted.scale >= ALL_WORDS_SCALE) return fitted
  const scale = ALL_WORDS_SCALE
  const start = (around: number, length: number, size: number) => {
    const seen = size / scale
    const free = length + 2 * MARGIN - seen
    return free <= 0 ? (length - seen) / 2 : Math.min(Math.max(around - seen / 2, -MARGIN), free - MARGIN)
  }
  return {
    scale,
    x: start(centre.x, drawing.width, window.width),
    y: start(centre.y, drawing.height, window.height),
  }
}

export function centreView(view: View, window: Size, { x, y }: Point): View {
  return { ...view, x: x - window.width / view.scale / 2, y: y - window.height / view.scale / 2 }
}

/** @param at what stays where it is, in pixels of the window */
export function zoomView(view: View, factor: number, at: Point): View {
  const scale = clampScale(view.scale * factor)
  return {
    scale,
    x: view.x + at.x / view.scale - at.x / scale,
    y: view.y + at.y / view.scale - at.y / scale,
  }
}

/** The view that is nearest to a present one and shows a box as a whole. */
export function revealBox(view: View, window: Size, box: Point & Size): View {
  const shift = (from: number, length: number, start: number, size: number) =>
    start < from + MARGIN
      ? start - MARGIN
      : start + size > from + length - MARGIN
        ? start + size + MARGIN - length
        : from
  return {
    ...view,
    x: shift(view.x, window.width / view.scale, box.x, box.width),
    y: shift(view.y, window.height / view.scale, box.y, box.height),
  }
}
