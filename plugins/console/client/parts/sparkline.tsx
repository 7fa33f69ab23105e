/** A value of a series; with its verdict, and what was expected. */
export interface Point {
  at: string
  value: number | null
  status: string | null
  low?: number | null
  high?: number | null
}

const WIDTH = 96
const HEIGHT = 24

/** The last values of a check as a line, the last one marked if it failed. The numbers stand beside it. */
export function Sparkline({ points }: { points: readonly Point[] }) {
  const known = points.filter((point): point is Point & { value: number } => point.value !== null)
  if (known.length < 2) return <svg class="sparkline" aria-hidden="true" />
  const values = known.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const x = (n: number) => 2 + (n * (WIDTH - 4)) / (known.length - 1)
  const y = (value: number) =>
    high === low ? HEIGHT / 2 : 3 + ((high - value) * (HEIGHT - 6)) / (high - low)
  const line = known
    .map(({ value }, n) => `${n ? 'L' : 'M'}${x(n).toFixed(1)} ${y(value).toFixed(1)}`)
    .join('')
  const last = known.at(-1)!
  const isBad = /fail|error/i.test(last.status ?? '')
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={line} />
      <circle class={isBad ? 'bad' : ''} cx={x(known.length - 1)} cy={y(last.value)} r={isBad ? 3 : 2} />
    </svg>
  )
}
