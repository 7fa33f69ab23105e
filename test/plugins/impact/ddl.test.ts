import { loadModule } from 'libpg-query'
import t from 'tap'
import { effectOf } from '../../../plugins/impact/changes.ts'
import { readMigration } from '../../../plugins/impact/ddl.ts'

await loadModule()

t.test('statements become changes', async t => {
  for (const [sql, changes] of [
    ['drop table if exists a, s.b cascade', ['drop_table a', 'drop_table s.b']],
    ['drop view v; drop materialized view m', ['drop_table v', 'drop_table m']],
    ['drop schema s cascade', ['drop_schema s']],
    ['truncate a, b', ['truncate_table a', 'truncate_table b']],
    [
      'alter table s.a drop column if exists c, alter column d type numeric(10, 2) using d::numeric',
      ['drop_column s.a.c', 'retype_column s.a.d numeric(10,2)'],
    ],
    ['alter table a alter c set not null, alter d drop not null', ['add_not_null a.c', 'drop_not_null a.d']],
    ['alter table a alter c type text[]', ['retype_column a.c text[]']],
    ['alter table a rename column c to d', ['rename_column a.c d']],
    ['alter table a rename to b', ['rename_table a b']],
    ['alter table a set schema s', ['rename_table a s']],
    ['alter table "A b"."c.d" drop "E"', ['drop_column "A b"."c.d".E']],
    // Later statements use the new names.
    [
      'alter table s.a rename to b; alter table s.b drop column c',
      ['rename_table s.a b', 'drop_column s.a.c'],
    ],
    [
      'alter table a rename c to d; alter table a alter d type text',
      ['rename_column a.c d', 'retype_column a.c text'],
    ],
    ['create table n (id int); alter table n drop column id; drop table n', []],
    [
      `begin; create table n (id int); create index on a (c); alter table a add column e int, add constraint u unique (e);
       comment on table a is 'x'; grant select on a to r; drop index i; commit`,
      [],
    ],
  ] as const) {
    const { changes: found, notUnderstood } = readMigration(sql)
    const shown = found.map(({ change, table, schema, column, new_type: type, new_name: name }) =>
      [change, [table ?? schema, column].filter(Boolean).join('.'), type ?? name].filter(Boolean).join(' '),
    )
    t.strictSame(shown, changes, sql)
    t.strictSame(notUnderstood, [], sql)
  }
})

t.test('what is not judged is listed with its line', async t => {
  const sql = `-- first
create table a (id int);

update b set c = 1;
/* a
   comment */ do $$ begin drop table x; end $$;
create or replace view v as select 1;
alter table b inherit a;
select drop_everything();
drop function f();
set search_path = s;`
  t.match(readMigration(sql), {
    changes: [],
    notUnderstood: [
      { line: 4, statement: 'update b set c = 1' },
      { line: 6, statement: /^do / },
      { line: 7, statement: /^create or replace/ },
      { line: 8, reason: /AddInherit/ },
      { line: 9 },
      { line: 10, reason: /function/ },
      { line: 11 },
    ],
  })
  t.throws(() => readMigration('alter table `a` drop column b'))
})

t.test('a wider type breaks no reader', async t => {
  for (const [from, to, effect] of [
    ['integer', 'int4', null],
    ['integer', 'bigint', 'shift'],
    ['int8', 'int4', 'break'],
    ['character varying(10)', 'varchar(20)', 'shift'],
    ['character varying(20)', 'varchar(10)', 'break'],
    ['character varying(20)', 'text', 'shift'],
    ['text', 'varchar(10)', 'break'],
    ['numeric(10,2)', 'numeric(12,2)', 'shift'],
    ['numeric(10,2)', 'numeric(12,6)', 'break'],
    ['date', 'timestamptz', 'break'],
    ['integer', 'text', 'break'],
    ['integer', 'numeric(5,2)', 'break'],
  ] as const)
    t.equal(effectOf({ change: 'retype_column', new_type: to }, from), effect, `${from} to ${to}`)
})
