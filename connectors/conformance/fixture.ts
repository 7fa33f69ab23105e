import type { TableRef } from '../catalog.ts'
import type { ConnectorErrorKind } from '../errors.ts'
import type { Sql } from '../sql.ts'

type RequiredType = 'integer' | 'bigint' | 'varchar' | 'double'

/** Types that an engine may be without; `timestamptz` is a moment, whatever zone it was written in. */
export type OptionalType =
  'decimal' | 'boolean' | 'binary' | 'date' | 'time' | 'timestamp' | 'timestamptz' | 'json'

/** The engine's names of the fixture's column types; null where it has no such type. */
export type FixtureTypes = Record<RequiredType, string> & Record<OptionalType, string | null>

const TYPES: FixtureTypes = {
  integer: 'integer',
  bigint: 'bigint',
  varchar: 'varchar(200)',
  double: 'double precision',
  decimal: 'decimal(20,2)',
  boolean: 'boolean',
  binary: 'varbinary(100)',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamp with time zone',
  json: 'json',
}

/** The values of the optional types in row 1 of `conformance_types`, as most engines write them. */
export const SAMPLE_LITERALS: Readonly<Record<OptionalType, string>> = {
  decimal: '123456789012345678.90',
  boolean: 'true',
  binary: "x'00ff10'",
  date: "'2024-02-29'",
  time: "'12:34:56'",
  timestamp: "'2024-02-29 12:34:56'",
  timestamptz: "'2024-02-29 13:34:56+01:00'",
  json: `'{"a": [1, "x", null], "b": {}}'`,
}

/**
 * Dates and times of `conformance_moments`, in place of the one in the sample of their type. Those with a zone stand
 * in for it without its offset, and are few: some engines have none before 1970 or after 2038.
 */
const MOMENTS = {
  date: {
    sample: '2024-02-29',
    others: ['1970-01-01', '1969-12-31', '1900-01-01', '1600-02-29', '2024-02-29', '9999-12-31'],
  },
  timestamp: {
    sample: '2024-02-29 12:34:56',
    others: [
      '1970-01-01 00:00:00',
      '1969-12-31 23:59:59',
      '1969-12-31 23:59:59.25',
      '1969-12-31 23:59:59.75',
      '1600-02-29 06:07:08',
      '2024-02-29 12:34:56.999',
      '2038-01-19 03:14:08',
      '9999-12-31 23:59:59',
    ],
  },
  timestamptz: {
    sample: '2024-02-29 13:34:56',
    others: ['2024-02-29 13:34:56', '2024-03-01 00:30:00', '2024-07-01 00:30:00', '1999-12-31 23:59:59'],
  },
} as const

/** The literals of `conformance_moments` by type, of those types that the engine has. */
export function momentsOf(fixture: Fixture): Partial<Record<keyof typeof MOMENTS, string[]>> {
  const has = optionalTypes(fixture)
  const names = (Object.keys(MOMENTS) as (keyof typeof MOMENTS)[]).filter(name => has.includes(name))
  return Object.fromEntries(
    names.map(name => {
      const literal = fixture.literals?.[name] ?? SAMPLE_LITERALS[name]
      const { sample, others } = MOMENTS[name]
      return [name, others.map(moment => literal.replace(sample, moment))]
    }),
  )
}

/** Names that break SQL written without care. Each becomes a table with a column of the same name. */
const AWKWARD_NAMES = {
  quotes: `it's a "quote"`,
  backtick: 'back`tick\\slash',
  backslash: 'end\\',
  bracket: 'brac[ket]',
  dots: 'a.b.c',
  spaces: ' space around ',
  keyword: 'select',
  emoji: 'naïve 🦆',
  unicode: 'Größe 名前',
  'right to left': 'שלום مرحبا',
  injection: 'x"; drop table y; --',
  placeholder: '$1 ? :1 %s',
  percent: '100% of_it %d',
  prototype: '__proto__',
  'leading digits': '1st 2024',
  'upper case': 'UPPER CASE',
  long: 'n'.repeat(63),
  '64 characters': 'm'.repeat(64),
  'case twin': 'Twin',
} as const

export type AwkwardName = keyof typeof AWKWARD_NAMES

/** What differs from the name labelled `case twin` only by case: tables of their own. */
export const CASE_VARIANTS = ['twin', 'TWIN'] as const

/** A column of a table that the kit makes, with what the engine calls its type. */
export interface WrittenColumn {
  name: string
  type: string
  notNull?: true
  /** An SQL expression. */
  default?: string
}

/** A table that the kit makes. */
export interface WrittenTable {
  name: string
  columns: WrittenColumn[]
  /** Each value as a literal of the engine's SQL: see `literals`. */
  rows: string[][]
  /** The part that the rows are, of a table with parts; those of its other parts stay. */
  part?: string
}

/** What the caller supplies: write access to the database of `config`, and the engine's own words. */
export interface Fixture {
  /** Runs one statement with the right to create and write, outside the connector's sessions. */
  execute?(text: string): Promise<unknown>
  /**
   * Makes a table, or makes it anew, in place of `execute`: for engines whose SQL makes none, such as those that read files.
   * What needs views, keys, comments or other statements is then skipped.
   */
  writeTable?(table: WrittenTable): Promise<unknown>
  /** The catalog and the empty schema in which the fixture's tables are made, as `introspect` names them. */
  catalog: string
  schema: string
  /** What `introspect` calls the fixture's tables; defaults to `table`. */
  tableKind?: 'table' | 'external_table'
  /** Configurations that must be refused: at least a wrong password, port or database, or a missing file. */
  refused: { name: string; config: Record<string, unknown>; kind: ConnectorErrorKind }[]
  /** A statement that runs for half a minute or more when nothing ends it. */
  slow: Sql
  /** How many statements of the connector run in the server now; when given, ended ones must be gone. */
  countRunning?(): Promise<number>
  /** How many sessions of the connector the server has now; when given, closed ones must be gone. */
  countSessions?(): Promise<number>
  /** How many transactions the connector's sessions hold open while they run nothing; when given, none must be. */
  countTransactions?(): Promise<number>
  /** How many statements the connector has sent so far; when given, introspection may send only so many. */
  countStatements?(): Promise<number> | number
  /**
   * The statements that create an empty table of the integers `id` and `part`, given its quoted name, with a part of its own
   * of each `part` from 1 to 3; needed by a connector that claims `partitions`.
   */
  partitioned?(table: string): readonly string[]
  /**
   * Makes something that may not be read and gives a SELECT of it, and whose `connection_config` may not read
   * it where that is another one than the kit's; when given, the refusal must be of kind `permission`.
   */
  revokeAccess?(): Promise<RevokedStatement> | RevokedStatement
  /**
   * Makes a table and takes from the account every right on it, or gives a `connection_config` of one that has none;
   * when given, `findHiddenTables` must report that the table may be there.
   */
  hideTable?(): Promise<HiddenTable> | HiddenTable
  /**
   * Makes a table with a key on a column, and gives the `connection_config` of an account that may read some of the
   * table's columns and not that one; when given, what the catalog hides from it must not count as gone.
   */
  hideColumns?(): Promise<HiddenColumns> | HiddenColumns
  /** Secrets are always sent to one and the same service, whatever the configuration says. */
  hasFixedAddress?: true
  /** Schemas that `introspect` must omit. */
  systemSchemas?: readonly string[]
  /**
   * The engine's names of column types, null where it has none. Defaults: integer, bigint, varchar(200), double precision,
   * decimal(20,2), boolean, varbinary(100), date, time, timestamp, `timestamp with time zone`, json. A length that is given
   * must be in the type that `introspect` lists: give `varchar: 'varchar'` where the engine keeps none.
   */
  types?: Partial<FixtureTypes>
  /**
   * The sample values of types in the engine's own SQL; defaults to `SAMPLE_LITERALS`: `x'00ff10'` for binary, whose bytes
   * are 0, 255 and 16, and texts in quotes for dates, times and JSON.
   */
  literals?: Partial<Record<OptionalType, string>>
  /** Awkward names that the engine itself refuses, or keeps in another form. */
  refusesNames?: readonly AwkwardName[]
  /** The engine has primary and foreign keys, but no unique constraints. */
  lacksUnique?: true
  /** Characters of a text that can surely be bound and returned; defaults to 1,000,000. */
  textLength?: number
  /** Statements that comment on a table and on one of its columns; defaults to `comment on`. */
  comment?(table: string, column: string, comment: string): string[]
  /**
   * Statements that make a table with a column, and have its rows partitioned, or kept in order, by that column of dates;
   * when given, `introspect` must say so.
   */
  partitionedTable?(table: string, column: string): string[]
  /** Statements that bring the engine's statistics up to date, before estimates are asked for. */
  analyze?(table: string): string[]
}

/** A statement that is refused for want of a right. */
export interface RevokedStatement {
  statement: Sql
  config?: Record<string, unknown>
}

/** A table that is there and is not shown. */
export interface HiddenTable {
  table: TableRef
  config?: Record<string, unknown>
}

/** A table of which one account may read some columns only. */
export interface HiddenColumns {
  table: TableRef
  config: Record<string, unknown>
}

/** The types of a fixture with the defaults filled in. */
export function fixtureTypes(fixture: Fixture): FixtureTypes {
  return { ...TYPES, ...fixture.types }
}

/** The optional types that the engine has. */
export function optionalTypes(fixture: Fixture): OptionalType[] {
  const types = fixtureTypes(fixture)
  return (Object.keys(SAMPLE_LITERALS) as OptionalType[]).filter(name => types[name] !== null)
}

/** The awkward names that the engine takes. */
export function awkwardNames(fixture: Fixture): [AwkwardName, string][] {
  return (Object.entries(AWKWARD_NAMES) as [AwkwardName, string][]).filter(
    ([label]) => !fixture.refusesNames?.includes(label),
  )
}

/**
 * A comment with everything that quoting gets wrong; no backslash, which MySQL's literals eat. An engine whose
 * catalog takes no emoji as a name takes none here either.
 */
export function commentOf(fixture: Fixture): string {
  return `it's the "best" ${fixture.refusesNames?.includes('emoji') ? '名前' : '🦆'} -- ; comment`
}

/** The texts of `conformance_texts`, by id from 1. */
export const TEXTS = ['alpha', 'Alphabet', 'beta.1', 'b+a', '12', '', "it's"] as const

/** The rows of `conformance_rows`: ids from 1, `digit` the last digit of id - 1, `label` NULL for one in ten. */
export const ROW_COUNT = 10_000

/** The label of a digit in `conformance_rows`. */
export function labelOf(digit: number): string | null {
  return digit === 3 ? null : `d${digit}`
}
