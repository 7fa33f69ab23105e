import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { CheckContext } from '../../../checks/check.ts'
import { customSql } from '../../../checks/rules/custom-sql.ts'
import { checkCustomSql, parseCustomSql, type CustomSql } from '../../../checks/sql/custom-sql.ts'
import type { SqlPiece } from '../../../checks/sql/portable-sql.ts'
import { bigqueryDialect } from '../../../connectors/bigquery/dialect.ts'
import { databricksDialect } from '../../../connectors/databricks/dialect.ts'
import { defineDialect, type Dialect } from '../../../connectors/dialect.ts'
import { mysqlDialect } from '../../../connectors/mysql/dialect.ts'
import { postgresqlDialect } from '../../../connectors/postgresql/dialect.ts'
import { redshiftDialect } from '../../../connectors/redshift/dialect.ts'
import { snowflakeDialect } from '../../../connectors/snowflake/dialect.ts'
import { raw } from '../../../connectors/sql.ts'
import { sharedCount } from '../../helpers/share.ts'
import { resolveHostModules } from '../../../server/extensions.ts'
import { readAs } from './engine-readings.ts'

resolveHostModules()
const { sqlite } = await import('../../../plugin-template/connector.ts')

t.test('expressions and SELECTs are distinguished and parsed', async t => {
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
  t.strictSame(
    'calls' in reading &&
      reading.calls.map(({ kind, schema = '', name }) => `${kind} ${schema}.${name}`).toSorted(),
    [
      'column .net',
      'column .total',
      'function .length',
      'function pg_catalog.abs',
      'operator .=',
      'operator .>',
    ],
  )
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

t.test('everything that may call a function is listed once', async t => {
  const calls = async (text: string) => {
    const reading = await checkCustomSql(text)
    if ('error' in reading) return reading.error
    return reading.calls
      .map(({ kind, schema, name }) => [kind, schema, name].filter(Boolean).join(' '))
      .sort()
  }
  t.strictSame(await calls('is_active'), [])
  t.strictSame(await calls('f(1) and F(2) and "F"(3) and s.f(4)'), [
    ...['function F', 'function f', 'function s f'],
  ])
  t.strictSame(await calls('(a).f and (a.b).g.h and a[1]'), ['column b', 'field f', 'field g', 'field h'])
  t.strictSame(await calls('select x.f from g(1) x'), ['field f', 'function g'])
  t.strictSame(await calls('select t.f, u.*, s.t.g from t, u'), [
    'column f',
    'column g',
    'table t',
    'table u',
  ])
  t.strictSame(await calls('a::s.t and cast(b as text[]) and int4range(1, 2) is null'), [
    ...['function int4range', 'type s t', 'type text'],
  ])
  t.strictSame(await calls('a operator(s.<+~) 1 or b <@ c'), ['operator <@', 'operator s <+~'])
  t.strictSame(await calls('a between 1 and 2'), ['operator <=', 'operator >='])
  t.strictSame(await calls('case a when 1 then b else c end'), ['operator ='])
  t.strictSame(await calls('select 1 from t join u using (id)'), ['operator =', 'table t', 'table u'])
  t.strictSame(await calls('select a from t order by a using >'), ['operator >', 'table t'])
  t.strictSame(await calls("select q.a from json_to_record('{}') as q (a s.t)"), [
    ...['field a', 'function json_to_record', 'type s t'],
  ])
})

t.test('texts with escapes become plain ones, so that each engine has its own', async t => {
  const pieces = async (text: string) => {
    const reading = await checkCustomSql(text)
    return 'error' in reading ? reading.error : reading.pieces.filter(({ kind }) => kind !== 'sql')
  }
  const text = (value: string): SqlPiece => ({ kind: 'text', text: value })
  t.strictSame(await pieces("a = E'it''s\\n\\x41\\u00e9'"), [text("it's\nAé")])
  t.strictSame(await pieces("a = U&'d\\0061t\\+01F642'"), [text('dat🙂')])
  t.strictSame(await pieces('U&"d\\0061t" = \'\''), [{ kind: 'name', text: 'dat' }, text('')])
  t.strictSame(await pieces("a = x'41' and b = B'01' and c = date '2024-01-31'"), [text('2024-01-31')])
  t.match(await pieces("a = E'\\u12'"), /cannot be read/)
  for (const literal of [
    "date '2024-01-31'",
    "interval '1' day",
    "timestamp with time zone '2024-01-31'",
    "json '{}'",
  ])
    t.strictSame((await pieces(`a = ${literal}`)).length, 1, literal)
})

/** Each with the engine that reads it. */
const DIALECTS: readonly (readonly [engine: string, dialect: Dialect])[] = [
  ['postgresql', postgresqlDialect],
  ['redshift', redshiftDialect],
  ['mysql', mysqlDialect],
  ['snowflake', snowflakeDialect],
  ['bigquery', bigqueryDialect],
  ['databricks', databricksDialect],
  ['sqlite', sqlite.dialect],
  // An engine without a lexicon has what all of them read alike.
  ...['postgresql', 'sqlite'].map(engine => [engine, defineDialect({})] as const),
]

/** What is sent for a text: the sample statement, which stands around it alike on every engine. */
function sent(text: string, dialect: Dialect): string {
  const context: CheckContext<{ sql_expression: string }> = {
    ...{
      column: raw(''),
      value: raw(''),
      from: raw('t'),
      rows: raw('t'),
      dialect,
      nullIsValid: false,
      config: { sql_expression: text },
    },
    table: { catalog: '', schema: '', name: 't', kind: 'table', comment: null, columns: [], constraints: [] },
  }
  const samples = customSql.samples(context)
  const whole = dialect.render('select' in samples ? samples.select : samples.where).text
  return whole.slice(whole.indexOf('\n') + 1, whole.lastIndexOf('\n'))
}

/** The quoted pieces in their order, and the rest without blanks, as `readAs` gives them. */
function expected(engine: string, dialect: Dialect, { pieces }: CustomSql): ReturnType<typeof readAs> {
  const { quote, textLiteral: literal, lexicon } = dialect
  const quoted: SqlPiece[] = []
  let code = ''
  // To SQLite, what stands in brackets is a name.
  let isName = false
  for (const { kind, text } of pieces) {
    const digits = /^([bx])'(.*)'$/i.exec(text)
    if (kind !== 'sql' && isName) code += (kind === 'name' ? quote(text) : literal(text)).strings.join('')
    else if (kind !== 'sql') quoted.push({ kind, text })
    else if (digits && !isName) {
      code += digits[1]
      quoted.push({ kind: 'text', text: digits[2] ?? '' })
    } else code += text
    if (engine === 'sqlite' && !lexicon && kind === 'sql' && text === '[') isName = true
    if (kind === 'sql' && text === ']') isName = false
  }
  return { quoted, code: code.replaceAll(/\s+/g, '') }
}

const HOSTILE = [
  "'",
  '"',
  '`',
  '\\',
  '#',
  '--',
  '/*',
  '*/',
  '//',
  '[',
  ']',
  '\n',
  ' or sleep(1) ',
  ')',
  '$$',
  'é',
  '@',
  ';',
]
const inside = fc.array(fc.constantFrom(...HOSTILE, 'a'), { maxLength: 5 }).map(parts => parts.join(''))
const doubled = (quote: string) =>
  inside.map(text => `${quote}${text.replaceAll(quote, quote + quote)}${quote}`)
const operand = fc.oneof(
  { weight: 3, arbitrary: doubled("'") },
  { weight: 2, arbitrary: doubled('"').map(name => (name === '""' ? 'b' : name)) },
  doubled("'").map(text => `E${text}`),
  doubled("'").map(text => `U&${text}`),
  fc
    .tuple(fc.constantFrom('r', 'N', '_utf8', 'date', 'json', 'rb'), doubled("'"))
    .map(parts => parts.join('')),
  doubled("'").map(text => `a[${text}]`),
  doubled("'").map(text => `lower(${text})`),
  fc.constantFrom('a', 'b.c', '1.5', 'null', "x'41'", 'array[b]', 'abs(1)', 'a\u00a0b', 'sleep(1)', '(a).f'),
)
const between = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(' = ', '<>', ' or ', ' and ', '||', ' <@', ' - ', '-', '/', ' like '),
  },
  inside.map(text => ` = /*${text}*/ `),
  inside.map(text => ` = --${text}\n `),
  fc.constantFrom(...HOSTILE),
)
const expression = fc
  .tuple(operand, fc.array(fc.tuple(between, operand), { maxLength: 3 }))
  .map(([first, rest]) => first + rest.flat().join(''))
const statement = fc
  .tuple(expression, expression, doubled("'"))
  .map(([value, condition, text]) => `select ${value} as x, ${text} from t where ${condition}`)

t.test(
  'what is accepted is read by its engine as it was analysed, and again after it was written',
  async t => {
    await checkCustomSql('a')
    const accepted = DIALECTS.map(() => 0)
    fc.assert(
      fc.property(fc.oneof({ weight: 3, arbitrary: expression }, statement), text => {
        for (const [index, [engine, dialect]] of DIALECTS.entries()) {
          const reading = parseCustomSql(text, { dialect })
          if ('error' in reading) {
            assert.match(reading.error, /\w/)
            continue
          }
          accepted[index] = (accepted[index] ?? 0) + 1
          const written = sent(text, dialect)
          assert.deepEqual(
            readAs(engine, written),
            expected(engine, dialect, reading),
            `${engine} reads ${written}`,
          )
          const again = parseCustomSql(written, { dialect })
          assert.ok(!('error' in again), `${engine} accepts ${written} again`)
          const { form, columns, calls } = reading
          assert.deepEqual(
            { form, columns, calls },
            { form: again.form, columns: again.columns, calls: again.calls },
          )
        }
      }),
      { numRuns: sharedCount(500), examples: [["béU&''"], ["a = '' -- b\n ''"]] },
    )
    t.ok(
      accepted.every(count => count > sharedCount(500) / 10),
      `${accepted.join(', ')} are accepted, enough to mean something`,
    )
  },
)
