import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { importSuites } from '../../../../plugins/monitors/import/great-expectations.ts'
import { startDraft } from './draft.ts'
import { readMonitors, writeMonitors } from '../../../../plugins/monitors/file/monitors-file.ts'
import type { SqlEngine } from '../../../../plugins/monitors/import/sql-text.ts'

function convert(type: string, kwargs: object, engine: SqlEngine = 'postgresql') {
  const draft = startDraft()
  const text = JSON.stringify({ expectations: [{ type, kwargs, meta: {} }] })
  importSuites([{ name: 'suite.json', text }], draft, { engine, table: 'public.orders' })
  const { document, left, notes } = draft.finish()
  readMonitors(writeMonitors(document), 'written.yaml')
  const check = document.tables['public.orders']?.checks.validity?.[0]
  const metric = document.tables['public.orders']?.checks.metric?.[0]
  return {
    check,
    metric,
    notes,
    sql: (check?.rule_config as { sql_expression?: string } | undefined)?.sql_expression,
    left,
  }
}

t.test('expectations of values become rules that leave out NULL', t => {
  t.match(convert('expect_column_values_to_be_in_set', { column: 'status', value_set: ['a'] }).check, {
    key: 'public.orders.status.column_values_to_be_in_set',
    rule_type: 'ENUM',
    column_name: 'status',
    rule_config: { allowed_values: ['a'] },
    treat_null_as_valid: true,
    severity: 'critical',
  })
  t.match(convert('expect_column_values_to_be_between', { column: 'n', min_value: 1, max_value: 2 }).check, {
    rule_type: 'RANGE',
    rule_config: { min: 1, max: 2 },
  })
  t.match(
    convert('expect_column_values_to_be_between', { column: 'n', min_value: 1, strict_min: true }).sql,
    'n is null or (n > 1)',
  )
  t.match(convert('expect_column_values_to_match_regex', { column: 's', regex: '^a' }).check, {
    rule_type: 'REGEX',
    rule_config: { pattern: '^a' },
  })
  t.match(convert('expect_column_values_to_be_unique', { column: 'id' }).check, { rule_type: 'UNIQUE' })
  t.end()
})

t.test('mostly is a share of the values that are not null', t => {
  t.match(convert('expect_column_values_to_not_be_null', { column: 'a', mostly: 0.9 }).check, {
    rule_type: 'NOT_NULL',
    alert_threshold_percent: 10,
  })
  t.match(
    convert('expect_column_values_to_be_in_set', { column: 'a', value_set: [1], mostly: 0.9 }).sql,
    /sum\(case when a in \(1\) then 1 else 0 end\) as valid from public\.orders where a is not null\) measured where valid < 0\.9 \* n/,
  )
  t.end()
})

t.test('expectations of a number become metrics with limits, which are measured with other checks', t => {
  t.match(convert('expect_table_row_count_to_be_between', { min_value: 1, max_value: 9 }), {
    metric: {
      key: 'public.orders.table_row_count_to_be_between',
      ...{ metric_type: 'row_count', min: 1, max: 9, severity: 'critical' },
    },
    notes: [],
  })
  t.match(convert('expect_table_row_count_to_equal', { value: 3 }).metric, { min: 3, max: 3 })
  const exclusive = { min_value: 1, strict_min: true, max_value: 9, strict_max: true }
  t.match(convert('expect_table_row_count_to_be_between', exclusive).metric, { min: 2, max: 8 })
  const bounds = { column: 'n', min_value: 1, max_value: 9.5 }
  for (const [type, metric] of [
    ['sum', 'sum'],
    ['unique_value_count', 'distinct_count'],
  ] as const)
    t.match(
      convert(`expect_column_${type}_to_be_between`, bounds).metric,
      { metric_type: metric, column_name: 'n', min: 1, max: 9.5 },
      type,
    )
  for (const type of ['max', 'min', 'mean', 'stdev'])
    t.match(
      convert(`expect_column_${type}_to_be_between`, bounds).sql,
      /value is null or/,
      `${type} fails without a value, which a metric does not`,
    )
  const around = { column: 'n', min_value: -1, max_value: 1 }
  t.match(convert('expect_column_sum_to_be_between', around).sql, /value is null or/, 'a sum of no rows is 0')
  t.end()
})

t.test('expectations of the whole table that limits do not say compare a number', t => {
  t.match(
    convert('expect_column_max_to_be_between', { column: 'Total', max_value: 9, strict_max: true }, 'mysql')
      .sql,
    /max\(`Total`\).*where value is null or not \(value < 9\)$/,
  )
  const dates = { column: 'at', min_value: '2024-01-01' }
  t.match(convert('expect_column_max_to_be_between', dates).sql, /value >= '2024-01-01'/)
  t.match(
    convert('expect_compound_columns_to_be_unique', { column_list: ['a', 'b'] }).sql,
    /group by a, b having count\(\*\) > 1/,
  )
  t.end()
})

t.test('a condition on rows becomes the filter of the check', t => {
  const text = (row_condition: unknown, more: object = { condition_parser: 'great_expectations' }) =>
    convert('expect_column_values_to_not_be_null', { column: 'a', row_condition, ...more })
  for (const [condition, filter] of [
    ['col("status") == "paid"', "status = 'paid'"],
    [`col("Status")!='not paid'`, `"Status" <> 'not paid'`],
    ['col("n") >= -1.5', 'n >= -1.5'],
    ['col("n").notNull()', 'n is not null'],
  ] as const)
    t.equal(text(condition).check?.filter, filter, condition)
  t.match(text('col("n") == 1', { condition_parser: 'great_expectations__experimental__' }).check, {
    ...{ rule_type: 'NOT_NULL', filter: 'n = 1' },
  })
  const n = { type: 'comparison', column: { name: 'n' } }
  const conditions = [
    { ...n, operator: 'IN', parameter: ['a', 'b'] },
    {
      type: 'or',
      conditions: [
        { ...n, operator: '!=', parameter: 1.5 },
        { type: 'nullity', column: { name: 'm' }, is_null: true },
      ],
    },
  ]
  t.equal(
    text({ type: 'and', conditions }, {}).check?.filter,
    "(n in ('a', 'b')) and ((n <> 1.5) or (m is null))",
  )
  const paid = { row_condition: 'col("status") == "paid"', condition_parser: 'great_expectations' }
  t.match(convert('expect_table_row_count_to_be_between', { min_value: 1, ...paid }).metric, {
    ...{ metric_type: 'row_count', min: 1, filter: "status = 'paid'" },
  })
  t.match(
    convert('expect_column_max_to_be_between', { column: 'n', max_value: 1, ...paid }).sql,
    /from \(select \* from public\.orders where status = 'paid'\) filtered/,
  )
  t.end()
})

t.test('a condition on rows that its SQL engines do not read as it looks is left out', t => {
  const reasonOf = (row_condition: unknown, condition_parser?: string) =>
    convert('expect_column_values_to_not_be_null', { column: 'a', row_condition, condition_parser }).left[0]
      ?.reason
  t.match(reasonOf('b > 1', 'pandas'), /"pandas" is not read in databases/)
  t.match(reasonOf('b > 1'), /row_condition/)
  for (const text of [
    'col("a") == 1 and col("b") == 2',
    'col("a") == " paid"',
    'col("a") == date("2024-01-01")',
    'col("ä") == 1',
    'a == 1',
    `col("a") == 'it"s'`,
    'col("a") == 1e300',
  ])
    t.match(reasonOf(text, 'great_expectations'), /is not one comparison/, text)
  const deep = Array.from({ length: 20 }).reduce<object>(inner => ({ type: 'and', conditions: [inner] }), {
    type: 'nullity',
    column: { name: 'a' },
    is_null: true,
  })
  const n = { type: 'comparison', column: { name: 'n' } }
  for (const condition of [
    { type: 'pass_through', pass_through_filter: 'a > 1' },
    { ...n, operator: 'IN', parameter: [] },
    { ...n, operator: '==', parameter: null },
    { ...n, operator: 'constructor', parameter: 1 },
    { type: 'and', conditions: [] },
    deep,
    3,
  ])
    t.match(reasonOf(condition), /condition/, JSON.stringify(condition))
  t.end()
})

t.test('what has no exact counterpart is left out with the reason', t => {
  const reasonOf = (type: string, kwargs: object = { column: 'a' }, engine?: SqlEngine) =>
    convert(type, kwargs, engine).left[0]?.reason
  t.match(reasonOf('expect_column_to_exist'), /schema/)
  t.match(reasonOf('expect_column_kl_divergence_to_be_less_than'), /no exact counterpart/)
  t.match(reasonOf('expect_column_values_to_be_in_set', { column: 'a', value_set: [] }), /value_set/)
  t.match(
    reasonOf('expect_column_values_to_be_between', { column: 'a', min_value: { $PARAMETER: 'x' } }),
    /parameter/,
  )
  t.match(reasonOf('expect_column_values_to_be_between', { column: 'a', max_value: 1, other: 2 }), /other/)
  t.match(
    reasonOf('expect_column_values_to_not_match_regex', { column: 'a', regex: 'x' }, 'snowflake'),
    /snowflake/,
  )
  t.match(
    reasonOf('expect_column_values_to_not_be_in_set', { column: 'a', value_set: ['\\'] }, 'bigquery'),
    /backslash/,
  )
  t.end()
})

/** Whether rows of the columns `a` and `b` are as expected, on SQLite. */
function passes(type: string, kwargs: object, rows: (string | number | null)[][]): boolean {
  const { sql = '', left } = convert(type, kwargs, 'sqlite')
  if (left.length > 0) throw new Error(left[0]?.reason)
  const database = new DatabaseSync(':memory:')
  database.exec('create table orders (a, b)')
  const insert = database.prepare('insert into orders values (?, ?)')
  for (const [a = null, b = null] of rows) insert.run(a, b)
  const text = sql.replaceAll('public.orders', 'orders')
  const select = /^select /.test(text) ? text : `select 1 from orders where not coalesce((${text}), false)`
  const isEmpty = database.prepare(select).all().length === 0
  database.close()
  return isEmpty
}

t.test('rows with NULL are judged as Great Expectations 1.24 judges them', t => {
  const [equal, greater] = [
    'expect_column_pair_values_to_be_equal',
    'expect_column_pair_values_a_to_be_greater_than_b',
  ]
  const compound = 'expect_compound_columns_to_be_unique'
  const record = 'expect_select_column_values_to_be_unique_within_record'
  const [none, half, other] = [
    [null, null],
    [1, null],
    [null, 1],
  ]
  const pair = (ignored?: string, more = {}) => ({
    ...{ column_A: 'a', column_B: 'b', ...more },
    ...(ignored !== undefined && { ignore_row_if: ignored }),
  })
  const list = (ignored?: string, more = {}) => ({
    ...{ column_list: ['a', 'b'], ...more },
    ...(ignored !== undefined && { ignore_row_if: ignored }),
  })
  const verdicts = (type: string, kwargs: object) =>
    [none, half, other].map(row => passes(type, kwargs, [row, row]))
  t.strictSame(verdicts(equal, pair()), [true, false, false])
  t.strictSame(verdicts(equal, pair('both_values_are_missing')), [true, false, false])
  t.strictSame(verdicts(equal, pair('either_value_is_missing')), [true, true, true])
  t.strictSame(verdicts(equal, pair('neither')), [false, false, false])
  for (const ignored of [undefined, 'both_values_are_missing', 'either_value_is_missing', 'neither']) {
    t.strictSame(verdicts(greater, pair(ignored)), [true, true, true], `${ignored}`)
    const pairs = pair(ignored, {
      value_pairs_set: [
        [1, 2],
        [2, 1],
      ],
    })
    t.strictSame(verdicts('expect_column_pair_values_to_be_in_set', pairs), [true, true, true], `${ignored}`)
  }
  for (const ignored of [undefined, 'all_values_are_missing', 'any_value_is_missing', 'never']) {
    t.strictSame(verdicts(compound, list(ignored)), [true, true, true], `${ignored}`)
    t.notOk(
      passes(compound, list(ignored), [
        [1, 2],
        [1, 2],
      ]),
      `${ignored}`,
    )
    t.strictSame(verdicts(record, list(ignored)), [ignored !== 'never', true, true], `${ignored}`)
    const total = list(ignored, { sum_total: 3 })
    t.strictSame(verdicts('expect_multicolumn_sum_to_equal', total), [true, true, true], `${ignored}`)
  }
  t.notOk(passes(greater, pair(), [[1, 2]]))
  t.notOk(passes(record, list(), [[1, 1]]))
  t.notOk(passes('expect_multicolumn_sum_to_equal', list(undefined, { sum_total: 3 }), [[1, 1]]))
  t.notOk(
    passes('expect_column_pair_values_to_be_in_set', pair(undefined, { value_pairs_set: [[1, 2]] }), [
      [2, 1],
    ]),
  )
  t.match(convert(compound, list('sometimes')).left, [{ reason: /ignore_row_if/ }])
  t.end()
})

t.test('defaults that a suite states change nothing', t => {
  const between = { column: 'n', min_value: 1, max_value: 2 }
  t.strictSame(
    convert('expect_column_values_to_be_between', {
      ...between,
      ...{ mostly: 1.0, strict_min: false, strict_max: false, parse_strings_as_datetimes: false },
      ...{ allow_cross_type_comparisons: false, row_condition: null, condition_parser: null },
    }),
    convert('expect_column_values_to_be_between', between),
  )
  t.match(
    convert('expect_column_values_to_be_between', { ...between, allow_cross_type_comparisons: true }).left,
    [{ reason: /allow_cross_type_comparisons/ }],
  )
  t.end()
})

t.test('values are kept as the suite has them', t => {
  const draft = startDraft()
  const text = `\uFEFF{"expectations": [
    {"type": "expect_column_values_to_be_between", "kwargs": {"column": "n", "min_value": 9007199254740993, "max_value": 9007199254740995}},
    {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "n", "value_set": [9007199254740993, 1], "mostly": 0.9}},
    "text"]}`
  importSuites([{ name: 'suite.json', text }], draft, { engine: 'postgresql', table: 'orders' })
  const { document, found, left } = draft.finish()
  t.match(document.tables.orders?.checks.validity, [
    { rule_config: { min: '9007199254740993', max: '9007199254740995' } },
    { rule_config: { sql_expression: /n in \(9007199254740993, 1\)/ } },
  ])
  t.match([found, left], [3, [{ name: 'expectation 3', reason: /no object/ }]])
  const day = { column: 'at', min_value: '2024-01-01', max_value: '2024-01-31' }
  t.equal(
    convert('expect_column_values_to_be_between', day).sql,
    "at is null or (at >= '2024-01-01' and at <= '2024-01-31')",
    'not all of the last day, as RANGE has it',
  )
  t.match(convert('expect_column_values_to_match_regex', { column: 's', regex: '' }).left, [
    { reason: /empty/ },
  ])
  t.match(convert('expect_column_values_to_be_unique', { column: 'id' }, 'snowflake').check, {
    column_name: 'ID',
  })
  t.end()
})

t.test('what an apply would refuse is left out with the reason', t => {
  const many = Array.from({ length: 1_001 }, (_, index) => index)
  t.match(convert('expect_column_values_to_be_in_set', { column: 'a', value_set: many }).left, [
    { reason: /an apply would refuse it: .*1000/ },
  ])
  t.match(
    convert('expect_column_values_to_match_strftime_format', { column: 'a', strftime_format: '' }).left,
    [{ reason: /an apply would refuse it/ }],
  )
  t.match(convert('expect_column_values_to_be_unique', { column: 'a\0' }).left, [{ reason: /NUL/ }])
  t.end()
})

t.test('patterns and sets of distinct values are converted', t => {
  const sqlOf = (type: string, kwargs: object) => convert(type, { column: 's', ...kwargs }).sql
  t.equal(
    sqlOf('expect_column_values_to_match_regex_list', { regex_list: ['^a', 'b$'], match_on: 'all' }),
    "s is null or (s ~ '^a' and s ~ 'b$')",
  )
  t.equal(
    sqlOf('expect_column_values_to_not_match_regex_list', { regex_list: ['^a', 'b$'] }),
    "s is null or not (s ~ '^a' or s ~ 'b$')",
  )
  t.match(sqlOf('expect_column_stdev_to_be_between', { max_value: 2 }), /stddev_samp\(s\) as value/)
  const like = (type: string, kwargs: object, value: string) =>
    passes(`expect_column_values_to_${type}`, { column: 'a', ...kwargs }, [
      [value, null],
      [null, null],
    ])
  t.ok(like('match_like_pattern', { like_pattern: 'a%' }, 'ab'))
  t.notOk(like('match_like_pattern', { like_pattern: 'b%' }, 'ab'))
  t.ok(like('not_match_like_pattern', { like_pattern: 'b%' }, 'ab'))
  t.ok(like('match_like_pattern_list', { like_pattern_list: ['b%', '%b'] }, 'ab'))
  t.notOk(like('match_like_pattern_list', { like_pattern_list: ['b%', '%b'], match_on: 'all' }, 'ab'))
  t.notOk(like('not_match_like_pattern_list', { like_pattern_list: ['b%', '%b'] }, 'ab'))

  const distinct = (name: string, set: string[], ...values: (string | null)[]) =>
    passes(
      `expect_column_distinct_values_to_${name}`,
      { column: 'a', value_set: set },
      values.map(value => [value, null]),
    )
  t.ok(distinct('contain_set', ['a', 'b'], 'a', 'b', 'b', 'c', null))
  t.notOk(distinct('contain_set', ['a', 'b'], 'a', 'c'))
  t.ok(distinct('equal_set', ['a', 'b'], 'a', 'b', 'b', null))
  t.notOk(distinct('equal_set', ['a', 'b'], 'a', 'b', 'c'))
  t.notOk(distinct('equal_set', ['a'], 'b'))
  t.notOk(distinct('equal_set', ['a']), 'of no rows')
  t.match(
    convert('expect_column_distinct_values_to_equal_set', { column: 'a', value_set: ['a'] }, 'mysql').left,
    [{ reason: /collation/ }],
  )
  t.match(convert('expect_column_values_to_match_regex_list', { column: 'a', regex_list: [] }).left, [
    { reason: /list of patterns/ },
  ])
  t.end()
})
