import type { ColumnProfile } from 'tidemark/client'
import { formatNumber } from '../../lib/format.ts'
import { profileTexts as texts } from '../profile/texts.ts'

const WIDTH = 96
const HEIGHT = 20
const MAX_BARS = 8

interface Bar {
  x: number
  width: number
  /** From 0 to 1. */
  height: number
}

/** How the values of a column are spread: bars of quantiles of numbers, or of the most frequent values. */
export function Distribution({ column }: { column: ColumnProfile }) {
  const { quantiles, top_values: values, count } = column
  if (quantiles && quantiles.p95 > quantiles.p05) {
    const text = `90 % of the values are from ${formatNumber(quantiles.p05)} to ${formatNumber(quantiles.p95)}, ${texts.median(quantiles.p50)}`
    return <Bars bars={densityBars(quantiles)} text={text} />
  }
  if (!values || values.length === 0 || !count) return <Days of={column} />
  const shown = values.slice(0, MAX_BARS)
  const width = WIDTH / MAX_BARS
  const bars = shown.map(({ count: rows }, n) => ({
    ...{ x: n * width, width: width - 2 },
    height: rows / shown[0]!.count,
  }))
  const text = shown
    .map(
      ({ value, count: rows }) =>
        `${value === '' ? '""' : value} ${texts.percent(Math.round((1_000 * rows) / count) / 10)}`,
    )
    .join(', ')
  return <Bars bars={bars} text={text} />
}

/** The first and the last day of a column of times, which has no quantiles. */
function Days({ of: { min, max, kind } }: { of: ColumnProfile }) {
  if ((kind !== 'timestamp' && kind !== 'date') || min === null || max === null) return null
  return <span class="quiet">{[min, max].map(time => String(time).slice(0, 10)).join(' to ')}</span>
}

/** The share of values in each quarter between two quantiles over its width, so that dense parts stand high. */
export function densityBars({ p05, p25, p50, p75, p95 }: NonNullable<ColumnProfile['quantiles']>): Bar[] {
  const limits = [p05, p25, p50, p75, p95]
  const shares = [20, 25, 25, 20]
  const span = p95 - p05
  // Many equal values make a part without a width; it is drawn two pixels wide.
  const parts = shares.map((share, n) => {
    const width = Math.max(2, ((limits[n + 1]! - limits[n]!) / span) * WIDTH)
    const x = Math.min(((limits[n]! - p05) / span) * WIDTH, WIDTH - width)
    return { x, width, density: share / width }
  })
  const most = Math.max(...parts.map(({ density }) => density))
  return parts.map(({ x, width, density }) => ({ x, width: Math.max(width - 1, 1), height: density / most }))
}

function Bars({ bars, text }: { bars: readonly Bar[]; text: string }) {
  return (
    <svg class="distribution" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={text}>
      <title>{text}</title>
      {bars.map(({ x, width, height }, n) => {
        const size = Math.max(1, height * HEIGHT)
        return <rect key={n} x={x} width={width} y={HEIGHT - size} height={size} />
      })}
    </svg>
  )
}
