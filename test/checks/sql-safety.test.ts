import t from 'tap'
import { checkCustomSql } from '../../checks/sql-safety.ts'

t.test('expressions and SELECTs are told apart, and read', async t => {
  const read = async (text: string) => {
    const reading = await checkCustomSql(text)
    return 'error' in reading ? reading : { form: reading.form, text: reading.text }
  }
  t.strictSame(await read('amount > 0'), { form: 'expression', text: 'amount > 0' })
  t.strictSame(await read(' (a > 1) and (b < 2) ;; '), { form: 'expression', text: '(a > 1) and (b < 2)' })
  t.strictSame(await read('(a, b) = (1, 2)'), { form: 'expression', text: '(a, b) = (1, 2)' })
  t.strictSame(await read("é = 'ü' -- ö ) or (\n and b /* x */ > 1"), {
    form: 'expression',
    text: "é = 'ü'  \n and b   > 1",
  })
  t.strictSame(await read('t = \'a\nb\t"c"\' || U&"d\\0061t"'), {
    form: 'expression',
    text: 't = \'a\nb\t"c"\' || U&"d\\0061t"',
  })
  t.strictSame(await read('a /*//#`*/ > 1 --#`//'), { form: 'expression', text: 'a   > 1' })
  t.match(await read("a in ('#', '//', '`', E'#', \"#\")"), { form: 'expression' })
  t.strictSame(await read('select * from t where a < 0;'), {
    form: 'select',
    text: 'select * from t where a < 0',
  })
  t.strictSame(await read('WITH x AS (SELECT 1 AS a) SELECT a FROM x WHERE a IN (SELECT 2)'), {
    form: 'select',
    text: 'WITH x AS (SELECT 1 AS a) SELECT a FROM x WHERE a IN (SELECT 2)',
  })
  t.strictSame(await read('(select 1) union (select 2)'), {
    form: 'select',
    text: '(select 1) union (select 2)',
  })

  const reading = await checkCustomSql(
    'coalesce(o.total, LENGTH("First Name")) > pg_catalog.abs(o.net) or 1 = 0',
  )
  t.strictSame('columns' in reading && [...reading.columns].sort(), ['First Name', 'net', 'total'])
  t.strictSame('functions' in reading && [...reading.functions].sort(), ['abs', 'length'])
})

t.test('everything else is refused with a sentence', async t => {
  const NEITHER = /one boolean expression or one SELECT/
  const refused: [string, RegExp][] = [
    ['', /is empty/],
    [' -- only a comment', /is empty/],
    [';;', /is empty/],
    ['a'.repeat(10_001), /10000 characters/],
    ['a = 1\0; drop table t', /NUL/],
    ["a = 'open", /left open/],
    ['a = 1 /* open', /left open/],
    ['a = "open', /left open/],
    // Ways out of the parentheses.
    ['1=1) or (1=1', /parentheses are not balanced/],
    ['1=1) or (1=1 -- ', /parentheses are not balanced/],
    ['1=1)', /parentheses are not balanced/],
    ['(1=1', /parentheses are not balanced/],
    ['1) from (select 1', /parentheses are not balanced/],
    ['1=1); drop table t; select (1', /parentheses are not balanced/],
    // Not one expression.
    ['a, b', /a list is neither/],
    ['a as b', NEITHER],
    ['a > 1 limit 1', NEITHER],
    ['a > 1 from t', NEITHER],
    ['where a > 1', NEITHER],
    ['*', NEITHER],
    ['a > ', NEITHER],
    ['a > 1; b > 1', NEITHER],
    // Not one SELECT.
    ['select 1; select 2', /has 2 statements/],
    ['select 1; drop table t', /has 2 statements/],
    ['values (1)', NEITHER],
    ['table t', NEITHER],
    ['delete from t', /another statement/],
    ['insert into t values (1)', /another statement/],
    ['update t set a = 1', /another statement/],
    ['drop table t', /another statement/],
    ['create table t as select 1', /another statement/],
    ["copy t to program 'id'", /another statement/],
    ['explain analyze delete from t', /another statement/],
    ['do $$ begin end $$', /dollar-quoted/],
    ['set role postgres', /another statement/],
    ['listen x', /another statement/],
    ['call p()', /another statement/],
    ['begin', /another statement/],
    ['lock table t', /another statement/],
    ['select * into x from t', /SELECT INTO/],
    ['select * from t for update', /lock rows/],
    ['select * from (select * from t for share) q', /lock rows/],
    ['with d as (delete from t returning *) select * from d', /DELETE is not allowed/],
    ['with d as (insert into t values (1) returning *) select * from d', /INSERT is not allowed/],
    ['with d as (update t set a = 1 returning *) select * from d', /UPDATE is not allowed/],
    [
      'with d as (merge into t using s on true when matched then delete returning *) select * from d',
      /MERGE is not allowed/,
    ],
    ['select * from (with d as (delete from t returning 1) select 1) q', /DELETE is not allowed/],
    // Sub-queries inside an expression.
    ['a in (select b from t)', /sub-query/],
    ['exists (select 1)', /sub-query/],
    ['a = array(select 1)', /sub-query/],
    ['(select 1) = 1', /sub-query/],
    // What other engines would read differently.
    ['a = $1', /Parameters/],
    ["a = '\\' or b = ' or 1=1 -- '", /backslash before a quote/],
    ["a = E'\\''", /backslash before a quote/],
    ["a like 'x' escape '\\'", /backslash before a quote/],
    ['a = $$x$$', /dollar-quoted/],
    ['a = $t$x$t$', /dollar-quoted/],
    ["a # 'x\n or sleep(1)) or (1=1 -- '", /operator # .*comment or a quote/],
    ["a #>> '{x}' is null", /operator #>>/],
    ["a // 'x\n or f() -- '", /operator \/\//],
    ["a ` 'x` or f() -- '", /operator `/],
  ]
  for (const [text, expected] of refused) {
    const reading = await checkCustomSql(text)
    t.match('error' in reading ? reading.error : `accepted as ${reading.form}`, expected, text.slice(0, 80))
  }
})

t.test('denied functions are refused wherever they stand and however they are written', async t => {
  const functions = [
    'pg_sleep(1)',
    'PG_SLEEP(1)',
    'pg_catalog.pg_sleep(1)',
    '"pg_sleep"(1)',
    '"pg\u005fsleep"(1)',
    'U&"pg\\005fsleep"(1)',
    "pg_read_file('x')",
    "pg_ls_dir('.')",
    'pg_advisory_lock(1)',
    'pg_try_advisory_xact_lock(1)',
    "pg_notify('a', 'b')",
    'pg_terminate_backend(1)',
    'pg_cancel_backend(1)',
    'pg_reload_conf()',
    "pg_logical_emit_message(true, 'a', 'b')",
    "lo_import('/etc/passwd')",
    "lo_export(1, 'x')",
    "dblink('a', 'b')",
    "dblink_exec('a', 'b')",
    "set_config('a', 'b', false)",
    "current_setting('a')",
    "nextval('s')",
    "setval('s', 1)",
    "query_to_xml('delete from t', true, true, '')",
    "query_to_xml_and_xmlschema('x', true, true, '')",
    "database_to_xml(true, true, '')",
    "ts_stat('select 1')",
    'txid_current()',
    'random()',
    'gen_random_uuid()',
    'clock_timestamp()',
    'sleep(1)',
    'benchmark(1, 1)',
    "get_lock('a', 1)",
    "load_file('x')",
    "load_extension('x')",
    "readfile('x')",
    "writefile('x', 'y')",
    "read_csv('x')",
    "system$cancel_query('x')",
  ]
  for (const call of functions) {
    for (const text of [
      `${call} is null`,
      `a = 1 or (case when b then ${call} is null else true end)`,
      `select * from ${call} f`,
      `select 1 union all select 2 where ${call} is null`,
      `with x as (select ${call} as y) select * from x`,
      `select count(*) filter (where ${call} is null) over (order by ${call}) from t order by ${call}`,
    ]) {
      const reading = await checkCustomSql(text)
      t.match('error' in reading ? reading.error : 'accepted', /^The function .* is not allowed/, text)
    }
  }
})

t.test('functions are refused in the guise of fields too', async t => {
  for (const text of [
    '(1).pg_sleep is null',
    "('/etc/passwd'::text).pg_read_file <> ''",
    '(a.b).c.pg_sleep is null',
    'select (array[1])[1].pg_sleep',
    'select x.pg_sleep from generate_series(1, 2) x',
    'select * from t, lateral (select x.pg_sleep from abs(t.a) x) q',
  ]) {
    const reading = await checkCustomSql(text)
    t.match('error' in reading ? reading.error : 'accepted', /^The function .* is not allowed/, text)
  }
  for (const text of [
    "(address).city <> ''",
    'o.net_amount > 0',
    'select * from orders o where o.uuid is null',
  ])
    t.notMatch(await checkCustomSql(text), { error: String }, text)
})

t.test('harmless functions are allowed', async t => {
  for (const text of [
    'length(trim(name)) > 0',
    "created_at > now() - interval '1 day'",
    "pg_input_is_valid(a, 'date')",
    "coalesce(nullif(a, ''), lower(b)) ~ '^[a-z\\d]+$'",
    'extract(year from d) between 2000 and 2030',
    'a::numeric is distinct from round(b, 2)',
    'current_date >= d',
    "a like '%x' or a is null or a = any (array[1, 2])",
    'case when a then b else not c end',
  ]) {
    t.match(await checkCustomSql(text), { form: 'expression' }, text)
  }
})

t.test('the parser survives what is deeper than its stack', async t => {
  for (const text of [
    `${'('.repeat(4000)}1${')'.repeat(4000)} = 1`,
    `${'not '.repeat(2400)}true`,
    `${'case when a then '.repeat(400)}1${' end'.repeat(400)} = 1`,
    Array.from({ length: 4900 }, () => '1').join('+'),
    `select ${'('.repeat(4000)}1${')'.repeat(4000)}`,
    `select ${'* from (select '.repeat(600)}1${') q'.repeat(600)}`,
  ]) {
    const reading = await checkCustomSql(text)
    t.ok('error' in reading || reading.form, text.slice(0, 30))
  }
  t.match(await checkCustomSql('a > 1'), { form: 'expression' }, 'and reads on')
})
