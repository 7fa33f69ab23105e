import { useData } from '../lib/data.ts'
import { html } from '../lib/html.ts'
import type { ChartMark, ChartPoint } from './chart.ts'
import { lazy } from './lazy.ts'
import { Loaded } from './states.ts'

/** The chart and its library are loaded with the first series. */
const LazyChart = lazy(async () => (await import('./chart.ts')).Chart)

/**
 * A chart of what a request returns.
 * @param id names the request
 */
export function SeriesChart({
  id,
  title,
  unit,
  load,
  threshold,
  marks,
}: {
  id: string
  title: string
  unit?: string
  load: (signal: AbortSignal) => Promise<ChartPoint[]>
  threshold?: number | null
  marks?: readonly ChartMark[]
}) {
  const series = useData(id, load)
  return html`<div class="chart-box">
    <${Loaded} of=${series} what=${title} rows=${7}>
      ${(points: readonly ChartPoint[]) =>
        html`<${LazyChart}
          title=${title}
          unit=${unit}
          points=${points}
          threshold=${threshold}
          marks=${marks}
        />`}
    <//>
  </div>`
}
