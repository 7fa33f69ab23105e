/** What alerts about metrics say. */
import type { SeriesPoint } from '../../checks/detector.ts'
import { comparable, explainBasis } from '../../checks/explanation.ts'
import type { TableContext } from '../catalog/api.ts'
import type { AlertTexts, Capture, JudgedSeries } from '../checks/api.ts'
import {
  describeFilter,
  describeWindow,
  filterDetails,
  pathOfTable,
  seriesInterval,
  shortenSql,
  subjectOfCheck,
  type CheckResult,
  type SeriesValues,
} from '../checks/kit.ts'
import { detailsOf, type Breach, type Metric } from './models.ts'
import { presentBreach } from './present.ts'
import { findingOf } from './finding.ts'
import { detectionOf, type MetricSettings } from './thresholds.ts'

/**
 * The severity that a metric has, or else by how far out a value lies where anomalies count: info below 3 standard
 * deviations, warning from 3, critical from 6. A broken threshold is a warning at least.
 */
export function severityOf(
  settings: MetricSettings & Pick<Metric, 'severity'>,
  result: Pick<CheckResult, 'zScore' | 'details' | 'status'>,
): 'info' | 'warning' | 'critical' {
  if (settings.severity !== null) return settings.severity
  const distance = detectionOf(settings) === 'threshold' ? 0 : Math.abs(result.zScore ?? 0)
  if (distance >= 6) return 'critical'
  return distance >= 3 || detailsOf(result).breach ? 'warning' : 'info'
}

/** The name of a metric, or what it measures: `mean of total`, `custom_sql (sum(paid) / sum(due))`. */
export function describeMetric({
  name,
  type,
  columnName,
  config,
}: Pick<Metric, 'name' | 'type' | 'columnName' | 'config'>) {
  if (name !== null) return name
  const { sql_expression: text } = config
  if (typeof text !== 'string') return [type, columnName].filter(Boolean).join(' of ')
  return `${type} (${shortenSql(text)})`
}

const EXPLAINED_BREACH: Record<Breach['threshold'], string> = {
  min: 'It is below the minimum that was set',
  max: 'It is above the maximum that was set',
  max_change_percent: 'It changed by more than was allowed',
}

/** What the texts of all alerts about a metric begin with. */
export function alertHead(metric: Metric, table: TableContext) {
  const path = pathOfTable(table)
  return {
    subject: subjectOfCheck(metric),
    ruleName:
      metric.name ??
      `${describeMetric(metric)} on ${table.table.name}${describeWindow(metric)}${describeFilter(metric)}`,
    details: {
      metric_id: `m_${metric.uuid}`,
      metric_type: metric.type,
      table_path: path,
      column_name: metric.columnName,
      ...filterDetails(metric),
    },
  }
}

/** What the alert of a metric with anomalies says: the farthest of them, with what it was compared with. */
export function alertTexts(
  { row: metric, judged: all }: Capture<Metric>,
  { series, judged, detection }: JudgedSeries,
  table: TableContext,
  past: readonly SeriesPoint[],
): AlertTexts {
  const { subject, ruleName, details } = alertHead(metric, table)
  const { point, verdict } = detection!
  const isGrouped = metric.groupByColumns.length > 0
  const { breach } = detailsOf(judged)
  const anomalies = all.filter(each => each.judged.status === 'fail' && !each.judged.isLearning)
  return {
    severity: severityOf(metric, judged),
    ruleName,
    title: {
      ...subject,
      ...(isGrouped && { scope: [formatGroup(series)] }),
      ...findingOf(metric, judged),
    },
    details: {
      ...details,
      ...(isGrouped && { group_values: series, anomalous_groups: anomalies.length }),
      value: judged.value,
      ...(breach && breachDetails(metric.type, breach)),
      expected_value: judged.expected,
      range: { low: judged.low, high: judged.high },
      z_score: judged.zScore,
      explanation: breach
        ? EXPLAINED_BREACH[breach.threshold]
        : explainBasis(verdict.basis, judged.zScore, seriesInterval(metric)),
      history: comparable(past, verdict.basis, point.at).map(({ at, value }) => ({
        captured_at: new Date(1_000 * at),
        value,
      })),
    },
  }
}

function breachDetails(type: string, breach: Breach) {
  const { allowed, beyond, ...numbers } = presentBreach(type, breach)
  return { breach: numbers, allowed, beyond }
}

/** Characters of a group's value that a title shows. */
const MAX_GROUP_VALUE_CHARS = 40

/** A group as a title names it: `region north`, or `region north, kind new` where there are several columns. */
export function formatGroup(group: SeriesValues): string {
  return Object.entries(group)
    .map(([column, value]) => `${column} ${formatGroupValue(value)}`)
    .join(', ')
}

function formatGroupValue(value: unknown): string {
  const isText = typeof value === 'string' && value.trim() !== ''
  const text = isText ? value : JSON.stringify(value)
  // PostgreSQL stores no JSON with half a character in it.
  return text.length > MAX_GROUP_VALUE_CHARS
    ? `${text.slice(0, MAX_GROUP_VALUE_CHARS).toWellFormed()}…`
    : text
}
