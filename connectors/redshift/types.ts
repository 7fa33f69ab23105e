import type { ColumnKind } from '../catalog.ts'
import { makeKindLookup } from '../column-kinds.ts'
import { canonicalType as postgresqlType } from '../postgresql/types.ts'

/** Names of types that external tables (Hive's) and views without schema binding have, and the usual ones. */
const SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [/^binary varying\b/, 'varbyte'],
  [/^(string|text)$/, 'varchar'],
  [/^(tinyint|int2)$/, 'smallint'],
  [/^(int|int4)$/, 'integer'],
  [/^int8$/, 'bigint'],
  [/^(double|float8)$/, 'double precision'],
  [/^(float|float4)$/, 'real'],
  [/^decimal\b/, 'numeric'],
  [/^bool$/, 'boolean'],
]

/** The canonical type for what the catalog printed: `character varying(20)` is `varchar(20)`. */
export function canonicalType(rawType: string): string {
  const type = postgresqlType(rawType.trim().toLowerCase())
  const [pattern, short] = SYNONYMS.find(([long]) => long.test(type)) ?? []
  return pattern ? type.replace(pattern, short ?? '') : type
}

const findKind = makeKindLookup({
  integer: ['smallint', 'integer', 'bigint'],
  decimal: ['numeric'],
  float: ['real', 'double precision'],
  text: ['char', 'varchar'],
  boolean: ['boolean'],
  date: ['date'],
  timestamp: ['timestamp', 'timestamptz'],
  time: ['time', 'timetz'],
  binary: ['varbyte', 'bytea', 'binary'],
  json: ['super'],
})

/**
 * What a column can be used for. Redshift has no user-defined types, so that the name is enough; geometries,
 * geographies, sketches, intervals and the nested types of external tables are `other`.
 * @param type a canonical type
 */
export function columnKind(type: string): ColumnKind {
  const name = type.endsWith(')') ? type.split('(', 1)[0] : type
  return findKind(name ?? type)
}
