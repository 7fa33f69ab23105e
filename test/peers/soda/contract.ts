/** Our checks as a contract of Soda Core 4 has them. */
import type { CheckBody } from '../../bench/scan-columns.ts'

/** A check below its column. */
type ContractCheck = Record<string, Record<string, unknown>>

/** True of every number: the test reads the value only. */
const ANY = { must_be_greater_than: -1e300 }

/**
 * The checks of a table as a contract in YAML, which JSON is. Each has the position of its body as name; those that Soda
 * has no check for are left out.
 */
export function formatSodaContract(dataset: string, bodies: readonly CheckBody[]): string {
  const columns = new Map<string, ContractCheck[]>()
  for (const [at, body] of bodies.entries()) {
    const column = String(body.column_name)
    const check = contractCheckOf(body)
    if (!check) continue
    const [[type, fields] = ['', {}]] = Object.entries(check)
    const named = { [type]: { name: String(at), qualifier: String(at), threshold: ANY, ...fields } }
    columns.set(column, [...(columns.get(column) ?? []), named])
  }
  return JSON.stringify({ dataset, columns: [...columns].map(([name, checks]) => ({ name, checks })) })
}

/** The check of a contract that has the same purpose, null if there is none. */
export function contractCheckOf({
  rule_type: rule,
  metric_type: metric,
  column_name: column,
  rule_config: config = {},
  ...rest
}: CheckBody): ContractCheck | null {
  switch (rule ?? metric) {
    case 'NOT_NULL':
      return { missing: {} }
    case 'UNIQUE':
    case 'duplicate_count':
      return { duplicate: {} }
    case 'RANGE':
      return {
        invalid: {
          ...(config.min !== undefined && { valid_min: config.min }),
          ...(config.max !== undefined && { valid_max: config.max }),
        },
      }
    case 'REGEX':
      return { invalid: { valid_format: { name: 'the pattern', regex: config.pattern } } }
    case 'ENUM':
      return { invalid: { valid_values: config.allowed_values } }
    case 'min_value':
      return { aggregate: { function: 'min' } }
    case 'max_value':
      return { aggregate: { function: 'max' } }
    case 'mean':
      return { aggregate: { function: 'avg' } }
    case 'null_percent':
      return { missing: { threshold: { metric: 'percent', ...ANY } } }
    case 'percentile': {
      const fraction = Number(rest.percentile_value) / 100
      // It has no such check, and takes an expression.
      return { metric: { expression: `percentile_cont(${fraction}) within group (order by "${column}")` } }
    }
    case 'distinct_count':
      return { metric: { expression: `count(distinct "${column}")` } }
    default:
      return null
  }
}
