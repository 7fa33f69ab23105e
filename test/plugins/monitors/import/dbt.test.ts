import t from 'tap'
import { importDbt } from '../../../../plugins/monitors/import/dbt.ts'
import { startDraft } from './draft.ts'
import { readMonitors, writeMonitors } from '../../../../plugins/monitors/file/monitors-file.ts'

function convert(texts: Record<string, string>, options: { schema?: string } = {}) {
  const draft = startDraft()
  importDbt(
    Object.entries(texts).map(([name, text]) => ({ name, text })),
    draft,
    { engine: 'postgresql', ...options },
  )
  const result = draft.finish()
  readMonitors(writeMonitors(result.document), 'written.yaml')
  return result
}

const column = (tests: string, model = 'orders') =>
  `models:\n  - name: ${model}\n    columns:\n      - name: total\n        data_tests:\n${tests}`
const one = (tests: string) => {
  const { document, left } = convert({ 'schema.yml': column(tests) })
  return { checks: document.tables.orders?.checks, left }
}

t.test('each test of dbt-core becomes a check that fails when it would', t => {
  t.match(one('          - not_null'), {
    checks: { validity: [{ rule_type: 'NOT_NULL', column_name: 'total', severity: 'critical' }] },
  })
  t.match(one('          - unique'), {
    checks: { validity: [{ rule_type: 'UNIQUE', treat_null_as_valid: true }] },
  })
  t.match(one('          - accepted_values: {values: [1, 2], config: {severity: warn}}'), {
    checks: {
      validity: [
        {
          rule_type: 'ENUM',
          rule_config: { allowed_values: [1, 2] },
          treat_null_as_valid: true,
          severity: 'warning',
        },
      ],
    },
  })
  t.match(one(`          - relationships: {arguments: {to: "ref('customers')", field: id}}`), {
    checks: {
      referential: [{ child_column_name: 'total', parent_table_path: 'customers', parent_column_name: 'id' }],
    },
  })
  t.end()
})

t.test('where becomes the filter of the check that the test is without it', t => {
  const where = 'config: {where: "status = \'paid\' or total > 9"}'
  const filter = "status = 'paid' or total > 9"
  const bodiesOf = (test: string) => {
    const { checks, left } = one(`          - ${test}`)
    t.same(left, [], test)
    return [...(checks?.validity ?? []), ...(checks?.referential ?? [])]
  }
  for (const [test, expected] of [
    [`not_null: {${where}}`, { rule_type: 'NOT_NULL', column_name: 'total' }],
    [`unique: {${where}}`, { rule_type: 'UNIQUE', treat_null_as_valid: true }],
    [`accepted_values: {values: [a], ${where}}`, { rule_type: 'ENUM' }],
    [`relationships: {to: ref('c'), field: id, ${where}}`, { parent_table_path: 'c' }],
    [`dbt_utils.accepted_range: {min_value: 1, max_value: 2, ${where}}`, { rule_type: 'RANGE' }],
    [
      `dbt_utils.expression_is_true: {expression: "> 1", ${where}}`,
      { rule_config: { sql_expression: 'coalesce((total > 1), true)' } },
    ],
    [`dbt_utils.not_null_proportion: {at_least: 0.9, ${where}}`, { alert_threshold_percent: 10 }],
  ] as const)
    t.match(bodiesOf(test), [{ ...expected, filter }], test)
  for (const none of ["''", 'null', 'false'])
    t.match(bodiesOf(`not_null: {config: {where: ${none}}}`), [{ rule_type: 'NOT_NULL', filter: undefined }])
  t.end()
})

t.test('what cannot be a filter stays in the WHERE of a SELECT, with the reason', t => {
  const converted = (where: string) =>
    convert({
      'schema.yml': column(`          - not_null: {config: {where: ${JSON.stringify(where)}}}`),
    })
  for (const [where, reason] of [
    ['id in (select id from b)', /SELECT of its own: .*sub-?quer/i],
    ['a > 1 limit 5', /SELECT of its own/],
    [`a = '${'x'.repeat(2_000)}'`, /more than 2000 characters/],
    ['orders.a > 1', /orders\.a names more than a column/],
  ] as const) {
    const { document, notes } = converted(where)
    const [check] = document.tables.orders?.checks.validity ?? []
    t.match(
      check?.rule_config,
      { sql_expression: `from (select * from orders where ${where}) filtered` },
      where,
    )
    t.equal(check?.filter, undefined)
    t.match(notes, [{ reason }])
  }
  const combined = one(
    '          - dbt_utils.unique_combination_of_columns: {combination_of_columns: [a, b], where: a > 1}',
  )
  t.match(combined.checks?.validity, [
    { rule_config: { sql_expression: /from \(select \* from orders where a > 1\) filtered group by/ } },
  ])
  t.end()
})

t.test('filters and thresholds are kept', t => {
  const { checks } = one(
    '          - not_null: {config: {where: "status = \'paid\'", error_if: ">10", warn_if: "!= 0"}}',
  )
  t.match(checks?.validity, [
    {
      severity: 'critical',
      rule_config: {
        sql_expression: /from \(select \* from orders where status = 'paid'\).*where value > 10$/,
      },
    },
    { severity: 'warning', rule_type: 'NOT_NULL', column_name: 'total', filter: "status = 'paid'" },
  ])
  t.match(one('          - unique: {config: {limit: 5, error_if: ">3"}}').left, [{ reason: /limit/ }])
  t.match(one('          - unique: {config: {fail_calc: sum(n)}}').left, [{ reason: /fail_calc/ }])
  t.match(one('          - unique: {config: {error_if: "> a"}}').left, [{ reason: /threshold/ }])
  t.match(one('          - unique: {config: {enabled: false}}').left, [{ reason: /disabled/ }])
  t.end()
})

t.test('what has no exact counterpart is left out with its place and the reason', t => {
  const left = (tests: string) => one(tests).left
  t.strictSame(left('          - not_null\n          - is_even'), [
    {
      ...{ file: 'schema.yml', line: 7, name: 'is_even of orders.total' },
      reason: 'is_even is a test of the project or of another package: only its SQL says what it does',
    },
  ])
  t.match(left('          - accepted_values: {values: "{{ var(\'x\') }}"}'), [{ reason: /Jinja/ }])
  t.match(left('          - accepted_values: {values: [a], quote: false}'), [{ reason: /SQL expressions/ }])
  t.match(left(`          - relationships: {to: "source('a', 'b')", field: id}`), [
    { reason: /none of the files/ },
  ])
  t.match(left('          - dbt_utils.accepted_range: {min_value: 1, group_by_columns: [a]}'), [
    { reason: /group_by_columns/ },
  ])
  t.match(convert({ 'schema.yml': 'unit_tests:\n  - name: a\n' }).left, [{ name: 'unit test a', line: 2 }])
  t.end()
})

t.test('tests of dbt_utils are converted where SQL says the same', t => {
  const sqlOf = (tests: string) => one(tests).checks?.validity?.[0]?.rule_config
  t.same(sqlOf('          - dbt_utils.expression_is_true: {expression: ">= 1"}'), {
    sql_expression: 'coalesce((total >= 1), true)',
  })
  t.same(sqlOf('          - dbt_utils.accepted_range: {min_value: 0, max_value: 9}'), { min: 0, max: 9 })
  t.same(sqlOf('          - dbt_utils.accepted_range: {min_value: 0, inclusive: false}'), {
    sql_expression: 'coalesce((total > 0), true)',
  })
  t.same(sqlOf('          - dbt_utils.not_empty_string'), {
    sql_expression: "coalesce((trim(total) <> ''), true)",
  })
  t.match(one('          - dbt_utils.not_null_proportion: {at_least: 0.95}').checks, {
    validity: [{ rule_type: 'NOT_NULL', alert_threshold_percent: 5 }],
  })
  t.end()
})

t.test('source freshness becomes a schedule, with what its table inherits', t => {
  const { document, left } = convert({
    'sources.yml': `sources:
  - name: shop
    schema: raw
    config: {freshness: {warn_after: {count: 6, period: hour}, error_after: {count: 1, period: day}}}
    loaded_at_field: _loaded_at
    tables:
      - {name: orders, identifier: orders_v2}
      - {name: events, config: {freshness: {error_after: {count: 30, period: minute}, filter: "not is_test"}}}
      - {name: static, freshness: null, config: {freshness: null}}`,
  })
  t.strictSame(document.tables['raw.orders_v2']?.checks.freshness, [
    {
      ...{ key: 'raw.orders_v2.freshness', monitoring_mode: 'explicit', sla_threshold: '1d' },
      ...{ freshness_column: '_loaded_at', check_interval: '1h' },
    },
  ])
  t.match(document.tables['raw.events']?.checks.freshness, [
    {
      ...{ sla_threshold: '30m', check_interval: '5m' },
      freshness_expression: 'case when not is_test then _loaded_at end',
    },
  ])
  t.notOk(document.tables['raw.static'])
  t.match(left, [{ name: 'freshness of raw.orders_v2', reason: /warn_after is left out/ }])
  t.end()
})

t.test('keys stay the same from one import to the next, and are unique', t => {
  const text = column('          - not_null\n          - not_null: {name: again}\n          - not_null')
  const keys = () =>
    convert({ 'schema.yml': text }).document.tables.orders?.checks.validity?.map(({ key }) => key)
  t.strictSame(keys(), ['orders.total.not_null', 'orders.total.not_null.again', 'orders.total.not_null.2'])
  t.strictSame(keys(), keys())
  t.match(convert({ 'a.yml': column('          - unique') }, { schema: 'mart' }).document.tables, {
    'mart.orders': {},
  })
  t.end()
})

t.test('what is not read is left out, not dropped in silence', t => {
  t.match(convert({ 'schema.yml': '- a list' }).left, [{ reason: /no object/ }])
  t.match(convert({ 'schema.yml': 'models: {shop: {+enabled: false}}' }).left, [{ reason: /no list/ }])
  t.match(convert({ 'schema.yml': 'models:\n  - {name: a, columns: {id: {tests: [unique]}}}' }).left, [
    { line: 2, reason: /dbt runs tests of models/ },
  ])
  t.match(convert({ 'schema.yml': 'models:\n  - {name: a, data_tests: "{{ x }}"}' }).left, [
    { line: 2, reason: /no list of tests/ },
  ])
  t.match(convert({ 'schema.yml': 'analyses:\n  - {name: a, columns: [{name: b, tests: [unique]}]}' }), {
    found: 1,
    left: [{ name: 'unique', line: 2 }],
  })
  for (const name of ['constructor', 'toString', '__proto__'])
    t.match(one(`          - ${name}`), { left: [{ reason: /test of the project/ }] })
  t.end()
})

t.test('the freshness of a table takes from that of its source what it does not say itself', t => {
  const freshness = (own: string) => {
    const { document, left } = convert({
      'schema.yml': `sources:
  - name: shop
    loaded_at_field: at
    freshness: {warn_after: {count: 1, period: day}, error_after: {count: 2, period: day}}
    tables:
      - name: orders
        freshness: ${own}
`,
    })
    return [document.tables['shop.orders']?.checks.freshness?.[0]?.sla_threshold, left.length]
  }
  t.strictSame(freshness('{warn_after: {count: 6, period: hour}}'), ['2d', 1])
  t.strictSame(freshness('{error_after: {count: 3}}'), ['3d', 1])
  t.strictSame(freshness('{error_after: null}'), ['1d', 0])
  t.strictSame(freshness('null'), [undefined, 0])
  t.match(
    convert({
      'schema.yml': `sources:
  - name: shop
    schema: "{{ target.schema }}"
    freshness: {error_after: {count: 2, period: day}}
    tables: [{name: orders}]
`,
    }),
    { converted: 0, left: [{ reason: /Jinja/ }] },
  )
  t.end()
})

t.test('words of YAML 1.1 are the booleans that dbt reads', t => {
  t.match(one('          - unique: {config: {enabled: no}}').left, [{ reason: /disabled/ }])
  t.match(one('          - accepted_values: {values: [Yes, off, "on", y]}'), {
    checks: { validity: [{ rule_config: { allowed_values: ['True', 'False', 'on', 'y'] } }] },
  })
  const { document } = convert({
    'schema.yml': column('          - not_null: {config: {where: "a = \'no\'"}}'),
  })
  t.match(JSON.stringify(document), /a = 'no'/)
  t.end()
})

t.test('disabled models and sources are listed, and not imported', t => {
  const node = (more: string) => `{name: orders, ${more}columns: [{name: id, data_tests: [unique]}]}`
  for (const more of ['config: {enabled: false}, ', 'enabled: off, ']) {
    const { document, left } = convert({ 'schema.yml': `models:\n  - ${node(more)}` })
    t.same(document.tables, {})
    t.match(left, [{ name: 'unique of orders.id', line: 2, reason: /orders is disabled/ }])
  }
  const source = (more: string, own = '') =>
    convert({
      's.yml': `sources:\n  - name: shop\n    ${more}\n    freshness: {error_after: {count: 1, period: day}}\n    loaded_at_field: at\n    tables: [${node(own)}]`,
    })
  const { document, left } = source('config: {enabled: no}')
  t.same(document.tables, {})
  t.match(left, [{ reason: /shop.orders is disabled/ }, { name: /^freshness/, reason: /disabled/ }])
  t.match(source('config: {enabled: no}', 'config: {enabled: yes}, ').document.tables, {
    'shop.orders': { checks: { validity: [{ rule_type: 'UNIQUE' }] } },
  })
  t.end()
})

t.test('a value that is a Jinja expression leaves out what it decides', t => {
  const template = '"{{ var(\'x\', false) }}"'
  for (const [name, text] of Object.entries({
    'enabled of a test': `models: [{name: o, data_tests: [{unique: {column_name: a, config: {enabled: ${template}}}}]}]`,
    'severity of a test': `models: [{name: o, data_tests: [{unique: {column_name: a, severity: ${template}}}]}]`,
    'limit of a test': `models: [{name: o, data_tests: [{unique: {column_name: a, limit: ${template}}}]}]`,
    'the configuration of a test': `models: [{name: o, data_tests: [{unique: {column_name: a, config: ${template}}}]}]`,
    'enabled of a model': `models: [{name: o, config: {enabled: ${template}}, columns: [{name: a, tests: [unique]}]}]`,
    'the alias of a model': `models: [{name: o, config: {alias: ${template}}, columns: [{name: a, tests: [unique]}]}]`,
    'the schema of a model': `models: [{name: o, config: {schema: ${template}}, columns: [{name: a, tests: [unique]}]}]`,
    'the name of a column': `models: [{name: o, columns: [{name: ${template}, tests: [unique]}]}]`,
    'enabled of a source': `sources: [{name: s, config: {enabled: ${template}}, tables: [{name: o, columns: [{name: a, tests: [unique]}]}]}]`,
    'the identifier of a table': `sources: [{name: s, tables: [{name: o, identifier: ${template}, columns: [{name: a, tests: [unique]}]}]}]`,
    freshness: `sources: [{name: s, tables: [{name: o, freshness: ${template}}]}]`,
    error_after: `sources: [{name: s, tables: [{name: o, freshness: {error_after: ${template}, warn_after: {count: 1, period: day}}}]}]`,
    'the count of error_after': `sources: [{name: s, tables: [{name: o, freshness: {error_after: {count: ${template}, period: day}}}]}]`,
  })) {
    const { found, document, left } = convert({ 's.yml': text }, { schema: 'mart' })
    t.strictSame([found, document.tables], [1, {}], name)
    t.match(left, [{ reason: /Jinja expression: render it first/ }], name)
  }
  t.match(one('          - unique: {config: {severity: fatal}}').left, [{ reason: /neither warn nor error/ }])
  t.end()
})

t.test('tests and references lie on the table that dbt makes of a model', t => {
  const tables = (text: string, schema: string | null = 'mart') =>
    Object.keys(convert({ 's.yml': text }, schema === null ? {} : { schema }).document.tables)
  const columns = 'columns: [{name: id, tests: [unique]}]'
  t.strictSame(tables(`models: [{name: o, config: {alias: orders}, ${columns}}]`), ['mart.orders'])
  t.strictSame(tables(`models: [{name: o, config: {schema: sales}, ${columns}}]`), ['mart_sales.o'])
  t.strictSame(tables(`models: [{name: o, config: {database: dw, schema: sales}, ${columns}}]`), [
    'dw.mart_sales.o',
  ])
  t.strictSame(tables(`snapshots: [{name: o, config: {target_schema: snap}, ${columns}}]`, null), ['snap.o'])
  t.strictSame(tables(`sources: [{name: 2020, tables: [{name: 1.0, ${columns}}]}]`), ['2020."1.0"'])
  const left = (text: string) => convert({ 's.yml': text }).left
  t.match(left(`models: [{name: o, config: {schema: sales}, ${columns}}]`), [{ reason: /--schema/ }])
  t.match(left(`models: [{name: o, config: {materialized: ephemeral}, ${columns}}]`), [
    { reason: /ephemeral: dbt makes no table/ },
  ])

  const child = (to: string) =>
    `models: [{name: c, columns: [{name: a, tests: [{relationships: {to: "${to}", field: id}}]}]}]`
  const parent = (to: string, node: string) => {
    const { document, left, notes } = convert(
      { 'a.yml': child(to), 'b.yml': `models: [${node}]` },
      { schema: 'mart' },
    )
    const checks = document.tables['mart.c']?.checks.referential ?? []
    return checks[0]?.parent_table_path ?? left[0]?.reason ?? notes
  }
  t.equal(parent("ref('o')", '{name: o, config: {alias: orders}}'), 'mart.orders')
  t.equal(parent("ref('p', 'o')", '{name: o, config: {schema: sales}}'), 'mart_sales.o')
  t.match(parent("ref('o')", '{name: o, config: {materialized: ephemeral}}'), /ephemeral/)
  t.match(parent("ref('o')", '{name: o, config: {enabled: false}}'), /disabled/)
  t.match(parent("ref('o')", '{name: o}, {name: o, config: {alias: b}}'), /several tables/)
  const versioned = '{name: o, versions: [{v: 2}, {v: 10, config: {alias: ten}}, {v: 1.5}]}'
  t.equal(parent("ref('o')", versioned), 'mart.ten')
  t.equal(parent("ref('o', v=2)", versioned), 'mart.o_v2')
  t.equal(parent("ref('o', version='1.5')", versioned), 'mart.o_v1_5')
  t.match(parent("ref('o', v=3)", versioned), /no version 3/)
  t.match(convert({ 'a.yml': child("ref('o')") }, { schema: 'mart' }).notes, [
    { reason: /o is in none of the files: its table is taken for mart\.o/ },
  ])
  t.end()
})

t.test('tests of a versioned model are those of each of its versions', t => {
  const { document, found, converted } = convert(
    {
      's.yml': `models:
  - name: dim
    latest_version: 1
    data_tests: [{unique: {column_name: id}}]
    columns:
      - {name: id, data_tests: [not_null]}
      - {name: country, data_tests: [not_null]}
    versions:
      - v: 1
      - v: 2
        data_tests: [{unique: {column_name: key}}]
        columns:
          - {include: all, exclude: [country]}
          - {name: key, data_tests: [not_null]}
`,
    },
    { schema: 'mart' },
  )
  const on = (table: string) =>
    document.tables[table]?.checks.validity?.map(
      check => `${String(check.rule_type)} ${String(check.column_name)}`,
    )
  t.strictSame(on('mart.dim_v1'), ['UNIQUE id', 'NOT_NULL id', 'NOT_NULL country'])
  t.strictSame(on('mart.dim_v2'), ['UNIQUE key', 'NOT_NULL id', 'NOT_NULL key'])
  t.strictSame([found, converted], [6, 6])
  t.end()
})

t.test('what stands in arguments counts, and names are read as the engine has them', t => {
  t.match(one('          - not_null: {arguments: {config: {severity: warn}}}').checks, {
    validity: [{ rule_type: 'NOT_NULL', severity: 'warning' }],
  })
  t.match(one('          - not_null: {arguments: {where: "a > 1"}}').checks, {
    validity: [{ rule_type: 'NOT_NULL', filter: 'a > 1' }],
  })
  t.match(
    one(`          - relationships: {arguments: {to: ref('c'), severity: warn, field: '"Parent Id"'}}`)
      .checks,
    { referential: [{ parent_column_name: 'Parent Id', severity: 'warning' }] },
  )
  const columnOf = (name: string) =>
    convert({ 's.yml': `models: [{name: o, columns: [{name: ${name}, tests: [unique]}]}]` })
  const nameOf = (name: string) => columnOf(name).document.tables.o?.checks.validity?.[0]?.column_name
  t.equal(nameOf('Total'), 'total', 'PostgreSQL folds names without quotes')
  t.equal(nameOf('Total, quote: true'), 'Total')
  t.equal(nameOf(`'"Customer Id"'`), 'Customer Id')
  t.match(columnOf('"(a || b)"').document.tables.o?.checks.validity, [
    {
      rule_type: 'CUSTOM_SQL',
      rule_config: { sql_expression: /^select \(a \|\| b\) from o .* having count/ },
    },
  ])
  t.match(columnOf('total amount').left, [{ reason: /no name of a column/ }])
  t.end()
})

t.test('numbers are compared as dbt writes them', t => {
  const allowed = (values: string) =>
    one(`          - accepted_values: {values: [${values}]}`).checks?.validity?.[0]?.rule_config
  t.same(allowed('01, 08, 010, 1_000, 12:30, 1e3, 1.0, 0x1F'), {
    allowed_values: [1, '08', 8, 1000, 750, '1e3', '1.0', 31],
  })
  t.same(allowed('9007199254740993, 2020-01-01'), { allowed_values: ['9007199254740993', '2020-01-01'] })
  const range = (bounds: string) =>
    one(`          - dbt_utils.accepted_range: {${bounds}}`).checks?.validity?.[0]?.rule_config
  t.same(range('min_value: 1.0, max_value: 9007199254740993'), { min: 1, max: '9007199254740993' })
  t.match(one('          - dbt_utils.not_null_proportion: {at_least: 1.0, at_most: 1.0}').checks, {
    validity: [{ rule_type: 'NOT_NULL', alert_threshold_percent: 0 }],
  })
  t.end()
})

t.test('a threshold that only warns is noted, since a schedule has one severity', t => {
  const { notes, document } = convert({
    's.yml':
      'sources: [{name: s, tables: [{name: o, loaded_at_field: at, freshness: {warn_after: {count: 1, period: day}}}]}]',
  })
  t.match(document.tables['s.o']?.checks.freshness, [{ sla_threshold: '1d' }])
  t.match(notes, [{ name: 'freshness of s.o', reason: /only warns/ }])
  t.end()
})

t.test('names with dots, and names of Snowflake, are those of the catalog', t => {
  const draft = startDraft()
  const text = `sources: [{name: s, tables: [{name: order.items, columns: [{name: id, tests: [unique, {not_null: {where: a > 1}}]}]}]}]`
  importDbt([{ name: 's.yml', text }], draft, { engine: 'snowflake' })
  const { document } = draft.finish()
  t.strictSame(Object.keys(document.tables), ['S."order.items"'])
  t.match(document.tables['S."order.items"']?.checks.validity, [
    { column_name: 'ID' },
    { rule_type: 'NOT_NULL', column_name: 'ID', filter: 'a > 1' },
  ])
  t.end()
})

t.test('what an apply would refuse is left out with the reason', t => {
  const left = (text: string) => convert({ 's.yml': text }).left
  const long = 'x'.repeat(10_001)
  t.match(left(`models: [{name: o, data_tests: [{not_null: {column_name: a, where: "b = '${long}'"}}]}]`), [
    { reason: /an apply would refuse it: .*10[,_]?000/ },
  ])
  t.match(
    left(
      'sources: [{name: s, tables: [{name: o, loaded_at_field: a, freshness: {error_after: {count: 500, period: day}}}]}]',
    ),
    [{ reason: /400d/ }],
  )
  t.match(
    left(
      'models: [{name: o, columns: [{name: a, tests: [{dbt_utils.accepted_range: {min_value: 5, max_value: 1}}]}]}]',
    ),
    [{ reason: /an apply would refuse it/ }],
  )
  t.match(left('models: [{name: "", columns: [{name: a, tests: [unique]}]}]'), [
    { reason: /no path of a table/ },
  ])
  t.end()
})

t.test('settings that dbt_project.yml has for folders leave out what they may decide', t => {
  const models = 'models: [{name: o, columns: [{name: a, tests: [unique]}]}]'
  const own =
    'models: [{name: o, config: {schema: own, severity: warn}, columns: [{name: a, tests: [unique]}]}]'
  const withProject = (settings: string, text = models) =>
    convert(
      { 'dbt_project.yml': `name: shop\nprofile: shop\nvars: {a: 1}\n${settings}\n`, 's.yml': text },
      { schema: 'mart' },
    )
  const plain = 'models: {+materialized: table, shop: {+enabled: true, +tags: [a]}}'
  t.match(withProject(plain), { found: 1, converted: 1, left: [] })
  t.match(withProject('models: {shop: {staging: {+schema: raw}}}').left, [
    { name: 'unique of o.a', reason: /dbt_project\.yml sets schema for folders/ },
  ])
  t.match(withProject('models: {shop: {staging: {schema: raw}}}', own), { converted: 1, left: [] })
  t.match(withProject('models: {shop: {base: {materialized: ephemeral}}}').left, [{ reason: /materialized/ }])
  t.match(withProject('models: {shop: {base: {+enabled: "{{ var(1) }}"}}}').left, [{ reason: /enabled/ }])
  t.match(withProject('seeds: {+schema: raw}'), { converted: 1, left: [] }, 'of another part')
  t.match(withProject('data_tests: {+severity: warn}').left, [{ reason: /sets severity for folders/ }])
  t.match(withProject('tests: {shop: {+limit: 10}}').left, [{ reason: /sets limit for folders/ }])
  t.end()
})
