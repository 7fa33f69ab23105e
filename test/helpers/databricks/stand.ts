import type { CheckCase, EngineStandOptions, Stand } from '../../../checks/conformance.ts'
import { engineStand } from '../../../checks/conformance.ts'
import { textLiteral } from './literals.ts'

/** What differs between the double and an independent engine. */
type Where = Pick<EngineStandOptions, 'connector' | 'connection' | 'execute' | 'columnName'> & {
  catalog: string
}

/** A stand on Databricks SQL. */
export function databricksStand({ catalog, ...where }: Where): Stand {
  return engineStand({
    ...where,
    ref: name => ({ catalog, schema: 'default', name }),
    key: 'int not null',
    types: {
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
  NOT_NULL: [
    { name: 'NaN is not NULL', kind: 'float', values: ['NaN', null], expect: { invalid: 1 } },
    { name: 'JSON null is not NULL', kind: 'json', values: ['null', null], expect: { invalid: 1 } },
  ],
  UNIQUE: [
    { name: 'NaN equals NaN', kind: 'float', values: ['NaN', 'NaN', 'Infinity'], expect: { invalid: 2 } },
    { name: 'minus zero is zero', kind: 'float', values: [-0, 0], expect: { invalid: 2 } },
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
      name: 'a class of letters',
      values: ['a1', 'B2', 'ä'],
      config: { pattern: '^[a-z]\\d$' },
      expect: { invalid: 2 },
    },
    { name: 'a broken pattern', values: ['a'], config: { pattern: '(' }, expect: { error: /PATTERN/ } },
  ],
  DATE_FORMAT: [
    {
      name: 'a line break after the end',
      values: ['2024-01-01\n', '2024-01-01'],
      config: { format: '%Y-%m-%d' },
      expect: { invalid: 1 },
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
      type: 'decimal(38,20)',
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
      name: 'small integers',
      kind: 'integer',
      type: 'tinyint',
      values: [1, 2],
      config: { max: 1e10 },
      expect: { invalid: 0 },
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
  max_value: [
    { name: 'an infinity', kind: 'float', values: ['Infinity', 1], expect: { error: /not a finite number/ } },
    { name: 'NaN', kind: 'float', values: ['NaN', 1], expect: { error: /not a finite number/ } },
  ],
  mean: [
    {
      name: 'of decimals',
      kind: 'decimal',
      values: ['0.10', '0.20'],
      expect: { value: 0.15 },
    },
  ],
  percentile: [
    {
      name: 'of decimals',
      kind: 'decimal',
      values: ['0.10', '0.20'],
      config: { percentile_value: 50 },
      expect: { value: 0.15 },
    },
  ],
}
