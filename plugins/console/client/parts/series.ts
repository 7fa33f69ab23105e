import type { ComparisonResult } from 'tidemark/client'
import { countOf, formatNumber, formatTime } from '../lib/format.ts'
import { api } from '../lib/api.ts'
import type { OperatingHours } from './chart/operating-hours.ts'
import type { ChartPoint, Threshold } from './chart/points.ts'

/** Results that one request asks for, the most that the API gives: 41 days of an hourly check, and years of a daily one. */
const PAGE_LIMIT = 1_000

/** Which page of results is asked for. */
export interface PageRequest {
  /** Newer results before the page. */
  offset: number
  signal: AbortSignal
}

/** Newest values of a chart, with what is drawn beside them. */
export interface Series {
  /** The oldest first. */
  points: readonly ChartPoint[]
  /** Results that were loaded; not all of them need be points. */
  loaded: number
  /** Whether the API has older results. */
  hasOlder: boolean
  /** Limits that values are to keep. */
  threshold?: Threshold
  /** Whether changes from value to value are judged, not the values. */
  isJudgedByChange?: boolean
  /** The hours that the values are judged by. */
  hours?: OperatingHours | null
}

/** The fields of a result that is about a bucket of time. */
interface BucketResult {
  bucket_end?: string
  revisions?: number
  first_value?: number | null
}

/** What a check is asked by. */
export interface CheckKey {
  /** The table, by its id or qualified name. */
  table: string
  id: string
}

/** A series with the page before it. A result that came meanwhile moves all others by one, so that pages overlap. */
export function prependPage(series: Series, page: Series): Series {
  const first = series.points[0]?.at ?? Infinity
  return {
    ...series,
    points: [...page.points.filter(({ at }) => at < first), ...series.points],
    loaded: series.loaded + page.loaded,
    hasOlder: page.hasOlder,
  }
}

/** The values of a metric. */
export async function loadMetricSeries(
  { table, id }: CheckKey,
  { offset, signal }: PageRequest,
): Promise<Series> {
  const { data, pagination } = await api.get('/api/v1/sdk/metrics/{asset_id}/{metric_id}/snapshots', {
    path: { asset_id: table, metric_id: id },
    query: { limit: PAGE_LIMIT, offset },
    signal,
  })
  const points = data.items.map(snapshot => ({
    at: Date.parse(snapshot.captured_at),
    value: snapshot.value,
    low: snapshot.expected_range_low,
    high: snapshot.expected_range_high,
    isAnomaly: snapshot.status === 'FAIL',
    explanation: snapshot.error_message ?? snapshot.explanation,
    lines: [...(snapshot.learning ? ['learning'] : []), ...describeBucket(snapshot)],
  }))
  const threshold = [data.min, data.max].filter(limit => limit !== null)
  const isJudgedByChange = data.items.find(({ judged_by: by }) => by !== null)?.judged_by === 'change'
  return { ...seriesOf(points, pagination.has_more), threshold, isJudgedByChange }
}

/** The invalid percentage of a rule at each check. */
export async function loadRuleSeries(
  { table, id }: CheckKey,
  { offset, signal }: PageRequest,
): Promise<Series> {
  const { data, pagination } = await api.get('/api/v1/sdk/validity/{asset_id}/{rule_id}/results', {
    path: { asset_id: table, rule_id: id },
    query: { limit: PAGE_LIMIT, offset },
    signal,
  })
  const points = data.items.map(result => ({
    at: Date.parse(result.checked_at),
    // A check that could not run has counted nothing.
    value: result.status === 'error' ? null : result.invalid_percent,
    low: result.expected_range_low,
    high: result.expected_range_high,
    isAnomaly: result.status === 'fail',
    lines: [
      result.status === 'error'
        ? (result.error_message ?? '')
        : `${result.invalid_count.toLocaleString('en-GB')} of ${countOf(result.total_rows, 'row')} invalid`,
      ...describeBucket(result, ' %'),
    ],
  }))
  return {
    ...seriesOf(points, pagination.has_more),
    threshold: data.threshold,
    hours: data.operating_hours,
  }
}

/** The orphans of a referential check at each check. */
export async function loadReferentialSeries(
  { table, id }: CheckKey,
  { offset, signal }: PageRequest,
): Promise<Series> {
  const { data, pagination } = await api.get('/api/v1/sdk/referential/{asset_id}/{check_id}/results', {
    path: { asset_id: table, check_id: id },
    query: { limit: PAGE_LIMIT, offset },
    signal,
  })
  const points = data.items.map(result => ({
    at: Date.parse(result.checked_at),
    value: result.status === 'error' ? null : result.orphan_count,
    isAnomaly: result.status === 'fail',
    lines: result.error_message ? [result.error_message] : [],
  }))
  return seriesOf(points, pagination.has_more)
}

/** The differing rows of a comparison at each check; the aggregates that differ, where these are compared. */
export async function loadComparisonSeries(
  { table, id }: CheckKey,
  { offset, signal }: PageRequest,
): Promise<Series> {
  const { data, pagination } = await api.get('/api/v1/sdk/comparisons/{asset_id}/{comparison_id}/results', {
    path: { asset_id: table, comparison_id: id },
    query: { limit: PAGE_LIMIT, offset },
    signal,
  })
  const points = data.items.map(result => ({
    at: Date.parse(result.checked_at),
    value: result.differing_rows,
    isAnomaly: result.status === 'fail',
    lines: [result.error_message ?? describeSides(result), ...describeBucket(result)].filter(Boolean),
  }))
  return seriesOf(points, pagination.has_more)
}

function describeSides({ only_left: left, only_right: right, differing }: ComparisonResult): string {
  const parts = [
    [left, 'only left'],
    [right, 'only right'],
    [differing, 'with other values'],
  ] as const
  return parts
    .flatMap(([count, what]) => (count ? [`${count.toLocaleString('en-GB')} ${what}`] : []))
    .join(', ')
}

/** The age of a table's newest row at each check of its freshness in hours. */
export async function loadFreshnessSeries(table: string, { offset, signal }: PageRequest): Promise<Series> {
  const { data } = await api.get('/api/v1/sdk/freshness/{asset_id}/history', {
    path: { asset_id: table },
    query: { limit: PAGE_LIMIT, offset },
    signal,
  })
  const points = data.data.map(check => ({
    at: Date.parse(check.checked_at),
    value: check.data_age_minutes === null ? null : check.data_age_minutes / 60,
    isAnomaly: check.status === 'stale',
    lines: check.error_message ? [check.error_message] : [],
  }))
  return seriesOf(points, data.pagination.has_more)
}

/** What a value says of its bucket of time; nothing of a check without a window. @param unit of the value, with a space */
function describeBucket(result: BucketResult, unit = ''): string[] {
  const { bucket_end: end, revisions = 0, first_value: first } = result
  if (end === undefined) return []
  const revised = `revised ${countOf(revisions, 'time')}, first value ${first == null ? 'none' : `${formatNumber(first)}${unit}`}`
  return [`bucket until ${formatTime(end)}`, ...(revisions > 0 ? [revised] : [])]
}

/** @param points the newest first, as the API lists them */
function seriesOf(points: ChartPoint[], hasOlder: boolean): Series {
  return { loaded: points.length, points: points.reverse(), hasOlder }
}

/** A threshold of freshness such as `24h` or `2d`, in hours; null for another form. */
export function readHours(threshold: string | null): number | null {
  const [, count, unit] = /^(\d+(?:\.\d+)?)(m|h|d|w)$/.exec(threshold ?? '') ?? []
  const size = { m: 1 / 60, h: 1, d: 24, w: 168 }[unit ?? '']
  return size === undefined ? null : Number(count) * size
}
