import type { ColumnKind } from '../catalog.ts'
import { makeKindLookup } from '../column-kinds.ts'

/** The SQL standard's long names, as `format_type` prints them, and the short ones, which are canonical here. */
const SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [/^character varying/, 'varchar'],
  [/^character\b/, 'char'],
  [/^bit varying/, 'varbit'],
  [/^timestamp(\(\d\))? without time zone/, 'timestamp$1'],
  [/^timestamp(\(\d\))? with time zone/, 'timestamptz$1'],
  [/^time(\(\d\))? without time zone/, 'time$1'],
  [/^time(\(\d\))? with time zone/, 'timetz$1'],
]

/**
 * The canonical type for what `format_type` printed: `character varying(20)[]` is `varchar(20)[]`. The server prints
 * its own types in lower case; a name with upper-case letters is quoted and stays as it is.
 */
export function canonicalType(rawType: string): string {
  // Six digits of a second are the default.
  const type = rawType.replace(/^(timestamp|time|interval)\(6\)/, '$1')
  const [pattern, short] = SYNONYMS.find(([long]) => long.test(type)) ?? []
  return pattern ? type.replace(pattern, short ?? '') : type
}

const findKind = makeKindLookup({
  integer: ['int2', 'int4', 'int8'],
  decimal: ['numeric'],
  float: ['float4', 'float8'],
  boolean: ['bool'],
  date: ['date'],
  timestamp: ['timestamp', 'timestamptz'],
  time: ['time', 'timetz'],
  binary: ['bytea'],
  json: ['json', 'jsonb'],
})

/** The server's own types without an operator class for equality, by the query of its catalog in the tests. */
const INCOMPARABLE = new Set([
  ...['json', 'jsonpath', 'xml', 'point', 'lseg', 'path', 'box', 'polygon', 'line', 'circle', 'refcursor'],
  ...[
    'gtsvector',
    'txid_snapshot',
    'pg_snapshot',
    'pg_node_tree',
    'pg_ndistinct',
    'pg_dependencies',
    'pg_mcv_list',
  ],
  ...['pg_brin_bloom_summary', 'pg_brin_minmax_multi_summary'],
])

/**
 * Whether values of a type, or of an array of it, can be grouped.
 * @param builtin the name of the type when it is the server's own; an array's begins with an underscore
 */
export function isComparable(builtin: string | null): boolean {
  return builtin === null || !INCOMPARABLE.has(builtin.replace(/^_/, ''))
}

/**
 * What a column can be used for.
 * @param builtin the name of its type, or of the type under its domain, when that is the server's own
 * @param category the type's `typcategory`; S is every string type, also those of extensions (citext)
 */
export function columnKind(builtin: string | null, category: string): ColumnKind {
  const kind = findKind(builtin ?? '')
  return kind === 'other' && category === 'S' ? 'text' : kind
}
