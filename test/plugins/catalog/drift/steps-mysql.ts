import type { Step } from './replay.ts'

/** A step in short: what it is, its statements, and what drift reports. */
function step(what: string, run: string | string[], ...reported: string[]): Step {
  return { what, run: typeof run === 'string' ? [run] : run, reported }
}

const columns: Step[] = [
  step(
    'tables come',
    [
      `create table customers (id int primary key, email varchar(100) not null, note text)`,
      `create table orders (id bigint auto_increment primary key, amount decimal(10,2), placed datetime, customer_id int,
        constraint orders_customer foreign key (customer_id) references customers (id))`,
    ],
    'table_added SHOP.customers: - -> customers table of 3',
    'table_added SHOP.orders: - -> orders table of 4',
  ),
  step(
    'a column is added in the middle',
    `alter table orders add status varchar(10) not null default 'new' after id`,
    'column_added SHOP.orders.status: - -> status varchar(10) not null',
  ),
  step('columns change places', [
    `alter table orders modify status varchar(10) not null default 'new' first`,
    `alter table orders modify placed datetime after status, modify amount decimal(10,2) after customer_id`,
  ]),
  step(
    'a column is renamed',
    `alter table customers rename column email to mail`,
    'column_renamed SHOP.customers.email: email varchar(100) not null -> mail varchar(100) not null',
  ),
  step(
    'a column is renamed the old way, by its case alone',
    `alter table customers change mail Mail varchar(100) not null`,
    'column_renamed SHOP.customers.mail: mail varchar(100) not null -> Mail varchar(100) not null',
  ),
  step(
    'a column is renamed and gets another default',
    `alter table orders change status state varchar(10) not null default 'old'`,
    'column_renamed SHOP.orders.status: status varchar(10) not null -> state varchar(10) not null',
    `column_type_changed SHOP.orders.state: status varchar(10) not null default 'new' -> state varchar(10) not null default 'old'`,
  ),
  step(
    'a column is renamed and gets another type, which looks like another column',
    `alter table orders change state status varchar(20) not null default 'old'`,
    'column_removed SHOP.orders.state: state varchar(10) not null -> -',
    'column_added SHOP.orders.status: - -> status varchar(20) not null',
  ),
  step(
    'a column is renamed and moved, which does too',
    `alter table orders change amount total decimal(10,2) first`,
    'column_removed SHOP.orders.amount: amount decimal(10,2) -> -',
    'column_added SHOP.orders.total: - -> total decimal(10,2)',
  ),
  step(
    'two are renamed at once, which cannot either',
    `alter table orders change total amount decimal(10,2), change placed at datetime`,
    'column_removed SHOP.orders.total: total decimal(10,2) -> -',
    'column_added SHOP.orders.amount: - -> amount decimal(10,2)',
    'column_removed SHOP.orders.placed: placed datetime -> -',
    'column_added SHOP.orders.at: - -> at datetime',
  ),
  step(
    'two of different types swap their names',
    `alter table orders change amount at decimal(10,2), change at amount datetime`,
    'column_type_changed SHOP.orders.amount: amount decimal(10,2) default null -> amount datetime default null',
    'column_type_changed SHOP.orders.at: at datetime default null -> at decimal(10,2) default null',
  ),
  step(
    'and back',
    `alter table orders change amount at datetime, change at amount decimal(10,2)`,
    'column_type_changed SHOP.orders.amount: amount datetime default null -> amount decimal(10,2) default null',
    'column_type_changed SHOP.orders.at: at decimal(10,2) default null -> at datetime default null',
  ),
  step('a column is dropped and made anew at another place', [
    `alter table orders drop amount`,
    `alter table orders add amount decimal(10,2)`,
  ]),
  step(
    'a column is dropped and made anew of another type',
    [`alter table orders drop amount`, `alter table orders add amount double not null`],
    'column_type_changed SHOP.orders.amount: amount decimal(10,2) default null -> amount double not null default null',
  ),
  step(
    'the last column goes and another comes',
    `alter table orders drop amount, add weight bigint`,
    'column_removed SHOP.orders.amount: amount double not null -> -',
    'column_added SHOP.orders.weight: - -> weight bigint',
  ),
  step('a column comes and goes', [
    `alter table orders add passing int first`,
    `alter table orders drop passing`,
  ]),
]

const types: Step[] = [
  step(
    'a table for types',
    `create table types (v varchar(10), n decimal(10,2), i int, b boolean, e enum ('a','b'), t timestamp null,
      d datetime, u int unsigned, x text, n0 decimal(10,0))`,
    'table_added SHOP.types: - -> types table of 10',
  ),
  step('the same types by other names', [
    `alter table types modify i integer, modify b bool, modify n numeric(10,2), modify n0 dec(10)`,
    `alter table types modify i int(5), modify u int(3) unsigned, modify b tinyint(1), modify n fixed(10,2)`,
    `alter table types modify v character varying(10)`,
  ]),
  step(
    'another charset, and back',
    `alter table types modify v varchar(10) character set latin1`,
    'column_type_changed SHOP.types.v: v varchar(10) default null character_set=utf8mb4 collation=utf8mb4_general_ci -> v varchar(10) default null character_set=latin1 collation=latin1_swedish_ci',
  ),
  step(
    'another collation',
    `alter table types modify v varchar(10) collate utf8mb4_bin`,
    'column_type_changed SHOP.types.v: v varchar(10) default null character_set=latin1 collation=latin1_swedish_ci -> v varchar(10) default null character_set=utf8mb4 collation=utf8mb4_bin',
  ),
  step(
    'another collation of all texts',
    `alter table types convert to character set utf8mb4 collate utf8mb4_unicode_ci`,
    'column_type_changed SHOP.types.v: v varchar(10) default null collation=utf8mb4_bin -> v varchar(10) default null collation=utf8mb4_unicode_ci',
    ...["e enum('a','b')", 'x text'].map(
      column =>
        `column_type_changed SHOP.types.${column[0]}: ${column} default null collation=utf8mb4_general_ci -> ${column} default null collation=utf8mb4_unicode_ci`,
    ),
  ),
  step(
    'another charset for which a text needs a wider type',
    [
      `alter table types modify x text character set latin1`,
      `alter table types convert to character set utf8mb4`,
    ],
    'column_type_changed SHOP.types.x: x text default null collation=utf8mb4_unicode_ci -> x mediumtext default null collation=utf8mb4_general_ci',
    ...["e enum('a','b')", 'v varchar(10)'].map(
      column =>
        `column_type_changed SHOP.types.${column[0]}: ${column} default null collation=utf8mb4_unicode_ci -> ${column} default null collation=utf8mb4_general_ci`,
    ),
  ),
  step(
    'wider and longer',
    `alter table types modify v varchar(20), modify n decimal(12,4), modify i bigint(20), modify d datetime(3)`,
    'column_type_changed SHOP.types.v: v varchar(10) default null -> v varchar(20) default null',
    'column_type_changed SHOP.types.n: n decimal(10,2) default null -> n decimal(12,4) default null',
    'column_type_changed SHOP.types.i: i int default null -> i bigint default null',
    'column_type_changed SHOP.types.d: d datetime default null -> d datetime(3) default null',
  ),
  step(
    'an enumeration gets a value',
    `alter table types modify e enum ('a','b','C')`,
    `column_type_changed SHOP.types.e: e enum('a','b') default null -> e enum('a','b','C') default null`,
  ),
  step(
    'the case of a value is another value',
    `alter table types modify e enum ('a','b','c')`,
    `column_type_changed SHOP.types.e: e enum('a','b','C') default null -> e enum('a','b','c') default null`,
  ),
  step(
    'a boolean is a number no longer, and a number has a sign',
    `alter table types modify b tinyint(4), modify u int`,
    'column_type_changed SHOP.types.b: b boolean default null -> b tinyint default null',
    'column_type_changed SHOP.types.u: u int unsigned default null -> u int default null',
  ),
]

const defaults: Step[] = [
  step(
    'a table for defaults',
    `create table defaults (a varchar(20), n int, at datetime, twice int as (n * 2) stored)`,
    'table_added SHOP.defaults: - -> defaults table of 4',
  ),
  step(
    'a default comes',
    `alter table defaults alter a set default 'it''s'`,
    `column_type_changed SHOP.defaults.a: a varchar(20) default null -> a varchar(20) default 'it''s'`,
  ),
  step('the same default, spelled otherwise', [
    `alter table defaults alter a set default "it's"`,
    `alter table defaults modify a varchar(20) default 'it''s'`,
  ]),
  step(
    'the time of day',
    `alter table defaults modify at datetime default now()`,
    'column_type_changed SHOP.defaults.at: at datetime default null -> at datetime default current_timestamp',
  ),
  step('the time of day by its other names', [
    `alter table defaults modify at datetime default current_timestamp`,
    `alter table defaults modify at datetime default localtime()`,
  ]),
  step(
    'the time of day at each update, and no more',
    `alter table defaults modify at datetime default current_timestamp on update now()`,
    'column_type_changed SHOP.defaults.at: at datetime default current_timestamp -> at datetime default current_timestamp on_update=current_timestamp',
  ),
  step(
    'it is not set at updates',
    `alter table defaults modify at datetime default now()`,
    'column_type_changed SHOP.defaults.at: at datetime default current_timestamp on_update=current_timestamp -> at datetime default current_timestamp',
  ),
  step(
    'no default, and NULL for one',
    [
      `alter table defaults alter a drop default`,
      `alter table defaults modify a varchar(20) default null`,
      `alter table defaults alter at set default null`,
    ],
    `column_type_changed SHOP.defaults.a: a varchar(20) default 'it''s' -> a varchar(20) default null`,
    'column_type_changed SHOP.defaults.at: at datetime default current_timestamp -> at datetime default null',
  ),
  step(
    'a value may be missing no longer',
    `alter table defaults modify a varchar(20) not null`,
    'column_type_changed SHOP.defaults.a: a varchar(20) default null -> a varchar(20) not null default null',
  ),
  step(
    'a generated column follows the name of what it is made of',
    `alter table defaults rename column n to \`n x\``,
    'column_renamed SHOP.defaults.n: n int -> n x int',
  ),
  step(
    'a generated column is made of something else',
    `alter table defaults modify twice int as (\`n x\` * 3) stored`,
    'column_type_changed SHOP.defaults.twice: twice int default "n x" * 2 -> twice int default "n x" * 3',
  ),
]

const relations: Step[] = [
  step(
    'a view comes',
    `create view recent as select id, at from orders`,
    'table_added SHOP.recent: - -> recent view of 2',
  ),
  step(
    'a view is replaced with other columns',
    `create or replace view recent as select id, status, customer_id from orders`,
    'column_removed SHOP.recent.at: at datetime -> -',
    'column_added SHOP.recent.status: - -> status varchar(20) not null',
    'column_added SHOP.recent.customer_id: - -> customer_id int',
  ),
  step('a view is replaced with another condition', [
    `create or replace view recent as select id, status, customer_id from orders where id > 5`,
    `alter view recent as select id, status, customer_id from orders`,
  ]),
  step(
    'a table makes way for a view of its name and columns',
    [`create table stock (id int primary key, amount int)`],
    'table_added SHOP.stock: - -> stock table of 2',
  ),
  step(
    'and is kept under another',
    [`rename table stock to stock_kept`, `create view stock as select * from stock_kept`],
    'table_removed SHOP.stock: stock table of 2 -> -',
    'table_added SHOP.stock: - -> stock view of 2',
    'table_added SHOP.stock_kept: - -> stock_kept table of 2',
  ),
  step(
    'a view makes way for the table',
    [`drop view stock`, `rename table stock_kept to stock`],
    'table_removed SHOP.stock: stock view of 2 -> -',
    'table_added SHOP.stock: - -> stock table of 2',
    'table_removed SHOP.stock_kept: stock_kept table of 2 -> -',
  ),
  step('a table is dropped and made anew', [
    `drop table stock`,
    `create table stock (id int primary key, amount int)`,
    `create or replace table stock (id int primary key, amount int)`,
  ]),
  step(
    'a table is dropped and made anew with one column called otherwise',
    `create or replace table stock (id int primary key, pieces int)`,
    'column_renamed SHOP.stock.amount: amount int -> pieces int',
  ),
  step('partitions come, change and go', [
    `alter table stock partition by hash (id) partitions 3`,
    `alter table stock add partition partitions 2`,
    `alter table stock remove partitioning`,
  ]),
  step('a sequence and a table that comes and goes', [
    `create sequence lonely`,
    `create table passing (a int)`,
    `drop table passing`,
  ]),
  step('all goes', `drop table stock`, 'table_removed SHOP.stock: stock table of 2 -> -'),
]

const constraints: Step[] = [
  step(
    'tables for constraints',
    [
      `create table \`lines\` (id int not null, item int not null, code varchar(20), kind int)`,
      `create table kinds (id int primary key, other int, unique key other (other))`,
    ],
    'table_added SHOP.lines: - -> lines table of 4',
    'table_added SHOP.kinds: - -> kinds table of 2',
  ),
  step(
    'a primary key',
    'alter table `lines` add primary key (id, item)',
    'constraint_changed SHOP.lines: - -> PRIMARY primary_key(id, item)',
  ),
  step(
    'its columns in another order',
    'alter table `lines` drop primary key, add primary key (item, id)',
    'constraint_changed SHOP.lines: PRIMARY primary_key(id, item) -> PRIMARY primary_key(item, id)',
  ),
  step(
    'one of its columns is renamed',
    'alter table `lines` rename column item to article',
    'column_renamed SHOP.lines.item: item int not null -> article int not null',
  ),
  step(
    'a unique key over two columns, and a foreign key that is called as another',
    [
      'alter table `lines` add unique key both_of (code, kind)',
      'alter table `lines` add unique key same (kind)',
      'alter table `lines` add constraint same foreign key (kind) references kinds (id)',
    ],
    'constraint_changed SHOP.lines: - -> both_of unique(code, kind)',
    'constraint_changed SHOP.lines: - -> same unique(kind)',
    'constraint_changed SHOP.lines: - -> same foreign_key(kind) to SHOP.kinds(id)',
  ),
  step(
    'another rule on deletion',
    [
      'alter table `lines` drop foreign key same',
      'alter table `lines` add constraint same foreign key (kind) references kinds (id) on delete cascade',
    ],
    'constraint_changed SHOP.lines: same foreign_key(kind) to SHOP.kinds(id) -> same foreign_key(kind) to SHOP.kinds(id) on_delete=cascade',
  ),
  step(
    'it refers to another column',
    [
      'alter table `lines` drop foreign key same',
      'alter table `lines` add constraint same foreign key (kind) references kinds (other)',
    ],
    'constraint_changed SHOP.lines: same foreign_key(kind) to SHOP.kinds(id) on_delete=cascade -> same foreign_key(kind) to SHOP.kinds(other)',
  ),
  step(
    'columns at both ends are renamed',
    ['alter table `lines` rename column kind to sort', 'alter table kinds rename column other to another'],
    'column_renamed SHOP.lines.kind: kind int -> sort int',
    'column_renamed SHOP.kinds.other: other int -> another int',
  ),
  step('an index is renamed, which is no change', 'alter table `lines` rename index both_of to `both`'),
  step(
    'the target is renamed, which looks like another table',
    'rename table kinds to sorts',
    'table_removed SHOP.kinds: kinds table of 2 -> -',
    'table_added SHOP.sorts: - -> sorts table of 2',
    'constraint_changed SHOP.lines: same foreign_key(sort) to SHOP.kinds(another) -> same foreign_key(sort) to SHOP.sorts(another)',
  ),
  step(
    'the foreign key goes, and the unique key of its name stays',
    'alter table `lines` drop foreign key same',
    'constraint_changed SHOP.lines: same foreign_key(sort) to SHOP.sorts(another) -> -',
  ),
  step(
    'a column takes its key with it',
    'alter table `lines` drop index `both`, drop column sort',
    'column_removed SHOP.lines.sort: sort int -> -',
    'constraint_changed SHOP.lines: both unique(code, sort) -> -',
    'constraint_changed SHOP.lines: same unique(sort) -> -',
  ),
  step('indexes that are no constraint', [
    'alter table `lines` add index plain (code), add fulltext index words (code)',
    'alter table `lines` add constraint positive check (id > 0)',
  ]),
]

const upkeep: Step[] = [
  step('rows come and go', [
    `insert into customers values (1, 'a', 'x'), (2, 'b', 'y')`,
    `delete from customers where id = 1`,
    `truncate table defaults`,
  ]),
  step('upkeep', [
    `analyze table customers, orders`,
    `optimize table customers`,
    `alter table customers force`,
    `alter table customers engine = InnoDB, row_format = compressed`,
    `flush tables`,
  ]),
  step('another place for its rows and its next number', [
    `alter table orders auto_increment = 1000`,
    `alter table types engine = Aria`,
  ]),
  step('comments', [
    `alter table customers comment = 'Who buys'`,
    `alter table customers modify Mail varchar(100) not null comment 'Where to write'`,
    `alter table customers comment = ''`,
  ]),
  step('triggers, and columns that a star leaves out', [
    `create trigger stamp before insert on customers for each row set new.note = 'x'`,
    `alter table customers modify note text invisible`,
  ]),
  step(
    'names of all sorts',
    [
      'create table `T.a "b" ``C``` (`Id.x` int primary key, `sé "l"` int)',
      'create table `Orders2` (`ID` int)',
    ],
    'table_added SHOP."T.a ""b"" `C`": - -> T.a "b" `C` table of 2',
    'table_added SHOP.Orders2: - -> Orders2 table of 1',
  ),
  step(
    'renamed to others',
    'alter table `T.a "b" ``C``` rename column `sé "l"` to `a``b`',
    'column_renamed SHOP."T.a ""b"" `C`".sé "l": sé "l" int -> a`b int',
  ),
]

/** The life of a database of MariaDB, change by change; `SHOP` stands for its name. */
export const STEPS_OF_MYSQL: readonly Step[] = [
  ...columns,
  ...types,
  ...defaults,
  ...relations,
  ...constraints,
  ...upkeep,
]
