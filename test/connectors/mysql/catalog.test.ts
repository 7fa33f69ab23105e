import t from 'tap'
import { tablePath, type TableInfo } from '../../../connectors/catalog.ts'
import { canonicalDefault, canonicalType, columnKind } from '../../../connectors/mysql/types.ts'
import { mariadbAbsent, startShop, withMysql } from '../../helpers/mariadb.ts'

const skip = mariadbAbsent

t.test('the catalog', { skip }, async t => {
  const shop = await startShop(t)
  const other = await startShop(t)
  await other.query('create table elsewhere (id int primary key)')
  for (const statement of `
    create table kinds (ti tinyint, bo boolean, tu tinyint(1) unsigned, si smallint, mi mediumint, i int(11), iu int unsigned, iz int(5) zerofill, bi bigint(20) unsigned, y year, d decimal(10,2), d0 decimal, du numeric(5,1) unsigned, f float, f2 float(7,4), db double precision, b1 bit, b5 bit(5), c char(5), v varchar(20), tt tinytext, tx text, mt mediumtext, lt longtext, e enum('A','b,''c'), s set('x','Y'), dt date, dm datetime, dm6 datetime(6), ts timestamp null, tm time, bn binary(16), vb varbinary(5), bl blob, lb longblob, js json, g geometry, u uuid, ip inet6)
    create table parent (id int auto_increment, a int not null default 5, b varchar(20) not null default 'it''s', c varchar(20) default 'NULL', d decimal(5,2) default 1, at timestamp(3) not null default current_timestamp(3) on update current_timestamp(3), day date default '2024-01-01', now datetime default now(), total int as (a + 1) stored, flag boolean default true, made varchar(36) default (uuid()) comment 'The last one', empty varchar(5) default '', primary key (id), unique ab (b, a), key plain (c)) comment 'The parents'
    create table child (id int, pa int, pb varchar(20), e int, constraint to_parent foreign key (pb, pa) references parent (b, a), constraint to_self_parent foreign key (id) references parent (id), constraint outside foreign key (e) references ${other.name}.elsewhere (id))
    create unique index prefix on child (pb(3))
    create table parts (id int, at date, primary key (id, at)) partition by range (year(at)) (partition p0 values less than (2024), partition p1 values less than maxvalue)
    create sequence numbers
    create table versions (id int) with system versioning
    create view seen as select id, b from parent
    create temporary table hidden (id int)
    insert into parent (a) values (1), (2), (3)
    analyze table parent`.split('\n')) {
    if (statement.trim()) await shop.query(statement)
  }
  const tables = await withMysql(shop.config, connection => connection.introspect())
  const find = (name: string) => tables.find(table => table.name === name) as TableInfo

  t.same(
    tables.map(table => `${table.kind} ${table.name}`),
    ['table child', 'table kinds', 'table parent', 'table parts', 'view seen', 'table versions'],
    'no sequences, no temporary tables, nothing of another database',
  )
  t.ok(tables.every(table => table.catalog === shop.name && table.schema === shop.name))

  t.same(
    find('kinds').columns.map(column => `${column.name}: ${column.type}, ${column.kind}`),
    [
      'ti: tinyint, integer',
      'bo: boolean, boolean',
      'tu: tinyint unsigned, integer',
      'si: smallint, integer',
      'mi: mediumint, integer',
      'i: int, integer',
      'iu: int unsigned, integer',
      'iz: int unsigned zerofill, integer',
      'bi: bigint unsigned, integer',
      'y: year, integer',
      'd: decimal(10,2), decimal',
      'd0: decimal(10,0), decimal',
      'du: decimal(5,1) unsigned, decimal',
      'f: float, float',
      'f2: float(7,4), float',
      'db: double, float',
      'b1: bit(1), boolean',
      'b5: bit(5), binary',
      'c: char(5), text',
      'v: varchar(20), text',
      'tt: tinytext, text',
      'tx: text, text',
      'mt: mediumtext, text',
      'lt: longtext, text',
      "e: enum('A','b,''c'), text",
      "s: set('x','Y'), text",
      'dt: date, date',
      'dm: datetime, timestamp',
      'dm6: datetime(6), timestamp',
      'ts: timestamp, timestamp',
      'tm: time, time',
      'bn: binary(16), binary',
      'vb: varbinary(5), binary',
      'bl: blob, binary',
      'lb: longblob, binary',
      'js: longtext, text',
      'g: geometry, other',
      'u: uuid, other',
      'ip: inet6, other',
    ],
  )
  t.equal(find('kinds').columns.find(column => column.name === 'i')?.rawType, 'int(11)')
  t.equal(find('kinds').columns.find(column => column.name === 'bo')?.rawType, 'tinyint(1)')

  t.equal(find('parent').comment, 'The parents')
  t.same(
    find('parent').columns.map(column => [column.name, column.nullable, column.default]),
    [
      ['id', false, null],
      ['a', false, '5'],
      ['b', false, "'it''s'"],
      ['c', true, "'NULL'"],
      ['d', true, '1.00'],
      ['at', false, 'current_timestamp(3)'],
      ['day', true, "'2024-01-01'"],
      ['now', true, 'current_timestamp'],
      ['total', true, '"a" + 1'],
      ['flag', true, '1'],
      ['made', true, 'uuid()'],
      ['empty', true, "''"],
    ],
  )
  t.match(find('parent').columns[10], { ordinal: 11, comment: 'The last one' })
  t.equal(find('parent').estimatedRows, 3)
  t.same(find('parent').constraints, [
    { name: 'PRIMARY', type: 'primary_key', columns: ['id'], properties: {} },
    { name: 'ab', type: 'unique', columns: ['b', 'a'], properties: {} },
  ])
  const to = (schema: string, name: string) => ({ catalog: schema, schema, name })
  t.same(find('child').constraints, [
    {
      name: 'outside',
      type: 'foreign_key',
      columns: ['e'],
      references: { table: to(other.name, 'elsewhere'), columns: ['id'] },
      properties: {},
    },
    {
      name: 'to_parent',
      type: 'foreign_key',
      columns: ['pb', 'pa'],
      references: { table: to(shop.name, 'parent'), columns: ['b', 'a'] },
      properties: {},
    },
    {
      name: 'to_self_parent',
      type: 'foreign_key',
      columns: ['id'],
      references: { table: to(shop.name, 'parent'), columns: ['id'] },
      properties: {},
    },
    { name: 'prefix', type: 'unique', columns: ['pb'], properties: { prefixLengths: [3] } },
  ])
  t.match(find('seen'), { comment: null, estimatedRows: undefined, columns: [{ name: 'id' }, { name: 'b' }] })

  await withMysql(shop.config, async connection => {
    const found = await connection.estimates?.(tables)
    t.equal(found?.get(tablePath(find('parent'))), 3)
    t.notOk(found?.has(tablePath(find('seen'))))
    const elsewhere = to(other.name, 'elsewhere')
    t.same(await connection.introspect({ tables: [elsewhere] }), [])
    t.same(await connection.estimates?.([elsewhere]), new Map())
  })
})

t.test('both servers spell types and defaults the same in the end', async t => {
  t.same(
    ['int', 'int(11)', 'INT(11) UNSIGNED', 'year(4)', 'year', 'tinyint(1)', 'tinyint(4)'].map(canonicalType),
    ['int', 'int', 'int unsigned', 'year', 'year', 'boolean', 'tinyint'],
  )
  t.equal(canonicalType("enum('int(11)')"), "enum('int(11)')")
  t.equal(columnKind('json'), 'json')
  t.equal(columnKind('geomcollection'), 'other')

  const onMysql = (printed: string | null, type: string, extra = '', generation: string | null = null) =>
    canonicalDefault(printed, { kind: columnKind(type), extra, generation, isMariadb: false })
  const onMariadb = (printed: string | null, type: string, generation: string | null = null) =>
    canonicalDefault(printed, { kind: columnKind(type), extra: '', generation, isMariadb: true })
  const alike: [string | null, string | null][] = [
    [onMysql(null, 'int'), onMariadb('NULL', 'int')],
    [onMysql(null, 'varchar(5)'), onMariadb(null, 'varchar(5)')],
    [onMysql('NULL', 'varchar(5)'), onMariadb("'NULL'", 'varchar(5)')],
    [onMysql('', 'varchar(5)'), onMariadb("''", 'varchar(5)')],
    [onMysql("it's", 'varchar(5)'), onMariadb("'it''s'", 'varchar(5)')],
    [onMysql('5', 'int'), onMariadb('5', 'int')],
    [onMysql('1', 'boolean'), onMariadb('1', 'boolean')],
    [onMysql("b'1'", 'bit(1)'), onMariadb("b'1'", 'bit(1)')],
    [onMysql("b'101'", 'bit(5)'), onMariadb("b'101'", 'bit(5)')],
    [onMysql('2024-01-01', 'date'), onMariadb("'2024-01-01'", 'date')],
    [
      onMysql('CURRENT_TIMESTAMP', 'datetime', 'DEFAULT_GENERATED'),
      onMariadb('current_timestamp()', 'datetime'),
    ],
    [
      onMysql('CURRENT_TIMESTAMP(3)', 'timestamp(3)', 'DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)'),
      onMariadb('current_timestamp(3)', 'timestamp(3)'),
    ],
    [onMysql('uuid()', 'varchar(36)', 'DEFAULT_GENERATED'), onMariadb('uuid()', 'varchar(36)')],
  ]
  for (const [mysql, mariadb] of alike) t.equal(mysql, mariadb)
  t.equal(onMysql(null, 'int', 'STORED GENERATED', '(`a` + 1)'), '(`a` + 1)')
})
