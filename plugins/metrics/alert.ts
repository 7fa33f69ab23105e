import type { Server } from '@hapi/hapi'
import type { SeriesPoint } from '../../checks/detector.ts'
import { comparable, explanation } from '../../checks/explanation.ts'
import { tablePath } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { AlertEvent } from '../alerts/api.ts'
import type { TableContext } from '../catalog/api.ts'
import { severityOf, type Group, type Judged, type Said } from './capture.ts'
import type { Metric } from './models.ts'
import { inChunks, pastPoints } from './points.ts'

/** A metric with all that one capture made of it. */
interface Capture {
  metric: Metric
  judged: readonly Judged[]
}

/** A metric with anomalies, and the worst of them. */
interface Trouble {
  metric: Metric
  anomalies: Judged[]
  worst: Judged & { said: Said }
}

/** An event of the anomalies of one metric. */
interface Anomaly {
  event: AlertEvent
  anomalies: readonly Judged[]
}

/** The events of metrics with anomalies. Earlier values are read only where there is something to alert of. */
export async function anomaliesOf(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  captures: readonly Capture[],
): Promise<Anomaly[]> {
  const found: Anomaly[] = []
  for (const troubles of inChunks(captures.flatMap(capture => troubleOf(capture) ?? []))) {
    const pasts = await pastPoints(
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
export function recovered(captures: readonly Capture[]): string[] {
  return (
    captures
      // After any other status no alert is open.
      .filter(({ metric: { lastStatus } }) => lastStatus === 'FAIL' || lastStatus === 'ERROR')
      .filter(({ judged }) => judged.every(({ captured }) => captured.status === 'PASS'))
      .map(({ metric }) => causeOf(metric))
  )
}

/**
 * What there is to alert of: anomalies of groups that are not learning any more. Of a metric that is switched off,
 * nobody would close the alert.
 */
function troubleOf({ metric, judged }: Capture): Trouble | null {
  if (!metric.isActive) return null
  const anomalies = judged.filter(({ captured }) => captured.isAnomaly && !captured.isLearning)
  const [worst] = anomalies.toSorted((a, b) => Math.abs(b.captured.zScore) - Math.abs(a.captured.zScore))
  return worst?.said ? { metric, anomalies, worst: { ...worst, said: worst.said } } : null
}

/** What alerts call a metric. */
export function causeOf({ id }: Pick<Metric, 'id'>): string {
  return `m_${id}`
}

/** What all events of a metric carry alike. */
export function subjectOf(server: Server, { source, table }: TableContext, metric: Metric) {
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
  { metric, anomalies, worst }: Trouble,
  past: readonly SeriesPoint[],
) {
  const { captured, said } = worst
  const { title, event, details } = subjectOf(server, loaded, metric)
  const isGrouped = metric.groupByColumns.length > 0
  const place = isGrouped ? `${title}, ${nameOf(captured.groupValues)}` : title
  const sentence = explanation(metric.metricType, said.point, said.verdict, metric.checkInterval)
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
      history: comparable(past, said.verdict.basis, said.point.at).map(({ at, value }) => ({
        captured_at: new Date(1_000 * at),
        value,
      })),
    },
  }
}

/** Characters of a group's value that a title shows. */
const SHOWN = 40

/** A group as a title names it: `north`, or `region north, kind new` where there are several columns. */
export function nameOf(group: Group): string {
  const parts = Object.entries(group).map(([column, value]) => [column, shown(value)] as const)
  return parts.length === 1 ? parts[0]![1] : parts.map(part => part.join(' ')).join(', ')
}

function shown(value: unknown): string {
  const isText = typeof value === 'string' && value.trim() !== ''
  const text = isText ? value : JSON.stringify(value)
  // PostgreSQL stores no JSON with half a character in it.
  return text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()}…` : text
}
