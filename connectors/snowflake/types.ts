import type { ColumnKind } from '../catalog.ts'

/** A column's type in `information_schema.columns`. */
export interface SnowflakeType {
  /** `NUMBER`, `TEXT`, `TIMESTAMP_NTZ` … */
  type: string
  length: number | null
  precision: number | null
  scale: number | null
  /** Digits of the fraction of a second. */
  fraction: number | null
}

/** The type as DESCRIBE TABLE spells it: `VARCHAR(20)`, `NUMBER(38,0)`, `TIMESTAMP_NTZ(9)`. */
export function formatType({ type, length, precision, scale, fraction }: SnowflakeType): string {
  if (type === 'TEXT') return length === null ? 'VARCHAR' : `VARCHAR(${length})`
  if (type === 'BINARY') return length === null ? type : `BINARY(${length})`
  if (type === 'NUMBER') return precision === null ? type : `NUMBER(${precision},${scale ?? 0})`
  if (/^TIME(STAMP_|$)/.test(type) && fraction !== null) return `${type}(${fraction})`
  return type
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  FLOAT: 'float',
  DECFLOAT: 'decimal',
  TEXT: 'text',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP_NTZ: 'timestamp',
  TIMESTAMP_LTZ: 'timestamp',
  TIMESTAMP_TZ: 'timestamp',
  BINARY: 'binary',
  VARIANT: 'json',
  OBJECT: 'json',
  ARRAY: 'json',
  MAP: 'json',
}

/** What a column can be used for. Integers are numbers without decimals. */
export function columnKind({ type, scale }: SnowflakeType): ColumnKind {
  if (type === 'NUMBER') return (scale ?? 0) === 0 ? 'integer' : 'decimal'
  return Object.hasOwn(KINDS, type) ? (KINDS[type] ?? 'other') : 'other'
}
