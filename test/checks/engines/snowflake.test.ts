import t from 'tap'
import { sharedTest } from '../../helpers/share.ts'
import { createTestDatabase, testBuiltIns } from '../../../checks/conformance.ts'
import type { CheckCase } from '../../../checks/conformance.ts'
import { snowflakeStand } from '../../helpers/snowflake.ts'
import { reasonsOf, withoutNotFiniteSpreads } from '../test-databases.ts'

/** What only Snowflake's columns can hold. */
const onSnowflake: Record<string, CheckCase[]> = {
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
  mean: [{ name: 'of thirds', kind: 'decimal', values: ['1', '0', '0'], expect: { value: 1 / 3 } }],
}

t.test('every check gives the same numbers on Snowflake', async t => {
  const on = createTestDatabase({
    ...(await snowflakeStand(t)),
    traits: {
      NaN: true,
      infinity: true,
      exact: 'number(38,20)',
      zoned: 'timestamp_tz',
      microseconds: true,
      padded: { unsupported: 'Snowflake pads no text' },
      'case-insensitive': { unsupported: 'the double has no collations' },
    },
  })
  const skipped = await testBuiltIns(sharedTest(t, 'built-in checks on snowflake'), {
    database: on,
    extraCases: onSnowflake,
    skip: withoutNotFiniteSpreads,
  })
  t.same(reasonsOf(skipped), [
    'Snowflake pads no text',
    'the double has no collations',
    'the double has no standard deviation of NaN and infinities',
  ])
})
