import t from 'tap'
import { startSource, withSession } from '../../helpers/source.ts'

const source = await startSource(t)
const role = source.config.username

/** Columns whose types and defaults the server prints in more than one way. */
for (const statement of [
  'create schema app',
  `create type app.mood as enum ('sad', 'glad')`,
  `create type "En2" as enum ('a')`,
  `create domain app.code as varchar(8) default 'none'`,
  `create function app.first(text) returns text language sql immutable as 'select left($1, 1)'`,
  'create table app.parent (id int primary key)',
  `create table app.printed (
     id int primary key references app.parent,
     span interval default interval '1 year 2 days',
     spans interval[] default array[interval '-3 hours'],
     mood app.mood default 'glad',
     quoted "En2" default 'a',
     code app.code,
     price money default 1234.5,
     ratio float8 default 0.1::float8 + 0.2::float8,
     day date default date '2026-02-01',
     at timestamptz default timestamptz '2026-02-01 12:00+00',
     local timestamp default timestamp '2026-02-01 12:00',
     bytes bytea default '\\x00ff'::bytea,
     path text default E'a\\\\b''c',
     document xml default '<a>1</a>'::xml,
     list text[] default array['NULL', null],
     lexemes tsvector generated always as (to_tsvector('pg_catalog.english', 'x')) stored,
     letter text generated always as (app.first(path || 'x')) stored,
     "select" int default 1,
     unique ("select", code)
   )`,
])
  await source.query(statement)

interface Setting {
  name: string
  vartype: string
  setting: string
  enumvals: string[] | null
}

/** Settings of numbers and texts that have to do with how values are printed or read. */
const OTHERS: Record<string, string[]> = {
  search_path: ['app, public', '"$user"', 'pg_catalog'],
  DateStyle: ['SQL, DMY', 'German', 'Postgres, MDY'],
  TimeZone: ['Asia/Tokyo'],
  extra_float_digits: ['-15', '3'],
  client_encoding: ['LATIN1', 'SQL_ASCII'],
  lc_time: ['C'],
  default_text_search_config: ['pg_catalog.german'],
  timezone_abbreviations: ['India'],
  xmlbinary: ['hex'],
  from_collapse_limit: ['1'],
  join_collapse_limit: ['1'],
  work_mem: ['64kB'],
}

/** They are of one transaction, end the session by design, slow the server down, or write to its log alone. */
const LEFT_OUT = /^(transaction_.*|exit_on_error|debug_.*|log_.*|trace_.*)$/

t.test('no setting of the role changes what the catalog shows', async t => {
  const settings = (await source.query(
    `select name, vartype, setting, enumvals from pg_settings
     where context in ('user', 'superuser') and vartype in ('bool', 'enum') order by name`,
  )) as unknown as Setting[]
  const tried = settings
    .filter(({ name }) => !LEFT_OUT.test(name))
    .map(({ name, vartype, setting, enumvals }): [string, string[]] => {
      const values = vartype === 'bool' ? ['on', 'off'] : (enumvals ?? [])
      return [name, values.filter(value => value !== setting)]
    })
  const names = tried.map(([name]) => name)
  for (const name of [
    'IntervalStyle',
    'quote_all_identifiers',
    'bytea_output',
    'standard_conforming_strings',
  ])
    t.ok(names.includes(name), `${name} is tried`)

  const read = () => withSession(source.config, connection => connection.introspect())
  const before = await read()
  t.equal(before.find(({ name }) => name === 'printed')?.columns.length, 18)
  for (const [name, values] of [...tried, ...Object.entries(OTHERS)]) {
    for (const value of values) {
      const written = name === 'search_path' || name === 'DateStyle' ? value : `'${value}'`
      await source.query(`alter role ${role} set ${name} = ${written}`)
      t.same(await read(), before, `${name} = ${value}`)
      await source.query(`alter role ${role} reset ${name}`)
    }
  }
})
