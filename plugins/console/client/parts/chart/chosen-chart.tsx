import { useContext, useMemo } from 'preact/hooks'
import { useData } from '../../lib/data.ts'
import { changeQuery, useQuery } from '../../lib/router.ts'
import type { Series } from '../series.ts'
import { Chart } from './chart.tsx'
import { Readout } from './readout.tsx'
import { changesOf, valuesOfWeekBefore } from './derived.ts'
import { GivenMarks } from './given-marks.ts'
import { chartTexts } from './texts.ts'
import type { ChartMark, Threshold } from './points.ts'

const WEEK_MS = 7 * 86_400_000

interface ChosenChartProps {
  title: string
  unit?: string | undefined
  /** The table whose changes, runs and incidents are marked. */
  table?: string | undefined
  /** When the alert was opened that the chart explains. */
  openedAt?: string | undefined
  series: Series
  threshold?: Threshold | undefined
  hasOlder: boolean
  isLoading: boolean
  loadOlder: (from: number) => void
}

/** The chart of a series in the view that a person chose: values or changes, with the week before. The address keeps it. */
export function ChosenChart({
  title,
  unit,
  table,
  openedAt,
  series,
  threshold,
  hasOlder,
  isLoading,
  loadOlder,
}: ChosenChartProps) {
  const [query] = useQuery()
  const given = useContext(GivenMarks)
  const marks = useData<ChartMark[]>(table === undefined || given ? null : `marks ${table}`, async signal =>
    (await import('./marks.ts')).loadMarks(table!, signal),
  )
  const allMarks = useMemo<readonly ChartMark[]>(
    () => [
      ...(given ?? marks.data ?? []),
      ...(openedAt ? [{ at: Date.parse(openedAt), kind: 'alert' as const }] : []),
    ],
    [given, marks.data, openedAt],
  )
  const canChoose = series.isJudgedByChange === true
  const isBars = canChoose && query.get('chart') !== 'total'
  const { points: values } = series
  const points = useMemo(() => (isBars ? changesOf(values) : values), [isBars, values])
  const hasWeek = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0) > WEEK_MS
  const isCompared = hasWeek && query.get('compare') === 'week'
  const before = useMemo(() => (isCompared ? valuesOfWeekBefore(points) : undefined), [isCompared, points])
  return (
    <>
      {(canChoose || hasWeek) && (
        <p class="chart-choices">
          {canChoose && (
            <span class="choice" role="group" aria-label={chartTexts.view}>
              <button class="small" aria-pressed={isBars} onClick={() => changeQuery({ chart: null })}>
                {chartTexts.changes}
              </button>
              <button class="small" aria-pressed={!isBars} onClick={() => changeQuery({ chart: 'total' })}>
                {chartTexts.total}
              </button>
            </span>
          )}
          {hasWeek && (
            <button
              class="small"
              aria-pressed={isCompared}
              onClick={() => changeQuery({ compare: isCompared ? null : 'week' })}
            >
              {chartTexts.compare}
            </button>
          )}
        </p>
      )}
      {points.length > 1 ? (
        <Chart
          title={title}
          unit={unit}
          points={points}
          threshold={isBars ? null : threshold}
          hours={series.hours}
          marks={allMarks}
          isBars={isBars}
          before={before}
          hasOlder={hasOlder}
          isLoading={isLoading}
          loadOlder={loadOlder}
        />
      ) : (
        <Readout of={points[0]} unit={unit} marks={allMarks} isChange={isBars} />
      )}
    </>
  )
}
