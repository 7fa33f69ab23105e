import { domainOf } from '../../checks/check.ts'
import { formatFinding } from '../../checks/explanation.ts'
import type { CheckKind, CheckSummary } from '../checks/api.ts'
import type { CheckDeps, CheckResult } from '../checks/kit.ts'
import { metricAnomaly } from './alert-kind.ts'
import { alertTexts, describeMetric, severityOf } from './alert-texts.ts'
import { findingOf } from './finding.ts'
import { clearAlertedGroups, collectGroupEvents } from './groups.ts'
import { judgeValue, overallStatus, startState } from './judge.ts'
import { detailsOf, Metric } from './models.ts'
import { countCompared, detectionOf } from './thresholds.ts'

/**
 * Numbers that are judged by what their own history leads one to expect.
 * @param types state what the values of a metric can be
 */
export const makeMetricKind = ({ types }: Pick<CheckDeps, 'types'>): CheckKind<Metric> => ({
  name: 'metric',
  feature: 'metrics',
  label: 'Metric',
  idPrefix: 'm_',
  model: Metric,
  alert: metricAnomaly,
  specs: metrics =>
    metrics.map(({ type, config, columnName, groupByColumns }) => ({
      type,
      config,
      ...(columnName !== null && { column: columnName }),
      ...(groupByColumns.length > 0 && { groupBy: groupByColumns }),
    })),
  // Any quantity where the extension of its type was removed.
  startState: metric =>
    startState(metric, domainOf(types.has(metric.type) ? types.get(metric.type) : undefined)),
  judge: judgeValue,
  countCompared,
  consecutiveOf: ({ consecutive }) => consecutive ?? 1,
  overallStatus,
  alertTexts,
  moreAlerts: collectGroupEvents,
  endMoreAlerts: clearAlertedGroups,
  describe: describeResults,
})

/** The results of one capture in words: the worst of its groups, and how many are as bad. */
function describeResults(metric: Metric, results: readonly CheckResult[]): Omit<CheckSummary, 'id'> {
  const isFailing = ({ status }: CheckResult) => Number(status === 'fail')
  const distance = ({ zScore }: CheckResult) => Math.abs(zScore ?? 0)
  const [worst] = results.toSorted((a, b) => isFailing(b) - isFailing(a) || distance(b) - distance(a))
  return {
    name: describeMetric(metric),
    status: overallStatus(
      metric,
      results.map(judged => ({ judged })),
    ),
    severity: worst ? severityOf(metric, worst) : 'info',
    message: worst ? `${describeResult(metric, worst)}${describeGroups(results)}` : 'There is no group',
  }
}

function describeResult(metric: Metric, result: CheckResult): string {
  const { errorMessage, value, low, high } = result
  if (errorMessage !== null) return errorMessage
  if (value === null) return 'no value'
  const finding = findingOf(metric, result)
  if (detailsOf(result).breach) return formatFinding(finding)
  if (detectionOf(metric) === 'threshold') return finding.found
  if (result.isLearning || low === null || high === null) return `${finding.found}; still learning`
  return formatFinding(finding)
}

/** Of which group it is stays out: its values are a customer's. */
function describeGroups(results: readonly CheckResult[]): string {
  if (results.length < 2) return ''
  const anomalies = results.filter(({ status }) => status === 'fail').length
  return ` (the farthest of ${results.length} groups; anomalies: ${anomalies})`
}
