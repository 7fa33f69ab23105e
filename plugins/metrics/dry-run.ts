import { domainOf, type CheckType } from '../../checks/check.ts'
import { SENSITIVITIES, type DetectorState, type SeriesPoint } from '../../checks/detector.ts'
import { MAX_PAST_POINTS } from '../../server/http/check-schemas.ts'
import type { DryRunMeasurement } from '../checks/api.ts'
import { failedJudgement, presentCost, secondsOf, withGaps, withWindow } from '../checks/kit.ts'
import { configureMetric } from './create.ts'
import type { MetricDeps } from './deps.ts'
import type { NewMetric } from './fields.ts'
import { summarizePast } from './past-summary.ts'
import { replayPoints, countAnomalies, type ReplayedPoint } from './replay.ts'
import { groupValuesOf, overallStatus, startState } from './judge.ts'
import { detailsOf } from './models.ts'
import { presentBreach } from './present.ts'
import { detectionOf, settingsOf, type MetricSettings } from './thresholds.ts'
import { judgeByMetric, judgeGroup, replayStoredPast, type MeasuredGroup } from './stored-past.ts'

/** The body of a dry run, validated; what is not named here belongs to the metric type. */
export type MetricDryRun = NewMetric & { asset_id: string; lookback_days: number }

/** What the past says, and how it makes the values of now judged. */
interface MetricPast {
  /** The id of the metric whose snapshots they are. */
  metricId?: string
  replayed: ReplayedPoint[]
  /** Moments without rows. */
  gaps: readonly Date[]
  judged: MeasuredGroup[]
  summary: {
    /** Where the values come from: a metric's snapshots, or the table's own timestamps. */
    source: 'snapshots' | 'timestamps' | null
    timestamp_column: string | null
    groups?: number
    groups_replayed?: number
  }
  /** Why it is not known. */
  unknownReason?: string
}

const DAY_MS = 86_400_000

/**
 * Takes the value that a metric of this body would, judges it as that metric would, and stores nothing.
 * @param options.hasCost whether it is estimated what the metric would read
 */
export async function dryRunMetric(
  deps: MetricDeps,
  companyId: string,
  body: MetricDryRun,
  { hasCost = false }: { hasCost?: boolean } = {},
) {
  const { asset_id: assetId, lookback_days: days, ...metricBody } = body
  const configured = await configureMetric(deps, companyId, assetId, metricBody as NewMetric)
  const interval = body.capture_interval
  const since = new Date(Date.now() - days * DAY_MS)
  const settings = settingsOf(withWindow(body, configured.window))
  const tried = await deps.checks.dryRun(configured, { days, interval }, hasCost ? interval : undefined)
  const { statements, outcome, at, history } = tried
  const isComputed = history !== null && 'points' in history
  const stored = isComputed ? null : await replayStoredPast(deps, companyId, configured, { settings, since })
  const past: MetricPast = stored
    ? {
        metricId: `m_${stored.metric.uuid}`,
        replayed: stored.replayed,
        gaps: [],
        judged: await judgeByMetric(
          deps,
          { companyId, metric: stored.metric, settings },
          groupValuesOf(outcome),
          at,
        ),
        summary: {
          source: 'snapshots',
          timestamp_column: null,
          ...(body.group_by_columns.length > 0 && {
            groups: stored.groups.all,
            groups_replayed: stored.groups.replayed,
          }),
        },
      }
    : computedPast(configured.check.type, settings, tried)
  return {
    sql: statements,
    ...presentNow(settings, tried, past.judged),
    history: { lookback_days: days, ...past.summary, ...presentPast(body, settings, past) },
    ...summarizePast(body, settings, past),
    ...(hasCost && { cost: presentCost(tried.cost) }),
  }
}

/** The past computed from the table's timestamps. Groups are series of their own, which have no computed past. */
function computedPast(
  type: CheckType,
  settings: MetricSettings,
  { outcome, at, history: past }: DryRunMeasurement,
): MetricPast {
  const nothing = () => startState(settings, domainOf(type))
  const judge = (state: () => DetectorState, known: readonly SeriesPoint[] = []) =>
    groupValuesOf(outcome).map(group =>
      judgeGroup(settings, group, { at, hasBands: true, past: known }, state()),
    )
  if (!past || 'message' in past) {
    const summary = { source: null, timestamp_column: null }
    return {
      replayed: [],
      gaps: [],
      judged: judge(nothing),
      summary,
      unknownReason: past?.message ?? 'it was not asked for',
    }
  }
  const points = past.points.flatMap(point =>
    groupValuesOf(point.outcome).flatMap(({ value, total }) =>
      value === null ? [] : { at: secondsOf(point.at), value, total },
    ),
  )
  const { state, replayed } = replayPoints(nothing(), points, { chosen: settings.sensitivity, settings })
  return {
    replayed,
    gaps: past.gaps,
    judged: outcome.status === 'grouped' ? judge(nothing) : judge(() => state, points),
    summary: { source: 'timestamps', timestamp_column: past.column },
  }
}

/** What is measured now, and what would be said of it; grouped metrics have no single value. */
function presentNow(
  settings: MetricSettings,
  { outcome }: DryRunMeasurement,
  judged: readonly MeasuredGroup[],
) {
  const isGrouped = outcome.status === 'grouped'
  const all =
    isGrouped || outcome.status === 'measured'
      ? judged
      : [{ group: {}, ...failedJudgement(outcome, 'The metric gave no value', null) }]
  const only = isGrouped ? undefined : all[0]?.judged
  const status = overallStatus(settings, all)
  return {
    status: status === 'warning' ? 'PASS' : status.toUpperCase(),
    value: only?.value ?? null,
    ...(isGrouped && { groups: all.map(group => presentGroup(settings, group)) }),
    total_rows: only?.totalRows ?? null,
    is_anomaly: all.some(({ judged: value }) => value.status !== 'error' && detailsOf(value).isAnomaly),
    z_score: only?.zScore ?? 0,
    expected_value: only?.expected ?? null,
    expected_range_low: only?.low ?? null,
    expected_range_high: only?.high ?? null,
    bands: isGrouped ? [] : (judged[0]?.bands ?? []),
    learning: all.every(({ judged: value }) => value.isLearning),
    breach: only ? breachOf(settings, only) : null,
    error_message: only?.errorMessage ?? null,
  }
}

function breachOf({ type }: MetricSettings, judged: MeasuredGroup['judged']) {
  const { breach } = detailsOf(judged)
  return breach && presentBreach(type, breach)
}

function presentGroup(settings: MetricSettings, { group, judged }: MeasuredGroup) {
  return {
    group_values: group,
    value: judged.value,
    total_rows: judged.totalRows,
    is_anomaly: detailsOf(judged).isAnomaly,
    breach: breachOf(settings, judged),
    z_score: judged.zScore ?? 0,
    expected_value: judged.expected,
    expected_range_low: judged.low,
    expected_range_high: judged.high,
    learning: judged.isLearning,
  }
}

const SOURCES = { snapshots: 'stored', timestamps: 'computed' }

function presentPast(
  body: MetricDryRun,
  settings: MetricSettings,
  { replayed, gaps, summary, unknownReason: unknown }: MetricPast,
) {
  const { lookback_days: days, capture_interval: interval, sensitivity } = body
  const { anomalies, alerts } = countAnomalies(replayed, sensitivity, settings)
  const isByBand = detectionOf(settings) === 'anomaly'
  const failing = isByBand ? `been anomalies at sensitivity ${sensitivity}` : 'failed'
  const counts = `${anomalies} would have ${failing}, in ${alerts} ${alerts === 1 ? 'alert' : 'alerts'}`
  return {
    points: replayed.length,
    anomalies,
    alerts,
    by_sensitivity: SENSITIVITIES.map(each => countAnomalies(replayed, each, settings)),
    // The groups of a metric are series of their own.
    series:
      body.group_by_columns.length > 0
        ? []
        : withGaps(replayed.slice(-MAX_PAST_POINTS).map(presentPastPoint), gaps),
    message: summary.source
      ? `Of ${replayed.length} ${interval} values in the last ${days} days, ${SOURCES[summary.source]}, ${counts}`
      : `Its past is not known: ${unknown}`,
  }
}

function presentPastPoint({ at, value, expected, zScore, isLearning, bands }: ReplayedPoint) {
  return {
    at: new Date(at * 1_000),
    value,
    expected_value: expected,
    z_score: zScore,
    learning: isLearning,
    bands,
  }
}
