import type { ColumnKind } from '../catalog.ts'
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

const KINDS: Readonly<Record<string, ColumnKind>> = {
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  numeric: 'decimal',
  real: 'float',
  'double precision': 'float',
  char: 'text',
  varchar: 'text',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
  time: 'time',
  timetz: 'time',
  varbyte: 'binary',
  bytea: 'binary',
  binary: 'binary',
  super: 'json',
}

/**
 * What a column can be used for. Redshift has no user-defined types, so that the name is enough; geometries,
 * geographies, sketches, intervals and the nested types of external tables are `other`.
 * @param type a canonical type
 */
export function columnKind(type: string): ColumnKind {
  const name = type.replace(/\(.*\)$/, '')
  return (Object.hasOwn(KINDS, name) ? KINDS[name] : undefined) ?? 'other'
}
