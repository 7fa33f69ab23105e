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
function by(name: keyof typeof BY, numbers: Numbers, config?: CheckCase['config']): EdgeCell[number] {
  const groups = BY[name].map((value, index) => [value, numbers[index]])
  return { ...grouped, name: `by ${name}`, groupBy: [name], config, expect: { groups } }
}

/** The same by two columns. */
function byTwo(numbers: Numbers, config?: CheckCase['config']): EdgeCell[number] {
  const groups = PAIRS.map((pair, index) => [...pair, numbers[index]])
  return { ...grouped, name: 'by label and flag', groupBy: ['label', 'flag'], config, expect: { groups } }
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
  row_count: [by('label', [3, 2, 1]), byTwo([2, 1, 1, 1, 1])],
  null_percent: [
    by('label', [100 / 3, 0, 0]),
    by('flag', [100 / 3, 0, 0]),
    by('day', [0, 50, 0]),
    byTwo([50, 0, 0, 0, 0]),
  ],
  distinct_count: [
    by('label', [2, 1, 1]),
    by('flag', [2, 2, 1]),
    by('day', [3, 1, 1]),
    byTwo([1, 1, 1, 1, 1]),
  ],
  duplicate_count: [by('label', [0, 1, 0])],
  min_value: [by('label', [1, 5, 10])],
  max_value: [by('label', [3, 5, 10])],
  mean: [
    by('label', [2, 5, 10]),
    by('flag', [3, 6.5, 5]),
    by('day', [14 / 3, 5, 5]),
    byTwo([1, 3, 5, 5, 10]),
    tooMany,
  ],
  percentile: [
    by('label', [2, 5, 10], MEDIAN),
    by('flag', [3, 6.5, 5], MEDIAN),
    by('day', [3, 5, 5], MEDIAN),
    byTwo([1, 3, 5, 5, 10], MEDIAN),
  ],
} satisfies Record<string, EdgeCell>
