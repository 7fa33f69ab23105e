import type { ColumnKind } from '../catalog.ts'

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

const KINDS: Readonly<Record<string, ColumnKind>> = {
  tinyint: 'integer',
  smallint: 'integer',
  int: 'integer',
  bigint: 'integer',
  decimal: 'decimal',
  float: 'float',
  double: 'float',
  string: 'text',
  varchar: 'text',
  char: 'text',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamp',
  timestamp_ntz: 'timestamp',
  time: 'time',
  binary: 'binary',
  variant: 'json',
  // Neither can be grouped or compared, which is what `json` means to checks.
  map: 'json',
}

/** The canonical form of a type as the catalog spells it: `DEC(10, 2)` is `decimal(10,2)`. */
export function canonicalType(rawType: string): string {
  const type = rawType
    .toLowerCase()
    .replaceAll(/\s*([(),<>:])\s*/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return type.replace(/^\w+/, word => (Object.hasOwn(SYNONYMS, word) ? (SYNONYMS[word] ?? word) : word))
}

/** What a column of a type can be used for. */
export function columnKind(type: string): ColumnKind {
  const [word = ''] = /^\w+/.exec(canonicalType(type)) ?? []
  return (Object.hasOwn(KINDS, word) ? KINDS[word] : undefined) ?? 'other'
}
