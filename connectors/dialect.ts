import type { ColumnInfo, TableKind, TableRef } from './catalog.ts'
import type { Lexicon } from './lexicon.ts'
import { bindList, raw, sql, type Sql } from './sql.ts'

/** A way in which a user's own SQL may make the engine call a function. */
export interface SqlReference {
  /**
   * How it stands there: called by name; `column`, after the name of a table, where it may be a function of the row;
   * `field`, after any other value, of which it may be a function; or the name of an operator, a type, or a table, which
   * may be a view.
   */
  kind: 'function' | 'column' | 'field' | 'operator' | 'type' | 'table'
  /** The schema, where one is written. */
  schema?: string
  /** The name as the engine keeps it: in lower case where it stood without quotes. */
  name: string
}

/** What two columns must have in common for their values to be compared. */
export type ValueFamily =
  'number' | 'boolean' | 'text' | 'date' | 'timestamp' | 'time' | 'uuid' | 'binary' | 'json'

/** What moments can be cut to. */
export type MomentPrecision = 'second' | 'millisecond' | 'microsecond'

/** How values are compared with those of other tables, also of other engines. */
export interface ComparisonDialect {
  /**
   * A text that says what a value is, and the same on every engine as far as that is cheap; NULL of NULL. Numbers without
   * trailing zeros, truth values as 1 and 0, moments in UTC as `2024-12-31 23:59:59.5`, bytes in hexadecimal digits, all
   * letters of these in lower case. Equal texts must mean equal values. Different texts may still mean the same:
   * they cost a look at the rows.
   */
  text(value: Sql, family: ValueFamily, column: ColumnInfo): Sql
  /**
   * As an aggregate, the sum of the first 60 bits of the MD5 of each text, in UTF-8: a whole number that is the same for the
   * same texts in any order. NULL of no rows.
   */
  checksum(text: Sql): Sql
  /** The first hexadecimal digits of the MD5 of a text, in UTF-8, as a number. @param digits 1 to 7 */
  slot(text: Sql, digits: number): Sql
  /** How many whole steps an integer is from another that is not above it. */
  steps(value: Sql, from: bigint, size: bigint): Sql
  /** Whether two values are equal or both NULL. */
  isSame(one: Sql, other: Sql): Sql
  /** A text that compares by its bytes, whatever its collation. */
  bytes(text: Sql): Sql
  /** Whether texts of a column are equal by its own collation only where their bytes are. */
  comparesBytes(column: ColumnInfo): boolean
  /** A number rounded to digits behind the point; what is no number, or too large to have any there, as it is. */
  round(value: Sql, digits: number, column: ColumnInfo): Sql
  /** An integer as a number that can be subtracted from any other one. */
  wide(value: Sql): Sql
  /** A text in lower case, of letters beyond ASCII as far as the locale of the database has them. */
  lower(text: Sql): Sql
  /** Whether its decimals are exact, and not doubles. */
  hasExactDecimals: boolean
  /** The text of a moment, as `text` writes it, without what is finer than a precision. */
  cutMoment(value: Sql, precision: MomentPrecision, column: ColumnInfo): Sql
  /** Whether primary keys and unique constraints are enforced, so that no two rows have the same values. */
  enforcesKeys: boolean
}

/**
 * How an engine writes SQL: the ANSI fragments below and an engine's differences from them.
 * Fragments take and give `Sql`, so that values stay bound.
 */
export interface Dialect {
  /** A quoted identifier. */
  quote(identifier: string): Sql
  /** A quoted table name with as many levels as the engine has. */
  table(table: TableRef): Sql
  /** The placeholder of the value at a 1-based position. */
  placeholder(position: number): string
  /** How many rows satisfy a condition; 0 for none. */
  countIf(condition: Sql): Sql
  /** How many distinct values a column has that are not NULL, by its own collation, in rows that satisfy a condition. */
  countDistinctIf(value: Sql, condition: Sql): Sql
  /** A condition, never NULL, that holds where another one is false or NULL. */
  isNotTrue(condition: Sql): Sql
  /**
   * Whether a value is NULL itself: one of several fields, all of them NULL, is not.
   * @param column the value's entry in the catalog, where it is a column
   */
  isNull(value: Sql, column?: ColumnInfo): Sql
  /** Whether a value is not NULL itself: the opposite of `isNull`. */
  isNotNull(value: Sql, column?: ColumnInfo): Sql
  /**
   * How many values are not NULL; 0 for none.
   * @param column the value's entry in the catalog, where it is a column
   */
  countNonNull(value: Sql, column?: ColumnInfo): Sql
  /**
   * Whether a text equals one of others, by its own collation; false or NULL for those that it cannot hold.
   * @param column the value's entry in the catalog, where it is a column of texts
   */
  isOneOf(value: Sql, texts: readonly string[], column?: ColumnInfo): Sql
  /**
   * Whether a text matches a regular expression somewhere (searched, not anchored), as the engine's own operator says of
   * it: where that goes by the collation of a column, case matters or does not. Without a collation, case matters.
   * @param column the value's entry in the catalog, where it is a column of texts
   */
  matches(value: Sql, pattern: string, column?: ColumnInfo): Sql
  /**
   * Whether a text is a real calendar date in the given strptime format (`%Y-%m-%d`; also the date
   * parts %m %d %y %H %M %S %f %b %B %z and literal text).
   */
  parsesAsDate(value: Sql, format: string): Sql
  /**
   * The continuous percentile of the non-null values, as one expression beside aggregates; `fraction` from 0 to 1.
   * Where the engine has no such aggregate, a sub-query of the whole `table`, which no group has its own of.
   */
  percentile(value: Sql, fraction: number, table: Sql): Sql
  /**
   * Several percentiles of one value, found in one pass over its sorted values. Absent where the engine has no such form,
   * or goes over them once for `percentile` too.
   */
  percentiles?: {
    /** All of them as one expression beside aggregates; each fraction is from 0 to 1. */
    select(value: Sql, fractions: readonly number[]): Sql
    /** What follows the column that has them all, to read the one at a place (from 0) among the fractions. */
    subscript(index: number): Sql
  }
  /**
   * A SELECT of `outputs` for each distinct value that is not NULL, equal by the value's own collation. Most values are
   * taken to be rare: it is how UNIQUE is counted.
   * @param column the value's entry in the catalog
   */
  groupByValue(outputs: Sql, value: Sql, table: Sql, column?: ColumnInfo): Sql
  /**
   * Whether `count(distinct …)` sorts all values, so that counting the rows of `byValue` is sooner, though it reads the
   * column once more.
   */
  countDistinctSorts: boolean
  /** Whether one aggregate that sorts its values keeps parallel workers from all others of its SELECT. */
  sortingIsSerial: boolean
  /** Whether one SELECT can group by several columns in turn, with `grouping sets`, and reads the table once for all. */
  hasGroupingSets: boolean
  /** Whether values of a column can be grouped, counted distinctly and compared with each other. */
  isComparable(column: Pick<ColumnInfo, 'kind' | 'type' | 'base' | 'isIncomparable'>): boolean
  /** Whether values of a column have a text that `asText` gives. */
  isPrintable(column: Pick<ColumnInfo, 'kind' | 'type'>): boolean
  /** A value as a floating or exact number that aggregates take. */
  asNumber(value: Sql): Sql
  /**
   * Whether a numeric column may hold what is no number and sorts above all numbers: NaN in PostgreSQL and others, a text
   * in SQLite. Returns a condition that is true for numbers and false or NULL for the rest; null where there is no rest.
   * @param column the value's entry in the catalog
   */
  isNumber(value: Sql, column: ColumnInfo | undefined): Sql | null
  /**
   * The arithmetic mean of the numbers that are not NULL, as an aggregate; NULL only where there is none. A mean that is
   * not finite is returned as such.
   */
  mean(value: Sql): Sql
  /**
   * The sum of the numbers that are not NULL, as an aggregate, exact of integers and decimals and of floats a double; NULL
   * only where there is none. A sum that is not finite is returned as such.
   * @param column the value's entry in the catalog, where it is a column
   */
  sum(value: Sql, column?: ColumnInfo): Sql
  /** The standard deviation of a sample of the numbers that are not NULL, as an aggregate; NULL below two of them. */
  standardDeviation(value: Sql): Sql
  /** A value as text, for comparing with texts. */
  asText(value: Sql): Sql
  /** How many characters a text has. */
  textLength(text: Sql): Sql
  /**
   * A column's value cut to `length` characters or bytes where it may be longer, as a value of the same kind. Returns null
   * where nothing that was cut is of that kind, as of a JSON document: its text is cut then.
   */
  cutValue(column: ColumnInfo, length: number): Sql | null
  /**
   * About how many values are distinct, NULL not among them, as an aggregate. Absent where the engine has nothing that
   * is sooner than counting.
   */
  approximateDistinct?(value: Sql): Sql
  /**
   * What stands in FROM for a random share of the rows of a table. Its columns are named alone, as those of a table.
   * @param choice.fraction above 0 and below 1
   * @param choice.byRow whether the sample is small, so that blocks of a hundred thousand rows would make it empty; else
   *   whole blocks are taken where that spares reading the others
   */
  sample(table: Sql, choice: { fraction: number; kind: TableKind; byRow: boolean }): Sql
  /**
   * Whole seconds since 1970-01-01 00:00 UTC of a date or timestamp, rounded down, as an integer that mod() takes; a
   * value without a zone is taken in UTC, whatever zone the session is in. NULL of NULL, and of what is no moment.
   */
  epochSeconds(value: Sql): Sql
  /**
   * The end of 9999-12-31 as a text that columns of moments are compared with: at or before it are all moments of that day
   * and none of later years, which some engines keep and most cannot write.
   */
  lastMoment: string
  /**
   * Whether a `Date` that is read of a column is the moment that was stored. Otherwise it is what a clock on the wall
   * showed, in a zone that only people know, read as if it were UTC's.
   */
  isInstant(column: Pick<ColumnInfo, 'type' | 'base'>): boolean
  /**
   * What a column of kind boolean stores: truth values; numbers, of which 0 and 1 stand for them, as MySQL's `tinyint(1)`;
   * or numbers and texts, as SQLite's.
   */
  booleanStorage(column: Pick<ColumnInfo, 'type' | 'base'>): 'boolean' | 'number' | 'any'
  /** Whether a column keeps numbers as floats of 32 bits, whose 0.1 is not the 0.1 of a decimal or a double. */
  isFloat32(column: Pick<ColumnInfo, 'type' | 'base'>): boolean
  /** A number as a column of 32-bit floats keeps it; asked only where `isSingle` holds for a column. */
  asFloat32(value: Sql): Sql
  /** A text written out; only for texts that stood in quotes in a user's own SQL, where a value cannot be bound. */
  textLiteral(text: string): Sql
  /**
   * How a user's own SQL is read. Absent: the SQL that all engines have alike, in which double quotes hold names, single
   * ones texts, and a backslash is a character like others.
   */
  lexicon?: Lexicon | 'postgresql'
  /** How its values are compared with others; tables of an engine without it cannot be compared. */
  comparison?: ComparisonDialect
  /** Whether it has `full join`. */
  hasFullJoin: boolean
  /** Whether no two columns of a sub-query in FROM may have one name. */
  needsUniqueColumnNames?: true
  /** A finite number, given as JavaScript prints it or as a decimal text of any length, written out exactly. */
  numberLiteral(text: string): Sql
  /** The first `count` rows of a select. */
  limit(select: Sql, count: number): Sql
  /**
   * Selects the volatile functions, which may write or vary from call to call, among those that the references reach:
   * rows of `name`, qualified, and `used`, which is empty where the function is called by its name, else what calls
   * it. Absent where the catalog does not have it.
   */
  volatileFunctions?(calls: readonly SqlReference[]): Sql
  /** The statement's text and values in the driver's form. */
  render(statement: Sql): { text: string; values: unknown[] }
  limits: {
    /** Result columns of one SELECT. */
    columns: number
    /** Bound values of one statement. */
    values: number
  }
}

/** What every engine inherits; the fragments without an ANSI form say what is missing. */
const ansi: Dialect = {
  quote: identifier => raw(`"${identifier.replaceAll('"', '""')}"`),
  table(table) {
    return sql`${this.quote(table.schema)}.${this.quote(table.name)}`
  },
  placeholder: () => '?',
  isNotTrue: condition => sql`case when ${condition} then 0 else 1 end = 1`,
  isNull: value => sql`${value} is null`,
  isNotNull: value => sql`${value} is not null`,
  countNonNull: value => sql`count(${value})`,
  countIf: condition => sql`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`,
  countDistinctIf: (value, condition) => sql`count(distinct case when ${condition} then ${value} end)`,
  isOneOf: (value, texts) => sql`${value} in (${bindList(texts)})`,
  matches: () => unsupported('regular expressions'),
  parsesAsDate: () => unsupported('date formats'),
  percentile: () => unsupported('percentiles'),
  groupByValue(outputs, value, table, column) {
    return sql`select ${outputs} from ${table} where ${this.isNotNull(value, column)} group by ${value}`
  },
  countDistinctSorts: false,
  sortingIsSerial: false,
  hasGroupingSets: false,
  hasFullJoin: true,
  isComparable: ({ kind, type, isIncomparable }) =>
    !isIncomparable && kind !== 'json' && !(kind === 'other' && INCOMPARABLE_TYPES.test(type)),
  isPrintable: () => true,
  asNumber: value => value,
  isNumber(value, column) {
    const number = this.asNumber(value)
    if (column?.kind === 'integer') return sql`${number} is not null`
    // Only zero equals its own negation; NaN equals its own wherever it compares at all.
    return sql`(${number} <> -${number} or ${number} = 0)`
  },
  mean(value) {
    return sql`avg(${this.asNumber(value)})`
  },
  sum: value => sql`sum(${value})`,
  standardDeviation(value) {
    return sql`stddev_samp(${this.asNumber(value)})`
  },
  asText: value => sql`cast(${value} as varchar)`,
  textLength: text => sql`char_length(${text})`,
  cutValue(column, length) {
    const value = this.quote(column.name)
    if (column.kind === 'json' || column.kind === 'other') return null
    // A short CHAR is not cut, since that would strip its padding.
    const isLong = column.kind === 'text' ? !SHORT_CHAR_TYPE.test(column.type) : column.kind === 'binary'
    return isLong ? substring(value, length) : value
  },
  sample: (table, { fraction }) => sampleByNumber(table, raw('rand()'), fraction),
  // Not ANSI, but common; the conformance kit tests it.
  epochSeconds: value => sql`cast(floor(extract(epoch from ${value})) as bigint)`,
  lastMoment: '9999-12-31 23:59:59.999999',
  isInstant: ({ type, base = type }) => /^timestamp(tz|\b.* with (local )?time zone)/.test(base),
  booleanStorage: () => 'boolean',
  isFloat32: () => false,
  asFloat32: value => sql`cast(${value} as real)`,
  textLiteral: text => raw(`'${text.replaceAll("'", "''")}'`),
  numberLiteral: text => raw(text),
  limit: (select, count) => sql`${select} limit ${raw(String(count))}`,
  render(statement) {
    return statement.render(this.placeholder)
  },
  limits: { columns: 500, values: 1000 },
}

/** Types whose values the engines cannot group, or cannot say how. */
const INCOMPARABLE_TYPES =
  /^(struct|array|map|variant|object|geography|geometry|super|hllsketch|row|interval_)|\[\]$/

const SHORT_CHAR_TYPE = /^char\(\d{1,3}\)$/

/** The first `length` characters of a text, or bytes of a binary value. */
export function substring(value: Sql, length: number): Sql {
  return sql`substr(${value}, 1, ${raw(String(length))})`
}

function unsupported(feature: string): never {
  throw new Error(
    `This dialect has no ${feature}; a check that needs them must name the capability in its needs.`,
  )
}

/** Makes a dialect from an engine's differences to ANSI SQL. */
export function defineDialect(differences: Partial<Dialect>): Dialect {
  return { ...ansi, ...differences }
}

/** A sub-query of the rows for which a random number from 0 to 1 is below the fraction. */
export function sampleByNumber(table: Sql, random: Sql, fraction: number): Sql {
  return sql`(select * from ${table} where ${random} < ${raw(fraction.toFixed(9))}) tidemark_sample`
}

/** A fraction as a percentage that is written out. */
export function samplePercentage(fraction: number): Sql {
  return raw((fraction * 100).toFixed(7))
}

/**
 * A percentile's fraction written out, so that equal measures have equal text and are computed once.
 * @throws RangeError when it is not from 0 to 1
 */
export function percentileFraction(fraction: number): Sql {
  if (fraction >= 0 && fraction <= 1) return raw(String(fraction))
  throw new RangeError(`A percentile is a fraction from 0 to 1, not ${fraction}`)
}
