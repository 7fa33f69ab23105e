import type { ColumnInfo } from '../catalog.ts'
import { datePattern } from '../dates.ts'
import { defineDialect, percentileFraction, sampleByNumber, substring } from '../dialect.ts'
import { comparison } from './comparison.ts'
import { mysqlLexicon } from './lexicon.ts'
import { join, raw, sql, type Sql } from '../sql.ts'

/**
 * What MySQL 8 and MariaDB both understand, where it differs from ANSI SQL.
 *
 * Things to know when writing conditions for it. Booleans are 0 and 1. Texts are equal by the column's collation,
 * which mostly ignores case and always did ignore trailing blanks before MySQL 8. Division by zero is NULL. A text
 * compared with a number is taken for the number it begins with.
 */
export const mysqlDialect = defineDialect({
  lexicon: mysqlLexicon,
  needsUniqueColumnNames: true,
  comparison,
  hasFullJoin: false,
  // The sessions take double quotes for names as well; backticks are understood whatever the sql_mode.
  quote: identifier => raw(`\`${identifier.replaceAll('`', '``')}\``),
  isOneOf,
  matches,
  // $ also matches before a last newline, in ICU as in PCRE; \z does not.
  parsesAsDate: (value, format) =>
    sql`(${caseSensitiveText(value)} regexp ${datePattern(format).replace(/\$$/, '\\z')})`,
  // A backslash begins an escape.
  textLiteral: text => raw(`'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`),
  percentile,
  groupByValue(outputs, value, table, column) {
    const hint = column && sortsGroups(column) ? raw('sql_big_result ') : raw('')
    return sql`select ${hint}${outputs} from ${table} where ${value} is not null group by ${value}`
  },
  // As a double: the mean of integers would be cut after four digits, and a text is no number of its own.
  asNumber: value => sql`(${value} + 0e0)`,
  mean: value => asShortestText(sql`avg(${value} + 0e0)`),
  // As a number and not as a double, so that integers and decimals are added exactly.
  sum: value => asShortestText(sql`sum(${value})`),
  standardDeviation: value => asShortestText(sql`stddev_samp(${value} + 0e0)`),
  // From a moment before all others, because what is left of a second is cut off towards it. A TIMESTAMP arrives in the
  // session's zone, which is UTC.
  epochSeconds: value => sql`(timestampdiff(second, '0001-01-01 00:00:00', ${value}) - 62135596800)`,
  // A TIMESTAMP is kept in UTC and sent in the session's zone; a DATETIME is kept as it was written.
  isInstant: ({ type }) => /^timestamp\b/.test(type),
  // A tinyint(1) holds -128 to 127; a bit(1) holds no more than 0 and 1.
  booleanStorage: ({ type }) => (type === 'boolean' ? 'number' : 'boolean'),
  isFloat32: ({ type }) => /^float\b/.test(type),
  asFloat32: value => sql`cast(${value} as float)`,
  // With a seed, so that all parts of a statement see the same rows.
  sample: (table, { fraction }) => sampleByNumber(table, raw('rand(1)'), fraction),
  asText: value => sql`(cast(${value} as char character set utf8mb4) collate utf8mb4_bin)`,
  isComparable: ({ kind }) => kind !== 'json',
  isPrintable: ({ type }) => !GEOMETRY.test(type),
  // A cut BIT is bytes of another meaning, and a cut CHAR lacks its padding. Geometries are bytes.
  cutValue({ name, kind, type }, length) {
    const value = mysqlDialect.quote(name)
    if (kind === 'json') return null
    const isLong = ['text', 'binary', 'other'].includes(kind) && !/^(bit|char\(\d{1,3}\))/.test(type)
    return isLong ? substring(value, length) : value
  },
  // Both take 4,096 columns, but no more than 64 KiB in a row that they write down; values number 65,535.
  limits: { columns: 1000, values: 32_000 },
})

/** Types of the geometries, which both servers refuse as texts. */
const GEOMETRY =
  /^(geometry|point|linestring|polygon|multi(point|linestring|polygon)|geom(etry)?collection)\b/

/**
 * A double in the fewest digits that make it again. As a number, an infinity that leaves a sub-query is the largest double
 * on MariaDB: a mean would depend on whether other checks share its statement.
 */
function asShortestText(double: Sql): Sql {
  return sql`cast(${double} as char)`
}

/**
 * Whether many groups are best made by sorting, which takes MariaDB a fifth of what its table of groups does once that
 * outgrows memory. Not of long texts and bytes: both servers sort by the first 1,024 bytes (max_sort_length), and a
 * collation makes up to 8 of a character.
 */
function sortsGroups({ kind, type }: ColumnInfo): boolean {
  if (kind !== 'text' && kind !== 'binary') return kind !== 'json' && kind !== 'other'
  const length = /^(?:var)?(?:char|binary)\((\d+)\)/.exec(type)?.[1]
  return length !== undefined && Number(length) <= 128
}

/** Character sets that hold each text. */
const UNICODE_SETS: readonly (string | undefined)[] = [undefined, 'utf8mb4', 'utf16', 'utf16le', 'utf32']
const ASCII = /^[\x00-\x7f]*$/
const NAME = /^\w+$/

/** What the catalog knows of the texts of a column. */
type TextColumn = ColumnInfo & { properties?: { characterSet?: string; collation?: string } }

/**
 * A text that the character set of a column lacks is refused as a mix of collations: each that may be one is made of that
 * set, or NULL where it would not come back the same.
 */
function isOneOf(value: Sql, texts: readonly string[], { properties }: Partial<TextColumn> = {}): Sql {
  const { characterSet, collation } = properties ?? {}
  const isHeld = (text: string) => ASCII.test(text) || UNICODE_SETS.includes(characterSet)
  const listed = texts.map(text => {
    if (isHeld(text) || !NAME.test(`${characterSet}${collation}`)) return sql`${text}`
    const held = sql`convert(${text} using ${raw(String(characterSet))})`
    const isSame = sql`convert(${held} using utf8mb4) collate utf8mb4_bin = ${text}`
    return sql`case when ${isSame} then ${held} collate ${raw(String(collation))} end`
  })
  return sql`${value} in (${join(listed)})`
}

/**
 * By the value's own collation. A pattern with letters that the character set of a column may lack is refused as a mix of
 * collations: of such a pattern both sides are Unicode, and whether case matters is what the collation's name says.
 */
function matches(value: Sql, pattern: string): Sql {
  if (ASCII.test(pattern)) return sql`(${value} regexp ${pattern})`
  const folded = sql`convert(${value} using utf8mb4) collate utf8mb4_general_ci`
  return sql`case when right(collation(${value}), 3) = '_ci' then ${folded} regexp ${pattern} else ${caseSensitiveText(value)} regexp ${pattern} end`
}

/** A text by its characters, so that case matters whatever the column's collation; bytes are refused as a text. */
function caseSensitiveText(value: Sql): Sql {
  return sql`(convert(${value} using utf8mb4) collate utf8mb4_bin)`
}

/**
 * Neither server has an aggregate for it: the values are ranked, and the two around the wanted rank are weighed by
 * how near they are. That is a sub-query of the whole table, computed once; max makes it an aggregate.
 */
function percentile(value: Sql, fraction: number, table: Sql): Sql {
  // As a double: of a decimal, the product would keep all digits of both.
  const wanted = sql`(${percentileFraction(fraction)} + 0e0)`
  const x = sql`(${value} + 0e0)`
  const ranked = sql`select ${x} as x, cast(row_number() over (order by ${x}) as signed) - 1 as i, (count(*) over () - 1) * ${wanted} as p from ${table} where ${value} is not null`
  const found = sql`select sum(r.x * (1 - abs(r.i - r.p))) from (${ranked}) r where abs(r.i - r.p) < 1`
  return sql`max((${found}))`
}
