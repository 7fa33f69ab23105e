import t from 'tap'
import { sharedTest } from '../../helpers/share.ts'
import { testBuiltIns, type CheckCase } from '../../../checks/conformance.ts'
import { postgresqlStand } from '../test-databases.ts'

/** What only PostgreSQL's columns can hold. */
const onPostgresql: Record<string, CheckCase[]> = {
  UNIQUE: [
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
      name: 'NaN of a decimal',
      kind: 'decimal',
      values: ['NaN', '0', '1'],
      config: { min: 0 },
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
      name: 'uuids',
      kind: 'other',
      type: 'uuid',
      values: ['00000000-0000-0000-0000-00000000000A'],
      config: { allowed_values: ['00000000-0000-0000-0000-00000000000a', 'none'] },
      expect: { invalid: 0 },
    },
  ],
  CUSTOM_SQL: [
    { name: 'no boolean', values: ['a'], config: { sql_expression: '1 + 1' }, expect: { error: /boolean/ } },
  ],
  max_value: [
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
}

t.test('every check gives the numbers of every engine', async t => {
  const skipped = await testBuiltIns(sharedTest(t, 'built-in checks on postgresql'), {
    database: await postgresqlStand(t),
    extraCases: onPostgresql,
  })
  t.same(skipped, [])
})
