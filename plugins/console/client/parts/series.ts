import { api } from '../lib/api.ts'
import { formatNumber } from '../lib/format.ts'
import { texts } from '../texts.ts'
import type { ChartPoint } from './chart.ts'

/** Values of one chart: as many as the API gives in one reply, which is 41 days of an hourly check and years of a daily one. */
const LIMIT = 1_000
/** The same for freshness. */
const FRESHNESS_LIMIT = 100

/** What a check is asked by. */
export interface CheckKey {
  /** The table, by its id or qualified name. */
  table: string
  id: string
}

/** The values of a metric, oldest first. */
export async function loadMetricSeries({ table, id }: CheckKey, signal: AbortSignal): Promise<ChartPoint[]> {
  const { data } = await api.get('/api/v1/sdk/metrics/{asset_id}/{metric_id}/snapshots', {
    path: { asset_id: table, metric_id: id },
    query: { limit: LIMIT },
    signal,
  })
  return data.items
    .filter(({ captured_at: at }) => at !== null)
    .map(snapshot => ({
      at: Date.parse(snapshot.captured_at),
      value: snapshot.value,
      low: snapshot.expected_range_low,
      high: snapshot.expected_range_high,
      isAnomaly: snapshot.is_anomaly,
      lines: [
        ...(snapshot.is_anomaly ? [`z ${formatNumber(snapshot.z_score)}`] : []),
        ...(snapshot.learning ? [texts.learning] : []),
        ...(snapshot.error_message ? [snapshot.error_message] : []),
      ],
    }))
    .reverse()
}

/** The invalid percentage of a rule at each check, oldest first. */
export async function loadRuleSeries({ table, id }: CheckKey, signal: AbortSignal): Promise<ChartPoint[]> {
  const { data } = await api.get('/api/v1/sdk/validity/{asset_id}/{rule_id}/results', {
    path: { asset_id: table, rule_id: id },
    query: { limit: LIMIT },
    signal,
  })
  return data.items
    .map(result => ({
      at: Date.parse(result.checked_at),
      // A check that could not run has counted nothing.
      value: result.status === 'error' ? null : result.invalid_percent,
      low: result.expected_range_low,
      high: result.expected_range_high,
      isAnomaly: result.status === 'fail',
      lines:
        result.status === 'error'
          ? [result.error_message ?? '']
          : [texts.invalidOf(result.invalid_count, result.total_rows)],
    }))
    .reverse()
}

/** The orphans of a referential check at each check, oldest first. */
export async function loadReferentialSeries(
  { table, id }: CheckKey,
  signal: AbortSignal,
): Promise<ChartPoint[]> {
  const { data } = await api.get('/api/v1/sdk/referential/{asset_id}/{check_id}/results', {
    path: { asset_id: table, check_id: id },
    query: { limit: LIMIT },
    signal,
  })
  return data.items
    .map(result => ({
      at: Date.parse(result.checked_at),
      value: result.status === 'error' ? null : result.orphan_count,
      isAnomaly: result.status === 'fail',
    }))
    .reverse()
}

/** The age of a table's newest row at each check of its freshness in hours, oldest first. */
export async function loadFreshnessSeries(table: string, signal: AbortSignal): Promise<ChartPoint[]> {
  const { data } = await api.get('/api/v1/sdk/freshness/{asset_id}/history', {
    path: { asset_id: table },
    query: { limit: FRESHNESS_LIMIT },
    signal,
  })
  return data.data
    .map(check => ({
      at: Date.parse(check.checked_at),
      value: check.data_age_minutes === null ? null : check.data_age_minutes / 60,
      isAnomaly: check.status === 'stale',
      lines: check.error_message ? [check.error_message] : [],
    }))
    .reverse()
}

/** A threshold of freshness such as `24h` or `2d`, in hours; null for another form. */
export function hoursOf(threshold: string | null): number | null {
  const [, count, unit] = /^(\d+(?:\.\d+)?)(m|h|d|w)$/.exec(threshold ?? '') ?? []
  const size = { m: 1 / 60, h: 1, d: 24, w: 168 }[unit ?? '']
  return size === undefined ? null : Number(count) * size
}
