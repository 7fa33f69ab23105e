import type uPlot from 'uplot'
import { formatDay, formatHour, formatMonth, formatNumber, formatTime } from '../../lib/format.ts'
import { findIdleSpans, type OperatingHours, type Span } from './operating-hours.ts'
import { listThresholds, type ChartMark, type ChartPoint, type Threshold } from './points.ts'
import type { View } from './view.ts'

/** The height of the drawing, axes included. */
export const HEIGHT = 220
const DAY_SECONDS = 86_400
/** Anomalies closer than this, in pixels, are one mark. */
const MIN_DISTANCE = 2

/** What a chart draws. */
export interface Drawing {
  points: readonly ChartPoint[]
  threshold?: Threshold | undefined
  marks: readonly ChartMark[]
  hours: OperatingHours | null
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
    mark: colour('warning'),
    card: colour('card'),
    idle: colour('idle'),
  }
  probe.remove()
  return colours
}

/** Where a scale begins and ends so that band, values and threshold are seen. */
function rangeOf(low: number | null, high: number | null, threshold: Threshold = null): [number, number] {
  const bounds = [low, high, ...listThresholds(threshold)].filter(
    (it): it is number => it != null && Number.isFinite(it),
  )
  if (bounds.length === 0) return [0, 1]
  const [least, most] = [Math.min(...bounds), Math.max(...bounds)]
  const margin = (most - least || Math.abs(most) || 1) * 0.08
  return [least >= 0 && least - margin < 0 ? 0 : least - margin, most + margin]
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
  const { points, threshold, setShown, onView } = drawing
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
    cursor: { y: false, points: { size: 7 } },
    scales: {
      // A single value ends a day: no axis runs beyond the newest value.
      x: {
        range: (_u, from, to) => (points.length === 1 ? [from - DAY_SECONDS, from] : [from, to]),
      },
      y: { range: (_u, low, high) => rangeOf(low, high, threshold) },
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
    bands: [{ series: [2, 1], fill: colour.band }],
    series: [
      {},
      invisible,
      invisible,
      {
        stroke: colour.line,
        width: 1.5,
        points: { show: points.length < 120, size: 4, fill: colour.line },
      },
    ],
    hooks: {
      setCursor: [u => setShown(u.cursor.idx ?? null)],
      setScale: [(u, scale) => scale === 'x' && onView(u)],
      drawClear: [shadeIdleSpans(drawing.hours, colour.idle)],
      draw: [drawFindings(drawing, colour)],
    },
  }
}

/** Shades the time outside operation; what is narrower than a pixel is left out. */
function shadeIdleSpans(hours: OperatingHours | null, colour: string) {
  let known: { key: string; spans: Span[] } | undefined
  return ({ ctx, bbox, scales: { x }, valToPos }: uPlot) => {
    if (!hours || x?.min == null || x.max == null) return
    const key = `${x.min} ${x.max}`
    if (known?.key !== key) known = { key, spans: findIdleSpans(hours, x.min * 1_000, x.max * 1_000) }
    ctx.save()
    ctx.fillStyle = colour
    for (const [from, to] of known.spans) {
      const [left, right] = [valToPos(from / 1_000, 'x', true), valToPos(to / 1_000, 'x', true)]
      if (right - left >= 1) ctx.fillRect(left, bbox.top, right - left, bbox.height)
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
    for (const left of marks.map(({ at }) => x(at)))
      if (isInside(left)) line([left, bbox.top], [left, bbox.top + bbox.height], colour.mark)
    ctx.setLineDash([])
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
