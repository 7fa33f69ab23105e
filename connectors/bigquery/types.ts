import type { ColumnKind } from '../catalog.ts'
import { makeKindLookup } from '../column-kinds.ts'

/** Synonyms that BigQuery accepts, and the canonical name that the catalog lists. */
const SYNONYMS: Readonly<Record<string, string>> = {
  int: 'int64',
  smallint: 'int64',
  integer: 'int64',
  bigint: 'int64',
  tinyint: 'int64',
  byteint: 'int64',
  decimal: 'numeric',
  bigdecimal: 'bignumeric',
  float: 'float64',
  boolean: 'bool',
  record: 'struct',
}

const findKind = makeKindLookup({
  integer: ['int64'],
  decimal: ['numeric', 'bignumeric'],
  float: ['float64'],
  text: ['string'],
  boolean: ['bool'],
  date: ['date'],
  timestamp: ['datetime', 'timestamp'],
  time: ['time'],
  binary: ['bytes'],
  json: ['json'],
})

/** The canonical form of a type in the catalog: `NUMERIC(10, 2)` is `numeric(10,2)`. */
export function canonicalType(rawType: string): string {
  const [name = '', ...rest] = rawType
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\((\d+), (\d+)\)/g, '($1,$2)')
    .split(/\b(?=[(<])/)
  return (Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : name) + rest.join('')
}

export function columnKind(rawType: string): ColumnKind {
  const name = /^\w+/.exec(canonicalType(rawType))?.[0] ?? ''
  return findKind(name)
}
