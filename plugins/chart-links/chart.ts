import { html, type Markup } from '../../server/markup.ts'
import type { CheckSeries } from '../checks/api.ts'

type Point = CheckSeries['points'][number]

const WIDTH = 820
const HEIGHT = 280
const LEFT = 64
const BOTTOM = 24
const TOP = 8
const TICKS = 4

/** Draws a series as SVG: its expected range, its values as a line, and a diamond for each that failed. */
export function drawChart(title: string, points: readonly Point[]): Markup {
  const known = points.filter((point): point is Point & { value: number } => point.value !== null)
  const all = points.flatMap(({ value, low, high }) => [value, low, high]).filter(it => it !== null)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const margin = all.length === 0 ? 1 : (most - least || Math.abs(most) || 1) * 0.08
  const from = all.length === 0 ? 0 : least >= 0 && least < margin ? 0 : least - margin
  const to = all.length === 0 ? 1 : most + margin
  const [first, last] = [points[0]!.at, points.at(-1)!.at]
  const x = (at: number) =>
    round(first === last ? (LEFT + WIDTH) / 2 : LEFT + ((at - first) / (last - first)) * (WIDTH - LEFT - 8))
  const y = (value: number) => round(TOP + ((to - value) / (to - from)) * (HEIGHT - TOP - BOTTOM))
  const failed = known.filter(({ status }) => status === 'fail')
  const levels = Array.from({ length: TICKS + 1 }, (_, n) => from + ((to - from) * n) / TICKS)
  const times = first === last ? [first] : [first, (first + last) / 2, last]
  const latest = known.at(-1)
  return html`<svg
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
    aria-label="${title}. ${latest ? `The last value is ${writeNumber(latest.value)}. ` : ''}${failed.length} failed."
  >
    ${levels.map(
      level =>
        html`<path class="grid" d="M${LEFT} ${y(level)}H${WIDTH}" />
          <text x="${LEFT - 8}" y="${y(level) + 4}" text-anchor="end">${writeNumber(level)}</text>`,
    )}
    ${times.map(
      (at, n) =>
        html`<text x="${x(at)}" y="${HEIGHT - 6}" text-anchor="${['start', 'middle', 'end'][n] ?? 'middle'}">
          ${new Date(at).toISOString().slice(0, 10)}
        </text>`,
    )}
    ${drawBand(points, x, y)}
    <path class="line" d="${drawLine(points, x, y)}" />
    ${
      known.length < 60
        ? known.map(({ at, value }) => html`<circle class="dot" cx="${x(at)}" cy="${y(value)}" r="2" />`)
        : null
    }
    ${failed.map(
      ({ at, value }) => html`<path class="anomaly" d="M${x(at)} ${y(value) - 6}l6 6l-6 6l-6 -6z" />`,
    )}
  </svg>`
}

type Scale = (value: number) => number

/** Interrupted where a value is missing. */
function drawLine(points: readonly Point[], x: Scale, y: Scale): string {
  return points
    .map(({ at, value }, n) =>
      value === null ? '' : `${(points[n - 1]?.value ?? null) === null ? 'M' : 'L'}${x(at)} ${y(value)}`,
    )
    .join('')
}

function drawBand(points: readonly Point[], x: Scale, y: Scale): Markup | null {
  const banded = points.filter(
    (point): point is Point & { low: number; high: number } => point.low !== null && point.high !== null,
  )
  if (banded.length < 2) return null
  const upper = banded.map(({ at, high }) => `${x(at)} ${y(high)}`)
  const lower = banded.toReversed().map(({ at, low }) => `${x(at)} ${y(low)}`)
  return html`<path class="band" d="M${[...upper, ...lower].join('L')}z" />`
}

const round = (value: number) => Math.round(value * 10) / 10
const writeNumber = (value: number) => String(Number(value.toPrecision(4)))
