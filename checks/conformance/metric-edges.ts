import { columns, failing, metric, type EdgeMatrix } from './edges.ts'
import { groupEdges } from './group-edges.ts'

const HUGE_VALUE = 1.2345678901234568e29
const NOT_FINITE = /not a finite number/
const MEDIAN = { config: { percentile_value: 50 } }

/** The matrix of the metrics: the value of each class of edge cases. */
export const metricEdges: EdgeMatrix = {
  row_count: {
    'empty table': [metric(columns.empty, 0)],
    'all NULL': [metric(columns.nulls, 2)],
    'one row': [metric(columns.one, 1)],
    groups: groupEdges.row_count,
  },
  null_percent: {
    'empty table': [metric(columns.empty, 0)],
    'all NULL': [metric(columns.nulls, 100)],
    zero: [metric(columns.zeros, 100 / 3)],
    'one row': [metric(columns.one, 0)],
    'NaN and infinity': [
      metric(columns.nans, 25, { name: 'NaN is not NULL' }),
      metric(columns.infinities, 25, { name: 'an infinity is not NULL' }),
    ],
    'huge decimals': [metric(columns.huge, 100 / 3)],
    'text numbers': [metric(columns.numerals, 25)],
    'dates with zones': [metric(columns.zoned, 0)],
    'padded CHAR': [metric({ trait: 'padded', values: ['', null] }, 50)],
    'empty text and NULL': [metric(columns.texts, 100 / 3)],
    booleans: [metric(columns.booleans, 25)],
    groups: groupEdges.null_percent,
  },
  distinct_count: {
    'empty table': [metric(columns.empty, 0)],
    'all NULL': [metric(columns.nulls, 0)],
    zero: [metric(columns.zeros, 1), metric(columns.minusZero, 1, { name: 'minus zero is zero' })],
    'one row': [metric(columns.one, 1)],
    'NaN and infinity': [
      metric(columns.nans, 2, { name: 'NaN is one value' }),
      metric(columns.infinities, 3, { name: 'two infinities' }),
    ],
    'huge decimals': [
      metric(columns.huge, 2),
      {
        ...metric(columns.exact, 2, { name: 'digits beyond a double' }),
        expectIf: { 'decimals are doubles': { value: 1 } },
      },
    ],
    'text numbers': [metric(columns.numerals, 3)],
    'dates with zones': [
      {
        ...metric(columns.zoned, 2, { name: 'one moment in two zones' }),
        expectIf: { 'moments are texts': { value: 3 } },
      },
    ],
    'padded CHAR': [
      metric(columns.padded, 2),
      {
        ...metric(columns.blanks, 3, { name: 'trailing blanks' }),
        expectIf: { 'texts are padded': { value: 2 } },
      },
    ],
    collations: [metric(columns.folded, 2)],
    'empty text and NULL': [metric(columns.texts, 2)],
    booleans: [metric(columns.booleans, 2)],
    groups: groupEdges.distinct_count,
  },
  duplicate_count: {
    'empty table': [metric(columns.empty, 0)],
    'all NULL': [metric(columns.nulls, 0)],
    zero: [metric(columns.zeros, 1), metric(columns.minusZero, 1, { name: 'minus zero is zero' })],
    'one row': [metric(columns.one, 0)],
    'NaN and infinity': [
      metric(columns.nans, 1, { name: 'NaN is one value' }),
      metric(columns.infinities, 0, { name: 'two infinities' }),
    ],
    'huge decimals': [
      metric(columns.huge, 0),
      {
        ...metric(columns.exact, 0, { name: 'digits beyond a double' }),
        expectIf: { 'decimals are doubles': { value: 1 } },
      },
    ],
    'text numbers': [metric(columns.numerals, 0)],
    'dates with zones': [
      {
        ...metric(columns.zoned, 1, { name: 'one moment in two zones' }),
        expectIf: { 'moments are texts': { value: 0 } },
      },
    ],
    'padded CHAR': [
      metric(columns.padded, 1),
      {
        ...metric(columns.blanks, 0, { name: 'trailing blanks' }),
        expectIf: { 'texts are padded': { value: 1 } },
      },
    ],
    collations: [metric(columns.folded, 1)],
    'empty text and NULL': [metric(columns.texts, 0)],
    booleans: [metric(columns.booleans, 1)],
    groups: groupEdges.duplicate_count,
  },
  min_value: {
    'empty table': [metric(columns.emptyNumbers, null)],
    'all NULL': [metric(columns.nullNumbers, null)],
    zero: [metric(columns.zeros, 0)],
    'one row': [metric(columns.one, 7)],
    'NaN and infinity': [
      {
        ...metric(columns.nans, 1, { name: 'NaN is above all numbers' }),
        expectIf: { 'NaN is the least': { error: /NaN, which is not a finite/ } },
      },
      failing(columns.infinities, /-Infinity, which is not a finite/, {
        name: 'minus infinity is no number',
      }),
    ],
    'huge decimals': [metric(columns.huge, 1)],
    groups: groupEdges.min_value,
  },
  max_value: {
    'empty table': [metric(columns.emptyNumbers, null)],
    'all NULL': [metric(columns.nullNumbers, null)],
    zero: [metric(columns.zeros, 0)],
    'one row': [metric(columns.one, 7)],
    'NaN and infinity': [
      failing(columns.nans, /NaN, which is not a finite/, { name: 'NaN is no number' }),
      failing(columns.infinities, /Infinity, which is not a finite/, { name: 'infinity is no number' }),
    ],
    'huge decimals': [metric(columns.huge, HUGE_VALUE)],
    groups: groupEdges.max_value,
  },
  mean: {
    'empty table': [metric(columns.emptyNumbers, null)],
    'all NULL': [metric(columns.nullNumbers, null)],
    zero: [metric(columns.zeros, 0)],
    'one row': [metric(columns.one, 7)],
    'NaN and infinity': [
      failing(columns.nans, NOT_FINITE, { name: 'NaN is no number' }),
      failing(
        { kind: 'float', trait: 'infinity', values: ['Infinity', '1'] },
        /Infinity, which is not a finite/,
        { name: 'infinity is no number' },
      ),
      failing({ kind: 'float', trait: 'infinity', values: ['Infinity', '-Infinity', '1'] }, NOT_FINITE, {
        name: 'infinities of both signs',
      }),
    ],
    'huge decimals': [metric(columns.huge, (HUGE_VALUE + 1) / 2)],
    groups: groupEdges.mean,
  },
  percentile: {
    'empty table': [metric(columns.emptyNumbers, null, MEDIAN)],
    'all NULL': [metric(columns.nullNumbers, null, MEDIAN)],
    zero: [metric(columns.zeros, 0, MEDIAN)],
    'one row': [metric(columns.one, 7, { config: { percentile_value: 95 } })],
    'NaN and infinity': [
      failing(columns.nans, NOT_FINITE, { name: 'NaN is no number', ...MEDIAN }),
      {
        ...metric(columns.infinities, 1, { name: 'a number between infinities', ...MEDIAN }),
        expectIf: { 'percentiles are finite': { error: /infinit|\bInf\b/i } },
      },
      {
        ...failing(columns.infinities, NOT_FINITE, {
          name: 'infinity is no number',
          config: { percentile_value: 100 },
        }),
        expectIf: { 'percentiles are finite': { error: /infinit|\bInf\b/i } },
      },
    ],
    'huge decimals': [metric(columns.huge, (HUGE_VALUE + 1) / 2, MEDIAN)],
    groups: groupEdges.percentile,
  },
}
