import { metricCase, refusedCase, type CheckCase } from './case.ts'

export const metricCases: Record<string, CheckCase[]> = {
  row_count: [metricCase('NULLs count', 'text', [null, 'a'], {}, 2)],
  distinct_count: [
    metricCase('values', 'text', ['a', 'a', '', null, 'A'], {}, 3),
    metricCase('numbers that print differently', 'decimal', ['1.0', '1.00', '2'], {}, 2),
  ],
  duplicate_count: [metricCase('the surplus', 'text', ['a', 'a', 'a', 'b', null, null], {}, 2)],
  min_value: [
    metricCase('below zero', 'float', [-0.5], {}, -0.5),
    metricCase('beyond 2^53', 'integer', ['9007199254740993', '9007199254740995'], {}, 9007199254740992, {
      type: 'bigint',
    }),
  ],
  max_value: [metricCase('zero above others', 'integer', [0, -5, null], {}, 0)],
  mean: [
    metricCase('of integers a fraction', 'integer', [1, 2, null], {}, 1.5),
    metricCase('of decimals', 'decimal', ['0.1', '0.2', '0.3'], {}, 0.2),
    metricCase(
      'of big integers',
      'integer',
      ['9223372036854775807', '9223372036854775805'],
      {},
      9223372036854775806,
      { type: 'bigint' },
    ),
    metricCase('of huge numbers', 'float', [1e300, 1e300], {}, 1e300),
  ],
  percentile: [
    metricCase('interpolated', 'integer', [1, 2, 3, 4, null], { percentile_value: 50 }, 2.5),
    metricCase('the least', 'float', [3, 1, 2], { percentile_value: 0 }, 1),
    metricCase('the greatest', 'float', [3, 1, 2], { percentile_value: 100 }, 3),
    metricCase('a tenth', 'float', [0, 10, 20], { percentile_value: 10 }, 2),
    metricCase('of decimals', 'decimal', ['0.1', '0.2'], { percentile_value: 50 }, 0.15),
    refusedCase('out of range', { percentile_value: 101 }, /100/, 'float'),
    refusedCase('missing', {}, /percentile_value/, 'float'),
  ],
  sum: [
    metricCase('below zero', 'float', [-0.5, 0.25, null], {}, -0.25),
    metricCase('of decimals', 'decimal', ['0.1', '0.2', '0.3'], {}, 0.6),
    metricCase('beyond 64 bits', 'integer', ['9223372036854775807', '9223372036854775805'], {}, 2 ** 64, {
      type: 'bigint',
    }),
    metricCase('that cancels out', 'integer', ['9007199254740993', '-9007199254740993', 7], {}, 7, {
      type: 'bigint',
    }),
  ],
  standard_deviation: [
    metricCase('of a sample', 'integer', [2, 4, 4, 4, 5, 5, 7, 9, null], {}, 2.138089935299395),
    metricCase('of equal values', 'decimal', ['0.1', '0.1'], {}, 0),
    metricCase('far from zero', 'float', [1e9, 1e9 + 1, 1e9 + 2], {}, 1),
  ],
  custom_sql: [
    refusedCase('a column of a row', { sql_expression: 'id' }, /aggregate/),
    refusedCase('a number for each row', { sql_expression: 'sum(id) over ()' }, /each row/),
    refusedCase('no rows', { sql_expression: '1 + 1' }, /aggregate/),
    refusedCase('two columns', { sql_expression: 'select 1 as a, 2 as b' }, /one column/),
    refusedCase('a number without a name', { sql_expression: 'select count(*) from t' }, /name its number/),
  ],
  min_length: [metricCase('of characters', 'text', ['žlutý', '名前', null], {}, 2)],
  mean_length: [metricCase('of characters', 'text', ['žlutý', '名前', null], {}, 3.5)],
  max_length: [metricCase('of characters', 'text', ['žlutý', '名前', null], {}, 5)],
}
