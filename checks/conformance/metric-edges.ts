import { columns, deviating, failingEdge, metricEdge, type EdgeCell, type EdgeMatrix } from './edges.ts'
import { groupEdges } from './group-edges.ts'

const HUGE_VALUE = 1.2345678901234568e29
const NOT_FINITE = /not a finite number/
const INFINITY = { kind: 'float', trait: 'infinity', values: ['Infinity', '1'] } as const
const INFINITIES = { ...INFINITY, values: ['Infinity', '-Infinity', '1'] }
const MEDIAN = { config: { percentile_value: 50 } }

/** A ratio of two sums of the column, which is two where it has values. */
const ofRatio = (column: string) => {
  const name = `"${column.replaceAll('"', '""')}"`
  return { sql_expression: `sum(2.0 * ${name}) / nullif(sum(${name}), 0)` }
}

/** The cases of a metric that adds values up. */
const notFinite: EdgeCell = [
  failingEdge(columns.nans, NOT_FINITE, { name: 'NaN is no number' }),
  failingEdge(INFINITY, NOT_FINITE, { name: 'infinity is no number' }),
  failingEdge(INFINITIES, NOT_FINITE, { name: 'infinities of both signs' }),
]

/** The row of a metric of lengths: what it is of texts, whose lengths the columns have on all engines alike. */
function lengths(
  of: { numerals: number; blanks: number; texts: number },
  groups: EdgeCell,
): EdgeMatrix[string] {
  return {
    'empty table': [metricEdge(columns.empty, null)],
    'all NULL': [metricEdge(columns.nulls, null)],
    'one row': [metricEdge({ values: ['seven'] }, 5)],
    'text numbers': [metricEdge(columns.numerals, of.numerals)],
    'padded CHAR': [
      metricEdge(columns.padded, 1, { name: 'padding is no character' }),
      metricEdge(columns.blanks, of.blanks, { name: 'trailing blanks are characters' }),
    ],
    collations: [metricEdge(columns.folded, 1)],
    'empty text and NULL': [metricEdge(columns.texts, of.texts)],
    groups,
  }
}

/** The matrix of the metrics: the value of each class of edge cases. */
export const metricEdges: EdgeMatrix = {
  row_count: {
    'empty table': [metricEdge(columns.empty, 0)],
    'all NULL': [metricEdge(columns.nulls, 2)],
    'one row': [metricEdge(columns.one, 1)],
    groups: groupEdges.row_count,
  },
  null_percent: {
    'empty table': [metricEdge(columns.empty, 0)],
    'all NULL': [metricEdge(columns.nulls, 100)],
    zero: [metricEdge(columns.zeros, 100 / 3)],
    'one row': [metricEdge(columns.one, 0)],
    'NaN and infinity': [
      metricEdge(columns.nans, 25, { name: 'NaN is not NULL' }),
      metricEdge(columns.infinities, 25, { name: 'an infinity is not NULL' }),
    ],
    'huge decimals': [metricEdge(columns.huge, 100 / 3)],
    'text numbers': [metricEdge(columns.numerals, 25)],
    'dates with zones': [metricEdge(columns.zoned, 0)],
    'padded CHAR': [metricEdge({ trait: 'padded', values: ['', null] }, 50)],
    'empty text and NULL': [metricEdge(columns.texts, 100 / 3)],
    booleans: [metricEdge(columns.booleans, 25)],
    groups: groupEdges.null_percent,
  },
  distinct_count: {
    'empty table': [metricEdge(columns.empty, 0)],
    'all NULL': [metricEdge(columns.nulls, 0)],
    zero: [metricEdge(columns.zeros, 1), metricEdge(columns.minusZero, 1, { name: 'minus zero is zero' })],
    'one row': [metricEdge(columns.one, 1)],
    'NaN and infinity': [
      metricEdge(columns.nans, 2, { name: 'NaN is one value' }),
      metricEdge(columns.infinities, 3, { name: 'two infinities' }),
    ],
    'huge decimals': [
      metricEdge(columns.huge, 2),
      deviating('decimals are doubles', 1, metricEdge(columns.exact, 2, { name: 'digits beyond a double' })),
    ],
    'text numbers': [metricEdge(columns.numerals, 3)],
    'dates with zones': [
      deviating('moments are texts', 3, metricEdge(columns.zoned, 2, { name: 'one moment in two zones' })),
    ],
    'padded CHAR': [
      metricEdge(columns.padded, 2),
      deviating('texts are padded', 2, metricEdge(columns.blanks, 3, { name: 'trailing blanks' })),
    ],
    collations: [metricEdge(columns.folded, 2)],
    'empty text and NULL': [metricEdge(columns.texts, 2)],
    booleans: [metricEdge(columns.booleans, 2)],
    groups: groupEdges.distinct_count,
  },
  duplicate_count: {
    'empty table': [metricEdge(columns.empty, 0)],
    'all NULL': [metricEdge(columns.nulls, 0)],
    zero: [metricEdge(columns.zeros, 1), metricEdge(columns.minusZero, 1, { name: 'minus zero is zero' })],
    'one row': [metricEdge(columns.one, 0)],
    'NaN and infinity': [
      metricEdge(columns.nans, 1, { name: 'NaN is one value' }),
      metricEdge(columns.infinities, 0, { name: 'two infinities' }),
    ],
    'huge decimals': [
      metricEdge(columns.huge, 0),
      deviating('decimals are doubles', 1, metricEdge(columns.exact, 0, { name: 'digits beyond a double' })),
    ],
    'text numbers': [metricEdge(columns.numerals, 0)],
    'dates with zones': [
      deviating('moments are texts', 0, metricEdge(columns.zoned, 1, { name: 'one moment in two zones' })),
    ],
    'padded CHAR': [
      metricEdge(columns.padded, 1),
      deviating('texts are padded', 1, metricEdge(columns.blanks, 0, { name: 'trailing blanks' })),
    ],
    collations: [metricEdge(columns.folded, 1)],
    'empty text and NULL': [metricEdge(columns.texts, 0)],
    booleans: [metricEdge(columns.booleans, 1)],
    groups: groupEdges.duplicate_count,
  },
  min_value: {
    'empty table': [metricEdge(columns.emptyNumbers, null)],
    'all NULL': [metricEdge(columns.nullNumbers, null)],
    zero: [metricEdge(columns.zeros, 0)],
    'one row': [metricEdge(columns.one, 7)],
    'NaN and infinity': [
      metricEdge(columns.nans, 1, {
        name: 'NaN is above all numbers',
        expectIf: { 'NaN is the least': { error: /NaN, which is not a finite/ } },
      }),
      failingEdge(columns.infinities, /-Infinity, which is not a finite/, {
        name: 'minus infinity is no number',
      }),
    ],
    'huge decimals': [metricEdge(columns.huge, 1)],
    groups: groupEdges.min_value,
  },
  max_value: {
    'empty table': [metricEdge(columns.emptyNumbers, null)],
    'all NULL': [metricEdge(columns.nullNumbers, null)],
    zero: [metricEdge(columns.zeros, 0)],
    'one row': [metricEdge(columns.one, 7)],
    'NaN and infinity': [
      failingEdge(columns.nans, /NaN, which is not a finite/, { name: 'NaN is no number' }),
      failingEdge(columns.infinities, /Infinity, which is not a finite/, { name: 'infinity is no number' }),
    ],
    'huge decimals': [metricEdge(columns.huge, HUGE_VALUE)],
    groups: groupEdges.max_value,
  },
  mean: {
    'empty table': [metricEdge(columns.emptyNumbers, null)],
    'all NULL': [metricEdge(columns.nullNumbers, null)],
    zero: [metricEdge(columns.zeros, 0)],
    'one row': [metricEdge(columns.one, 7)],
    'NaN and infinity': notFinite,
    'huge decimals': [metricEdge(columns.huge, (HUGE_VALUE + 1) / 2)],
    groups: groupEdges.mean,
  },
  percentile: {
    'empty table': [metricEdge(columns.emptyNumbers, null, MEDIAN)],
    'all NULL': [metricEdge(columns.nullNumbers, null, MEDIAN)],
    zero: [metricEdge(columns.zeros, 0, MEDIAN)],
    'one row': [metricEdge(columns.one, 7, { config: { percentile_value: 95 } })],
    'NaN and infinity': [
      failingEdge(columns.nans, NOT_FINITE, { name: 'NaN is no number', ...MEDIAN }),
      metricEdge(columns.infinities, 1, {
        name: 'a number between infinities',
        ...MEDIAN,
        expectIf: { 'percentiles are finite': { error: /infinit|\bInf\b/i } },
      }),
      failingEdge(columns.infinities, NOT_FINITE, {
        name: 'infinity is no number',
        config: { percentile_value: 100 },
        expectIf: { 'percentiles are finite': { error: /infinit|\bInf\b/i } },
      }),
    ],
    'huge decimals': [metricEdge(columns.huge, (HUGE_VALUE + 1) / 2, MEDIAN)],
    groups: groupEdges.percentile,
  },
  sum: {
    'empty table': [metricEdge(columns.emptyNumbers, 0)],
    'all NULL': [metricEdge(columns.nullNumbers, 0)],
    zero: [metricEdge(columns.zeros, 0)],
    'one row': [metricEdge(columns.one, 7)],
    'NaN and infinity': notFinite,
    'huge decimals': [metricEdge(columns.huge, HUGE_VALUE)],
    groups: groupEdges.sum,
  },
  standard_deviation: {
    'empty table': [metricEdge(columns.emptyNumbers, null)],
    'all NULL': [metricEdge(columns.nullNumbers, null)],
    zero: [metricEdge(columns.zeros, 0)],
    'one row': [metricEdge(columns.one, null)],
    'NaN and infinity': notFinite,
    'huge decimals': [metricEdge(columns.huge, HUGE_VALUE / Math.SQRT2)],
    groups: groupEdges.standard_deviation,
  },
  custom_sql: {
    'empty table': [metricEdge(columns.emptyNumbers, null, { config: ofRatio })],
    'all NULL': [metricEdge(columns.nullNumbers, null, { config: ofRatio })],
    'one row': [metricEdge(columns.one, 2, { config: ofRatio })],
    groups: groupEdges.custom_sql,
  },
  min_length: lengths({ numerals: 1, blanks: 1, texts: 0 }, groupEdges.min_length),
  mean_length: lengths({ numerals: 2, blanks: 5 / 3, texts: 0.5 }, groupEdges.mean_length),
  max_length: lengths({ numerals: 3, blanks: 3, texts: 1 }, groupEdges.max_length),
}
