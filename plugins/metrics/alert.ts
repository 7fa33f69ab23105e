import type { Server } from '@hapi/hapi'
import type { SeriesPoint } from '../../checks/detector.ts'
import { comparable, explanation } from '../../checks/explanation.ts'
import { tablePath } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { AlertEvent } from '../alerts/api.ts'
import type { TableContext } from '../catalog/api.ts'
import { severityOf, type Group, type JudgedValue, type MetricDetection } from './capture.ts'
import type { Metric } from './models.ts'
import { inChunks, loadPoints } from './points.ts'

/** A metric with all that one capture made of it. */
interface CaptureToAlert {
  metric: Metric
  judged: readonly JudgedValue[]
}

/** A metric with anomalies, and the worst of them. */
interface MetricAnomalies {
  metric: Metric
  anomalies: JudgedValue[]
  worst: JudgedValue & { detection: MetricDetection }
}

/** An event of the anomalies of one metric. */
interface AnomalyEvent {
  event: AlertEvent
  anomalies: readonly JudgedValue[]
}

/** The events of metrics with anomalies. Earlier values are read only where there is something to alert of. */
export async function anomalyEvents(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  captures: readonly CaptureToAlert[],
): Promise<AnomalyEvent[]> {
  const found: AnomalyEvent[] = []
  for (const troubles of inChunks(captures.flatMap(capture => findAnomalies(capture) ?? []))) {
    const pasts = await loadPoints(
      trx,
      troubles.map(({ metric, worst }) => ({ metric, group: worst.captured.groupValues })),
    )
    for (const [place, trouble] of troubles.entries())
      found.push({
        event: eventOf(server, loaded, trouble, pasts[place]!),
        anomalies: trouble.anomalies,
      })
  }
  return found
}

/** The causes of metrics whose groups all pass again. */
export function recoveredCauses(captures: readonly CaptureToAlert[]): string[] {
  return (
    captures
      // After any other status no alert is open.
      .filter(({ metric: { lastStatus } }) => lastStatus === 'FAIL' || lastStatus === 'ERROR')
      .filter(({ judged }) => judged.every(({ captured }) => captured.status === 'PASS'))
      .map(({ metric }) => causeOf(metric))
  )
}

/**
 * What there is to alert of: anomalies of groups that are not learning any more. An inactive
 * metric is never captured again, so its alert would never be resolved.
 */
function findAnomalies({ metric, judged }: CaptureToAlert): MetricAnomalies | null {
  if (!metric.isActive) return null
  const anomalies = judged.filter(({ captured }) => captured.isAnomaly && !captured.isLearning)
  const [worst] = anomalies.toSorted((a, b) => Math.abs(b.captured.zScore) - Math.abs(a.captured.zScore))
  return worst?.detection ? { metric, anomalies, worst: { ...worst, detection: worst.detection } } : null
}

/** What alerts call a metric. */
export function causeOf({ id }: Pick<Metric, 'id'>): string {
  return `m_${id}`
}

/** What all events of a metric carry alike. */
export function eventSubject(server: Server, { source, table }: TableContext, metric: Metric) {
  const path = tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name })
  const tags = server.plugins.catalog.tagsOf(source, table, [metric.columnName, ...metric.groupByColumns])
  const what = [metric.metricType, metric.columnName].filter(Boolean).join(' of ')
  return {
    title: `${what} on ${path}`,
    event: {
      type: 'metric_anomaly' as const,
      sourceId: source.id,
      asset: { id: table.id, qualifiedName: table.qualifiedName, assetType: table.kind, tags },
      ruleName: `${what} on ${table.name}`,
    },
    details: {
      metric_id: causeOf(metric),
      metric_type: metric.metricType,
      table_path: path,
      column_name: metric.columnName,
    },
  }
}

function eventOf(
  server: Server,
  loaded: TableContext,
  { metric, anomalies, worst }: MetricAnomalies,
  past: readonly SeriesPoint[],
) {
  const { captured, detection } = worst
  const { title, event, details } = eventSubject(server, loaded, metric)
  const isGrouped = metric.groupByColumns.length > 0
  const place = isGrouped ? `${title}, ${formatGroup(captured.groupValues)}` : title
  const sentence = explanation(metric.metricType, detection.point, detection.verdict, metric.checkInterval)
  return {
    ...event,
    cause: causeOf(metric),
    severity: severityOf(captured.zScore),
    title: `${place}: ${sentence}`,
    details: {
      ...details,
      ...(isGrouped && { group_values: captured.groupValues, anomalous_groups: anomalies.length }),
      value: captured.value,
      expected_value: captured.expectedValue,
      range: { low: captured.expectedRangeLow, high: captured.expectedRangeHigh },
      z_score: captured.zScore,
      explanation: sentence,
      history: comparable(past, detection.verdict.basis, detection.point.at).map(({ at, value }) => ({
        captured_at: new Date(1_000 * at),
        value,
      })),
    },
  }
}

/** Characters of a group's value that a title shows. */
const MAX_GROUP_VALUE_CHARS = 40

/** A group as a title names it: `north`, or `region north, kind new` where there are several columns. */
export function formatGroup(group: Group): string {
  const parts = Object.entries(group).map(([column, value]) => [column, formatGroupValue(value)] as const)
  return parts.length === 1 ? parts[0]![1] : parts.map(part => part.join(' ')).join(', ')
}

function formatGroupValue(value: unknown): string {
  const isText = typeof value === 'string' && value.trim() !== ''
  const text = isText ? value : JSON.stringify(value)
  // PostgreSQL stores no JSON with half a character in it.
  return text.length > MAX_GROUP_VALUE_CHARS
    ? `${text.slice(0, MAX_GROUP_VALUE_CHARS).toWellFormed()}…`
    : text
}
