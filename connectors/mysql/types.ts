import type { ColumnKind, ColumnProperties } from '../catalog.ts'
import { makeKindLookup } from '../column-kinds.ts'

const findKind = makeKindLookup({
  boolean: ['boolean'],
  integer: ['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'year'],
  decimal: ['decimal'],
  float: ['float', 'double'],
  text: ['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set'],
  date: ['date'],
  timestamp: ['datetime', 'timestamp'],
  time: ['time'],
  binary: ['bit', 'binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'],
  json: ['json'],
})

/** What is shown as a number's width only, and gone from MySQL 8's catalog while MariaDB's still has it. */
const DISPLAY_WIDTH = /^(tinyint|smallint|mediumint|int|bigint|year)\(\d+\)/

/**
 * The canonical type for what `column_type` printed, the same on both servers: `int(11) unsigned` is `int unsigned`.
 * BOOLEAN is stored as tinyint(1), and a small number is declared tinyint: so tinyint(1) is boolean, as
 * drivers and reporting tools take it; unsigned it is a number, which no BOOLEAN ever was.
 */
export function canonicalType(rawType: string): string {
  // Not the values of an enumeration, of which A and a are two.
  const type = rawType.replace(/^[^']*/, words => words.toLowerCase())
  if (type === 'tinyint(1)') return 'boolean'
  return type.replace(DISPLAY_WIDTH, '$1')
}

/** What a column of a canonical type can be used for; a bit(1) is a boolean, of more bits it is binary. */
export function columnKind(type: string): ColumnKind {
  if (type === 'bit(1)') return 'boolean'
  const [name = ''] = /^\w+/.exec(type) ?? []
  return findKind(name)
}

/**
 * A default in one form for both servers, which is that of SQL: texts quoted, expressions bare. MariaDB prints it so;
 * MySQL prints the bare text of a literal and marks expressions as DEFAULT_GENERATED.
 * @param extra the catalog's remark, `auto_increment` or `STORED GENERATED`
 * @param generation the expression of a generated column, which stands for its default
 */
export function canonicalDefault(
  printed: string | null,
  {
    kind,
    extra,
    generation,
    isMariadb,
  }: { kind: ColumnKind; extra: string; generation: string | null; isMariadb: boolean },
): string | null {
  if (generation) return generation
  if (printed === null || (isMariadb && printed === 'NULL')) return null
  const isExpression = /DEFAULT_GENERATED/i.test(extra) || isMariadb
  if (isExpression || (/^current_timestamp/i.test(printed) && kind === 'timestamp'))
    return canonicalTimestamp(printed)
  if (['integer', 'decimal', 'float', 'boolean'].includes(kind) || /^(b|0x|x)'?[0-9a-f]+'?$/i.test(printed)) {
    return printed
  }
  return `'${printed.replaceAll("'", "''")}'`
}

/** `current_timestamp()` and `CURRENT_TIMESTAMP` are one. */
function canonicalTimestamp(printed: string): string {
  return printed.replace(/^current_timestamp(\(\d*\))?$/i, text => text.toLowerCase().replace('()', ''))
}

/**
 * What a column takes beside its type, in one form for both servers.
 * @param extra the catalog's remark, `auto_increment` or `DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)`
 * @param collation its character set and its collation, with a space between them
 */
export function columnProperties(extra: string, collation: string | null): ColumnProperties {
  const [characterSet, order] = collation?.split(' ') ?? []
  const [, onUpdate] = /\bon update (\S+)/i.exec(extra) ?? []
  const generated = /\bvirtual\b/i.test(extra)
    ? 'virtual'
    : /\b(stored|persistent) generated\b/i.test(extra)
      ? 'stored'
      : undefined
  return {
    ...(characterSet !== undefined && { characterSet }),
    ...(order !== undefined && { collation: order }),
    ...(/\bauto_increment\b/i.test(extra) && { autoIncrement: 'by_default' }),
    ...(onUpdate !== undefined && { onUpdate: canonicalTimestamp(onUpdate) }),
    ...(generated && { generated }),
  }
}
