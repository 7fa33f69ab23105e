import t from 'tap'
import { importSoda } from '../../../../plugins/monitors/import/soda.ts'
import { startDraft } from './draft.ts'
import { readMonitors, writeMonitors } from '../../../../plugins/monitors/file/monitors-file.ts'

function convert(...texts: string[]) {
  const draft = startDraft()
  const files = texts.map((text, index) => ({ name: index === 0 ? 'checks.yml' : `${index}.yml`, text }))
  importSoda(files, draft, { engine: 'postgresql' })
  const result = draft.finish()
  readMonitors(writeMonitors(result.document), 'written.yaml')
  return result
}

const one = (check: string) => convert(`checks for orders:\n  - ${check}\n`)
const ruleOf = (check: string) => one(check).document.tables.orders?.checks.validity?.[0]
const sqlOf = (check: string) =>
  (ruleOf(check)?.rule_config as { sql_expression?: string } | undefined)?.sql_expression

t.test('counts that must be zero become rules', t => {
  t.match(ruleOf('missing_count(id) = 0'), { rule_type: 'NOT_NULL', column_name: 'id', severity: 'critical' })
  t.match(ruleOf('duplicate_count(id) = 0'), { rule_type: 'UNIQUE', treat_null_as_valid: true })
  t.match(ruleOf('invalid_count(s) = 0:\n      valid values: [a, b]'), {
    rule_type: 'ENUM',
    rule_config: { allowed_values: ['a', 'b'] },
  })
  t.match(ruleOf('invalid_percent(n) = 0:\n      valid min: 1\n      valid max: 5'), {
    rule_type: 'RANGE',
    rule_config: { min: 1, max: 5 },
  })
  t.match(ruleOf('invalid_count(s) = 0:\n      valid regex: ^a+$'), {
    rule_type: 'REGEX',
    rule_config: { pattern: '^a+$' },
  })
  t.end()
})

t.test('numbers of all rows become metrics with limits', t => {
  const metricOf = (check: string) => one(check).document.tables.orders?.checks.metric?.[0]
  for (const [check, expected] of [
    ['row_count > 0', { metric_type: 'row_count', min: 1, max: undefined }],
    ['row_count between 10 and 20', { min: 10, max: 20 }],
    ['row_count between (10 and 20)', { min: 11, max: 19 }],
    ['row_count = 5', { min: 5, max: 5 }],
    ['missing_percent(a) <= 5 %', { metric_type: 'null_percent', column_name: 'a', max: 5 }],
    ['avg(n) >= 1.5', { metric_type: 'mean', min: 1.5 }],
    ['min(n) >= 1', { metric_type: 'min_value' }],
    ['max(n) <= 1', { metric_type: 'max_value' }],
    ['sum(n) between -1 and 2', { metric_type: 'sum', min: -1 }],
    ['stddev(n) <= 2', { metric_type: 'standard_deviation' }],
    ['distinct_count(n) > 2', { metric_type: 'distinct_count', min: 3 }],
    ['max_length(s) < 9', { metric_type: 'max_length', max: 8 }],
    ['avg_length(s) <= 9', { metric_type: 'mean_length', max: 9 }],
  ] as const)
    t.match(metricOf(check), expected, check)
  t.same(one('row_count > 0').notes, [])
  t.match(metricOf('row_count > 0:\n      name: some rows'), {
    ...{ key: 'orders.row_count', name: 'some rows', severity: 'critical' },
  })
  const levels = one('row_count:\n      warn: when < 100\n      fail: when < 10').document.tables.orders
    ?.checks
  t.match(
    levels?.metric,
    [
      { key: 'orders.row_count.critical', min: 10, severity: 'critical' },
      { key: 'orders.row_count.warning', min: 100, severity: 'warning' },
    ],
    'each level is a metric of its severity',
  )
  t.match(metricOf('avg(n) >= 1:\n      filter: n > 0'), { metric_type: 'mean', min: 1, filter: 'n > 0' })
  for (const check of [
    'avg(n) > 1',
    'sum(n) >= 1',
    'row_count != 3',
    'row_count not between 1 and 2',
    'row_count < 0',
    'missing_percent(a) > 200',
    'stddev_pop(n) <= 2',
  ])
    t.equal(metricOf(check), undefined, check)
  t.end()
})

t.test('other comparisons become a SELECT that returns a row when they fail', t => {
  const start = 'select value from (select'
  t.equal(sqlOf('row_count != 0'), `${start} count(*) as value from orders) measured where not (value <> 0)`)
  t.match(sqlOf('row_count not between 10 and 20'), /not \(not \(value >= 10 and value <= 20\)\)$/)
  t.match(sqlOf('max(n) between (1 and 2.5]'), /max\(n\).*not \(\(value > 1 and value <= 2\.5\)\)$/)
  t.match(sqlOf('missing_percent(a) < 5 %'), /100\.0 \* coalesce.*not \(value < 5\)$/)
  t.match(sqlOf('avg(n) > 1:\n      filter: n > 0'), /from orders where n > 0\)/)
  t.match(
    sqlOf('invalid_percent(s) < 3:\n      valid max length: 2'),
    /not s is null and not \(length\(s\) <= 2\)/,
  )
  t.match(
    sqlOf('duplicate_count(a, b) < 3'),
    /group by a, b having count\(\*\) > 1\) duplicates\).*not \(value < 3\)$/,
  )
  t.match(sqlOf('row_count same as b'), /count\(\*\) - \(select count\(\*\) from b\).*value <> 0$/)
  t.match(sqlOf('spread < 2:\n      spread expression: max(n) - min(n)'), /max\(n\) - min\(n\) as value/)
  t.end()
})

t.test('levels become checks of their severity', t => {
  const { document } = one('missing_percent(a):\n      warn: when < 10\n      fail: when < 1')
  t.equal(document.tables.orders?.checks.metric?.length, 2, 'at least 10 and at least 1 are limits')
  const { document: strict } = one('missing_percent(a):\n      warn: when >= 10\n      fail: when >= 20')
  t.match(strict.tables.orders?.checks.validity, [
    { severity: 'critical', rule_config: { sql_expression: /where value >= 20$/ } },
    { severity: 'warning', rule_config: { sql_expression: /where value >= 10$/ } },
  ])
  t.end()
})

t.test('failed rows, references and freshness are converted', t => {
  t.match(
    sqlOf('failed rows:\n      name: no gifts\n      fail condition: total = 0'),
    'coalesce(not (total = 0), true)',
  )
  t.match(sqlOf('failed rows:\n      fail query: select 1 from orders;'), 'select 1 from orders')
  t.match(one('values in (customer_id) must exist in customers (id)').document.tables.orders?.checks, {
    referential: [
      { child_column_name: 'customer_id', parent_table_path: 'customers', parent_column_name: 'id' },
    ],
  })
  t.match(one('freshness(created_at) < 1d6h').document.tables.orders?.checks, {
    freshness: [{ sla_threshold: '30h', freshness_column: 'created_at' }],
  })
  const each = convert('for each dataset d:\n  datasets: [a, b]\n  checks: [row_count > 0]\n')
  t.strictSame(Object.keys(each.document.tables), ['a', 'b'])
  t.end()
})

t.test('a filter belongs to the check that there is without it', t => {
  const filtered = (check: string, more = '') => ruleOf(`${check}:\n${more}      filter: n > 0 or n is null`)
  const filter = 'n > 0 or n is null'
  t.match(filtered('missing_count(id) = 0'), { rule_type: 'NOT_NULL', filter })
  t.match(filtered('duplicate_count(id) = 0'), { rule_type: 'UNIQUE', filter })
  t.match(filtered('invalid_count(s) = 0', '      valid values: [a]\n'), { rule_type: 'ENUM', filter })
  t.match(ruleOf("missing_count(id) = 0:\n      filter: ''"), { rule_type: 'NOT_NULL', filter: undefined })
  t.match(filtered('missing_percent(id) < 3'), {
    rule_config: { sql_expression: /from orders where n > 0 or n is null\)/ },
    filter: undefined,
  })
  const counted = one(`missing_count(id) < 3:\n      filter: ${filter}`).document.tables.orders?.checks.metric
  t.match(counted, [{ metric_type: 'row_count', max: 2, filter: `(${filter}) and (id is null)` }])
  const refused = one('missing_count(id) = 0:\n      filter: n in (select 1)')
  t.match(refused.document.tables.orders?.checks.validity, [
    { rule_config: { sql_expression: /from orders where n in \(select 1\)\)/ }, filter: undefined },
  ])
  t.match(refused.notes, [{ reason: /SELECT of its own/ }])
  t.end()
})

t.test('the filter of a named part of a table holds for its checks, in whatever file it is', t => {
  const filterText = 'filter "Orders" [daily]:\n  where: n > 0\n'
  const checksOf = (checks: string, filters = filterText) => {
    const { document, left } = convert(`checks for "Orders" [daily]:\n${checks}`, filters)
    return { checks: document.tables['"Orders"']?.checks ?? document.tables.Orders?.checks, left }
  }
  const all = checksOf(
    [
      '  - missing_count(id) = 0',
      '  - missing_count(id) = 0:\n      filter: a or b',
      '  - row_count > 0',
      '  - failed rows:\n      fail condition: a = 1',
      '  - failed rows:\n      fail query: select 1 from a',
      '  - values in (id) must exist in b (id)',
      '  - duplicate_count(id) = 0',
      '',
    ].join('\n'),
  )
  t.same(all.left, [])
  t.match(all.checks, {
    validity: [
      { rule_type: 'NOT_NULL', filter: 'n > 0' },
      { rule_type: 'NOT_NULL', filter: '(n > 0) and (a or b)' },
      { rule_config: { sql_expression: 'coalesce(not (a = 1), true)' }, filter: 'n > 0' },
      // Soda sends a query as it is.
      { rule_config: { sql_expression: 'select 1 from a' }, filter: undefined },
      { rule_type: 'UNIQUE', filter: 'n > 0' },
    ],
    metric: [{ metric_type: 'row_count', filter: 'n > 0' }],
    referential: [{ parent_table_path: 'b', filter: 'n > 0' }],
  })
  t.match(checksOf('  - freshness(a) < 1d\n  - row_count same as b\n').left, [
    { reason: /filter of its section/ },
    { reason: /filter of its section/ },
  ])
  const either = filterText.replace('n > 0', 'n > 0 or n < 9')
  for (const whole of ['(n > 0 or (n < 9))', "n = ' or '", '"or" = 1'])
    t.match(checksOf('  - duplicate_count(id) = 0\n', filterText.replace('n > 0', `|\n    ${whole}`)), {
      ...{ left: [], checks: { validity: [{ rule_type: 'UNIQUE', filter: whole }] } },
    })
  t.match(checksOf('  - duplicate_count(id) = 0\n', either).left, [{ reason: /parentheses/ }])
  t.match(checksOf('  - row_count > 0\n', filterText.replace('0', '${day}')).left, [{ reason: /variable/ }])
  t.match(convert(filterText, filterText, 'checks for "Orders" [daily]:\n  - row_count > 0\n').left, [
    { reason: /2 filters/ },
  ])
  t.end()
})

t.test('what has no exact counterpart is left out with its place and the reason', t => {
  const reasonOf = (check: string) => one(check).left[0]?.reason
  t.match(one('anomaly detection for row_count').left, [
    {
      file: 'checks.yml',
      line: 2,
      name: 'anomaly detection for row_count for orders',
      reason: /use a metric/,
    },
  ])
  t.match(reasonOf('schema:\n      fail: {when required column missing: [a]}'), /data contract/)
  t.match(reasonOf('change for row_count < 5'), /counterpart/)
  t.match(reasonOf('invalid_count(a) = 0:\n      valid format: email'), /valid format/)
  t.match(reasonOf('row_count > ${MIN}'), /variable/)
  t.match(reasonOf('freshness(a) < 1d:\n      warn: when > 1h'), /warn/)
  t.match(reasonOf('row_count'), /comparison/)
  t.match(reasonOf('my_metric > 1'), /project/)
  t.match(convert('checks for orders [daily]:\n  - row_count > 0\n').left, [
    { line: 2, reason: 'the files have 0 filters orders [daily]' },
  ])
  t.match(convert('filter orders [daily]:\n  sql: a > 1\n').left, [{ reason: /no where/ }])
  t.match(convert('filter orders:\n  where: a > 1\n').left, [{ reason: /no name/ }])
  t.end()
})

t.test('what is not read is left out, not dropped in silence', t => {
  const left = (text: string) => convert(text).left.map(({ line, reason }) => [line, reason])
  t.match(left('- a list'), [[null, /no object/]])
  t.match(left('checks for orders:\n  row_count > 0\n'), [[1, /no list of checks/]])
  t.match(left('for each dataset D:\n  checks: [row_count > 0]\n'), [[2, /names no table/]])
  t.match(left('checks for orders:\n  - row_count > 0:\n    filter: x = 1\n'), [[2, /several keys/]])
  t.match(left('for each column C:\n  columns: [a]\n  checks: [missing_count = 0]\n'), [
    [3, /only the source/],
  ])
  t.match(left('checks:\n  - row_count > 0\n  - failed rows: {fail query: select 1}\n'), [
    [2, /no checks of a table/],
    [3, /no checks of a table/],
  ])
  t.match(left('checks for orders:\n  - constructor(x) > 0\n'), [[2, /metric of the project/]])
  const { document } = convert(
    'for each dataset D:\n  datasets: [orders, dim_date, include items, exclude dim_%]\n  checks: [row_count > 0]\n',
  )
  t.strictSame(Object.keys(document.tables), ['orders', 'items'])
  t.end()
})

t.test('settings of columns hold for the checks of all files, in any order', t => {
  const settings = 'configurations for people:\n  missing values for last_name: [n/a]\n'
  const check = 'checks for people:\n  - missing_count(last_name) = 0\n'
  const expected = /last_name is null or last_name in \('n\/a'\)/
  const sqlIn = (...texts: string[]) => {
    const { document, left } = convert(...texts)
    const { validity: [rule] = [], metric: [metric] = [] } = document.tables.people?.checks ?? {}
    const { sql_expression: text } = (rule?.rule_config ?? {}) as { sql_expression?: string }
    return String(metric?.filter ?? text ?? left[0]?.reason)
  }
  t.match(sqlIn(settings + check), expected)
  t.match(sqlIn(check + settings), expected)
  t.match(sqlIn(check, settings), expected)
  t.match(sqlIn(settings, check), expected)
  t.match(
    sqlIn(settings, 'checks for people:\n  - missing_count(last_name) = 0:\n      missing values: [none]\n'),
    /in \('none', 'n\/a'\)/,
    'lists are joined',
  )
  const valid = (setting: string, own: string) =>
    sqlIn(
      `configurations for people:\n  ${setting} for size: 5\n`,
      `checks for people:\n  - invalid_count(size) < 3:\n      ${own}\n`,
    )
  t.match(valid('valid min', 'valid min: 1'), /size >= 1\)/, 'the setting of the check counts')
  t.match(valid('valid max', 'valid min: 1'), /size >= 1 and size <= 5/)
  t.match(sqlIn(settings, 'checks for people:\n  - avg(last_name) > 1\n'), /valid values only/)
  t.match(
    convert(settings, 'checks for people:\n  - row_count > 0\n  - missing_count(first_name) = 0\n'),
    { converted: 2, left: [] },
    'other checks are as they are',
  )
  for (const doubtful of [
    'checks for people:\n  - missing_count("last_name") = 0\n',
    'checks for "people":\n  - missing_count(last_name) = 0\n',
    'checks for people:\n  - missing_count(LAST_NAME) = 0\n',
    'checks for people:\n  - duplicate_count(first_name, last_name) = 0\n',
  ])
    t.match(
      convert(settings, doubtful),
      { found: 1, converted: doubtful.includes('for "') ? 1 : 0 },
      doubtful,
    )
  t.match(
    sqlIn(
      'configurations for people:\n  invalid values for a: [1]\n',
      'checks for people:\n  - invalid_count(a) = 0\n',
    ),
    /not certain/,
  )
  t.match(convert('configurations for people:\n  size of a: 1\n').left, [{ line: 1, reason: /no setting/ }])
  t.end()
})

t.test('names in quotes are those of the catalog, and casts are expressions', t => {
  t.match(ruleOf('missing_count("Customer ID") = 0'), { column_name: 'Customer ID' })
  t.match(
    ruleOf('missing_count(Total) = 0'),
    { column_name: 'total' },
    'PostgreSQL folds names without quotes',
  )
  t.match(sqlOf('missing_percent(`phone`) < 5'), /when phone is null/)
  t.match(sqlOf('duplicate_count("a,b", c) = 1'), /group by "a,b", c/)
  t.match(
    one('values in ("Customer ID") must exist in "The Customers" ("Id")').document.tables.orders?.checks,
    {
      referential: [
        { child_column_name: 'Customer ID', parent_table_path: '"The Customers"', parent_column_name: 'Id' },
      ],
    },
  )
  const freshness = (column: string) =>
    one(`freshness(${column}) < 1d`).document.tables.orders?.checks.freshness?.[0]
  t.match(freshness('"end_date"'), { freshness_column: 'end_date' })
  t.match(freshness('createdat::timestamp'), { freshness_expression: 'createdat::timestamp' })
  t.strictSame(Object.keys(convert('checks for "Order Items":\n  - row_count > 0\n').document.tables), [
    '"Order Items"',
  ])
  t.match(one('missing_count(a || b) = 0').left, [{ reason: /no name of a column/ }])
  t.end()
})

t.test('values are kept as the file has them', t => {
  t.match(
    ruleOf('invalid_count(n) = 0:\n      valid min: 9007199254740993\n      valid max: 9007199254740995'),
    {
      rule_config: { min: '9007199254740993', max: '9007199254740995' },
    },
  )
  t.match(ruleOf('invalid_count(n) = 0:\n      valid values: [010, 0x1F]'), {
    rule_config: { allowed_values: [10, 31] },
  })
  t.match(one('invalid_count(n) = 0:\n      valid values: [a, 1]').left, [
    { reason: /of texts or of numbers/ },
  ])
  t.match(one('invalid_count(n) = 0:\n      valid regex: ""').left, [{ reason: /empty/ }])
  t.end()
})
