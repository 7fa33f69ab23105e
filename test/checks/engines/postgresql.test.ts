import t from 'tap'
import { testBuiltIns, type CheckCase } from '../../../checks/conformance.ts'
import { postgresqlStand } from '../stands.ts'

/** What only PostgreSQL's columns can hold. */
const onPostgresql: Record<string, CheckCase[]> = {
  NOT_NULL: [
    { name: 'NaN is not NULL', kind: 'float', values: ['NaN', null], expect: { invalid: 1 } },
    { name: 'JSON null is not NULL', kind: 'json', values: ['null', null], expect: { invalid: 1 } },
  ],
  UNIQUE: [
    { name: 'NaN equals NaN', kind: 'float', values: ['NaN', 'NaN', 'Infinity'], expect: { invalid: 2 } },
    { name: 'minus zero is zero', kind: 'float', values: ['-0', '0'], expect: { invalid: 2 } },
    { name: 'padded texts are equal', type: 'char(5)', values: ['a', 'a  ', 'b'], expect: { invalid: 2 } },
    {
      name: 'one moment in two zones',
      kind: 'timestamp',
      type: 'timestamptz',
      values: ['2024-01-01 00:00+00', '2024-01-01 01:00+01'],
      expect: { invalid: 2 },
    },
    {
      name: 'uuids',
      kind: 'other',
      type: 'uuid',
      values: ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'],
      expect: { invalid: 0 },
    },
    { name: 'bytes', kind: 'binary', values: ['\\x00', '\\x00', '\\x01'], expect: { invalid: 2 } },
  ],
  REGEX: [
    {
      name: 'padding is not matched',
      type: 'char(5)',
      values: ['ab'],
      config: { pattern: '^ab$' },
      expect: { invalid: 0 },
    },
    {
      name: 'uuids',
      kind: 'other',
      type: 'uuid',
      values: ['00000000-0000-0000-0000-000000000001'],
      config: { pattern: '1$' },
      expect: { invalid: 0 },
    },
    { name: 'a broken pattern', values: ['a'], config: { pattern: '(' }, expect: { error: /parenthes/ } },
  ],
  RANGE: [
    {
      name: 'NaN is in no range',
      kind: 'float',
      values: ['NaN', '1'],
      config: { min: 0 },
      expect: { invalid: 1 },
    },
    {
      name: 'NaN is not below',
      kind: 'float',
      values: ['NaN', '1'],
      config: { max: 5 },
      expect: { invalid: 1 },
    },
    {
      name: 'NaN of a decimal',
      kind: 'decimal',
      values: ['NaN', '0', '1'],
      config: { min: 0 },
      expect: { invalid: 1 },
    },
    {
      name: 'infinities are beyond bounds',
      kind: 'float',
      values: ['Infinity', '-Infinity', '1'],
      config: { min: 0, max: 5 },
      expect: { invalid: 2 },
    },
    {
      name: 'and within open ends',
      kind: 'float',
      values: ['Infinity', '-Infinity', '1'],
      config: { min: 0 },
      expect: { invalid: 1 },
    },
    {
      name: 'a decimal bound is exact',
      kind: 'decimal',
      values: ['0.1', '0.10000000000000000001'],
      config: { max: '0.1' },
      expect: { invalid: 1 },
    },
    {
      name: 'digits beyond a double',
      kind: 'decimal',
      values: ['12345678901234567890', '12345678901234567891'],
      config: { min: '12345678901234567891' },
      expect: { invalid: 1 },
    },
    {
      name: 'moments with a zone',
      kind: 'timestamp',
      type: 'timestamptz',
      values: ['2024-01-01 00:30+01', '2024-01-01 00:00+00'],
      config: { min: '2024-01-01' },
      expect: { invalid: 1 },
    },
    {
      name: 'infinite dates',
      kind: 'date',
      values: ['infinity', '-infinity', '2024-01-01'],
      config: { min: '2000-01-01' },
      expect: { invalid: 1 },
    },
    {
      name: 'microseconds',
      kind: 'timestamp',
      values: ['2024-01-01 00:00:00.000001', '2024-01-01 00:00:00.000002'],
      config: { max: '2024-01-01T00:00:00.000001Z' },
      expect: { invalid: 1 },
    },
    {
      name: 'small integers',
      kind: 'integer',
      type: 'smallint',
      values: [1, 2],
      config: { max: 1e10 },
      expect: { invalid: 0 },
    },
  ],
  ENUM: [
    {
      name: 'padded texts',
      type: 'char(5)',
      values: ['a', 'b'],
      config: { allowed_values: ['a'] },
      expect: { invalid: 1 },
    },
    {
      name: 'uuids',
      kind: 'other',
      type: 'uuid',
      values: ['00000000-0000-0000-0000-00000000000A'],
      config: { allowed_values: ['00000000-0000-0000-0000-00000000000a', 'none'] },
      expect: { invalid: 0 },
    },
    {
      name: 'dates',
      kind: 'date',
      values: ['2024-01-01', '2024-01-02'],
      config: { allowed_values: ['2024-01-01', 'never'] },
      expect: { invalid: 1 },
    },
    {
      name: 'NaN is not listed',
      kind: 'float',
      values: ['NaN', '1'],
      config: { allowed_values: [1] },
      expect: { invalid: 1 },
    },
  ],
  CUSTOM_SQL: [
    {
      name: 'a quoted column',
      kind: 'integer',
      values: [1, -1, 0],
      config: { sql_expression: '"a ""value""" >= 0' },
      expect: { invalid: 1 },
    },
    {
      name: 'a SELECT that fails',
      values: ['a'],
      config: { sql_expression: 'select nothing' },
      expect: { error: /nothing/ },
    },
    { name: 'no boolean', values: ['a'], config: { sql_expression: '1 + 1' }, expect: { error: /boolean/ } },
  ],
  distinct_count: [
    { name: 'NaN is one value', kind: 'float', values: ['NaN', 'NaN', '1', null], expect: { value: 2 } },
    { name: 'padded texts', type: 'char(5)', values: ['a', 'a '], expect: { value: 1 } },
  ],
  min_value: [
    {
      name: 'minus infinity is no number',
      kind: 'float',
      values: ['-Infinity', '1'],
      expect: { error: /-Infinity, which is not a finite/ },
    },
  ],
  max_value: [
    {
      name: 'NaN is no number',
      kind: 'float',
      values: ['NaN', '1'],
      expect: { error: /NaN, which is not a finite/ },
    },
    {
      name: 'NaN of a decimal',
      kind: 'decimal',
      values: ['NaN', '1'],
      expect: { error: /NaN, which is not a finite/ },
    },
    {
      name: 'beyond the largest double',
      kind: 'decimal',
      values: [`1${'0'.repeat(400)}`],
      expect: { error: /beyond the largest double/ },
    },
  ],
  mean: [
    {
      name: 'NaN is no number',
      kind: 'float',
      values: ['NaN', '1'],
      expect: { error: /NaN, which is not a finite/ },
    },
    { name: 'of decimals', kind: 'decimal', values: ['0.1', '0.2', '0.3'], expect: { value: 0.2 } },
    {
      name: 'of big integers',
      kind: 'integer',
      type: 'bigint',
      values: ['9223372036854775807', '9223372036854775805'],
      expect: { value: 9223372036854775806 },
    },
  ],
}

t.test('every check gives the numbers of every engine', async t => {
  const skipped = await testBuiltIns(t, { on: await postgresqlStand(t), more: onPostgresql })
  t.same(skipped, [])
})
