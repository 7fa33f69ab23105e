import type { CheckCase } from './case.ts'
import type { EdgeCell } from './edges.ts'

/** A table to group: an empty text beside NULL, a boolean and a date, each with NULL as a value of its own. */
const grouped = {
  kind: 'integer',
  values: [1, 3, null, 5, 5, 10],
  extraColumns: [
    { name: 'label', kind: 'text', values: ['a', 'a', 'a', '', '', null] },
    { name: 'flag', kind: 'boolean', values: [true, false, true, true, null, false] },
    {
      name: 'day',
      kind: 'date',
      values: ['2024-01-01', '2024-01-01', '2024-02-29', '2024-02-29', null, '2024-01-01'],
    },
  ],
} satisfies Partial<CheckCase>

const BY = {
  label: ['a', '', null],
  flag: [true, false, null],
  day: ['2024-01-01', '2024-02-29', null],
} as const

const PAIRS = [
  ['a', true],
  ['a', false],
  ['', true],
  ['', null],
  [null, false],
] as const

type Numbers = readonly (number | null)[]

/** A metric by one column: a number of each of its values, in the order above. */
function groupedBy(name: keyof typeof BY, numbers: Numbers, config?: CheckCase['config']): EdgeCell[number] {
  const groups = BY[name].map((value, index) => [value, numbers[index]])
  return { ...grouped, name: `by ${name}`, groupBy: [name], config, expect: { groups } }
}

/** The same by two columns. */
function groupedByTwo(numbers: Numbers, config?: CheckCase['config']): EdgeCell[number] {
  const groups = PAIRS.map((pair, index) => [...pair, numbers[index]])
  return { ...grouped, name: 'by label and flag', groupBy: ['label', 'flag'], config, expect: { groups } }
}

/** The same rows with a text for each number. */
function ofTexts(edge: EdgeCell[number]): EdgeCell[number] {
  return { ...edge, kind: 'text', values: ['a', 'abc', null, '', '12345', 'of ten ch.'] }
}

const THOUSAND_AND_ONE = Array.from({ length: 1001 }, (_, index) => index)

const tooMany: EdgeCell[number] = {
  name: 'by more than 1,000 groups',
  kind: 'integer',
  values: THOUSAND_AND_ONE,
  extraColumns: [{ name: 'part', kind: 'integer', values: THOUSAND_AND_ONE }],
  groupBy: ['part'],
  expect: { error: /more than 1,000 groups/ },
}

const MEDIAN = { percentile_value: 50 }

/** The cases of grouped metrics, by the metric's name. */
export const groupEdges = {
  row_count: [groupedBy('label', [3, 2, 1]), groupedByTwo([2, 1, 1, 1, 1])],
  null_percent: [
    groupedBy('label', [100 / 3, 0, 0]),
    groupedBy('flag', [100 / 3, 0, 0]),
    groupedBy('day', [0, 50, 0]),
    groupedByTwo([50, 0, 0, 0, 0]),
  ],
  distinct_count: [
    groupedBy('label', [2, 1, 1]),
    groupedBy('flag', [2, 2, 1]),
    groupedBy('day', [3, 1, 1]),
    groupedByTwo([1, 1, 1, 1, 1]),
  ],
  duplicate_count: [groupedBy('label', [0, 1, 0])],
  min_value: [groupedBy('label', [1, 5, 10])],
  max_value: [groupedBy('label', [3, 5, 10])],
  mean: [
    groupedBy('label', [2, 5, 10]),
    groupedBy('flag', [3, 6.5, 5]),
    groupedBy('day', [14 / 3, 5, 5]),
    groupedByTwo([1, 3, 5, 5, 10]),
    tooMany,
  ],
  percentile: [
    groupedBy('label', [2, 5, 10], MEDIAN),
    groupedBy('flag', [3, 6.5, 5], MEDIAN),
    groupedBy('day', [3, 5, 5], MEDIAN),
    groupedByTwo([1, 3, 5, 5, 10], MEDIAN),
  ],
  custom_sql: [
    { ...groupedBy('label', [3, 2, 1], { sql_expression: 'count(*)' }), column: 'amount' },
    { ...groupedBy('flag', [3, 2, 1], { sql_expression: 'count(*)' }), column: 'amount' },
  ],
  sum: [groupedBy('label', [4, 10, 10]), groupedBy('flag', [6, 13, 5]), groupedByTwo([1, 3, 5, 5, 10])],
  standard_deviation: [groupedBy('label', [Math.SQRT2, 0, null])],
  min_length: [ofTexts(groupedBy('label', [1, 0, 10]))],
  mean_length: [ofTexts(groupedBy('label', [2, 2.5, 10]))],
  max_length: [ofTexts(groupedBy('label', [3, 5, 10]))],
} satisfies Record<string, EdgeCell>
