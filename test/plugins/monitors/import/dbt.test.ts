import t from 'tap'
import { importDbt } from '../../../../plugins/monitors/import/dbt.ts'
import { startImport } from '../../../../plugins/monitors/import/import-draft.ts'
import { readMonitors, writeMonitors } from '../../../../plugins/monitors/file/monitors-file.ts'

function convert(texts: Record<string, string>, options: { schema?: string } = {}) {
  const draft = startImport('shop')
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
    { severity: 'warning', rule_config: { sql_expression: /where total is null$/ } },
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
  t.match(convert({ 'schema.yml': 'unit_tests:\n  - name: a\n' }).left, [{ name: 'unit_tests', line: 1 }])
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
  t.match(convert({ 'schema.yml': 'models:\n  - name: orders\n    <<: {}\n' }).left, [
    { line: 3, reason: /<</ },
  ])
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
    checks: { validity: [{ rule_config: { allowed_values: [true, false, 'on', 'y'] } }] },
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
    t.match(left, [{ name: 'orders', line: 2, reason: /orders is disabled/ }])
  }
  const source = (more: string, own = '') =>
    convert({
      's.yml': `sources:\n  - name: shop\n    ${more}\n    freshness: {error_after: {count: 1, period: day}}\n    loaded_at_field: at\n    tables: [${node(own)}]`,
    })
  const { document, left } = source('config: {enabled: no}')
  t.same(document.tables, {})
  t.match(left, [{ reason: /shop.orders is disabled/ }])
  t.match(source('config: {enabled: no}', 'config: {enabled: yes}, ').document.tables, {
    'shop.orders': { checks: { validity: [{ rule_type: 'UNIQUE' }] } },
  })
  t.end()
})
