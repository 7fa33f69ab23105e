/** Which expressions of users are numbers of all rows, as `sum(paid) / nullif(sum(due), 0)`, and not of a row or several. */
import { isCount, nameOf } from './counts.ts'

type ExpressionNode = Record<string, unknown>

/** What an expression is as a number of all rows. */
export interface Aggregation {
  /** Why it is no such number; null where it is one. */
  problem: string | null
  /** Whether it is computed from numbers of rows alone, which show none of their values. */
  isCount: boolean
}

/**
 * Aggregate functions of the engines. What is not here may be one all the same: then a SELECT can call it, while here a
 * column within it would be taken for one of a single row, which some engines choose as they like.
 */
const AGGREGATES: readonly RegExp[] = [
  /^(count|countif|count_if|sum|sumif|total|avg|mean|min|max|any_value|median|mode|every|xor_agg)$/,
  /^(std|stddev|variance|var|stdev)(_pop|_samp|p|_population|_sample)?$|^(covar|regr|corr|kurtosis|skew)/,
  /^(percentile|quantile)(_cont|_disc|_approx)?$|^approx_|^hll|^bit_(and|or|xor)(_agg)?$/,
  /^(bool|logical|boolean)_?(and|or)(_agg)?$|^(array|string|list|json|jsonb|object|group|map)_?(agg|concat|objectagg)/,
  /^(group_concat|listagg|max_by|min_by|arg_max|arg_min|sum_distinct|range_agg|geomean|product)$/,
]

const NEEDS_AGGREGATE =
  'sql_expression must be an aggregate over the rows, such as sum(paid) / nullif(sum(due), 0), or one whole SELECT that returns one number'

/** What an expression of a user is as a number of all rows. Not recursive: users control the depth. */
export function findAggregation(root: ExpressionNode): Aggregation {
  const isCounted = isCount(root, {}, 0)
  const refuse = (problem: string): Aggregation => ({ problem, isCount: isCounted })
  let hasAggregate = false
  const open: { node: unknown; isWithin: boolean }[] = [{ node: root, isWithin: false }]
  for (let item = open.pop(); item; item = open.pop()) {
    const { node, isWithin } = item
    if (node === null || typeof node !== 'object') continue
    for (const [key, child] of Object.entries(node) as [string, ExpressionNode][]) {
      let isInside = isWithin
      if (key === 'FuncCall') {
        const name = nameOf(child.funcname)
        if (child.over) return refuse(`${NEEDS_AGGREGATE}; ${name}(…) over (…) is a number of each row.`)
        if (isAggregate(name, child.args)) isInside = hasAggregate = true
      }
      if (key === 'ColumnRef' && !isWithin)
        return refuse(
          `${NEEDS_AGGREGATE}; ${nameOf(child.fields) || '*'} stands in no aggregate function that is known here.`,
        )
      open.push({ node: child, isWithin: isInside })
    }
  }
  return hasAggregate ? { problem: null, isCount: isCounted } : refuse(`${NEEDS_AGGREGATE}.`)
}

/** With several values, `max` and `min` of SQLite are numbers of a row. */
function isAggregate(name: string, args: unknown): boolean {
  if (/^(min|max)$/.test(name) && Array.isArray(args) && args.length > 1) return false
  return AGGREGATES.some(pattern => pattern.test(name))
}
