import type { ColumnKind } from '../catalog.ts'
import { makeKindLookup } from '../column-kinds.ts'

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

const findKind = makeKindLookup({
  float: ['FLOAT'],
  decimal: ['DECFLOAT'],
  text: ['TEXT'],
  boolean: ['BOOLEAN'],
  date: ['DATE'],
  time: ['TIME'],
  timestamp: ['TIMESTAMP_NTZ', 'TIMESTAMP_LTZ', 'TIMESTAMP_TZ'],
  binary: ['BINARY'],
  json: ['VARIANT', 'OBJECT', 'ARRAY', 'MAP'],
})

/** What a column can be used for. Integers are numbers without decimals. */
export function columnKind({ type, scale }: SnowflakeType): ColumnKind {
  if (type === 'NUMBER') return (scale ?? 0) === 0 ? 'integer' : 'decimal'
  return findKind(type)
}
