import type { ColumnKind, ColumnProperties } from '../catalog.ts'
import { makeKindLookup } from '../column-kinds.ts'

const findKind = makeKindLookup({
  boolean: ['boolean'],
  integer: [
    ...['tinyint', 'smallint', 'integer', 'bigint', 'hugeint'],
    ...['utinyint', 'usmallint', 'uinteger', 'ubigint', 'uhugeint', 'bignum'],
  ],
  decimal: ['decimal'],
  float: ['float', 'double'],
  text: ['varchar', 'enum'],
  date: ['date'],
  timestamp: ['timestamp', 'timestamp_s', 'timestamp_ms', 'timestamp_ns', 'timestamp with time zone'],
  time: ['time', 'time with time zone', 'time_ns'],
  binary: ['blob', 'bit'],
  json: ['json'],
})

const ENUM = /^enum\(/i

/** A type in lower case, the names and labels in its quotes as they are; an enumeration without its labels. */
export function canonicalType(rawType: string): string {
  if (ENUM.test(rawType) && !rawType.endsWith(']')) return 'enum'
  return rawType.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'|[^"']+/g, part =>
    /^["']/.test(part) ? part : part.toLowerCase(),
  )
}

/** What a column of a canonical type can be used for. Lists and structs have parts, and are neither. */
export function columnKind(type: string): ColumnKind {
  if (/\[\d*\]$/.test(type) || /^(struct|map|union)\(/.test(type)) return 'other'
  const open = type.indexOf('(')
  return findKind(open < 0 ? type : type.slice(0, open) + type.slice(type.lastIndexOf(')') + 1))
}

/** The labels of an enumeration, which decide what its columns take. */
export function typeProperties(rawType: string): ColumnProperties {
  if (canonicalType(rawType) !== 'enum') return {}
  const labels = [...rawType.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) =>
    label.replaceAll("''", "'"),
  )
  return { labels }
}
