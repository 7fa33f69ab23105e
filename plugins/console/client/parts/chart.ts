import uPlot from 'uplot'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { html } from '../lib/html.ts'
import { formatDay, formatHour, formatNumber, formatTime } from '../lib/format.ts'
import { texts } from '../texts.ts'

/** A value of a chart, with what was expected and what was found of it. */
export interface ChartPoint {
  /** Milliseconds since 1970. */
  at: number
  value: number | null
  low?: number | null
  high?: number | null
  isAnomaly?: boolean
  /** Lines of the box beside the pointer. */
  lines?: readonly string[]
}

/** Something that happened to the table, drawn on the time axis. */
export interface ChartMark {
  at: number
  text: string
}

interface ChartProps {
  title: string
  unit?: string
  points: readonly ChartPoint[]
  /** Values above it are failures. */
  threshold?: number | null
  marks?: readonly ChartMark[]
}

const HEIGHT = 220
/** The same list each time: another one would build the chart anew. */
const NO_MARKS: readonly ChartMark[] = []
/** A schema change stands beside the values of the half day around it. */
const MARK_MS = 12 * 3_600_000
const RANGES = [
  ['1d', 86_400],
  ['1w', 7 * 86_400],
  ['1m', 31 * 86_400],
  ['1y', 366 * 86_400],
  ['all', Infinity],
] as const

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
  }
  probe.remove()
  return colours
}

/** Where a scale begins and ends so that band, values and threshold are seen. */
function rangeOf(low: number | null, high: number | null, threshold?: number | null): [number, number] {
  const bounds = [low, high, threshold].filter((it): it is number => it != null && Number.isFinite(it))
  if (bounds.length === 0) return [0, 1]
  const [least, most] = [Math.min(...bounds), Math.max(...bounds)]
  const margin = (most - least || Math.abs(most) || 1) * 0.08
  return [least >= 0 && least - margin < 0 ? 0 : least - margin, most + margin]
}

/** A series over time with its expected band. Drag to zoom, double-click for all, arrow keys move the pointer. */
export function Chart({ title, unit = '', points, threshold, marks = NO_MARKS }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [shown, setShown] = useState<number | null>(null)
  const data = useMemo<uPlot.AlignedData>(
    () => [
      points.map(({ at }) => at / 1_000),
      points.map(({ low }) => low ?? null),
      points.map(({ high }) => high ?? null),
      points.map(({ value }) => value),
    ],
    [points],
  )
  const place = shown === null ? points.length - 1 : shown

  useEffect(() => {
    const { current } = holder
    if (!current) return
    const build = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(current, { points, threshold, marks, setShown }), data, current)
    }
    build()
    const resize = new ResizeObserver(() =>
      plot.current?.setSize({ width: Math.max(240, current.clientWidth), height: HEIGHT }),
    )
    resize.observe(current)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    addEventListener('tidemark:theme', build)
    scheme.addEventListener('change', build)
    return () => {
      resize.disconnect()
      removeEventListener('tidemark:theme', build)
      scheme.removeEventListener('change', build)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [data, threshold, marks])

  const zoom = (seconds: number) => {
    const times = data[0]
    const [first, last] = [times[0] ?? 0, times.at(-1) ?? 1]
    plot.current?.setScale('x', { min: Math.max(first, last - seconds), max: last })
  }
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined || points.length === 0) return
    event.preventDefault()
    const next = Math.min(points.length - 1, Math.max(0, place + step))
    const u = plot.current
    u?.setCursor({ left: u.valToPos(data[0][next]!, 'x'), top: HEIGHT / 2 })
    setShown(next)
  }
  const span = (data[0].at(-1) ?? 0) - (data[0][0] ?? 0)
  return html`<figure class="chart">
    <figcaption>
      <span class="legend">
        <span class="key line"></span>${texts.value}${unit && ` (${unit})`}
        ${points.some(({ high }) => high != null) && html`<span class="key band"></span>${texts.expected}`}
        ${threshold != null && html`<span class="key threshold"></span>${texts.threshold}`}
        ${points.some(({ isAnomaly }) => isAnomaly) && html`<span class="key anomaly"></span>${texts.anomaly}`}
        ${marks.length > 0 && html`<span class="key mark"></span>${texts.schemaChange}`}
      </span>
      <span class="ranges" role="group" aria-label=${texts.range}>
        ${RANGES.filter(([, seconds]) => seconds === Infinity || seconds < span * 1.2).map(
          ([name, seconds]) =>
            html`<button key=${name} class="small" onClick=${() => zoom(seconds)}>${name}</button>`,
        )}
      </span>
    </figcaption>
    <div
      ref=${holder}
      class="plot"
      tabindex="0"
      role="img"
      aria-label=${`${title}. ${texts.chartKeys}`}
      onKeyDown=${move}
    ></div>
    <p class="readout" aria-live="polite">${describePoint(points[place], unit, marks)}</p>
  </figure>`
}

function describePoint(point: ChartPoint | undefined, unit: string, marks: readonly ChartMark[]) {
  if (!point) return texts.noValues
  const end = unit === '%' ? ' %' : unit && ` ${unit}`
  return html`<time>${formatTime(point.at)}</time>
    <strong>${point.value === null ? texts.noValue : `${formatNumber(point.value)}${end}`}</strong>
    ${
      point.low != null &&
      point.high != null &&
      html`<span>${texts.expectedRange(formatNumber(point.low), formatNumber(point.high))}</span>`
    }
    ${point.isAnomaly && html`<span class="bad">${texts.anomaly}</span>`}
    ${point.lines?.map(line => html`<span key=${line}>${line}</span>`)}
    ${marks
      .filter(({ at }) => Math.abs(at - point.at) < MARK_MS)
      .map(({ at, text }) => html`<span key=${`${at} ${text}`}>${text}</span>`)}`
}

function optionsOf(
  element: HTMLElement,
  {
    points,
    threshold,
    marks,
    setShown,
  }: Pick<ChartProps, 'points' | 'threshold'> & {
    marks: readonly ChartMark[]
    setShown: (place: number | null) => void
  },
): uPlot.Options {
  const colour = readColours(element)
  const ratio = devicePixelRatio || 1
  const axis = {
    stroke: colour.text,
    font: '11px system-ui',
    grid: { stroke: colour.grid, width: 1 },
    ticks: { show: false },
  }
  const isDaily = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0) > 3 * 86_400_000
  const invisible = { stroke: 'transparent', points: { show: false } }
  return {
    width: Math.max(240, element.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    scales: {
      // A single value stands in the middle of a day.
      x: { range: (_u, from, to) => (from < to ? [from, to] : [from - 43_200, to + 43_200]) },
      y: { range: (_u, low, high) => rangeOf(low, high, threshold) },
    },
    axes: [
      {
        ...axis,
        values: (_u, all) => all.map(at => (isDaily ? formatDay : formatHour)(at * 1_000)),
        space: 64,
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
      draw: [
        u => {
          const { ctx, bbox } = u
          const x = (at: number) => u.valToPos(at / 1_000, 'x', true)
          const isInside = (left: number) => left >= bbox.left && left <= bbox.left + bbox.width
          ctx.save()
          if (threshold != null) {
            const y = u.valToPos(threshold, 'y', true)
            drawLine(ctx, [bbox.left, y], [bbox.left + bbox.width, y], colour.bad, ratio)
          }
          for (const { at } of marks)
            if (isInside(x(at)))
              drawLine(ctx, [x(at), bbox.top], [x(at), bbox.top + bbox.height], colour.mark, ratio)
          ctx.fillStyle = colour.bad
          ctx.strokeStyle = colour.card
          ctx.lineWidth = ratio
          for (const { at, value, isAnomaly } of points) {
            if (!isAnomaly || value === null || !isInside(x(at))) continue
            const [left, top, half] = [x(at), u.valToPos(value, 'y', true), 5 * ratio]
            ctx.beginPath()
            ctx.moveTo(left, top - half)
            ctx.lineTo(left + half, top)
            ctx.lineTo(left, top + half)
            ctx.lineTo(left - half, top)
            ctx.closePath()
            ctx.fill()
            ctx.stroke()
          }
          ctx.restore()
        },
      ],
    },
  }
}

type Corner = [x: number, y: number]

function drawLine(
  ctx: CanvasRenderingContext2D,
  from: Corner,
  to: Corner,
  colour: string,
  ratio: number,
): void {
  ctx.strokeStyle = colour
  ctx.lineWidth = ratio
  ctx.setLineDash([4 * ratio, 3 * ratio])
  ctx.beginPath()
  ctx.moveTo(...from)
  ctx.lineTo(...to)
  ctx.stroke()
  ctx.setLineDash([])
}
