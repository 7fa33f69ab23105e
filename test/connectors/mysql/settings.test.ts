import t from 'tap'
import { mariadbAbsent, startShop, withMysql } from '../../helpers/mariadb.ts'

/** Settings whose values are numbers or texts, and that have to do with how values are printed or how many are read. */
const OTHERS: Record<string, string[]> = {
  sql_mode: [`'NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'`, `'ORACLE'`, `''`],
  old_mode: [`'NO_PROGRESS_INFO,ZERO_DATE_TIME_CAST'`],
  time_zone: [`'+09:00'`],
  lc_time_names: [`'de_DE'`],
  lc_messages: [`'de_DE'`],
  character_set_results: ['latin1', 'null'],
  character_set_connection: ['latin1'],
  character_set_client: ['latin1'],
  collation_connection: ['utf8mb4_bin'],
  group_concat_max_len: ['4'],
  sql_select_limit: ['1'],
  max_sort_length: ['8'],
  div_precision_increment: ['0'],
  default_week_format: ['1'],
}

/** They keep clients out, end the test's own statements, or write to logs alone. */
const LEFT_OUT =
  /^(.*log.*|debug.*|wsrep_.*|profiling|read_only|autocommit|default_storage_engine|.*_storage_engine)$/

t.test('no setting of the server changes what the catalog shows', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  await shop.query('create table parent (id int primary key)')
  await shop.query(
    `create table printed (
    id int primary key, parent int references parent (id), "select" int default 1,
    moment timestamp default current_timestamp on update current_timestamp, bare timestamp null, old datetime(3) default now(3),
    day date default '2026-02-01', text varchar(20) default 'a\\\\b''c', letters enum('A', 'b''c') default 'A',
    bits bit(3) default b'101', price decimal(10, 2) default 1.50, ratio double default (1e0 / 3),
    joined varchar(60) as (concat(text, 'x')) virtual, doubled int as (id * 2) stored,
    unique (text(5), day))`.replaceAll('"', '`'),
  )
  await shop.query('create view seen as select id, text from printed')

  const read = () => withMysql(shop.config, connection => connection.introspect())
  const before = await read()
  t.equal(before.length, 3)
  const variables = await shop.query(
    `select lower(variable_name) as name, variable_type as kind, enum_value_list as list, global_value as given
     from information_schema.system_variables
     where variable_scope = 'SESSION' and read_only = 'NO' and variable_type in ('BOOLEAN', 'ENUM') order by 1`,
  )
  const tried = variables.flatMap(({ name, list, given }): [string, string[]][] => {
    const values =
      list === null
        ? []
        : String(list)
            .split(',')
            .filter(value => value !== given)
    return LEFT_OUT.test(String(name)) ? [] : [[String(name), values.map(value => `'${value}'`)]]
  })
  t.ok(tried.length > 30, `${tried.length} settings are tried`)
  for (const [name, values] of [...tried, ...Object.entries(OTHERS)]) {
    const [former] = await shop.query(
      `select variable_type as kind, global_value as given from information_schema.system_variables
       where lower(variable_name) = '${name}'`,
    )
    const isText = !/INT/.test(String(former?.kind))
    const given =
      former?.given === null ? 'null' : isText ? `'${String(former?.given)}'` : String(former?.given)
    for (const value of values) {
      try {
        await shop.query(`set global ${name} = ${value}`)
      } catch {
        t.comment(`${name} = ${value} is refused`)
        continue
      }
      t.same(await read().catch((error: Error) => error.message), before, `${name} = ${value}`)
      await shop.query(`set global ${name} = ${given}`)
    }
  }
})
