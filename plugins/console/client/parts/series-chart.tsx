import { useEffect, useRef, useState } from 'preact/hooks'
import { useData } from '../lib/data.ts'
import { texts } from '../texts.ts'
import { lazy } from './lazy.tsx'
import { notify } from './notices.tsx'
import { prependPage, type PageRequest, type Series } from './series.ts'
import { describeError, Loaded } from './states.tsx'

/** The chart and its library are loaded with the first series. */
export const LazyChart = lazy(async () => (await import('./chart/chart.tsx')).Chart)
const LazyChosenChart = lazy(async () => (await import('./chart/chosen-chart.tsx')).ChosenChart)

/** Values that one chart shows at most: more than a year of an hourly check. */
const MAX_POINTS = 10_000

/** The newest values of a check, and a function that loads those before them. */
function useSeries(id: string, load: (page: PageRequest) => Promise<Series>) {
  const series = useData<Series>(id, signal => load({ offset: 0, signal }))
  const [isLoading, setLoading] = useState(false)
  /** The state above is a render late. */
  const isBusy = useRef(false)
  const latest = useRef<Series>(undefined)
  latest.current = series.data
  /** Ends when the chart shows something else. */
  const abort = useRef(new AbortController())
  useEffect(() => {
    abort.current = new AbortController()
    isBusy.current = false
    setLoading(false)
    return () => abort.current.abort()
  }, [id])

  const canLoad = ({ hasOlder, loaded }: Series) => hasOlder && loaded < MAX_POINTS
  const loadOlder = async (from: number) => {
    if (isBusy.current || !latest.current) return
    isBusy.current = true
    const { signal } = abort.current
    let known = latest.current
    setLoading(true)
    try {
      while (canLoad(known) && (known.points[0]?.at ?? Infinity) > from) {
        known = prependPage(known, await load({ offset: known.loaded, signal }))
        const shown = known
        series.update(() => shown)
      }
    } catch (error) {
      if (!signal.aborted)
        notify(`${texts.failedTo('older values')} ${describeError(error)}`, { isError: true })
    }
    if (signal.aborted) return
    isBusy.current = false
    setLoading(false)
  }
  const hasOlder = series.data !== undefined && canLoad(series.data)
  return { series, hasOlder, isLoading, loadOlder }
}

/**
 * A chart of what a request returns.
 * @param id names the request
 * @param threshold defaults to that of the series
 * @param table whose changes, runs and incidents are marked
 * @param openedAt when the alert was opened that the chart explains, which is marked
 */
export function SeriesChart({
  id,
  title,
  unit,
  load,
  threshold,
  table,
  openedAt,
}: {
  id: string
  title: string
  unit?: string
  load: (page: PageRequest) => Promise<Series>
  threshold?: number | null
  table?: string
  openedAt?: string
}) {
  const { series, ...older } = useSeries(id, load)
  return (
    <div class="chart-box">
      <Loaded of={series} what={title} rows={7}>
        {(found: Series) => (
          <LazyChosenChart
            {...older}
            key={id}
            title={title}
            unit={unit}
            table={table}
            openedAt={openedAt}
            series={found}
            threshold={threshold ?? found.threshold}
          />
        )}
      </Loaded>
    </div>
  )
}
