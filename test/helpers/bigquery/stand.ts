import {
  engineStand,
  type CheckCase,
  type EngineStandOptions,
  type Stand,
} from '../../../checks/conformance.ts'

/** What differs between the double and an independent emulator. */
type Where = Pick<EngineStandOptions, 'connector' | 'connection' | 'execute'> & {
  project: string
  dataset: string
}

/** A text of GoogleSQL, where a doubled quote would end it. */
export function textLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
}

/** A stand on BigQuery. */
export function bigqueryStand({ project, dataset, ...where }: Where): Stand {
  return engineStand({
    ...where,
    ref: name => ({ catalog: project, schema: dataset, name }),
    key: 'int64 not null',
    // As awkward as columns may be called (schemas#flexible-column-names).
    columnName: 'a <value> & #1',
    types: {
      integer: 'int64',
      decimal: 'bignumeric(38, 2)',
      float: 'float64',
      text: 'string',
      boolean: 'bool',
      date: 'date',
      timestamp: 'datetime',
      binary: 'bytes',
    },
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
  NOT_NULL: [
    { name: 'NaN is not NULL', kind: 'float', values: ['NaN', null], expect: { invalid: 1 } },
    { name: 'a time', kind: 'time', values: ['12:34:56', null], expect: { invalid: 1 } },
  ],
  UNIQUE: [
    { name: 'bytes', kind: 'binary', values: ['00', '00', '01'], expect: { invalid: 2 } },
    {
      name: 'one moment in two zones',
      kind: 'timestamp',
      type: 'timestamp',
      values: ['2024-01-01 00:00:00+00:00', '2024-01-01 01:00:00+01:00'],
      expect: { invalid: 2 },
    },
  ],
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
      name: 'a decimal bound is exact',
      kind: 'decimal',
      type: 'bignumeric(38, 20)',
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
      type: 'timestamp',
      values: ['2024-01-01 00:30:00+01:00', '2024-01-01 00:00:00+00:00'],
      config: { min: '2024-01-01' },
      expect: { invalid: 1 },
    },
    {
      name: 'microseconds',
      kind: 'timestamp',
      values: ['2024-01-01 00:00:00.000001', '2024-01-01 00:00:00.000002'],
      config: { max: '2024-01-01T00:00:00.000001Z' },
      expect: { invalid: 1 },
    },
  ],
  ENUM: [
    {
      name: 'dates',
      kind: 'date',
      values: ['2024-01-01', '2024-01-02'],
      config: { allowed_values: ['2024-01-01', 'never'] },
      expect: { invalid: 1 },
    },
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
    {
      name: 'a SELECT that fails',
      values: ['a'],
      config: { sql_expression: 'select nothing' },
      expect: { error: /nothing/ },
    },
  ],
  mean: [{ name: 'of decimals', kind: 'decimal', values: ['0.1', '0.2', '0.3'], expect: { value: 0.2 } }],
}
