/** Our checks as Soda's language of checks has them. */
import type { CheckBody } from '../../bench/scan-columns.ts'

/** A check of Soda, of which the test reads the value only: whether it passes depends on `condition`. */
interface SodaCheck {
  metric: string
  condition: string
  fields?: Record<string, unknown>
}

/**
 * The checks of a table as a file of checks in YAML, which JSON is. Each has the position of its body as name; those
 * that Soda has no check for are left out.
 * @param options.samples rows to read of what is invalid; defaults to Soda's own number, 100
 */
export function formatSodaChecks(
  table: string,
  bodies: readonly CheckBody[],
  { samples }: { samples?: number } = {},
): string {
  const checks = bodies.flatMap((body, at) => {
    const check = sodaCheckOf(body)
    if (!check) return []
    // It takes a limit where there are rows to sample, and no limit elsewhere.
    const isSampled = /^(invalid|missing|duplicate)_count/.test(check.metric)
    const limit = isSampled && samples !== undefined && { 'samples limit': samples }
    return [{ [`${check.metric} ${check.condition}`]: { name: String(at), ...limit, ...check.fields } }]
  })
  return JSON.stringify({ [`checks for ${table}`]: checks })
}

/** The check of Soda that has the same purpose, null if there is none. */
export function sodaCheckOf({
  rule_type: rule,
  metric_type: metric,
  column_name: column,
  rule_config: config = {},
  ...rest
}: CheckBody): SodaCheck | null {
  const invalid = (fields: Record<string, unknown>) => ({
    metric: `invalid_count(${column})`,
    condition: '= 0',
    fields,
  })
  switch (rule ?? metric) {
    case 'NOT_NULL':
      return { metric: `missing_count(${column})`, condition: '= 0' }
    case 'UNIQUE':
    case 'duplicate_count':
      return { metric: `duplicate_count(${column})`, condition: '= 0' }
    case 'RANGE':
      return invalid({
        ...(config.min !== undefined && { 'valid min': config.min }),
        ...(config.max !== undefined && { 'valid max': config.max }),
      })
    case 'REGEX':
      return invalid({ 'valid regex': config.pattern })
    case 'ENUM':
      return invalid({ 'valid values': config.allowed_values })
    case 'min_value':
      return { metric: `min(${column})`, condition: '>= 0' }
    case 'max_value':
      return { metric: `max(${column})`, condition: '>= 0' }
    case 'mean':
      return { metric: `avg(${column})`, condition: '>= 0' }
    case 'null_percent':
      return { metric: `missing_percent(${column})`, condition: '< 50%' }
    case 'percentile':
      return {
        metric: `percentile(${column}, ${Number(rest.percentile_value) / 100})`,
        condition: '>= 0',
      }
    case 'distinct_count': {
      // It has no metric of this, and takes an expression.
      const name = `distinct_${column}`
      const fields = { [`${name} expression`]: `count(distinct ${column})` }
      return { metric: name, condition: '>= 0', fields }
    }
    default:
      return null
  }
}
