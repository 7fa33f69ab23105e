import type { TableRef } from './catalog.ts'
import { raw, sql, type Sql } from './sql.ts'

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
  /** Whether a text matches a regular expression somewhere (searched, not anchored), case-sensitively. */
  matches(value: Sql, pattern: string): Sql
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
  /** A value as a floating or exact number that aggregates take. */
  asNumber(value: Sql): Sql
  /** A value as text, for comparing with texts. */
  asText(value: Sql): Sql
  /** A text written out; only for texts that stood in quotes in a user's own SQL, where a value cannot be bound. */
  literal(text: string): Sql
  /** A finite number, given as JavaScript prints it or as a decimal text of any length, written out exactly. */
  number(text: string): Sql
  /** The first `count` rows of a select. */
  limit(select: Sql, count: number): Sql
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
  countIf: condition => sql`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`,
  matches: () => unsupported('regular expressions'),
  parsesAsDate: () => unsupported('date formats'),
  percentile: () => unsupported('percentiles'),
  asNumber: value => value,
  asText: value => sql`cast(${value} as varchar)`,
  literal: text => raw(`'${text.replaceAll("'", "''")}'`),
  number: text => raw(text),
  limit: (select, count) => sql`${select} limit ${raw(String(count))}`,
  render(statement) {
    return statement.render(this.placeholder)
  },
  limits: { columns: 500, values: 1000 },
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

/**
 * A percentile's fraction written out, so that equal measures have equal text and are computed once.
 * @throws RangeError when it is not from 0 to 1
 */
export function percentileFraction(fraction: number): Sql {
  if (fraction >= 0 && fraction <= 1) return raw(String(fraction))
  throw new RangeError(`A percentile is a fraction from 0 to 1, not ${fraction}`)
}
