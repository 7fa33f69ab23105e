import type { ConnectorErrorKind } from '../errors.ts'
import type { Sql } from '../sql.ts'
import type { Kit } from './kit.ts'

/** The engine's names of the fixture's column types; null where it has no such type. */
interface FixtureTypes {
  integer: string
  bigint: string
  varchar: string
  double: string
  decimal: string | null
  date: string | null
  timestamp: string | null
}

const TYPES: FixtureTypes = {
  integer: 'integer',
  bigint: 'bigint',
  varchar: 'varchar(200)',
  double: 'double precision',
  decimal: 'decimal(20,2)',
  date: 'date',
  timestamp: 'timestamp',
}

/** Names that break SQL written without care. Each becomes a table with a column of the same name. */
const AWKWARD_NAMES = {
  quotes: `it's a "quote"`,
  backtick: 'back`tick\\slash',
  bracket: 'brac[ket]',
  dots: 'a.b.c',
  spaces: ' space around ',
  keyword: 'select',
  emoji: 'naïve 🦆 名前',
  injection: 'x"; drop table y; --',
  placeholder: '$1 ? :1 %s',
  prototype: '__proto__',
  long: 'n'.repeat(63),
  'case twin': 'Twin',
} as const

type AwkwardName = keyof typeof AWKWARD_NAMES

/** The twin of the name of the same label, which differs only by case. */
export const TWIN = 'twin'

/** What the caller supplies: write access to the database of `config`, and the engine's own words. */
export interface Fixture {
  /** Runs one statement with the right to create and write, outside the connector's sessions. */
  execute(text: string): Promise<unknown>
  /** The catalog and the empty schema in which the fixture's tables are made, as `introspect` names them. */
  catalog: string
  schema: string
  /** Configurations that must be refused: at least a wrong password, port or database, or a missing file. */
  refused: { name: string; config: Record<string, unknown>; kind: ConnectorErrorKind }[]
  /** A statement that runs for half a minute or more when nothing ends it. */
  slow: Sql
  /** How many statements of the connector run in the server now; when given, ended ones must be gone. */
  running?(): Promise<number>
  /** Schemas that `introspect` must omit. */
  systemSchemas?: readonly string[]
  types?: Partial<FixtureTypes>
  /** Awkward names that the engine itself refuses. */
  refusesNames?: readonly AwkwardName[]
  /** Statements that comment on a table and on one of its columns; ANSI-like `comment on` unless told. */
  comment?(table: string, column: string, comment: string): string[]
  /** Statements that bring the engine's statistics up to date, before estimates are asked for. */
  analyze?(table: string): string[]
}

/** The types of a fixture with the defaults filled in. */
export function fixtureTypes(fixture: Fixture): FixtureTypes {
  return { ...TYPES, ...fixture.types }
}

/** The awkward names that the engine takes. */
export function awkwardNames(fixture: Fixture): [AwkwardName, string][] {
  return (Object.entries(AWKWARD_NAMES) as [AwkwardName, string][]).filter(
    ([label]) => !fixture.refusesNames?.includes(label),
  )
}

/** A comment and a text with everything that quoting gets wrong; no backslash, which MySQL's literals eat. */
export const COMMENT = `it's the "best" 🦆 -- ; comment`

/** The texts of `conformance_texts`, by id from 1. */
export const TEXTS = ['alpha', 'Alphabet', 'beta.1', 'b+a', '12', '', "it's"] as const

/** An SQL literal for `execute`. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Creates and fills the fixture's tables. */
export async function buildFixture(kit: Kit): Promise<void> {
  const { fixture } = kit
  const types = fixtureTypes(fixture)
  const quote = (name: string) => kit.text(kit.connector.dialect.quote(name))
  const table = (name: string) => kit.text(kit.table(name))
  const run = async (...statements: string[]) => {
    for (const statement of statements) await fixture.execute(statement)
  }
  const optional = (['decimal', 'date', 'timestamp'] as const).filter(name => types[name] !== null)
  const samples = { decimal: '123456789012345678.90', date: '2024-02-29', timestamp: '2024-02-29 12:34:56' }

  await run(
    `create table ${table('conformance_values')} (id ${types.integer} not null, big ${types.bigint}, ` +
      `ratio ${types.double}, label ${types.varchar} default 'none' ` +
      `${optional.map(name => `, ${name}_value ${types[name]}`).join('')})`,
    `insert into ${table('conformance_values')} values (1, 9007199254740991, 0.5, 'one'` +
      `${optional.map(name => `, ${name === 'decimal' ? samples[name] : literal(samples[name])}`).join('')})`,
    `insert into ${table('conformance_values')} (id, big, ratio, label) values ` +
      `(2, 9007199254740993, -1.25, 'two'), (3, -9223372036854775807, 1e10, null), (4, 0, null, 'four'), (5, null, 2, 'five')`,
    `create table ${table('conformance_empty')} (id ${types.integer}, label ${types.varchar})`,
    `create table ${table('conformance_texts')} (id ${types.integer} not null, label ${types.varchar})`,
    ...TEXTS.map(
      (text, index) => `insert into ${table('conformance_texts')} values (${index + 1}, ${literal(text)})`,
    ),
    `create view ${table('conformance_view')} as select id, label from ${table('conformance_values')}`,
  )
  for (const name of awkwardNames(fixture).map(([, name]) => name)) await makeAwkward(name)
  if (!fixture.refusesNames?.includes('case twin')) await makeAwkward(TWIN)

  async function makeAwkward(name: string) {
    await run(
      `create table ${table(name)} (${quote(name)} ${types.integer})`,
      `insert into ${table(name)} values (7)`,
    )
  }
}
