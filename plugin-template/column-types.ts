import type { ColumnKind } from 'tidemark/connector'

const SYNONYMS: Record<string, string> = {
  int: 'integer',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  bool: 'boolean',
  character: 'char',
  'character varying': 'varchar',
  'varying character': 'varchar',
  dec: 'decimal',
  float4: 'real',
  float8: 'double',
  'double precision': 'double',
  timestamptz: 'timestamp with time zone',
  'timestamp without time zone': 'timestamp',
  'time without time zone': 'time',
}

/** The name, the length or precision in parentheses, and the rest: `timestamp(3) with time zone`. */
const DECLARED = /^([^(]*)(\([^)]*\))?(.*)$/s

/** The type of a column that was declared without one, as SQLite's strict tables call it. */
export const UNTYPED = 'ANY'

/** A declared type in canonical form: `VARCHAR (20)` is `varchar(20)`, `INT` is `integer`. */
export function canonicalType(declared: string): string {
  const [, name = '', size = '', rest = ''] = DECLARED.exec(declared.toLowerCase()) ?? []
  const words = `${name} ${rest}`.trim().replaceAll(/\s+/g, ' ')
  return (SYNONYMS[words] ?? words) + size.replaceAll(/\s+/g, '')
}

/** The first that fits, in SQLite's order of affinities (sqlite.org/datatype3.html) after the names of its own. */
const KINDS: readonly (readonly [RegExp, ColumnKind])[] = [
  [/^date$/, 'date'],
  [/^(datetime|timestamp)/, 'timestamp'],
  [/^time\b/, 'time'],
  [/^boolean/, 'boolean'],
  [/^jsonb?$/, 'json'],
  [/int/, 'integer'],
  [/char|clob|text/, 'text'],
  [/blob/, 'binary'],
  [/real|floa|doub/, 'float'],
  [/^(decimal|numeric|number|money)/, 'decimal'],
]

/** What a column of a canonical type can be used for. */
export function kindOf(type: string): ColumnKind {
  return KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? 'other'
}
