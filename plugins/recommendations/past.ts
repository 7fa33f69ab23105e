import { tablePath } from '../../connectors/catalog.ts'
import { replayCadence, type ReplayedCadence } from './cadence.ts'
import { measuredFields } from './missing.ts'
import type { TableEvidence } from './rules/evidence.ts'
import type { TriedCheck, TriedPoint } from '../checks/api.ts'
import type { TriedReference } from '../referential/api.ts'
import type { IdentifiedSuggestion } from './rules/suggest.ts'
import type { RecommendationsDeps } from './deps.ts'

/** How far back a recommendation is tried. */
export const PAST_DAYS = 60
/** Points of the past that are kept for a chart. */
const MAX_POINTS = 100

/** A value of the past, and the band that it was judged by. */
export interface PastPoint {
  at: string
  value: number | null
  expected: number | null
  low: number | null
  high: number | null
  is_alert: boolean
}

/** What a check would have said in the past. */
export interface ComputedPast {
  days: number
  /** Where it was found: the table's own timestamps, or results of a check that measured the same. */
  source: 'timestamps' | 'stored' | null
  timestamp_column: string | null
  /** Checks of that time; null where the past is not known. */
  points: number | null
  /** Alerts that it would have raised, with that of now; null where neither is known. */
  alerts: number | null
  /** One sentence: what was found, or why it is not known. */
  message: string
  series: PastPoint[]
  /** For freshness: what was learned from the updates. */
  cadence?: { updates: number; typical_gap_hours: number; threshold_hours: number }
}

/**
 * Tries a recommended check on the past of its table, by the dry run of its kind. No transaction is open meanwhile.
 * @throws 409 `CONFLICT` when the source is switched off, 503 `UNAVAILABLE` while all its sessions are in use
 */
export async function computePast(
  deps: RecommendationsDeps,
  companyId: string,
  sourceId: string,
  table: TableEvidence,
  suggestion: IdentifiedSuggestion,
): Promise<ComputedPast> {
  const { metrics, validity, referential } = deps
  const common = { asset_id: sourceId, table_path: tablePath(table), lookback_days: PAST_DAYS }
  const { kind, column, settings, parent } = suggestion
  if (kind === 'referential' && parent) {
    const pair = { child: table, childColumn: column!, parent: parent.table, parentColumn: parent.column }
    return describeOrphans(await referential.dryRun(companyId, { sourceId, ...pair }))
  }
  if (kind === 'comparison')
    return unknownPast(
      'Which rows both tables had in the past is not known; a dry run of the comparison says how they are now',
    )
  if (kind === 'freshness') {
    if (column === null)
      return unknownPast('The engine keeps only the time of the last update, so earlier ones are not known')
    const hourly = { ...common, metric_type: 'row_count', capture_interval: 'hourly' }
    return describeCadence(await metrics.dryRun(companyId, hourly))
  }
  const body = { ...common, ...measuredFields(suggestion, column ?? undefined), ...settings }
  const tried = await (kind === 'metric' ? metrics : validity).dryRun(companyId, body)
  return describeTried(tried, settings)
}

function unknownPast(message: string, alerts: number | null = null): ComputedPast {
  return {
    days: PAST_DAYS,
    source: null,
    timestamp_column: null,
    points: null,
    alerts,
    message,
    series: [],
  }
}

function describeTried(tried: TriedCheck, settings: IdentifiedSuggestion['settings']): ComputedPast {
  const { source, timestamp_column: column, points, alerts, message, series } = tried.history
  if (tried.status === 'error' || tried.status === 'ERROR')
    return unknownPast(`It cannot be measured: ${tried.error_message ?? 'the source gave no value'}`)
  const isFailing = tried.status.toLowerCase() === 'fail'
  // A rule that fails now would alert at once, whatever is known of its past.
  if (source === null) return unknownPast(message, isFailing ? 1 : null)
  const judged = series.map(point => presentPoint(point, settings))
  return {
    days: PAST_DAYS,
    source: source === 'timestamps' ? 'timestamps' : 'stored',
    timestamp_column: column,
    points,
    // An alert of now is not among those of the past.
    message: isFailing && alerts === 0 ? `${message}; now it would alert` : message,
    alerts: Math.max(alerts, isFailing ? 1 : 0),
    series: thin(judged),
  }
}

function presentPoint(
  point: TriedPoint,
  { sensitivity, alert_threshold_percent: threshold = 0 }: IdentifiedSuggestion['settings'],
): PastPoint {
  const { at, value, expected_value: expected, z_score: z, learning, bands } = point
  const band = bands.find(each => each.sensitivity === sensitivity)
  return {
    at: at.toISOString(),
    value,
    expected,
    low: band?.low ?? null,
    high: band?.high ?? null,
    is_alert:
      sensitivity === undefined ? (value ?? 0) > threshold : !learning && Math.abs(z ?? 0) > sensitivity,
  }
}

/** The newest points, and all alerts among the earlier ones. */
function thin(points: readonly PastPoint[]): PastPoint[] {
  const earlier = points.slice(0, -MAX_POINTS).filter(point => point.is_alert)
  return [...earlier.slice(-MAX_POINTS), ...points.slice(-MAX_POINTS)]
}

/** Only the present of a reference is known: rows of the parent may have been added later. */
function describeOrphans({
  status,
  orphan_count: orphans,
  error_message: error,
}: TriedReference): ComputedPast {
  const why = 'which parents there were in the past is not known'
  if (status === 'error') return unknownPast(`It cannot be measured: ${error ?? 'the source gave no value'}`)
  if (status === 'pass') return unknownPast(`There are no orphans now; ${why}`, 0)
  return unknownPast(`There are ${orphans} orphans now; ${why}`, 1)
}

/** The hours in which the number of rows grew are the updates of a table. */
function describeCadence({ history }: TriedCheck): ComputedPast {
  const { source, timestamp_column: column, message, series } = history
  if (source === null) return unknownPast(message)
  const updates = series.flatMap(({ at, value }, index) => {
    const before = series[index - 1]?.value
    return value !== null && before !== null && before !== undefined && value > before
      ? [at.getTime() / 1_000]
      : []
  })
  const replayed = replayCadence(updates)
  if (!replayed)
    return unknownPast(
      `${column} shows ${updates.length} updates in the last ${PAST_DAYS} days, and seven are needed to learn a cadence`,
    )
  return {
    days: PAST_DAYS,
    source: 'timestamps',
    timestamp_column: column,
    points: replayed.gaps.length,
    alerts: replayed.alerts,
    message: describeReplay(replayed),
    series: replayed.gaps.slice(-MAX_POINTS).map(({ at, hours, allowedHours }) => ({
      at: new Date(at * 1_000).toISOString(),
      value: hours,
      expected: replayed.typicalGapHours,
      low: null,
      high: allowedHours,
      is_alert: allowedHours !== null && hours > allowedHours,
    })),
    cadence: {
      updates: updates.length,
      typical_gap_hours: replayed.typicalGapHours,
      threshold_hours: replayed.thresholdHours,
    },
  }
}

function describeReplay({ gaps, alerts, typicalGapHours, thresholdHours }: ReplayedCadence): string {
  return `${alerts} of ${gaps.length} updates, ${typicalGapHours} h apart as a rule, came so late that it would have alerted; now it would after ${thresholdHours} h`
}
