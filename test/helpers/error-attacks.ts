/**
 * SQL by which a caller has an engine quote what it reads in the message, the code or the place of an error: one table of
 * attacks, for every way by which SQL is asked about and run. The table is `people` with a column `secret`.
 */

/** What stands in the rows. The short one has the form of an SQLSTATE, the low one that of a name. */
export const SECRETS = {
  long: 'Quokka-982451653-Zyzzyva',
  short: 'QX7ZK',
  low: 'wombat_982451653_zyx',
} as const

/** Whether a text holds a value of the rows, in any part that identifies it. */
export const SECRET_PATTERN = /Quokka|Zyzzyva|QX7ZK|wombat_|982451653/i

/** The values that errors are to be made of. */
const one = (name: keyof typeof SECRETS) => `(select secret from people where kind = '${name}')`
const all = `(select max(secret) from people)`

export type AttackedEngine =
  'postgresql' | 'mysql' | 'sqlite' | 'redshift' | 'snowflake' | 'bigquery' | 'databricks'

/** Functions that the customer has made: they claim to be constant, and raise what they read. */
const RAISED_STATES = [
  '42601',
  '42P01',
  '42703',
  '42883',
  '42501',
  '22P02',
  '22012',
  'P0001',
  '57014',
  '28000',
]

export const SETUP: Readonly<Partial<Record<AttackedEngine, readonly string[]>>> = {
  postgresql: [
    `create function spill(value text, state text) returns int immutable language plpgsql as
       $$ begin raise exception 'relation "%" does not exist', value using errcode = state, detail = value, hint = value,
            table = value, column = value, constraint = value; end $$`,
    // Without an argument to wait for, it is run when a statement is planned.
    ...RAISED_STATES.map(
      state => `create function peek_${state.toLowerCase()}() returns int immutable language plpgsql as
       $$ declare found text; begin select max(secret) into found from people;
         raise exception 'syntax error at or near "%"', found using errcode = '${state}', hint = found; end $$`,
    ),
    `create function coded(value text) returns int immutable language plpgsql as
       $$ begin raise exception 'no' using errcode = value; end $$`,
    `create domain risky as text check (value = 'none')`,
  ],
  mysql: [
    `create function spill(value varchar(200)) returns int deterministic
       begin signal sqlstate '45000' set message_text = value; return 1; end`,
    `create function spill_column(value varchar(200)) returns int deterministic
       begin declare said varchar(300); set said = concat('Unknown column ''', value, ''' in ''field list''');
       signal sqlstate '42S22' set message_text = said, mysql_errno = 1054; return 1; end`,
    `create function spill_syntax(value varchar(200)) returns int deterministic
       begin declare said varchar(300);
       set said = concat('You have an error in your SQL syntax near ''', value, ''' at line 9000');
       signal sqlstate '42000' set message_text = said, mysql_errno = 1064; return 1; end`,
    `create function peek() returns int deterministic reads sql data
       begin declare found varchar(200); select max(secret) into found from people;
       signal sqlstate '45000' set message_text = found; return 1; end`,
  ],
}

const POSTGRESQL_CASTS = (
  'integer numeric boolean date timestamptz interval uuid inet json jsonb jsonpath xml bit(3) int[] point tsquery ' +
  'regclass regtype regrole regproc regprocedure regnamespace regoper regconfig risky money bytea pg_lsn int4range'
).split(' ')

/** Conditions, each of which a caller may write as CUSTOM_SQL. */
export const ATTACKS: Readonly<Record<AttackedEngine, readonly string[]>> = {
  postgresql: [
    ...POSTGRESQL_CASTS.map(type => `cast(secret as ${type}) is null`),
    `cast(${one('low')} as regclass) is null`,
    `cast(${one('low')} as regtype) is null`,
    `cast(${one('low')} as regrole) is null`,
    `(('{"a": "' || secret || '"}')::jsonb -> 'a')::int > 0`,
    `jsonb_path_query_first('{}'::jsonb, ('strict $."' || secret || '"')::jsonpath) is null`,
    `jsonb_path_exists(to_jsonb(secret), '$.double()') and jsonb_path_query_first(to_jsonb(secret), 'strict $.double()') is null`,
    `xmlparse(document secret) is null`,
    `xpath(secret, '<a/>'::xml) is null`,
    `1 / (length(secret) - length(secret)) > 0`,
    `to_date(secret, 'YYYY-MM-DD') is null`,
    `to_timestamp('2024', secret) is null`,
    `to_number(secret, '999') > 0`,
    `make_interval(hours => secret::int) is null`,
    `encode('a', secret) is null`,
    `decode(secret, 'hex') is null`,
    `convert_from('a', secret) is null`,
    `('a' ~ ('(' || secret)) is null`,
    `format('%' || secret) is null`,
    `has_table_privilege(secret, 'select')`,
    `to_tsvector(secret::regconfig, 'a') is null`,
    `current_setting(secret) is null`,
    `set_config('tidemark.leak', secret, false) is null`,
    `set_config(secret, secret, false) is null`,
    `timezone(secret, now()) is null`,
    `date_trunc(secret, now()) is null`,
    `(secret collate "C")::date is null`,
    `${all}::int > 0`,
    `(select string_agg(secret, ',') from people)::int > 0`,
    `(select 1 from people) > (select secret::int from people limit 1)`,
    ...RAISED_STATES.flatMap(state => [
      `spill(secret, '${state}') > 0`,
      `spill(${all}, '${state}') > 0`,
      `peek_${state.toLowerCase()}() > 0`,
      `(select peek_${state.toLowerCase()}()) > 0`,
    ]),
    `coded(${one('short')}) > 0`,
  ],
  redshift: [
    'cast(secret as integer) > 0',
    'cast(secret as date) is null',
    `${all}::int > 0`,
    '1 / (length(secret) - length(secret)) > 0',
  ],
  mysql: [
    `extractvalue('<a/>', concat('~', secret)) is null`,
    `extractvalue(1, concat(0x7e, ${all})) is null`,
    `updatexml('<a/>', concat('~', secret), 1) is null`,
    `updatexml(1, concat(0x7e, ${all}), 1) is null`,
    `gtid_subset(secret, secret)`,
    `gtid_subtract(secret, secret) is null`,
    `json_extract(concat('{', secret), '$.a') is null`,
    `json_extract('{}', concat('$.[', secret)) is null`,
    `json_value(secret, '$.a') is null`,
    `json_table(secret, '$' columns (a int path '$.a')) is null`,
    `st_geomfromtext(secret) is null`,
    `secret regexp concat('(', secret)`,
    `regexp_replace('a', concat('[', secret), '') is null`,
    `cast(secret as date) is null`,
    `cast(secret as signed) > 0`,
    `exp(secret + 9000) > 0`,
    `name_const(secret, 1) = 1`,
    `convert(secret using latin1) is null`,
    `secret = (select secret from people)`,
    `cast(${one('long')} as inet6) is null`,
    `cast(secret as uuid) is null`,
    `uuid_to_bin(secret) is null`,
    `benchmark(1, extractvalue(1, concat('~', secret))) = 0`,
    `spill(secret) > 0`,
    `spill(${all}) > 0`,
    `spill_column(secret) > 0`,
    `spill_syntax(secret) > 0`,
    `peek() > 0`,
    `(select peek()) > 0`,
  ],
  sqlite: [
    `json(secret) is null`,
    `json_extract(secret, '$.a') is null`,
    `json_extract('{}', '$.' || secret || '[') is null`,
    `json_extract('{}', ${all}) is null`,
    `json_set('{}', secret, 1) is null`,
    `(secret -> '$[') is null`,
    `load_extension(secret) is null`,
    `regexp('(' || secret, 'x')`,
    `is_date('x', '%' || secret)`,
    `is_date('x', '%Y%Y' || secret)`,
    `abs(-9223372036854775807 - length(secret)) > 0`,
    `secret match secret`,
    `zeroblob(length(secret) * 9000000000) is null`,
    `fts5(secret) is null`,
  ],
  snowflake: [
    `cast("secret" as integer) > 0`,
    `cast("secret" as date) is null`,
    `to_number("secret") > 0`,
    `regexp_like('x', '(' || "secret")`,
    `(select max(cast("secret" as integer)) from people) > 0`,
  ],
  bigquery: [
    `error(secret) is null`,
    `error(${all}) is null`,
    `error('Unrecognized name: ' || secret || ' at [90:90]') is null`,
    `error(concat('Unrecognized name: ', secret)) is null`,
    `cast(secret as int64) > 0`,
    `cast(secret as date) is null`,
    `safe.parse_date('%Q', secret) is null or parse_date('%Y', secret) is null`,
    `regexp_contains('x', '(' || secret)`,
  ],
  databricks: [
    `cast(secret as int) > 0`,
    `cast(secret as date) is null`,
    `cast(${all} as int) > 0`,
    `regexp_like('x', '(' || secret)`,
    `raise_error(secret) is null`,
    `assert_true(false, secret) is null`,
  ],
}

/** The SELECT that has the engine evaluate an attack for each row. */
export function attackSelect(condition: string): string {
  return `select 1 as one from people where ${condition}`
}
