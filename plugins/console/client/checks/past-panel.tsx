import { useMemo } from 'preact/hooks'
import { countOf, formatNumber } from '../lib/format.ts'
import { DataTable, type Column } from '../parts/table/data-table.tsx'
import { LazyChart } from '../parts/series-chart.tsx'
import { ThresholdHandle, type ChartHandle, type PlaceHandle } from '../parts/chart/threshold-handle.tsx'
import { tuningTexts } from './texts.ts'
import {
  chartPast,
  countAlerts,
  isBeyondNow,
  isRule,
  nearestSensitivity,
  upperEdge,
  type Limit,
  type RunWithPast,
} from './past.ts'
import { Status } from '../parts/status.tsx'

/** The percentage that an arrow key moves a threshold by. */
const THRESHOLD_STEP = 1

/** What the past would have said: a chart, and the alerts of each sensitivity. A change asks the source for nothing. */
export function PastPanel({
  run,
  at,
  newest,
  limit,
  setLimit,
}: {
  run: RunWithPast
  /** When it was measured. */
  at: number
  /** What the value is that was measured then. */
  newest: string
  limit: Limit
  setLimit(limit: Limit): void
}) {
  const { history } = run
  const limitKey = JSON.stringify(limit)
  const points = useMemo(() => chartPast(run, limit, { at, newest }), [run, at, limitKey])
  const isUnknown = 'sensitivity' in limit && run.bands.length > 0 && upperEdge(run, limit) === undefined
  const handle = handleOf(run, limit, setLimit)
  return (
    <>
      <h3>{tuningTexts.past}</h3>
      <p class="quiet">
        {history.source === null
          ? history.message
          : tuningTexts.pastFrom(
              history.points,
              history.lookback_days,
              history.source === 'timestamps'
                ? newest === tuningTexts.newestBucket
                  ? `buckets of ${history.timestamp_column}`
                  : `computed from ${history.timestamp_column ?? 'timestamps'}, as if rows had only been added`
                : 'as they were measured',
            )}
      </p>
      {points.length > 1 && (
        <div class="chart-box">
          <LazyChart
            title={tuningTexts.past}
            unit={isRule(run) ? '%' : ''}
            points={points}
            threshold={'threshold' in limit ? limit.threshold : undefined}
            drawHandle={handle && ((at: PlaceHandle) => <ThresholdHandle {...at} handle={handle} />)}
          />
        </div>
      )}
      {points.length > 1 && handle && (
        <p class="quiet">Drag the handle at the right of the chart, or move it with the arrow keys.</p>
      )}
      {isUnknown && <p class="stale">{tuningTexts.noBand(limit.sensitivity)}</p>}
      <p>
        {'threshold' in limit && <>{tuningTexts.atThreshold(limit.threshold)}: </>}
        <strong>
          {tuningTexts.alertsAt(alertsNow(run, limit), countAlerts(run, limit), history.lookback_days)}
        </strong>
      </p>
      {'sensitivity' in limit && (
        <SensitivityTable run={run} chosen={limit.sensitivity} setLimit={setLimit} />
      )}
    </>
  )
}

/** The alerts of the value of now: none while too little is known to judge it. */
function alertsNow(run: RunWithPast, limit: Limit): number {
  if ('breach' in run && run.breach) return 1
  const isLearning = 'sensitivity' in limit && run.learning
  return !isLearning && isBeyondNow(run, limit) === true ? 1 : 0
}

function handleOf(run: RunWithPast, limit: Limit, setLimit: (limit: Limit) => void): ChartHandle | undefined {
  if ('threshold' in limit) {
    const set = (value: number) =>
      setLimit({ threshold: Number(Math.min(100, Math.max(0, value)).toPrecision(3)) })
    return {
      value: limit.threshold,
      label: 'Threshold on the chart',
      text: `${formatNumber(limit.threshold)} %`,
      drag: set,
      step: direction => set(limit.threshold + direction * THRESHOLD_STEP),
    }
  }
  const edge = upperEdge(run, limit)
  if (edge === undefined) return undefined
  const { sensitivity } = limit
  return {
    value: edge,
    label: 'Edge of the range on the chart',
    text: `${tuningTexts.sensitivity} ${sensitivity}`,
    drag(value) {
      const nearest = nearestSensitivity(run, value)
      if (nearest !== undefined && nearest !== sensitivity) setLimit({ sensitivity: nearest })
    },
    step: direction =>
      setLimit({ sensitivity: Math.min(4, Math.max(1, Math.round(sensitivity) + direction)) }),
  }
}

function SensitivityTable({
  run,
  chosen,
  setLimit,
}: {
  run: RunWithPast
  chosen: number
  setLimit(limit: Limit): void
}) {
  const rows = run.history.by_sensitivity ?? []
  if (rows.length === 0 || run.history.points === 0) return null
  const columns: Column<(typeof rows)[number]>[] = [
    {
      label: tuningTexts.sensitivity,
      isName: true,
      cell: ({ sensitivity }) => {
        const isChosen = sensitivity === chosen
        return (
          <>
            <button
              type="button"
              class="link"
              aria-label={`Use sensitivity ${sensitivity}`}
              aria-pressed={isChosen ? 'true' : 'false'}
              onClick={() => setLimit({ sensitivity })}
            >
              {sensitivity}
            </button>
            {isChosen && (
              <>
                {' '}
                <Status status="chosen" />
              </>
            )}
          </>
        )
      },
    },
    {
      label: `Alerts in the last ${countOf(run.history.lookback_days, 'day')}`,
      className: 'right',
      cell: row => row.alerts,
    },
    {
      label: 'Unusual values',
      className: 'right',
      cell: row => ('failing' in row ? row.failing : row.anomalies),
    },
  ]
  return (
    <DataTable
      className="by-sensitivity"
      columns={columns}
      rows={rows}
      keyOf={(row: (typeof rows)[number]) => row.sensitivity}
      chosen={chosen}
    />
  )
}
