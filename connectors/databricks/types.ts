import type { ColumnKind } from '../catalog.ts'
import { makeKindLookup } from '../column-kinds.ts'

/**
 * Other spellings of a type's first word, and the canonical one: those of the grammar
 * (https://docs.databricks.com/sql/language-manual/sql-ref-datatypes.html) and those of manifests.
 */
const SYNONYMS: Readonly<Record<string, string>> = {
  byte: 'tinyint',
  short: 'smallint',
  integer: 'int',
  long: 'bigint',
  dec: 'decimal',
  numeric: 'decimal',
  real: 'float',
  timestamp_ltz: 'timestamp',
}

const findKind = makeKindLookup({
  integer: ['tinyint', 'smallint', 'int', 'bigint'],
  decimal: ['decimal'],
  float: ['float', 'double'],
  text: ['string', 'varchar', 'char'],
  boolean: ['boolean'],
  date: ['date'],
  timestamp: ['timestamp', 'timestamp_ntz'],
  time: ['time'],
  binary: ['binary'],
  // Neither can be grouped or compared, which is what `json` means to checks.
  json: ['variant', 'map'],
})

/** The canonical form of a type as the catalog spells it: `DEC(10, 2)` is `decimal(10,2)`. */
export function canonicalType(rawType: string): string {
  const type = rawType
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),<>:]) ?/g, '$1')
    .trim()
  return type.replace(/^\w+/, word => (Object.hasOwn(SYNONYMS, word) ? (SYNONYMS[word] ?? word) : word))
}

/** What a column of a type can be used for. */
export function columnKind(type: string): ColumnKind {
  const [word = ''] = /^\w+/.exec(canonicalType(type)) ?? []
  return findKind(word)
}
