import type { ColumnInfo, ColumnKind } from '../../../connectors/catalog.ts'

const KINDS: Record<string, readonly ColumnKind[]> = {
  string: ['text'],
  integer: ['integer'],
  number: ['integer', 'decimal', 'float'],
  boolean: ['boolean'],
  date: ['date'],
  timestamp: ['timestamp'],
  time: ['time'],
  object: ['json'],
}

const MOMENTS: readonly ColumnKind[] = ['date', 'timestamp', 'time']
/** Types whose values are written as texts, and that are no kind of their own. */
const TEXT_LIKE = /^(uuid|uniqueidentifier|enum|set|inet|cidr|macaddr8?|xml|interval|citext|name|ltree)\b/
const OBJECT_LIKE = /^(struct|record|row|map|object|variant|super|hstore|jsonb?)\b/
const ARRAY_LIKE = /\[\]$|^(array|repeated|list)\b|^variant$|^super$/
/** A type that may hold anything: SQLite's column without one. */
const ANY = 'any'

/**
 * Why a column is not of a logical type of the standard, or null. Engines name types differently, so kinds are compared:
 * an integer is a number too, and a decimal without decimals is an integer, as engines have that have no other.
 * @param isWideDate whether `date` stands for all moments, as before 3.1
 */
export function logicalTypeMismatch(
  logicalType: string,
  column: Pick<ColumnInfo, 'type' | 'base' | 'kind'>,
  isWideDate: boolean,
): string | null {
  const type = (column.base ?? column.type).toLowerCase()
  const isMatch =
    type === ANY ||
    (KINDS[logicalType]?.includes(column.kind) ?? false) ||
    (logicalType === 'date' && isWideDate && MOMENTS.includes(column.kind)) ||
    (logicalType === 'integer' && column.kind === 'decimal' && isWhole(type)) ||
    // MySQL has no other boolean.
    (logicalType === 'boolean' && /^(tinyint\(1\)|bit(\(1\))?)$/.test(type)) ||
    (logicalType === 'string' && column.kind === 'other' && TEXT_LIKE.test(type)) ||
    (logicalType === 'object' && OBJECT_LIKE.test(type)) ||
    (logicalType === 'array' && (ARRAY_LIKE.test(type) || column.kind === 'json'))
  return isMatch ? null : `it is ${column.type}, not a type of ${logicalType}`
}

/** `numeric(38,0)`, `number(10)`. */
function isWhole(type: string): boolean {
  const [, parameters] = /^(?:numeric|decimal|number)\s*\(([^)]*)\)/.exec(type) ?? []
  if (parameters === undefined) return false
  const [, scale = '0'] = parameters.split(',')
  return Number(scale) === 0
}

/** Names that engines have for one type, the shortest first. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['int', 'integer', 'int4'],
  ['bigint', 'int8', 'int64', 'long'],
  ['smallint', 'int2', 'short'],
  ['tinyint', 'byte', 'byteint'],
  ['varchar', 'character varying', 'nvarchar', 'varchar2', 'nvarchar2', 'text', 'string'],
  ['char', 'character', 'nchar', 'bpchar'],
  ['decimal', 'numeric', 'number', 'dec'],
  ['double', 'double precision', 'float8', 'float64'],
  ['real', 'float4'],
  ['bool', 'boolean'],
  ['timestamp', 'timestamp without time zone', 'datetime', 'timestamp_ntz', 'timestampntz'],
  ['timestamptz', 'timestamp with time zone', 'timestamp_tz', 'timestamp_ltz'],
  ['time', 'time without time zone'],
  ['timetz', 'time with time zone'],
  ['varbinary', 'bytea', 'blob', 'bytes', 'binary varying'],
]

const BASE_NAMES = new Map(SYNONYMS.flatMap(names => names.map(name => [name, names[0] ?? name] as const)))

/**
 * Why a column is not of a physical type, or null. Synonyms are equal; length, precision and scale are compared where
 * the contract names them.
 */
export function physicalTypeMismatch(
  physicalType: string,
  column: Pick<ColumnInfo, 'type' | 'rawType' | 'base'>,
): string | null {
  const wanted = readType(physicalType)
  const isMatch = [column.type, column.rawType, column.base ?? column.type].some(type => {
    const found = readType(type)
    if (found.text === wanted.text) return true
    return (
      found.name === wanted.name &&
      found.suffix === wanted.suffix &&
      (wanted.parameters === '' || found.parameters === wanted.parameters)
    )
  })
  return isMatch ? null : `it is ${column.type}, not ${physicalType}`
}

interface ReadType {
  text: string
  name: string
  parameters: string
  /** `[]` of an array. */
  suffix: string
}

function readType(type: string): ReadType {
  const text = type
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
    .trim()
  // `timestamp(3) with time zone` has its parameter inside.
  const [, before = text, parameters = '', after = ''] = /^([^(<]*)\(([^)]*)\)(.*)$/.exec(text) ?? []
  const whole = `${before} ${after}`.trim()
  let end = whole.length
  while (whole.endsWith('[]', end)) end -= '[]'.length
  const name = whole.slice(0, end).trim()
  const suffix = whole.slice(end)
  return { text, name: BASE_NAMES.get(name) ?? name, parameters, suffix }
}
