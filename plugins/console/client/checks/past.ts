import type { MetricDryRun, ValidityDryRun } from 'tidemark/client'
import type { ChartPoint } from '../parts/chart/points.ts'
import { tuningTexts } from './texts.ts'

/** A dry run with a past: of a rule or a metric. */
export type RunWithPast = ValidityDryRun | MetricDryRun

/** What a check is judged by, as the form has it now: a threshold, or a sensitivity. */
export type Limit = { threshold: number } | { sensitivity: number }

type Bands = RunWithPast['bands']

export const isRule = (run: RunWithPast): run is ValidityDryRun => 'invalid_percent' in run

const bandAt = (bands: Bands, limit: Limit) =>
  'sensitivity' in limit ? bands.find(({ sensitivity }) => sensitivity === limit.sensitivity) : undefined

/** Whether a value is beyond a limit; undefined where its range is not known. Rules have no lower edge. */
function isBeyond(value: number | null, bands: Bands, limit: Limit, hasLowerEdge: boolean) {
  if (value === null) return false
  if ('threshold' in limit) return value > limit.threshold
  if (bands.length === 0) return false
  const band = bandAt(bands, limit)
  return band && (value > band.high || (hasLowerEdge && value < band.low))
}

/** The value that a dry run has measured now; null where there is none, or one for each group. */
export function valueNow(run: RunWithPast): number | null {
  if (!isRule(run)) return run.value
  return run.status === 'error' ? null : run.invalid_percent
}

/** Whether the value of now is beyond a limit that the form has taken on since. */
export function isBeyondNow(run: RunWithPast, limit: Limit): boolean | undefined {
  return isBeyond(valueNow(run), run.bands, limit, !isRule(run))
}

/**
 * The past and the value of now for a chart, judged by a limit. The source is not asked again.
 * @param now when the newest value was measured, and what it is
 */
export function chartPast(run: RunWithPast, limit: Limit, now: { at: number; newest: string }): ChartPoint[] {
  const past = run.history.series.map(({ at, value, bands, learning }) => {
    const band = bandAt(bands, limit)
    return {
      at: Date.parse(at),
      value,
      low: band?.low ?? null,
      high: band?.high ?? null,
      isAnomaly: isBeyond(value, bands, limit, !isRule(run)) ?? false,
      lines: learning && 'sensitivity' in limit ? [tuningTexts.isLearning] : [],
    }
  })
  const value = valueNow(run)
  if (value === null) return past
  const band = bandAt(run.bands, limit)
  return [
    ...past,
    {
      at: now.at,
      value,
      low: band?.low ?? null,
      high: band?.high ?? null,
      isAnomaly: isBeyondNow(run, limit) ?? false,
      lines: [now.newest],
    },
  ]
}

/** How many alerts a limit would have raised, failures in a row being one; null where the past is not known. */
export function countAlerts({ history }: RunWithPast, limit: Limit): number | null {
  if (history.source === null) return null
  if ('sensitivity' in limit)
    return (
      history.by_sensitivity?.find(({ sensitivity }) => sensitivity === limit.sensitivity)?.alerts ?? null
    )
  const { threshold } = limit
  const fails = history.series.map(({ value }) => value !== null && value > threshold)
  return fails.filter((isFailing, n) => isFailing && !fails[n - 1]).length
}

/** The sensitivity whose upper edge is nearest to a value on the chart. */
export function nearestSensitivity(run: RunWithPast, value: number): number | undefined {
  const whole = lastBands(run).filter(({ sensitivity }) => Number.isInteger(sensitivity) && sensitivity <= 4)
  return whole.toSorted((a, b) => Math.abs(a.high - value) - Math.abs(b.high - value))[0]?.sensitivity
}

/** The ranges of now; those of the last value while nothing is expected of the next one. */
const lastBands = ({ bands, history }: RunWithPast): Bands =>
  bands.length > 0 ? bands : (history.series.at(-1)?.bands ?? [])

/** The upper edge of the last range at the limit's sensitivity. */
export function upperEdge(run: RunWithPast, limit: Limit): number | undefined {
  return bandAt(lastBands(run), limit)?.high
}
