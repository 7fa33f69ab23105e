import {
  createTestDatabase,
  type CheckCase,
  type TestDatabaseOptions,
  type TestDatabase,
} from '../../../checks/conformance.ts'

/** What differs between the double and an independent emulator. */
type Where = Pick<TestDatabaseOptions, 'connector' | 'connection' | 'execute'> & {
  project: string
  dataset: string
}

/** A text of GoogleSQL, where a doubled quote would end it. */
export function textLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
}

/** A stand on BigQuery. */
export function bigqueryStand({ project, dataset, ...where }: Where): TestDatabase {
  return createTestDatabase({
    ...where,
    tableRef: name => ({ catalog: project, schema: dataset, name }),
    keyDeclaration: 'int64 not null',
    // As awkward as columns may be called (schemas#flexible-column-names).
    columnName: 'a <value> & #1',
    columnTypes: {
      integer: 'int64',
      decimal: 'bignumeric(38, 2)',
      float: 'float64',
      text: 'string',
      boolean: 'bool',
      date: 'date',
      timestamp: 'datetime',
      binary: 'bytes',
    },
    traits: {
      NaN: true,
      infinity: true,
      exact: 'bignumeric(38, 20)',
      zoned: 'timestamp',
      microseconds: true,
      padded: { unsupported: 'BigQuery pads no text' },
      'case-insensitive': { unsupported: 'the double has no collations' },
    },
    deviations: ['NaN is the least'],
    literal(value, { kind, type }) {
      if (typeof value !== 'string') return undefined
      if (kind === 'decimal') return `bignumeric '${value}'`
      if (kind === 'integer') return value
      if (kind === 'float') return `cast('${value}' as float64)`
      if (kind === 'binary') return `from_hex('${value}')`
      if (kind === 'json') return `json ${textLiteral(value)}`
      if (kind === 'date' || kind === 'time') return `${kind} '${value}'`
      return kind === 'timestamp' ? `${type ?? 'datetime'} '${value}'` : textLiteral(value)
    },
  })
}

/** What only BigQuery's columns can hold, or does in its own way. */
export const onBigquery: Record<string, CheckCase[]> = {
  NOT_NULL: [{ name: 'a time', kind: 'time', values: ['12:34:56', null], expect: { invalid: 1 } }],
  UNIQUE: [{ name: 'bytes', kind: 'binary', values: ['00', '00', '01'], expect: { invalid: 2 } }],
  REGEX: [
    {
      name: 'a broken pattern',
      values: ['a'],
      config: { pattern: '(' },
      expect: { error: /parenthes|missing \)/i },
    },
    {
      name: 'dates as printed',
      kind: 'date',
      values: ['2024-02-29'],
      config: { pattern: '^2024-02-29$' },
      expect: { invalid: 0 },
    },
  ],
  ENUM: [
    {
      name: 'fractions beside integers',
      kind: 'integer',
      values: [1, 2],
      config: { allowed_values: [1, '2.5', '99999999999999999999'] },
      expect: { invalid: 1 },
    },
  ],
  CUSTOM_SQL: [
    {
      name: 'a semicolon in a text',
      values: ['a;b', 'ab'],
      column: 'label',
      config: { sql_expression: `label like '%;%'` },
      expect: { invalid: 1 },
    },
  ],
}
