import t from 'tap'
import { engineStand, testBuiltIns } from '../../../checks/conformance.ts'
import type { CheckCase } from '../../../checks/conformance.ts'
import { snowflakeStand } from '../../helpers/snowflake.ts'

/** What only Snowflake's columns can hold. */
const onSnowflake: Record<string, CheckCase[]> = {
  NOT_NULL: [
    { name: 'JSON null is not NULL', kind: 'json', values: ['null', null], expect: { invalid: 1 } },
    { name: 'NaN is not NULL', kind: 'float', values: ['NaN', null], expect: { invalid: 1 } },
  ],
  UNIQUE: [
    { name: 'NaN equals NaN', kind: 'float', values: ['NaN', 'NaN', 'Infinity'], expect: { invalid: 2 } },
    {
      name: 'one moment in two zones',
      kind: 'timestamp',
      type: 'timestamp_tz',
      values: ['2024-01-01 00:00:00+00:00', '2024-01-01 01:00:00+01:00'],
      expect: { invalid: 2 },
    },
  ],
  REGEX: [
    {
      name: 'a broken pattern',
      values: ['a'],
      config: { pattern: '(' },
      expect: { error: /regular expression/ },
    },
    {
      name: 'over line breaks',
      values: ['first\nsecond\nthird', 'second'],
      config: { pattern: 'd$' },
      expect: { invalid: 0 },
    },
    { name: 'alternatives', values: ['xa', 'bx', 'x'], config: { pattern: '^b|a$' }, expect: { invalid: 1 } },
  ],
  RANGE: [
    {
      name: 'NaN is in no range',
      kind: 'float',
      values: ['NaN', 1],
      config: { min: 0 },
      expect: { invalid: 1 },
    },
    {
      name: 'moments with a zone',
      kind: 'timestamp',
      type: 'timestamp_tz',
      values: ['2024-01-01 00:30:00+01:00', '2024-01-01 00:00:00+00:00'],
      config: { min: '2024-01-01' },
      expect: { invalid: 1 },
    },
    {
      name: 'a decimal bound is exact',
      kind: 'decimal',
      type: 'number(38,20)',
      values: ['0.1', '0.10000000000000000001'],
      config: { max: '0.1' },
      expect: { invalid: 1 },
    },
  ],
  max_value: [
    { name: 'NaN is no number', kind: 'float', values: ['NaN', 1], expect: { error: /NaN, which is not/ } },
    {
      name: 'infinity is no number',
      kind: 'float',
      values: ['Infinity', 1],
      expect: { error: /Infinity, which is not/ },
    },
  ],
  mean: [
    { name: 'of thirds', kind: 'decimal', values: ['1', '0', '0'], expect: { value: 1 / 3 } },
    {
      name: 'of big integers',
      kind: 'integer',
      values: ['9223372036854775807', '9223372036854775805'],
      expect: { value: 9223372036854775806 },
    },
  ],
}

t.test('every check gives the same numbers on Snowflake', async t => {
  const on = engineStand(await snowflakeStand(t))
  const skipped = await testBuiltIns(t, { on, more: onSnowflake })
  t.same(skipped, [])
})
