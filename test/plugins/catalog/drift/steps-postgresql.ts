import type { Step } from './replay.ts'

/** A step in short: what it is, its statements, and what drift reports. */
function step(what: string, run: string | string[], ...reported: string[]): Step {
  return { what, run: typeof run === 'string' ? [run] : run, reported }
}

const columns: Step[] = [
  step(
    'tables come',
    [
      `create table customers (id integer primary key, email varchar(100) not null, note text)`,
      `create table orders (id bigserial primary key, amount numeric(10,2), placed timestamp,
        customer_id integer constraint orders_customer references customers)`,
    ],
    'table_added public.customers: - -> customers table of 3',
    'table_added public.orders: - -> orders table of 4',
  ),
  step(
    'a column is added',
    `alter table orders add status text`,
    'column_added public.orders.status: - -> status text',
  ),
  step(
    'a required column with a default is added',
    `alter table orders add tries smallint not null default 0`,
    'column_added public.orders.tries: - -> tries smallint not null',
  ),
  step(
    'columns are added, dropped and added in one statement',
    `alter table orders add a integer, add b date, add c text[], drop status`,
    'column_added public.orders.a: - -> a integer',
    'column_added public.orders.b: - -> b date',
    'column_added public.orders.c: - -> c text[]',
    'column_removed public.orders.status: status text -> -',
  ),
  step(
    'a column is renamed',
    `alter table customers rename email to mail`,
    'column_renamed public.customers.email: email varchar(100) not null -> mail varchar(100) not null',
  ),
  step(
    'one is renamed and gets another type, another moves to the end',
    [
      `alter table customers rename note to remark`,
      `alter table customers alter remark type varchar(50)`,
      `alter table orders rename amount to old`,
      `alter table orders add amount numeric(10,2)`,
      `alter table orders drop old`,
    ],
    'column_renamed public.customers.note: note text -> remark varchar(50)',
    'column_type_changed public.customers.remark: note text default null -> remark varchar(50) default null',
  ),
  step(
    'two swap their names',
    [
      `alter table orders rename a to swapping`,
      `alter table orders rename b to a`,
      `alter table orders rename swapping to b`,
    ],
    'column_renamed public.orders.a: a integer -> b integer',
    'column_renamed public.orders.b: b date -> a date',
  ),
  step(
    'three pass on their names',
    [
      `alter table orders rename a to x`,
      `alter table orders rename b to a`,
      `alter table orders rename c to b`,
      `alter table orders rename x to c`,
    ],
    'column_renamed public.orders.a: a date -> c date',
    'column_renamed public.orders.b: b integer -> a integer',
    'column_renamed public.orders.c: c text[] -> b text[]',
  ),
  step('one is renamed there and back', [
    `alter table orders rename a to x`,
    `alter table orders rename x to a`,
  ]),
  step(
    'one is dropped and another takes its name',
    [`alter table orders drop a`, `alter table orders rename b to a`],
    'column_removed public.orders.a: a integer -> -',
    'column_renamed public.orders.b: b text[] -> a text[]',
  ),
  step(
    'one is renamed and a new one takes its name',
    [`alter table orders rename a to b`, `alter table orders add a text[]`],
    'column_renamed public.orders.a: a text[] -> b text[]',
    'column_added public.orders.a: - -> a text[]',
  ),
  step('one is dropped and made anew', [`alter table orders drop a`, `alter table orders add a text[]`]),
  step(
    'one is dropped and made anew of another type',
    `alter table orders drop a, add a boolean not null default true`,
    'column_type_changed public.orders.a: a text[] default null -> a boolean not null default true',
  ),
  step('one comes and goes', [`alter table orders add passing text`, `alter table orders drop passing`]),
]

const types: Step[] = [
  step(
    'a table for types',
    `create table types (v varchar(10), n numeric(10,2), i integer, t timestamp, c char, d numeric(10), b boolean, l integer[])`,
    'table_added public.types: - -> types table of 8',
  ),
  step(
    'a longer text',
    `alter table types alter v type varchar(20)`,
    'column_type_changed public.types.v: v varchar(10) default null -> v varchar(20) default null',
  ),
  step(
    'a text without a limit',
    `alter table types alter v type varchar`,
    'column_type_changed public.types.v: v varchar(20) default null -> v varchar default null',
  ),
  step(
    'text is not varchar',
    `alter table types alter v type text`,
    'column_type_changed public.types.v: v varchar default null -> v text default null',
  ),
  step(
    'more precision',
    `alter table types alter n type numeric(12,2)`,
    'column_type_changed public.types.n: n numeric(10,2) default null -> n numeric(12,2) default null',
  ),
  step(
    'more scale',
    `alter table types alter n type numeric(12,4)`,
    'column_type_changed public.types.n: n numeric(12,2) default null -> n numeric(12,4) default null',
  ),
  step(
    'a wider integer and a zone',
    `alter table types alter i type bigint, alter t type timestamptz`,
    'column_type_changed public.types.i: i integer default null -> i bigint default null',
    'column_type_changed public.types.t: t timestamp default null -> t timestamptz default null',
  ),
  step(
    'fewer digits of a second',
    `alter table types alter t type timestamptz(3)`,
    'column_type_changed public.types.t: t timestamptz default null -> t timestamptz(3) default null',
  ),
  step(
    'all digits of a second again',
    `alter table types alter t type timestamptz`,
    'column_type_changed public.types.t: t timestamptz(3) default null -> t timestamptz default null',
  ),
  step('all digits of a second are six', `alter table types alter t type timestamptz(6)`),
  step('the same types by other names', [
    `alter table types alter i type int8, alter n type decimal(12,4), alter d type numeric(10,0), alter b type bool`,
    `alter table types alter c type character(1), alter l type int4[], alter l type integer[][]`,
    `alter table types alter t type timestamp with time zone, alter v type pg_catalog.text`,
  ]),
  step(
    'an array and back to one',
    `alter table types alter l type integer using l[1], alter i type bigint[] using array[i]`,
    'column_type_changed public.types.l: l integer[] default null -> l integer default null',
    'column_type_changed public.types.i: i bigint default null -> i bigint[] default null',
  ),
  step(
    'another type and required at once is one change',
    `alter table types alter l type bigint, alter l set not null, alter l set default 7`,
    'column_type_changed public.types.l: l integer default null -> l bigint not null default 7',
  ),
  step(
    'an enumeration comes',
    [`create type mood as enum ('sad', 'ok')`, `alter table types add feels mood default 'ok'`],
    'column_added public.types.feels: - -> feels mood',
  ),
  step(
    'an enumeration gets values, and one of them another name',
    [
      `alter type mood add value 'happy'`,
      `alter type mood add value 'so-so' before 'ok'`,
      `alter type mood rename value 'sad' to 'blue'`,
    ],
    `column_type_changed public.types.feels: feels mood default 'ok'::mood enum_labels=sad,ok -> feels mood default 'ok'::mood enum_labels=blue,so-so,ok,happy`,
  ),
  step(
    'an enumeration gets another name',
    `alter type mood rename to feeling`,
    `column_type_changed public.types.feels: feels mood default 'ok'::mood -> feels feeling default 'ok'::feeling`,
  ),
  step(
    'a domain comes',
    [`create domain price as numeric(8,2)`, `alter table types add asked price`],
    'column_added public.types.asked: - -> asked price',
  ),
  step('a domain gets a check and a default, which are its own', [
    `alter domain price add constraint positive check (value >= 0)`,
    `alter domain price set default 1`,
    `alter domain price drop constraint positive`,
  ]),
  step(
    'a domain refuses NULL, and so do its columns',
    `alter domain price set not null`,
    'column_type_changed public.types.asked: asked price default null -> asked price not null default null',
  ),
  step(
    'a domain takes it back',
    `alter domain price drop not null`,
    'column_type_changed public.types.asked: asked price not null default null -> asked price default null',
  ),
  step(
    'another collation',
    `alter table types alter v type text collate "C"`,
    'column_type_changed public.types.v: v text default null -> v text default null collation=C',
  ),
]

const defaults: Step[] = [
  step(
    'a table for defaults',
    `create table defaults (id serial, a text, n integer, at timestamptz, twice integer generated always as (n * 2) stored)`,
    'table_added public.defaults: - -> defaults table of 5',
  ),
  step(
    'a default comes',
    `alter table defaults alter a set default 'x'`,
    `column_type_changed public.defaults.a: a text default null -> a text default 'x'::text`,
  ),
  step('the same default, spelled otherwise', [
    `alter table defaults alter a set default 'x'::text`,
    `alter table defaults alter a set default cast('x' as text)`,
    `alter table defaults alter a set default E'\\x78'`,
  ]),
  step(
    'another default',
    `alter table defaults alter a set default 'it''s'`,
    `column_type_changed public.defaults.a: a text default 'x'::text -> a text default 'it''s'::text`,
  ),
  step(
    'no default',
    `alter table defaults alter a drop default`,
    `column_type_changed public.defaults.a: a text default 'it''s'::text -> a text default null`,
  ),
  step('NULL is no default', `alter table defaults alter a set default null`),
  step(
    'the time of day',
    `alter table defaults alter at set default now()`,
    'column_type_changed public.defaults.at: at timestamptz default null -> at timestamptz default now()',
  ),
  step(
    'the same time of day by its other name is what the engine prints',
    `alter table defaults alter at set default current_timestamp`,
    'column_type_changed public.defaults.at: at timestamptz default now() -> at timestamptz default CURRENT_TIMESTAMP',
  ),
  step(
    'a value may be missing no longer',
    [`alter table defaults alter n set not null`],
    'column_type_changed public.defaults.n: n integer default null -> n integer not null default null',
  ),
  step(
    'a value may be missing again',
    `alter table defaults alter n drop not null`,
    'column_type_changed public.defaults.n: n integer not null default null -> n integer default null',
  ),
  step('values that are required by a check are not', [
    `alter table defaults add constraint there check (n is not null) not valid`,
    `alter table defaults drop constraint there`,
  ]),
  step(
    'a generated column follows the name of what it is made of',
    `alter table defaults rename n to "New ""N"""`,
    'column_renamed public.defaults.n: n integer -> New "N" integer',
  ),
  step(
    'back, while another takes that name',
    [
      `alter table defaults rename a to b`,
      `alter table defaults rename "New ""N""" to a`,
      `alter table defaults rename b to n`,
    ],
    'column_renamed public.defaults.New "N": New "N" integer -> a integer',
    'column_renamed public.defaults.a: a text -> n text',
  ),
  step(
    'a generated column is made of something else',
    `alter table defaults alter twice set expression as (a * 3)`,
    'column_type_changed public.defaults.twice: twice integer default (a * 2) -> twice integer default (a * 3)',
  ),
  step(
    'it is renamed and made of something else',
    [
      `alter table defaults rename a to base`,
      `alter table defaults alter twice set expression as (base * 4)`,
    ],
    'column_renamed public.defaults.a: a integer -> base integer',
    'column_type_changed public.defaults.twice: twice integer default (a * 3) -> twice integer default (base * 4)',
  ),
  step(
    'a generated column becomes a plain one',
    `alter table defaults alter twice drop expression`,
    'column_type_changed public.defaults.twice: twice integer default (base * 4) generated=stored -> twice integer default null',
  ),
  step(
    'a serial column becomes an identity',
    `alter table defaults alter id drop default, alter id add generated always as identity`,
    `column_type_changed public.defaults.id: id integer not null default nextval('defaults_id_seq'::regclass) -> id integer not null default null auto_increment=always`,
  ),
  step(
    'an identity takes values of rows',
    `alter table defaults alter id set generated by default restart with 100`,
    'column_type_changed public.defaults.id: id integer not null default null auto_increment=always -> id integer not null default null auto_increment=by_default',
  ),
  step(
    'an identity goes',
    `alter table defaults alter id drop identity`,
    'column_type_changed public.defaults.id: id integer not null default null auto_increment=by_default -> id integer not null default null',
  ),
]

const relations: Step[] = [
  step(
    'a view comes',
    `create view recent as select id, placed from orders`,
    'table_added public.recent: - -> recent view of 2',
  ),
  step(
    'a view gets a column at its end',
    `create or replace view recent as select id, placed, tries from orders`,
    'column_added public.recent.tries: - -> tries smallint',
  ),
  step(
    'a view is made anew with other columns',
    [`drop view recent`, `create view recent as select id::text, tries as attempts from orders`],
    'column_type_changed public.recent.id: id bigint default null -> id text default null',
    'column_removed public.recent.placed: placed timestamp -> -',
    'column_removed public.recent.tries: tries smallint -> -',
    'column_added public.recent.attempts: - -> attempts smallint',
  ),
  step('a view is made anew as it was, and with another condition', [
    `drop view recent`,
    `create view recent as select id::text, tries as attempts from orders where tries > 0`,
    `create or replace view recent as select id::text, tries as attempts from orders`,
  ]),
  step(
    'a column of a view is renamed',
    `alter view recent rename column attempts to tries`,
    'column_renamed public.recent.attempts: attempts smallint -> tries smallint',
  ),
  step(
    'what a view reads is renamed, and the view is as it was',
    `alter table orders rename tries to attempts`,
    'column_renamed public.orders.tries: tries smallint not null -> attempts smallint not null',
  ),
  step(
    'a table makes way for a view of its name',
    [
      `create table stock (id integer primary key, amount integer)`,
      `create table stock_rows (id integer, "stock" integer references stock)`,
    ],
    'table_added public.stock: - -> stock table of 2',
    'table_added public.stock_rows: - -> stock_rows table of 2',
  ),
  step(
    'the table is kept under another name with a column renamed',
    [
      `alter table stock rename to stock_kept`,
      `alter table stock_kept rename amount to pieces`,
      `create view stock as select id, pieces as amount from stock_kept`,
    ],
    'table_removed public.stock: stock table of 2 -> -',
    'table_added public.stock: - -> stock view of 2',
    'table_added public.stock_kept: - -> stock_kept table of 2',
    'column_renamed public.stock_kept.amount: amount integer -> pieces integer',
  ),
  step(
    'the view makes way for the table',
    [`drop view stock`, `alter table stock_kept rename to stock`],
    'table_removed public.stock: stock view of 2 -> -',
    'table_added public.stock: - -> stock table of 2',
    'table_removed public.stock_kept: stock_kept table of 2 -> -',
  ),
  step(
    'a table is dropped for a view with the same columns',
    [`drop table stock cascade`, `create view stock as select 1 as id, 2 as pieces`],
    'table_removed public.stock: stock table of 2 -> -',
    'table_added public.stock: - -> stock view of 2',
    'constraint_changed public.stock_rows: stock_rows_stock_fkey foreign_key(stock) to public.stock(id) -> -',
  ),
  step(
    'a view becomes a materialized view',
    [`drop view stock`, `create materialized view stock as select 1 as id, 2 as pieces`],
    'table_removed public.stock: stock view of 2 -> -',
    'table_added public.stock: - -> stock materialized_view of 2',
  ),
  step(
    'a materialized view gets a unique index',
    `create unique index stock_id on stock (id)`,
    'constraint_changed public.stock: - -> stock_id unique(id)',
  ),
  step('a materialized view is refreshed', [
    `refresh materialized view stock`,
    `refresh materialized view concurrently stock`,
  ]),
  step(
    'a materialized view is made anew',
    [`drop materialized view stock`, `create materialized view stock as select 1::bigint as id, 'x' as what`],
    'column_type_changed public.stock.id: id integer default null -> id bigint default null',
    'column_removed public.stock.pieces: pieces integer -> -',
    'column_added public.stock.what: - -> what text',
    'constraint_changed public.stock: stock_id unique(id) -> -',
  ),
  step(
    'both go',
    [`drop materialized view stock`, `drop table stock_rows`],
    'table_removed public.stock: stock materialized_view of 2 -> -',
    'table_removed public.stock_rows: stock_rows table of 2 -> -',
  ),
  step('a table comes and goes', [`create table passing (a integer)`, `drop table passing`]),
  step('a table is dropped and made anew', [
    `create table passing (a integer)`,
    `drop table passing, defaults`,
    `create table defaults (id integer not null, n text, at timestamptz default current_timestamp, base integer, twice integer)`,
  ]),
  step(
    'a table is dropped and made anew with another column instead of one',
    [
      `drop table defaults`,
      `create table defaults (id integer not null, n text, at timestamptz default current_timestamp, base integer, double integer)`,
    ],
    'column_removed public.defaults.twice: twice integer -> -',
    'column_added public.defaults.double: - -> double integer',
  ),
  step(
    'a partitioned table comes, and its partitions are not reported',
    [
      `create table events (id integer, at date) partition by range (at)`,
      `create table events_1 partition of events for values from ('2026-01-01') to ('2026-02-01')`,
      `create table events_2 (id integer, at date)`,
    ],
    'table_added public.events: - -> events table of 2',
    'table_added public.events_2: - -> events_2 table of 2',
  ),
  step(
    'a table becomes a partition, and none of its own',
    `alter table events attach partition events_2 for values from ('2026-02-01') to ('2026-03-01')`,
    'table_removed public.events_2: events_2 table of 2 -> -',
  ),
  step(
    'its parent reports what happens to all',
    [`alter table events add what text`, `alter table events add constraint events_key primary key (id, at)`],
    'column_added public.events.what: - -> what text',
    'column_type_changed public.events.id: id integer default null -> id integer not null default null',
    'column_type_changed public.events.at: at date default null -> at date not null default null',
    'constraint_changed public.events: - -> events_key primary_key(id, at)',
  ),
  step(
    'a foreign key refers to a partitioned table',
    [
      `create table visits (event integer, at date)`,
      `alter table visits add constraint visit foreign key (event, at) references events`,
    ],
    'table_added public.visits: - -> visits table of 2',
  ),
  step('partitions come and go', [
    `create table events_3 partition of events for values from ('2026-03-01') to ('2026-04-01')`,
    `alter table events detach partition events_1`,
    `drop table events_1`,
  ]),
  step(
    'a partition becomes a table of its own',
    [`alter table events detach partition events_2`],
    'table_added public.events_2: - -> events_2 table of 3',
  ),
  step(
    'a partitioned table becomes a plain one',
    [
      `drop table events cascade`,
      `create table events (id integer not null, at date not null, what text, constraint events_key primary key (at, id))`,
    ],
    'constraint_changed public.events: events_key primary_key(id, at) -> events_key primary_key(at, id)',
    'constraint_changed public.visits: visit foreign_key(event, at) to public.events(id, at) -> -',
  ),
  step(
    'a table inherits',
    `create table late_events (why text) inherits (events)`,
    'table_added public.late_events: - -> late_events table of 4',
  ),
  step(
    'what happens to the parent happens to the heir',
    [`alter table events add place text`, `alter table events rename what to title`],
    'column_added public.events.place: - -> place text',
    'column_added public.late_events.place: - -> place text',
    'column_renamed public.events.what: what text -> title text',
    'column_renamed public.late_events.what: what text -> title text',
  ),
  step('the heir stands alone', `alter table late_events no inherit events`),
  step(
    'the parent is alone, too',
    `alter table events drop place`,
    'column_removed public.events.place: place text -> -',
  ),
  step(
    'a foreign table',
    [
      `create foreign data wrapper elsewhere`,
      `create server far foreign data wrapper elsewhere`,
      `create foreign table remote (id integer not null, name text) server far`,
    ],
    'table_added public.remote: - -> remote external_table of 2',
  ),
  step(
    'a foreign table changes',
    [`alter foreign table remote rename name to title`, `alter foreign table remote alter id type bigint`],
    'column_renamed public.remote.name: name text -> title text',
    'column_type_changed public.remote.id: id integer not null default null -> id bigint not null default null',
  ),
  step(
    'a table takes the place of a foreign one',
    [`drop foreign table remote`, `create table remote (id bigint not null, title text)`],
    'table_removed public.remote: remote external_table of 2 -> -',
    'table_added public.remote: - -> remote table of 2',
  ),
]

const moves: Step[] = [
  step(
    'a family of tables',
    [
      `create table parents (id integer primary key, code text unique)`,
      `create table children (id integer primary key, parent integer references parents, code text references parents (code), elder integer references children)`,
    ],
    'table_added public.parents: - -> parents table of 2',
    'table_added public.children: - -> children table of 4',
  ),
  step(
    'a table is renamed, and who refers to it is as it was',
    `alter table parents rename to ancestors`,
    'table_removed public.parents: parents table of 2 -> -',
    'table_added public.ancestors: - -> ancestors table of 2',
  ),
  step(
    'a table is renamed back with a column renamed',
    [`alter table ancestors rename id to number`, `alter table ancestors rename to parents`],
    'table_removed public.ancestors: ancestors table of 2 -> -',
    'table_added public.parents: - -> parents table of 2',
    'column_renamed public.parents.id: id integer not null -> number integer not null',
  ),
  step(
    'columns at both ends of a foreign key are renamed',
    [`alter table parents rename number to id`, `alter table children rename parent to parent_id`],
    'column_renamed public.parents.number: number integer not null -> id integer not null',
    'column_renamed public.children.parent: parent integer -> parent_id integer',
  ),
  step(
    'a table moves to another schema',
    [`create schema archive`, `alter table parents set schema archive`],
    'table_removed public.parents: parents table of 2 -> -',
    'table_added archive.parents: - -> parents table of 2',
  ),
  step(
    'a schema is renamed, and all of its tables with it',
    `alter schema archive rename to "Old.Things"`,
    'table_removed archive.parents: parents table of 2 -> -',
    'table_added "Old.Things".parents: - -> parents table of 2',
  ),
  step(
    'both ends of a foreign key move',
    [
      `alter table "Old.Things".parents set schema public`,
      `alter table children rename to offspring`,
      `alter table parents rename code to "Code"`,
      `alter table offspring rename elder to "Elder"`,
    ],
    'table_removed "Old.Things".parents: parents table of 2 -> -',
    'table_added public.parents: - -> parents table of 2',
    'table_removed public.children: children table of 4 -> -',
    'table_added public.offspring: - -> offspring table of 4',
    'column_renamed public.parents.code: code text -> Code text',
    'column_renamed public.offspring.elder: elder integer -> Elder integer',
  ),
  step(
    'a target is renamed while another column goes with its key',
    [`alter table parents rename to elders`, `alter table offspring drop code`],
    'table_removed public.parents: parents table of 2 -> -',
    'table_added public.elders: - -> elders table of 2',
    'column_removed public.offspring.code: code text -> -',
    'constraint_changed public.offspring: children_code_fkey foreign_key(code) to public.parents(Code) -> -',
  ),
  step(
    'a new table takes the name, and keys still refer to the one that was renamed',
    [
      `create table elders_new (id integer primary key, "Code" text)`,
      `alter table elders rename to elders_old`,
      `alter table elders_new rename to elders`,
    ],
    'table_added public.elders_old: - -> elders_old table of 2',
    'constraint_changed public.elders: parents_code_key unique(Code) -> -',
    'constraint_changed public.offspring: children_parent_fkey foreign_key(parent_id) to public.elders(id) -> children_parent_fkey foreign_key(parent_id) to public.elders_old(id)',
  ),
  step(
    'what others refer to is dropped',
    `drop table elders_old cascade`,
    'table_removed public.elders_old: elders_old table of 2 -> -',
    'constraint_changed public.offspring: children_parent_fkey foreign_key(parent_id) to public.elders_old(id) -> -',
  ),
]

const constraints: Step[] = [
  step(
    'a table for constraints',
    [
      `create table lines (id integer, item integer, place integer, code text, kind integer)`,
      `create table kinds (id integer primary key, other integer unique, name text)`,
    ],
    'table_added public.lines: - -> lines table of 5',
    'table_added public.kinds: - -> kinds table of 3',
  ),
  step(
    'a primary key comes, and its columns are required',
    `alter table lines add constraint lines_key primary key (id, item)`,
    'constraint_changed public.lines: - -> lines_key primary_key(id, item)',
    'column_type_changed public.lines.id: id integer default null -> id integer not null default null',
    'column_type_changed public.lines.item: item integer default null -> item integer not null default null',
  ),
  step(
    'its columns in another order',
    `alter table lines drop constraint lines_key, add constraint lines_key primary key (item, id)`,
    'constraint_changed public.lines: lines_key primary_key(id, item) -> lines_key primary_key(item, id)',
  ),
  step(
    'a longer one',
    `alter table lines drop constraint lines_key, add constraint lines_key primary key (item, id, place)`,
    'constraint_changed public.lines: lines_key primary_key(item, id) -> lines_key primary_key(item, id, place)',
    'column_type_changed public.lines.place: place integer default null -> place integer not null default null',
  ),
  step('under another name it is the same', `alter table lines rename constraint lines_key to lines_pkey`),
  step(
    'its columns are renamed',
    [
      `alter table lines rename item to swapping`,
      `alter table lines rename id to item`,
      `alter table lines rename swapping to id`,
    ],
    'column_renamed public.lines.item: item integer not null -> id integer not null',
    'column_renamed public.lines.id: id integer not null -> item integer not null',
  ),
  step(
    'it goes, while one of its columns is renamed',
    [`alter table lines drop constraint lines_pkey`, `alter table lines rename place to position`],
    'constraint_changed public.lines: lines_pkey primary_key(id, item, place) -> -',
    'column_renamed public.lines.place: place integer not null -> position integer not null',
  ),
  step(
    'a unique constraint and a unique index',
    [
      `alter table lines add constraint lines_code unique (code)`,
      `create unique index lines_place on lines (position, id)`,
    ],
    'constraint_changed public.lines: - -> lines_code unique(code)',
    'constraint_changed public.lines: - -> lines_place unique(position, id)',
  ),
  step('a unique constraint becomes a unique index and the other way round', [
    `alter table lines drop constraint lines_code`,
    `create unique index lines_code on lines (code desc nulls last) include (kind)`,
    `alter table lines add constraint lines_place unique using index lines_place`,
  ]),
  step(
    'the same name for another kind of constraint',
    [
      `drop index lines_code`,
      `alter table lines drop constraint lines_place`,
      `alter table lines add constraint lines_place primary key (position, id)`,
    ],
    'constraint_changed public.lines: lines_code unique(code) -> -',
    'constraint_changed public.lines: lines_place unique(position, id) -> lines_place primary_key(position, id)',
  ),
  step('indexes that are no constraint of columns', [
    `create unique index on lines (code) where kind = 1`,
    `create unique index on lines (lower(code))`,
    `create index on lines (code)`,
    `alter table lines add constraint positive check (kind > 0)`,
    `alter table lines add constraint apart exclude (kind with =)`,
  ]),
  step(
    'a foreign key',
    `alter table lines add constraint lines_kind foreign key (kind) references kinds`,
    'constraint_changed public.lines: - -> lines_kind foreign_key(kind) to public.kinds(id)',
  ),
  step(
    'other rules, deferrable, not yet valid, valid',
    [
      `alter table lines drop constraint lines_kind`,
      `alter table lines add constraint lines_kind foreign key (kind) references kinds on delete cascade on update set null not valid`,
      `alter table lines validate constraint lines_kind`,
      `alter table lines alter constraint lines_kind deferrable initially deferred`,
    ],
    'constraint_changed public.lines: lines_kind foreign_key(kind) to public.kinds(id) -> lines_kind foreign_key(kind) to public.kinds(id) on_delete=cascade on_update=set_null deferrable=true initially_deferred=true',
  ),
  step(
    'it refers to another column',
    `alter table lines drop constraint lines_kind, add constraint lines_kind foreign key (kind) references kinds (other)`,
    'constraint_changed public.lines: lines_kind foreign_key(kind) to public.kinds(id) on_delete=cascade on_update=set_null deferrable=true initially_deferred=true -> lines_kind foreign_key(kind) to public.kinds(other)',
  ),
  step(
    'a unique index is called as a foreign key is',
    `create unique index lines_kind on lines (kind)`,
    'constraint_changed public.lines: - -> lines_kind unique(kind)',
  ),
  step(
    'the foreign key of that name goes',
    `alter table lines drop constraint lines_kind`,
    'constraint_changed public.lines: lines_kind foreign_key(kind) to public.kinds(other) -> -',
  ),
  step(
    'a column takes its constraints with it',
    `alter table lines drop kind, drop position`,
    'column_removed public.lines.kind: kind integer -> -',
    'column_removed public.lines.position: position integer not null -> -',
    'constraint_changed public.lines: lines_kind unique(kind) -> -',
    'constraint_changed public.lines: lines_place primary_key(position, id) -> -',
  ),
  step(
    'a column takes what refers to it',
    [
      `alter table lines add kind integer references kinds (other)`,
      `alter table lines add unique nulls not distinct (kind)`,
    ],
    'column_added public.lines.kind: - -> kind integer',
    'constraint_changed public.lines: - -> lines_kind_fkey foreign_key(kind) to public.kinds(other)',
    'constraint_changed public.lines: - -> lines_kind_key unique(kind) nulls_not_distinct=true',
  ),
  step(
    'by cascade',
    `alter table kinds drop other cascade`,
    'column_removed public.kinds.other: other integer -> -',
    'constraint_changed public.kinds: kinds_other_key unique(other) -> -',
    'constraint_changed public.lines: lines_kind_fkey foreign_key(kind) to public.kinds(other) -> -',
  ),
  step('a column and its constraint are made anew', [
    `alter table lines drop kind`,
    `alter table lines add kind integer`,
    `alter table lines add constraint lines_kind_key unique nulls not distinct (kind)`,
  ]),
]

const LONG = 'n'.repeat(60)

const names: Step[] = [
  step(
    'names of all sorts',
    [
      `create schema "we.ird ""S"""`,
      `create table "we.ird ""S"""."T.a ""b"" C" ("Id.x" integer primary key, "sélect ""q""" text, "${LONG}é" integer)`,
      `create table "Orders" ("ID" integer)`,
      `create table "${LONG}é" (a integer references "we.ird ""S"""."T.a ""b"" C")`,
    ],
    `table_added "we.ird ""S"""."T.a ""b"" C": - -> T.a "b" C table of 3`,
    'table_added public.Orders: - -> Orders table of 1',
    `table_added public.${LONG}é: - -> ${LONG}é table of 1`,
  ),
  step(
    'they are renamed to others',
    [
      `alter table "we.ird ""S"""."T.a ""b"" C" rename "Id.x" to "id.X"`,
      `alter table "we.ird ""S"""."T.a ""b"" C" rename "${LONG}é" to "${LONG}è"`,
      `alter table "Orders" rename "ID" to "Id"`,
    ],
    `column_renamed "we.ird ""S"""."T.a ""b"" C".Id.x: Id.x integer not null -> id.X integer not null`,
    `column_renamed "we.ird ""S"""."T.a ""b"" C".${LONG}é: ${LONG}é integer -> ${LONG}è integer`,
    'column_renamed public.Orders.ID: ID integer -> Id integer',
  ),
  step(
    'the same names in another schema',
    [
      `create schema other`,
      `create table other.orders (like orders including all)`,
      `create table other.kinds (id integer)`,
      `create type other.feeling as enum ('none')`,
    ],
    'table_added other.orders: - -> orders table of 8',
    'table_added other.kinds: - -> kinds table of 1',
  ),
  step(
    'one of two of the same name',
    [`alter table other.kinds rename id to number`, `alter table kinds alter name type varchar(9)`],
    'column_renamed other.kinds.id: id integer -> number integer',
    'column_type_changed public.kinds.name: name text default null -> name varchar(9) default null',
  ),
  step(
    'a type of the same name in another schema',
    [
      `alter table types alter feels drop default`,
      `alter table types alter feels type other.feeling using null`,
    ],
    `column_type_changed public.types.feels: feels feeling default 'ok'::feeling enum_labels=blue,so-so,ok,happy -> feels other.feeling default null enum_labels=none`,
  ),
]

const upkeep: Step[] = [
  step('rows come and go', [
    `insert into customers select n, n::text from generate_series(1, 100) n`,
    `update customers set remark = 'x' where id < 50`,
    `delete from customers where id > 90`,
    `truncate orders`,
  ]),
  step('statistics', [`analyze`, `alter table customers alter mail set statistics 500`]),
  step('vacuum', [`vacuum`, `vacuum full customers`]),
  step('indexes are rebuilt', [
    `reindex table customers`,
    `cluster customers using customers_pkey`,
    `reindex table concurrently customers`,
  ]),
  step('a table is written elsewhere', [
    `alter table orders set unlogged`,
    `alter table orders set logged`,
    `alter table customers set (fillfactor = 70)`,
    `alter table customers alter remark set storage external`,
    `alter table customers replica identity full`,
  ]),
  step('comments', [
    `comment on table customers is 'Who buys'`,
    `comment on column customers.mail is 'Where to write'`,
    `comment on view recent is 'The last ones'`,
  ]),
  step('comments go', [`comment on table customers is null`, `comment on column customers.mail is null`]),
  step('rights', [
    `grant all on customers to public`,
    `revoke all on customers from public`,
    `create role drift_owner`,
    `alter table customers owner to drift_owner`,
    `alter table customers enable row level security`,
    `create policy nothing on customers using (false)`,
    `alter table customers owner to current_user`,
    `drop role drift_owner`,
  ]),
  step('rules, triggers and functions', [
    `create function stamp() returns trigger language plpgsql as 'begin return new; end'`,
    `create trigger stamp before insert on customers for each row execute function stamp()`,
    `alter table customers disable trigger stamp`,
    `create rule quiet as on delete to customers do instead nothing`,
    `create statistics on id, mail from customers`,
  ]),
  step('unused sequences and types', [
    `create sequence lonely`,
    `create type pair_of as (a integer, b integer)`,
    `drop type pair_of`,
  ]),
  step('all in one transaction that is rolled back', [
    `begin`,
    `drop table customers cascade`,
    `alter table orders rename to gone`,
    `rollback`,
  ]),
]

/** The life of a database, change by change. */
export const STEPS_OF_POSTGRESQL: readonly Step[] = [
  ...columns,
  ...types,
  ...defaults,
  ...relations,
  ...moves,
  ...constraints,
  ...names,
  ...upkeep,
]
