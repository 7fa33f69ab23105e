import { formatDay, formatNumber, formatTime } from '../../lib/format.ts'
import type { Check } from '../../parts/check-cells.tsx'
import { Drawing } from './drawing.tsx'
import { pageTexts as texts } from './texts.ts'

const HEIGHT = 120
const LABEL_HEIGHT = 16
const PADDING = 6

/** The last row counts of a table with the range that was expected, from the points that a list of checks carries. */
export function Volume({ check: { points } }: { check: Check }) {
  const known = points.flatMap(({ value, ...rest }) => (value === null ? [] : { value, ...rest }))
  if (known.length < 2) return null
  const limits = known.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value])
  const [least, most] = [Math.min(...limits), Math.max(...limits)]
  const times = known.map(({ at }) => Date.parse(at))
  const [from, until] = [times[0]!, times.at(-1)!]
  const last = known.at(-1)!
  return (
    <section class="update-history volume">
      <h2>{texts.volume}</h2>
      <p>{texts.rowsAt(formatNumber(last.value), formatTime(last.at))}</p>
      <Drawing
        height={HEIGHT + LABEL_HEIGHT}
        label={texts.volumeOf(known.length, formatNumber(known[0]!.value), formatNumber(last.value))}
      >
        {(width: number) => {
          const x = (n: number) => (until === from ? 0 : (width * (times[n]! - from)) / (until - from))
          const y = (value: number) =>
            most === least ? HEIGHT / 2 : PADDING + ((HEIGHT - 2 * PADDING) * (most - value)) / (most - least)
          const pathOf = (values: readonly [number, number][]) =>
            values.map(([left, top], n) => `${n ? 'L' : 'M'}${left.toFixed(1)} ${top.toFixed(1)}`).join('')
          const banded = known.flatMap(({ low, high }, n) =>
            low == null || high == null ? [] : { n, low, high },
          )
          const band = pathOf([
            ...banded.map(({ n, high }) => [x(n), y(high)] as [number, number]),
            ...banded.toReversed().map(({ n, low }) => [x(n), y(low)] as [number, number]),
          ])
          return (
            <>
              {banded.length > 1 && <path class="band" d={band} />}
              <path class="values" d={pathOf(known.map(({ value }, n) => [x(n), y(value)]))} />
              {known.map(({ at, value, status }, n) => (
                <circle
                  key={at}
                  class={status === 'failing' ? 'late' : ''}
                  cx={x(n)}
                  cy={y(value)}
                  r={status === 'failing' ? 4 : 2}
                >
                  <title>{`${formatTime(at)}: ${formatNumber(value)}`}</title>
                </circle>
              ))}
              <text x="4" y="10">
                {formatNumber(most)}
              </text>
              <line class="axis" x1="0" x2={width} y1={HEIGHT} y2={HEIGHT} />
              <text x="0" y={HEIGHT + 13}>
                {formatDay(from)}
              </text>
              <text x={width} y={HEIGHT + 13} text-anchor="end">
                {formatDay(until)}
              </text>
            </>
          )
        }}
      </Drawing>
    </section>
  )
}
