import type { VNode } from 'preact'
import uPlot from 'uplot'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { texts } from '../../texts.ts'
import { buildOptions, describeView, HEIGHT, type FindIdle } from './drawing.ts'
import { usePanning } from './panning.ts'
import { Readout } from './readout.tsx'
import { clampView, panView, zoomView, type View } from './view.ts'
import type { OperatingHours } from './operating-hours.ts'
import { chartTexts } from './texts.ts'
import { listThresholds, MARK_LETTERS, type ChartMark, type ChartPoint, type Threshold } from './points.ts'
import type { PlaceHandle } from './threshold-handle.tsx'

interface ChartProps {
  title: string
  unit?: string
  points: readonly ChartPoint[]
  /** Values above it are failures; of two limits, values outside them. */
  threshold?: Threshold
  /** The hours that the values are judged by; the other time is shaded. */
  hours?: OperatingHours | null | undefined
  marks?: readonly ChartMark[]
  /** Bars from zero instead of a line. */
  isBars?: boolean
  /** By point, the value of a week before. */
  before?: readonly (number | null)[] | undefined
  /** Whether there are values before the first that can be loaded. */
  hasOlder?: boolean
  isLoading?: boolean
  /** Loads values back to a moment, in milliseconds. */
  loadOlder?: (from: number) => void
  /** Draws a value that a person may move, such as the threshold. */
  drawHandle?: ((at: PlaceHandle) => VNode) | undefined
}

/** The same list each time: another one would build the chart anew. */
const NO_MARKS: readonly ChartMark[] = []
const MIN_VIEW_SECONDS = 3_600
const MONTH_SECONDS = 31 * 86_400
const MARK_KINDS = ['change', 'run', 'incident', 'alert'] as const
/** The share of the view by which Shift and an arrow key move it. */
const PAN_SHARE = 0.25
const RANGES = [
  ['1d', 86_400],
  ['1w', 7 * 86_400],
  ['1m', MONTH_SECONDS],
  ['1y', 366 * 86_400],
  ['all', Infinity],
] as const

/** A series over time with its expected band. Zoomed and moved by mouse, touch and keys, as `texts.chartKeys` says. */
export function Chart({
  title,
  unit = '',
  points,
  threshold,
  hours = null,
  marks = NO_MARKS,
  isBars = false,
  before,
  hasOlder = false,
  isLoading = false,
  loadOlder,
  drawHandle,
}: ChartProps) {
  const holder = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const placeHandle = useRef<(u: uPlot) => void>(undefined)
  /** What is shown, which outlives the plot; null shows all. */
  const view = useRef<View | null>(firstView(points))
  const [shownView, setShownView] = useState(view.current)
  /** When the value at the pointer was taken: its place changes when older values are loaded. */
  const [shownAt, setShownAt] = useState<number | null>(null)
  const reading = useRef<number | null>(null)
  reading.current = shownAt
  const data = useMemo<uPlot.AlignedData>(
    () => [
      points.map(({ at }) => at / 1_000),
      points.map(({ low }) => low ?? null),
      points.map(({ high }) => high ?? null),
      points.map((_, n) => before?.[n] ?? null),
      points.map(({ value }) => value),
    ],
    [points, before],
  )
  const times = data[0]
  const idle = useIdleSpans(hours)
  const whole: View = { min: times[0] ?? 0, max: times.at(-1) ?? 0 }
  const last = points.length - 1
  const place = shownAt === null ? last : points.findLastIndex(({ at }) => at <= shownAt)

  useEffect(() => {
    const { current } = holder
    if (!current) return
    const setShown = (at: number | null) => setShownAt(at === null ? null : (points[at]?.at ?? null))
    const onView = ({ scales: { x } }: uPlot) => {
      const isWhole = x?.min == null || x.max == null || (x.min <= whole.min && x.max >= whole.max)
      view.current = isWhole ? null : { min: x.min!, max: x.max! }
      setShownView(view.current)
    }
    const build = () => {
      const kept = view.current
      const { current: readAt } = reading
      plot.current?.destroy()
      const options = buildOptions(current, { points, threshold, isBars, idle, marks, setShown, onView })
      options.hooks?.draw?.push(u => placeHandle.current?.(u))
      // A new plot has no pointer; the value that is read stays the same.
      if (readAt !== null) options.hooks!.ready = [u => pointAt(u, readAt / 1_000)]
      plot.current = new uPlot(options, data, current)
      // Nothing is drawn before this function ends.
      if (kept) plot.current.setScale('x', kept)
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
  }, [data, threshold, isBars, idle, marks])

  /** Shows a part; one that begins before the first value loads older ones. */
  const show = (wanted: View) => {
    if (last < 1) return
    if (wanted.min < whole.min && hasOlder) loadOlder?.(wanted.min * 1_000)
    const u = plot.current
    u?.batch(() => u.setScale('x', clampView(wanted, whole)))
  }
  const pan = (share: number) => show(panView(view.current ?? whole, share))
  const zoom = (factor: number) => {
    const around = times[place] ?? whole.max
    show(zoomView(view.current ?? whole, factor, around, MIN_VIEW_SECONDS))
  }
  const showLast = (seconds: number) => {
    // Loaded first, it shows all of what was found.
    if (hasOlder && whole.max - seconds < whole.min) {
      show(whole)
      loadOlder?.((whole.max - seconds) * 1_000)
    } else show({ min: Math.max(whole.min, whole.max - seconds), max: whole.max })
  }
  const read = (next: number) => {
    const at = times[Math.min(last, Math.max(0, next))]
    const u = plot.current
    if (at === undefined || !u) return
    const { min, max } = view.current ?? whole
    if (at < min || at > max) show({ min: at - (max - min) / 2, max: at + (max - min) / 2 })
    pointAt(u, at)
    setShownAt(at * 1_000)
  }
  usePanning(holder, pan)

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { key, shiftKey } = event
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key]
    if (step !== undefined) {
      if (shiftKey) pan(step * PAN_SHARE)
      else read(place + step)
    } else if (key === 'Home') read(0)
    else if (key === 'End') read(last)
    else if (key === '+' || key === '=') zoom(0.5)
    else if (key === '-' || key === '_') zoom(2)
    else if (key === '0') show(whole)
    else return
    event.preventDefault()
  }
  const hasBand = useMemo(() => points.some(({ high }) => high != null), [points])
  const hasAnomaly = useMemo(() => points.some(({ isAnomaly }) => isAnomaly), [points])
  return (
    <figure class="chart">
      <figcaption>
        <span class="legend">
          <Key of="line" text={`${isBars ? chartTexts.changes : texts.value}${unit && ` (${unit})`}`} />
          {hasBand && <Key of="band" text={texts.expected} />}
          {listThresholds(threshold).length > 0 && <Key of="threshold" text={texts.threshold} />}
          {hasAnomaly && <Key of="anomaly" text={texts.anomaly} />}
          {before && <Key of="before" text={chartTexts.weekBefore} />}
          {MARK_KINDS.filter(kind => marks.some(mark => mark.kind === kind)).map(kind => (
            <span key={kind}>
              <span class={`key mark ${kind}`}>{kind !== 'run' && MARK_LETTERS[kind]}</span>
              {chartTexts[kind]}
            </span>
          ))}
          {hours && <Key of="idle" text="not operating" />}
        </span>
        {last > 0 && <span class="shown">{texts.shownRange(...describeView(shownView ?? whole))}</span>}
        <span class="ranges" role="group" aria-label="Range">
          {RANGES.filter(
            ([, seconds]) => hasOlder || seconds === Infinity || seconds < (whole.max - whole.min) * 1.2,
          ).map(([name, seconds]) => (
            <button key={name} class="small" onClick={() => showLast(seconds)}>
              {name}
            </button>
          ))}
          <span class="quiet" role="status">
            {isLoading && 'Loading older values…'}
          </span>
        </span>
      </figcaption>
      <div class="plot-box">
        <div
          ref={holder}
          class="plot"
          tabindex={0}
          role="img"
          aria-label={`${title}. Arrow keys read the values one by one, with Shift they move the range. Plus and minus zoom, 0 shows all.`}
          onKeyDown={onKeyDown}
        />
        {drawHandle?.({ plot, place: placeHandle })}
      </div>
      <Readout of={points[place]} unit={unit} marks={marks} isChange={isBars} />
    </figure>
  )
}

/** The function that finds the time outside operation; most tables have no hours, so its module is loaded with them. */
function useIdleSpans(hours: OperatingHours | null): FindIdle | null {
  const [find, setFind] = useState<FindIdle | null>(null)
  useEffect(() => {
    let isLatest = true
    if (!hours) return setFind(null)
    void import('./operating-hours.ts').then(
      ({ findIdleSpans }) =>
        isLatest && setFind(() => (from: number, to: number) => findIdleSpans(hours, from, to)),
    )
    return () => {
      isLatest = false
    }
  }, [hours])
  return find
}

const pointAt = (u: uPlot, seconds: number) =>
  u.setCursor({ left: u.valToPos(seconds, 'x'), top: HEIGHT / 2 })

/** The last month of a longer past; null is all. */
function firstView(points: readonly ChartPoint[]): View | null {
  const [first, last] = [points[0], points.at(-1)].map(point => (point?.at ?? 0) / 1_000) as [number, number]
  return last - first > MONTH_SECONDS ? { min: last - MONTH_SECONDS, max: last } : null
}

function Key({ of, text }: { of: string; text: string }) {
  return (
    <span>
      <span class={`key ${of}`} />
      {text}
    </span>
  )
}
