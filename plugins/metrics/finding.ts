import { describeFinding, type Finding } from '../../checks/explanation.ts'
import { shortenSql, type CheckResult } from '../checks/kit.ts'
import { detailsOf, type Metric } from './models.ts'
import { breachFinding } from './thresholds.ts'

/** A value of a metric and what was expected of it. */
export function findingOf(
  metric: Metric,
  result: Pick<CheckResult, 'value' | 'low' | 'high' | 'details' | 'status'>,
): Finding {
  const { value, low, high } = result
  const { breach } = detailsOf(result)
  const found = value ?? 0
  if (breach) return breachFinding(metric, found, breach, valueName(metric))
  const band = low === null || high === null ? null : { low, high }
  return describeFinding(metric.type, { value: found }, band, { name: valueName(metric) })
}

/** What the value of a metric is called whose type does not say it. */
function valueName({ name, type, config }: Metric): string | undefined {
  const { sql_expression: text } = config
  return type === 'custom_sql' ? (name ?? shortenSql(typeof text === 'string' ? text : type)) : undefined
}
