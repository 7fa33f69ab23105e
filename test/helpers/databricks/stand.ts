import type { CheckCase, TestDatabaseOptions, TestDatabase } from '../../../checks/conformance.ts'
import { createTestDatabase } from '../../../checks/conformance.ts'
import { textLiteral } from './literals.ts'

/** What differs between the double and an independent engine. */
type Where = Pick<TestDatabaseOptions, 'connector' | 'connection' | 'execute' | 'columnName'> & {
  catalog: string
}

/** A stand on Databricks SQL. */
export function databricksStand({ catalog, ...where }: Where): TestDatabase {
  return createTestDatabase({
    ...where,
    tableRef: name => ({ catalog, schema: 'default', name }),
    keyDeclaration: 'int not null',
    columnTypes: {
      integer: 'int',
      decimal: 'decimal(38, 2)',
      float: 'double',
      text: 'string',
      boolean: 'boolean',
      date: 'date',
      timestamp: 'timestamp_ntz',
      time: null,
      binary: 'binary',
      json: 'variant',
      other: 'array<string>',
    },
    traits: {
      NaN: true,
      infinity: true,
      exact: 'decimal(38,20)',
      zoned: 'timestamp',
      microseconds: true,
      padded: { unsupported: 'the double pads no text' },
      'case-insensitive': { unsupported: 'the double has no collations' },
    },
    literal(value, { kind, type }) {
      if (typeof value !== 'string') return undefined
      if (kind === 'binary') return `unhex('${value}')`
      if (kind === 'json') return `parse_json(${textLiteral(value)})`
      if (kind === 'date') return `cast(${textLiteral(value)} as date)`
      if (kind === 'timestamp') return `cast(${textLiteral(value)} as ${type ?? 'timestamp_ntz'})`
      if (kind === 'float' && /[a-z]/i.test(value)) return `cast('${value}' as double)`
      return kind === 'text' ? textLiteral(value) : undefined
    },
  })
}

/** What only Databricks' columns can hold, or does in its own way. */
export const onDatabricks: Record<string, CheckCase[]> = {
  UNIQUE: [{ name: 'bytes', kind: 'binary', values: ['00', '00', '01'], expect: { invalid: 2 } }],
  REGEX: [
    {
      name: 'a class of letters',
      values: ['a1', 'B2', 'ä'],
      config: { pattern: '^[a-z]\\d$' },
      expect: { invalid: 2 },
    },
    { name: 'a broken pattern', values: ['a'], config: { pattern: '(' }, expect: { error: /PATTERN/ } },
  ],
  RANGE: [
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
      name: 'backslashes',
      values: ['a\\b', 'a\\nb', 'a\nb'],
      config: { allowed_values: ['a\\b', 'a\nb'] },
      expect: { invalid: 1 },
    },
    {
      name: 'more texts than parameters, with quotes',
      values: [`o'x "299"`, '\\299', 'none'],
      config: {
        allowed_values: Array.from({ length: 300 }, (_, index) => [`o'x "${index}"`, `\\${index}`]).flat(),
      },
      expect: { invalid: 1 },
    },
  ],
  CUSTOM_SQL: [
    {
      name: 'a SELECT in the default catalog',
      kind: 'integer',
      values: [1],
      config: { sql_expression: 'select id from t1 where id < 0' },
      expect: { invalid: 0 },
    },
  ],
}
