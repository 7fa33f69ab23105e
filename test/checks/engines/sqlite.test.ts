import t from 'tap'
import { sharedTest } from '../../helpers/share.ts'
import { testBuiltIns, type CheckCase } from '../../../checks/conformance.ts'
import { reasonsOf, sqliteStand } from '../test-databases.ts'

/** What only SQLite's columns can hold: any value, whatever the declared type. */
const onSqlite: Record<string, CheckCase[]> = {
  RANGE: [
    {
      name: 'a text is in no range',
      kind: 'integer',
      values: ['abc', 1],
      config: { min: 0 },
      expect: { invalid: 1 },
    },
    {
      name: 'of decimals neither',
      kind: 'decimal',
      values: ['abc', 1],
      config: { min: 0 },
      expect: { invalid: 1 },
    },
    {
      name: 'a text of digits is a number',
      kind: 'integer',
      values: ['7', 1],
      config: { min: 5 },
      expect: { invalid: 1 },
    },
    {
      name: 'moments with a T',
      kind: 'timestamp',
      values: ['2024-12-31T23:59:59', '2025-01-01T00:00:00'],
      config: { max: '2024-12-31' },
      expect: { invalid: 1 },
    },
  ],
  ENUM: [
    {
      name: 'a text among numbers',
      kind: 'integer',
      values: ['abc', 1],
      config: { allowed_values: [1] },
      expect: { invalid: 1 },
    },
  ],
  min_value: [{ name: 'texts are no numbers', kind: 'integer', values: ['abc', 5], expect: { value: 5 } }],
  max_value: [{ name: 'texts are no numbers', kind: 'integer', values: ['abc', 5], expect: { value: 5 } }],
  mean: [{ name: 'texts do not count', kind: 'integer', values: ['abc', 4, 6], expect: { value: 5 } }],
}

t.test('every check gives the numbers of every engine', async t => {
  const skipped = await testBuiltIns(sharedTest(t, 'built-in checks on sqlite'), {
    database: await sqliteStand(t),
    extraCases: onSqlite,
  })
  t.same(reasonsOf(skipped), ['SQLite keeps NaN as NULL', 'SQLite pads no text'])
})
