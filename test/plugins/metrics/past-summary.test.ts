import t from 'tap'
import { summarizePast } from '../../../plugins/metrics/past-summary.ts'
import { settingsOf } from '../../../plugins/metrics/thresholds.ts'

const body = {
  metric_type: 'row_count',
  table_path: 'orders',
  lookback_days: 14,
  sensitivity: 2,
  capture_interval: 'daily',
  group_by_columns: [] as string[],
  direction: 'both',
  consecutive: 1,
  filter: null,
  time_column: null,
  window: null,
  window_delay: null,
  revisit: null,
} as const

const point = (at: number, zScore: number, isLearning = false) => ({ at, value: at, zScore, isLearning })

t.test('the summary of a past recommends a sensitivity only where there would be many alerts', async t => {
  const calm = Array.from({ length: 20 }, (_, n) => point(n + 1, 0))
  const said = (replayed: ReturnType<typeof point>[]) =>
    summarizePast(body, settingsOf(body), { replayed }) as Record<string, unknown>
  t.match(said([]), { total_snapshots: 0, avg_value: null, recommendation: /no values in the last 14 days/ })
  t.match(said([point(1, 9, true)]), { would_alert_count: 0, recommendation: /^Too few values/ })
  t.match(said(calm), {
    avg_value: 10.5,
    recommendation: 'Sensitivity 2 would have raised 0 alerts in the last 14 days',
  })
  t.match(said([...calm.slice(1), point(30, -2.5)]), {
    would_alert_count: 1,
    alert_rate_percent: 5,
    recommendation: 'Sensitivity 2 would have raised 1 alert in the last 14 days',
  })
  t.match(
    said([...calm.slice(5), point(30, 2.5), point(31, 0), point(32, 2.5), point(33, 0), point(34, 3.5)]),
    {
      alert_rate_percent: 15,
      recommendation:
        'Sensitivity 2 would have raised 3 alerts in the last 14 days; sensitivity 3 would have raised 1',
    },
  )
  t.match(said([point(1, 9), point(2, 9)]), {
    alert_rate_percent: 100,
    recommendation: 'Sensitivity 2 would have raised 1 alert in the last 14 days',
  })
})

t.test('where a threshold alone counts, the summary names it and proposes no sensitivity', async t => {
  const limited = { ...body, max: 30 }
  const replayed = [
    { ...point(1, 9), isBreach: false },
    { ...point(40, 0), isBreach: true },
  ]
  t.match(summarizePast(limited, settingsOf(limited), { replayed }), {
    threshold_type: 'max',
    threshold_value: 30,
    would_alert_count: 1,
    sample_alerts: [{ value: 40, threshold_type: 'max', threshold_value: 30 }],
    recommendation: 'These thresholds would have raised 1 alert in the last 14 days',
  })
})
