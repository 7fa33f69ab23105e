import uPlot from 'uplot'
import { formatDay, formatHour, formatMonth, formatNumber, formatTime } from '../../lib/format.ts'
import { findClipped, fitAxis } from './axis.ts'
import type { Span } from './operating-hours.ts'
import {
  listThresholds,
  joinLetters,
  nameMark,
  placeMark,
  type ChartMark,
  type ChartPoint,
  type LetteredMark,
  type Threshold,
} from './points.ts'
import type { View } from './view.ts'

/** The height of the drawing, axes included. */
export const HEIGHT = 220
/** The places of series in the data of a chart. */
const [LOW, HIGH, BEFORE] = [1, 2, 3]
const DAY_SECONDS = 86_400
const HOUR_SECONDS = 3_600
/** The share of its room that a bar fills, and its greatest width in pixels. */
const BAR_SIZE: [number, number] = [0.6, 24]
/** How near to a mark the pointer names it, in pixels. */
const MARK_DISTANCE = 6
/** The height of the tick of a run, and of the letter of another mark, in pixels. */
const TICK = 8
const LETTER = 11
/** Room for the letters of marks that stand together, in pixels. */
const LABEL_WIDTH = 40
/** Anomalies closer than this, in pixels, are one mark. */
const MIN_DISTANCE = 2

/** Finds spans between two moments, in milliseconds. */
export type FindIdle = (from: number, to: number) => Span[]

/** What a chart draws. */
export interface Drawing {
  points: readonly ChartPoint[]
  threshold?: Threshold | undefined
  /** Bars from zero instead of a line. */
  isBars: boolean
  marks: readonly ChartMark[]
  /** Finds the time outside operation. */
  idle: FindIdle | null
  /** Is called with the place of the value at the pointer, and after the shown part has changed. */
  setShown: (place: number | null) => void
  onView: (u: uPlot) => void
}

/** The colours of the theme that is shown: a canvas knows no custom properties. */
function readColours(element: HTMLElement) {
  const probe = element.appendChild(document.createElement('i'))
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const colours = {
    line: colour('accent'),
    band: colour('band'),
    bad: colour('critical'),
    grid: colour('line'),
    text: colour('quiet'),
    mark: colour('quiet'),
    card: colour('card'),
    idle: colour('idle'),
  }
  probe.remove()
  return colours
}

/** The axis of the values that are in view, and the values of the week before if they are drawn. */
function rangeOf({ series: [x], data }: uPlot, { points, threshold, isBars }: Drawing): [number, number] {
  const [from, to] = x?.idxs ?? [0, points.length - 1]
  const { min, max } = fitAxis(points.slice(from, to + 1), {
    threshold: threshold ?? null,
    isFromZero: isBars,
    beside: [...(data[BEFORE] ?? [])].slice(from, to + 1),
  })
  return [min, max]
}

/** How times are written: by the length of what is shown. */
function formatOf({ min, max }: View, formatShort: (at: number) => string): (at: number) => string {
  if (max - min <= 3 * DAY_SECONDS) return formatShort
  return max - min <= 300 * DAY_SECONDS ? formatDay : formatMonth
}

/** From when to when a chart shows values, such as `12 Oct` and `26 Nov`. */
export function describeView(view: View): [from: string, to: string] {
  const format = formatOf(view, formatTime)
  return [format(view.min * 1_000), format(view.max * 1_000)]
}

/** The options with which uPlot draws a series with all that was found of it. */
export function buildOptions(element: HTMLElement, drawing: Drawing): uPlot.Options {
  const { points, isBars, setShown, onView } = drawing
  const colour = readColours(element)
  const axis = {
    stroke: colour.text,
    font: '11px system-ui',
    grid: { stroke: colour.grid, width: 1 },
    ticks: { show: false },
  }
  const invisible = { stroke: 'transparent', points: { show: false } }
  return {
    width: Math.max(240, element.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    // The letters of marks stand above the values, where nothing is drawn over them.
    padding: [LETTER + 6, null, null, null],
    cursor: { y: false, points: { size: 7 } },
    scales: {
      // A single value, and a few of one moment, end a day: no axis runs beyond the newest value.
      x: {
        range: (_u, from, to) => (to - from < HOUR_SECONDS ? [to - DAY_SECONDS, to] : [from, to]),
      },
      y: { range: u => rangeOf(u, drawing) },
    },
    axes: [
      {
        ...axis,
        values: ({ scales: { x } }, all) => all.map(at => formatOf(x as View, formatHour)(at * 1_000)),
        space: 64,
        size: 28,
      },
      { ...axis, values: (_u, all) => all.map(value => formatNumber(value)), size: 56 },
    ],
    bands: [{ series: [HIGH, LOW], fill: colour.band }],
    series: [
      {},
      invisible,
      invisible,
      { stroke: colour.text, width: 1, dash: [3, 3], points: { show: false } },
      {
        stroke: colour.line,
        width: 1.5,
        ...(isBars
          ? {
              paths: uPlot.paths.bars!({ size: BAR_SIZE }),
              fill: colour.line,
              fillTo: 0,
              points: { show: false },
            }
          : { points: { show: points.length < 120, size: 4, fill: colour.line } }),
      },
    ],
    hooks: {
      setCursor: [u => setShown(u.cursor.idx ?? null), nameMarks(drawing)],
      setScale: [(u, scale) => scale === 'x' && onView(u)],
      drawClear: [shadeIdleSpans(drawing.idle, colour.idle)],
      draw: [drawClipped(points, colour.text), drawFindings(drawing, colour)],
    },
  }
}

/** Shades the time outside operation; what is narrower than a pixel is left out. */
function shadeIdleSpans(idle: FindIdle | null, colour: string) {
  let known: { key: string; spans: Span[] } | undefined
  return ({ ctx, bbox, scales: { x }, valToPos }: uPlot) => {
    if (!idle || x?.min == null || x.max == null) return
    const key = `${x.min} ${x.max}`
    if (known?.key !== key) known = { key, spans: idle(x.min * 1_000, x.max * 1_000) }
    ctx.save()
    ctx.fillStyle = colour
    for (const [from, to] of known.spans) {
      const [left, right] = [valToPos(from / 1_000, 'x', true), valToPos(to / 1_000, 'x', true)]
      if (right - left >= 1) ctx.fillRect(left, bbox.top, right - left, bbox.height)
    }
    ctx.restore()
  }
}

/** Says beside the pointer what happened there. */
function nameMarks({ marks, points }: Drawing) {
  return (u: uPlot) => {
    const { left = -1 } = u.cursor
    const near = marks.filter(
      mark => left >= 0 && Math.abs(u.valToPos(placeMark(mark, points) / 1_000, 'x') - left) < MARK_DISTANCE,
    )
    u.over.title = near.map(mark => `${formatTime(mark.at)} ${nameMark(mark)}`).join('\n')
  }
}

/** Marks the edges of the plot beyond which the expected range goes on, with how far it does. */
function drawClipped(points: readonly ChartPoint[], colour: string) {
  const ratio = devicePixelRatio || 1
  return ({ ctx, bbox, scales: { y }, valToPos }: uPlot) => {
    if (y?.min == null || y.max == null) return
    ctx.save()
    ctx.beginPath()
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
    ctx.clip()
    ctx.strokeStyle = ctx.fillStyle = colour
    ctx.font = `${LETTER * ratio}px system-ui`
    ctx.lineWidth = 2 * ratio
    ctx.setLineDash([2 * ratio, 3 * ratio])
    const right = bbox.left + bbox.width
    const ends = { above: bbox.left, below: bbox.left }
    for (const { side, from, to, reach } of findClipped(points, { min: y.min, max: y.max })) {
      const edge = side === 'above' ? bbox.top + ratio : bbox.top + bbox.height - ratio
      const start = Math.max(bbox.left, valToPos(from / 1_000, 'x', true))
      const end = Math.min(right, valToPos(to / 1_000, 'x', true))
      if (end < bbox.left || start > right) continue
      ctx.beginPath()
      ctx.moveTo(start, edge)
      ctx.lineTo(Math.max(end, start + 2 * ratio), edge)
      ctx.stroke()
      const text = `${side === 'above' ? '↑' : '↓'} ${formatNumber(reach)}`
      const width = ctx.measureText(text).width
      // One beside the other, and none that would be cut.
      if (start < ends[side] || start + width > right) continue
      ends[side] = start + width + LETTER * ratio
      ctx.fillText(text, start + 2 * ratio, side === 'above' ? edge + 13 * ratio : edge - 5 * ratio)
    }
    ctx.restore()
  }
}

type Corner = [x: number, y: number]

/** Draws the thresholds, the marks and the anomalies over the series. */
function drawFindings(
  { points, threshold, marks }: Drawing,
  colour: Record<'bad' | 'mark' | 'card', string>,
) {
  const ratio = devicePixelRatio || 1
  const anomalies = points.filter(({ isAnomaly, value }) => isAnomaly && value !== null)
  return (u: uPlot) => {
    const { ctx, bbox } = u
    const x = (at: number) => u.valToPos(at / 1_000, 'x', true)
    const isInside = (left: number) => left >= bbox.left && left <= bbox.left + bbox.width
    const line = (from: Corner, to: Corner, stroke: string) => {
      ctx.strokeStyle = stroke
      ctx.beginPath()
      ctx.moveTo(...from)
      ctx.lineTo(...to)
      ctx.stroke()
    }
    ctx.save()
    ctx.lineWidth = ratio
    ctx.setLineDash([4 * ratio, 3 * ratio])
    for (const limit of listThresholds(threshold)) {
      const y = u.valToPos(limit, 'y', true)
      line([bbox.left, y], [bbox.left + bbox.width, y], colour.bad)
    }
    ctx.setLineDash([])
    ctx.font = `600 ${LETTER * ratio}px system-ui`
    ctx.fillStyle = colour.mark
    const bottom = bbox.top + bbox.height
    const seen: LetteredMark[] = []
    for (const mark of marks) {
      const { kind } = mark
      const left = x(placeMark(mark, points))
      if (!isInside(left)) continue
      line([left, kind === 'run' ? bottom - TICK * ratio : bbox.top], [left, bottom], colour.mark)
      if (kind !== 'run') seen.push({ kind, left })
    }
    ctx.textAlign = 'center'
    for (const { left, text } of joinLetters(seen, LABEL_WIDTH * ratio)) {
      const half = ctx.measureText(text).width / 2
      const most = bbox.left + bbox.width - half
      ctx.fillText(text, Math.min(most, Math.max(bbox.left + half, left)), bbox.top - 4 * ratio)
    }
    ctx.fillStyle = colour.bad
    ctx.strokeStyle = colour.card
    ctx.beginPath()
    const half = 5 * ratio
    let last: Corner = [-Infinity, 0]
    for (const { at, value } of anomalies) {
      const left = x(at)
      if (!isInside(left)) continue
      const top = u.valToPos(value!, 'y', true)
      // Thousands of marks on one another look like one, and take as long as thousands.
      if (left - last[0] < MIN_DISTANCE * ratio && Math.abs(top - last[1]) < MIN_DISTANCE * ratio) continue
      last = [left, top]
      ctx.moveTo(left, top - half)
      ctx.lineTo(left + half, top)
      ctx.lineTo(left, top + half)
      ctx.lineTo(left - half, top)
      ctx.closePath()
    }
    ctx.fill()
    ctx.stroke()
    ctx.restore()
  }
}
