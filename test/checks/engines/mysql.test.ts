import t from 'tap'
import { sharedTest } from '../../helpers/share.ts'
import { testBuiltIns, type CheckCase } from '../../../checks/conformance.ts'
import { scan } from '../../../checks/scan.ts'
import { mariadbAbsent } from '../../helpers/mariadb.ts'
import { check } from '../scan-helpers.ts'
import { mariadbStand, reasonsOf } from '../test-databases.ts'

/** What only MySQL's columns can hold, and what its collations do. */
const onMysql: Record<string, CheckCase[]> = {
  NOT_NULL: [
    { name: 'the zero date is not NULL', kind: 'date', values: ['0000-00-00', null], expect: { invalid: 1 } },
    { name: 'bits', kind: 'binary', type: 'bit(5)', values: [0, null], expect: { invalid: 1 } },
  ],
  UNIQUE: [
    {
      name: 'a collation that does not',
      type: 'varchar(20) collate utf8mb4_nopad_bin',
      values: ['a', 'a ', 'A'],
      expect: { invalid: 0 },
    },
    {
      name: 'bytes',
      kind: 'binary',
      values: [Uint8Array.of(0), Uint8Array.of(0), Uint8Array.of(1)],
      expect: { invalid: 2 },
    },
    { name: 'bits', kind: 'binary', type: 'bit(5)', values: [5, 5, 6], expect: { invalid: 2 } },
    { name: 'an enum', type: "enum('a','b')", values: ['a', 'a', 'b'], expect: { invalid: 2 } },
    {
      name: 'zero dates',
      kind: 'date',
      values: ['0000-00-00', '0000-00-00', '2024-01-01'],
      expect: { invalid: 2 },
    },
    {
      name: 'unsigned',
      kind: 'integer',
      type: 'bigint unsigned',
      values: ['18446744073709551615', '18446744073709551615', '18446744073709551614'],
      expect: { invalid: 2 },
    },
  ],
  REGEX: [
    {
      name: 'another character set',
      type: 'varchar(20) character set latin1',
      values: ['é', 'e'],
      config: { pattern: '^é$' },
      expect: { invalid: 1 },
    },
    { name: 'beyond 65,536', values: ['🦆', 'x'], config: { pattern: '^.$' }, expect: { invalid: 0 } },
    {
      name: 'an enum',
      type: "enum('a','b')",
      values: ['a', 'b'],
      config: { pattern: 'a' },
      expect: { invalid: 1 },
    },
    {
      name: 'a set',
      type: "set('a','b')",
      values: ['a,b', '', null],
      config: { pattern: '^a' },
      expect: { invalid: 2 },
    },
    {
      name: 'classes and back-slashes',
      values: ['12', 'x'],
      config: { pattern: '^\\d+$' },
      expect: { invalid: 1 },
    },
    {
      name: 'a year',
      kind: 'integer',
      type: 'year',
      values: [2024, 1999],
      config: { pattern: '^20' },
      expect: { invalid: 1 },
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
      name: 'unsigned',
      kind: 'integer',
      type: 'bigint unsigned',
      values: ['18446744073709551615', 0],
      config: { min: -1 },
      expect: { invalid: 0 },
    },
    {
      name: 'unsigned, above',
      kind: 'integer',
      type: 'bigint unsigned',
      values: ['18446744073709551615', '18446744073709551614'],
      config: { min: '18446744073709551615' },
      expect: { invalid: 1 },
    },
    {
      name: 'an unsigned decimal',
      kind: 'decimal',
      type: 'decimal(10,2) unsigned',
      values: ['0', '1.5'],
      config: { min: 1 },
      expect: { invalid: 1 },
    },
    {
      name: 'an unsigned float',
      kind: 'float',
      type: 'double unsigned',
      values: ['0', '1.5'],
      config: { min: 1 },
      expect: { invalid: 1 },
    },
    {
      name: 'the zero date',
      kind: 'date',
      values: ['0000-00-00', '2024-01-01'],
      config: { min: '2000-01-01' },
      expect: { invalid: 1 },
    },
    {
      name: 'small integers',
      kind: 'integer',
      type: 'tinyint',
      values: [1, 2],
      config: { max: 1e10 },
      expect: { invalid: 0 },
    },
  ],
  ENUM: [
    {
      name: 'a collation without case',
      type: 'varchar(20) collate utf8mb4_general_ci',
      values: ['A', 'á', 'b'],
      config: { allowed_values: ['a'] },
      expect: { invalid: 1 },
    },
    {
      name: 'an enum',
      type: "enum('a','b')",
      values: ['a', 'b'],
      config: { allowed_values: ['a', 'never'] },
      expect: { invalid: 1 },
    },
    {
      name: 'an enum is not its number',
      type: "enum('a','b')",
      values: ['a', 'b'],
      config: { allowed_values: ['1'] },
      expect: { invalid: 2 },
    },
    {
      name: 'a set',
      type: "set('a','b')",
      values: ['a,b', 'b'],
      config: { allowed_values: ['a,b'] },
      expect: { invalid: 1 },
    },
    {
      name: 'bits of one',
      kind: 'boolean',
      type: 'bit(1)',
      values: [1, 0, null],
      config: { allowed_values: [true] },
      expect: { invalid: 2 },
    },
    {
      name: 'two is neither true nor false',
      kind: 'boolean',
      values: [2, 0],
      config: { allowed_values: [true, false] },
      expect: { invalid: 1 },
    },
    {
      name: 'times',
      kind: 'time',
      values: ['00:00:01', '838:59:59'],
      config: { allowed_values: ['00:00:01'] },
      expect: { invalid: 1 },
    },
    {
      name: 'a text is not zero',
      values: ['x', '0'],
      config: { allowed_values: [0] },
      expect: { invalid: 1 },
    },
    {
      name: 'a back-slash',
      values: ['a\\b', 'ab'],
      config: { allowed_values: ['a\\b'] },
      expect: { invalid: 1 },
    },
  ],
  CUSTOM_SQL: [
    {
      name: 'two bars are one of two operators',
      values: ['ab', 'b'],
      column: 'AMOUNT',
      config: { sql_expression: `'a' || 'b' = "AMOUNT"` },
      expect: { refused: /\|\| is not allowed .* write or between conditions, and concat/ },
    },
    {
      name: 'double quotes hold a column of the table, else a text',
      values: ['a', 'b'],
      config: { sql_expression: '"a ""value""" = "a"' },
      expect: { invalid: 1 },
    },
    {
      name: 'what is not zero is true',
      kind: 'integer',
      values: [2, 0],
      config: { sql_expression: '"a ""value"""' },
      expect: { invalid: 1 },
    },
    {
      name: 'division by zero is NULL',
      kind: 'integer',
      values: [2, 0],
      config: { sql_expression: '1 / "a ""value""" > 0' },
      expect: { invalid: 1 },
    },
  ],
  max_value: [
    {
      name: 'unsigned',
      kind: 'integer',
      type: 'bigint unsigned',
      values: ['18446744073709551615'],
      expect: { value: 18446744073709551615 },
    },
    { name: 'a float', kind: 'float', type: 'float', values: [0.5, 2.25], expect: { value: 2.25 } },
    { name: 'a year', kind: 'integer', type: 'year', values: [2024, 1999], expect: { value: 2024 } },
  ],
  mean: [
    { name: 'thirds', kind: 'integer', values: [1, 2, 2], expect: { value: 5 / 3 } },
    { name: 'of decimals', kind: 'decimal', values: ['0.1', '0.2', '0.3'], expect: { value: 0.2 } },
    {
      name: 'of big integers',
      kind: 'integer',
      type: 'bigint',
      values: ['9223372036854775807', '9223372036854775805'],
      expect: { value: 9223372036854775806 },
    },
    {
      name: 'unsigned',
      kind: 'integer',
      type: 'bigint unsigned',
      values: ['18446744073709551615', '18446744073709551615'],
      expect: { value: 18446744073709551615 },
    },
  ],
  percentile: [
    {
      name: 'unsigned',
      kind: 'integer',
      type: 'int unsigned',
      values: [0, 4294967295],
      config: { percentile_value: 50 },
      expect: { value: 2147483647.5 },
    },
  ],
}

t.test('every check gives the numbers of every engine', { skip: mariadbAbsent }, async t => {
  const on = await mariadbStand(t)
  t.test('of more columns than the server joins tables, values are counted', async t => {
    const columns = Array.from(
      { length: 64 },
      (_, index) => ({ name: `c${index}`, kind: 'integer' }) as const,
    )
    const { table } = await on.createTable(columns, [columns.map(() => 1), columns.map(() => 1)])
    const checks = columns.map(({ name }) => check('UNIQUE', name))
    const { outcomes, statements } = await scan(on.connection, on.engine, table, checks, {
      timeoutMs: 60_000,
    })
    t.equal(statements, 2)
    t.match(
      outcomes,
      checks.map(() => ({ status: 'counted', invalid: 2 })),
    )
  })
  const skipped = await testBuiltIns(sharedTest(t, 'built-in checks on mysql'), {
    database: on,
    extraCases: onMysql,
  })
  t.same(reasonsOf(skipped), [
    'MySQL has no columns of kind json',
    'MySQL keeps no NaN',
    'MySQL keeps no infinities',
  ])
})
