/** Recommendations in the shapes that published clients of the API read. */
import { formatName } from '../../../connectors/catalog.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { Asset } from '../../catalog/api.ts'
import type { MetricAlerts } from '../../metrics/api.ts'
import { frequencyOf, replayCadence } from '../cadence.ts'
import { readOffers, type Offer } from '../offers.ts'
import { formatCount, round, type TableEvidence } from '../rules/evidence.ts'
import { tableIdsOf } from '../service.ts'
import type { RecommendationsDeps } from '../deps.ts'

const pathOf = ({ schema, name }: TableEvidence) => formatName([schema, name])

interface FreshnessQuery {
  min_confidence: number
  limit: number
  include_monitored: boolean
}

/** What is known of the updates of a table. */
interface KnownCadence {
  gapHours: number
  thresholdHours: number
  /** Updates, or rows where no update is known. */
  dataPoints: number
  confidence: number
  reasoning: string
}

/** Thresholds of freshness, learned from stored checks, from a computed past, or from a profile. */
export async function readFreshnessAdvice(
  deps: RecommendationsDeps,
  trx: Transaction,
  asset: Asset,
  query: FreshnessQuery,
) {
  const advice: ReturnType<typeof presentCadence>[] = []
  let analyzed = 0
  let advised = 0
  const filter = {
    tableIds: tableIdsOf(asset),
    kind: 'freshness' as const,
    isWanted: () => true,
  }
  for await (const offers of readOffers(deps, trx, asset.source, filter)) {
    const monitored = offers.filter(({ table }) => table.freshness?.isScheduled)
    const updates = await deps.freshness.readUpdates(
      trx,
      query.include_monitored ? monitored.map(({ table }) => table.id) : [],
    )
    const updatesOf = new Map(updates.map(({ tableId, updates: times }) => [tableId, times]))
    for (const offer of offers) {
      const isMonitored = offer.table.freshness?.isScheduled === true
      if (isMonitored && !query.include_monitored) continue
      analyzed += 1
      const cadence =
        learnStored(updatesOf.get(offer.table.id) ?? []) ?? cadenceOfPast(offer) ?? cadenceOfProfile(offer)
      if (!cadence || cadence.confidence < query.min_confidence) continue
      advised += 1
      if (advice.length < query.limit) advice.push(presentCadence(offer, cadence))
    }
  }
  return {
    recommendations: advice,
    asset_id: (asset.table ?? asset.source).id,
    tables_analyzed: analyzed,
    tables_with_recommendations: advised,
  }
}

const CHECK_INTERVALS = { hourly: '1h', daily: '6h', weekly: '1d', monthly: '1d' }

function presentCadence({ table }: Offer, cadence: KnownCadence) {
  const frequency = frequencyOf(cadence.gapHours)
  return {
    table_path: pathOf(table),
    suggested_check_interval: CHECK_INTERVALS[frequency],
    suggested_threshold_hours: cadence.thresholdHours,
    detected_frequency: frequency,
    confidence: round(cadence.confidence),
    reasoning: cadence.reasoning,
    data_points: cadence.dataPoints,
  }
}

function learnStored(updates: readonly Date[]): KnownCadence | null {
  const replayed = replayCadence(updates.map(at => at.getTime() / 1_000))
  if (!replayed) return null
  const { typicalGapHours: gapHours, thresholdHours } = replayed
  return {
    gapHours,
    thresholdHours,
    dataPoints: updates.length,
    confidence: confidenceOf(updates.length),
    reasoning: `Its checks found ${updates.length} updates, ${countOf(gapHours, 'hour')} apart as a rule.`,
  }
}

function cadenceOfPast({ stored }: Offer): KnownCadence | null {
  const cadence = stored?.past?.cadence
  if (!cadence) return null
  const { updates, typical_gap_hours: gapHours, threshold_hours: thresholdHours } = cadence
  return {
    gapHours,
    thresholdHours,
    dataPoints: updates,
    confidence: confidenceOf(updates),
    reasoning: `Its timestamps show ${updates} updates in 60 days, ${countOf(gapHours, 'hour')} apart as a rule.`,
  }
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function confidenceOf(updates: number): number {
  return Math.min(0.95, 0.6 + updates / 100)
}

const HOUR_MS = 3_600_000
const MIN_ROWS = 30

/** A guess: the newest row is no older than the table usually gets, and rows arrive at an even pace. */
function cadenceOfProfile({ table, suggestion }: Offer): KnownCadence | null {
  const { profile } = table
  const column = profile?.columns.find(({ name }) => name === suggestion.column)
  if (!profile || typeof column?.min !== 'string' || typeof column.max !== 'string') return null
  const [first, last] = [Date.parse(column.min), Date.parse(column.max)]
  const spanHours = (last - first) / HOUR_MS
  if (!(spanHours > 0) || profile.rowCount < MIN_ROWS) return null
  const paceHours = spanHours / profile.rowCount
  const ageHours = Math.max(0, (profile.profiledAt.getTime() - last) / HOUR_MS)
  const gapHours = Math.max(paceHours, Math.min(ageHours, 24 * 31))
  return {
    gapHours,
    thresholdHours: Math.max(2, Math.ceil(2 * gapHours)),
    dataPoints: profile.rowCount,
    confidence: 0.5,
    reasoning: `${formatCount(profile.rowCount)} rows lie in ${countOf(Math.round(spanHours / 24), 'day')} of ${suggestion.column}, and the newest was ${countOf(Math.round(ageHours), 'hour')} old.`,
  }
}

/** Metrics of columns that are recommended and missing. */
export async function readMetricAdvice(
  deps: RecommendationsDeps,
  trx: Transaction,
  asset: Asset,
  { min_confidence: least, limit }: { min_confidence: number; limit: number },
) {
  const advice: ReturnType<typeof presentMetric>[] = []
  const advised = new Set<string>()
  const filter = {
    tableIds: tableIdsOf(asset),
    kind: 'metric' as const,
    isWanted: ({ column, confidence }: Offer['suggestion']) => column !== null && confidence >= least,
  }
  for await (const offers of readOffers(deps, trx, asset.source, filter))
    for (const { table, suggestion, status } of offers) {
      if (status !== 'offered') continue
      advised.add(JSON.stringify([table.id, suggestion.column]))
      if (advice.length < limit) advice.push(presentMetric(table, suggestion))
    }
  return {
    recommendations: advice,
    asset_id: (asset.table ?? asset.source).id,
    columns_analyzed: asset.table ? asset.table.columns.length : asset.source.columnCount,
    columns_with_recommendations: advised.size,
  }
}

const presentMetric = (table: TableEvidence, { column, type, reason, confidence }: Offer['suggestion']) => ({
  table_path: pathOf(table),
  column_name: column,
  suggested_metric_type: type,
  suggested_check_type: 'anomaly',
  reasoning: reason,
  confidence,
})

/** Sensitivities that would have suited the active metrics of an asset better. */
export async function readThresholdAdvice(
  deps: RecommendationsDeps,
  trx: Transaction,
  asset: Asset,
  { days, limit }: { days: number; limit: number },
) {
  const { source, table } = asset
  const metrics = await deps.metrics.countAlerts(trx, {
    sourceId: source.id,
    tableId: table?.id,
    days,
  })
  const advice = metrics.flatMap(metric => adviseThreshold(metric, days) ?? [])
  advice.sort((a, b) => b.historical_alerts - a.historical_alerts || b.confidence - a.confidence)
  return {
    recommendations: advice.slice(0, limit),
    asset_id: (table ?? source).id,
    monitored_items_analyzed: metrics.length,
    items_with_recommendations: advice.length,
  }
}

/** Captures from which a quiet metric is taken for one that could be more sensitive. */
const MIN_QUIET_CAPTURES = 20
/** A metric with fewer alerts is left as it is. */
const MIN_ALERTS = 2

function adviseThreshold(
  { captures, alerts, sensitivity, bySensitivity, isByLimits, ...metric }: MetricAlerts,
  days: number,
) {
  if (isByLimits) return null
  const measured = [metric.tablePath, metric.columnName].filter(Boolean).join('.')
  const common = {
    table_path: metric.tablePath,
    metric_type: metric.metricType,
    current_threshold: sensitivity,
  }
  const calmer = bySensitivity.find(each => each.sensitivity > sensitivity && each.alerts <= alerts / 2)
  if (alerts >= MIN_ALERTS && calmer) {
    const reduction = Math.round(100 * (1 - calmer.alerts / alerts))
    return {
      ...common,
      suggested_threshold: calmer.sensitivity,
      direction: 'increase',
      reasoning: `${metric.metricType} of ${measured} alerted ${countOf(alerts, 'time')} in ${countOf(days, 'day')}, and would have ${countOf(calmer.alerts, 'time')} at ${calmer.sensitivity}.`,
      confidence: round(Math.min(0.95, 0.5 + captures / 100)),
      historical_alerts: alerts,
      projected_reduction: `${reduction}%`,
    }
  }
  const keener = bySensitivity.find(each => each.sensitivity === 3 && each.alerts === 0)
  if (alerts > 0 || sensitivity <= 3 || captures < MIN_QUIET_CAPTURES || !keener) return null
  return {
    ...common,
    suggested_threshold: keener.sensitivity,
    direction: 'decrease',
    reasoning: `${metric.metricType} of ${measured} did not alert in ${countOf(days, 'day')}, and would not have at ${keener.sensitivity} either, where it notices smaller changes.`,
    confidence: 0.5,
    historical_alerts: 0,
    projected_reduction: '0%',
  }
}

/** An asset, or a table of it by its path. */
export async function resolveAsset(
  deps: RecommendationsDeps,
  trx: Transaction,
  { asset_id: assetId, table_path: path }: { asset_id: string; table_path?: string },
): Promise<Asset> {
  const asset = await deps.catalog.findAsset(trx, assetId)
  if (path === undefined) return asset
  return { source: asset.source, table: await deps.catalog.findTable(trx, asset, path) }
}
