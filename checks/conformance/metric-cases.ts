import type { CheckCase } from './case.ts'

/** The edge cases of the metrics, by type name. */
export const metricCases: Record<string, CheckCase[]> = {
  row_count: [{ name: 'NULLs count', values: [null, 'a'], expect: { value: 2 } }],
  distinct_count: [
    { name: 'values', values: ['a', 'a', '', null, 'A'], expect: { value: 3 } },
    {
      name: 'numbers that print differently',
      kind: 'decimal',
      values: ['1.0', '1.00', '2'],
      expect: { value: 2 },
    },
  ],
  duplicate_count: [{ name: 'the surplus', values: ['a', 'a', 'a', 'b', null, null], expect: { value: 2 } }],
  min_value: [
    { name: 'below zero', kind: 'float', values: [-0.5], expect: { value: -0.5 } },
    {
      name: 'beyond 2^53',
      kind: 'integer',
      values: ['9007199254740993', '9007199254740995'],
      type: 'bigint',
      expect: { value: 9007199254740992 },
    },
  ],
  max_value: [{ name: 'zero above others', kind: 'integer', values: [0, -5, null], expect: { value: 0 } }],
  mean: [
    { name: 'of integers a fraction', kind: 'integer', values: [1, 2, null], expect: { value: 1.5 } },
    { name: 'of decimals', kind: 'decimal', values: ['0.1', '0.2', '0.3'], expect: { value: 0.2 } },
    {
      name: 'of big integers',
      kind: 'integer',
      type: 'bigint',
      values: ['9223372036854775807', '9223372036854775805'],
      expect: { value: 9223372036854775806 },
    },
    { name: 'of huge numbers', kind: 'float', values: [1e300, 1e300], expect: { value: 1e300 } },
  ],
  percentile: [
    {
      name: 'interpolated',
      kind: 'integer',
      values: [1, 2, 3, 4, null],
      config: { percentile_value: 50 },
      expect: { value: 2.5 },
    },
    {
      name: 'the least',
      kind: 'float',
      values: [3, 1, 2],
      config: { percentile_value: 0 },
      expect: { value: 1 },
    },
    {
      name: 'the greatest',
      kind: 'float',
      values: [3, 1, 2],
      config: { percentile_value: 100 },
      expect: { value: 3 },
    },
    {
      name: 'a tenth',
      kind: 'float',
      values: [0, 10, 20],
      config: { percentile_value: 10 },
      expect: { value: 2 },
    },
    {
      name: 'of decimals',
      kind: 'decimal',
      values: ['0.1', '0.2'],
      config: { percentile_value: 50 },
      expect: { value: 0.15 },
    },
    {
      name: 'out of range',
      kind: 'float',
      values: [],
      config: { percentile_value: 101 },
      expect: { refused: /100/ },
    },
    { name: 'missing', kind: 'float', values: [], config: {}, expect: { refused: /percentile_value/ } },
  ],
}
