import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { importSoda } from '../../../../plugins/monitors/import/soda.ts'
import { startDraft } from './draft.ts'
import { readMonitors, writeMonitors } from '../../../../plugins/monitors/file/monitors-file.ts'

const TABLE = 'shop.public.orders'

function convert(text: string) {
  const draft = startDraft()
  importSoda([{ name: 'contract.yml', text }], draft, { engine: 'sqlite' })
  const result = draft.finish()
  readMonitors(writeMonitors(result.document), 'written.yaml')
  return result
}

const contract = (parts: string) => convert(`dataset: pg/shop/public/orders\n${parts}`)
const ofColumn = (check: string, more = '') =>
  contract(`columns:\n  - name: n\n${more}    checks:\n      - ${check}\n`)
const ofTable = (check: string, more = '') => contract(`${more}columns: []\nchecks:\n  - ${check}\n`)
const rulesOf = ({ document }: ReturnType<typeof convert>) => document.tables[TABLE]?.checks.validity ?? []
const sqlOf = (result: ReturnType<typeof convert>) => {
  const [rule] = rulesOf(result)
  const { sql_expression: sql } = (rule?.rule_config ?? {}) as { sql_expression?: string }
  if (sql === undefined) throw new Error(result.left[0]?.reason ?? JSON.stringify(rule))
  return sql
}

t.test('checks that fail above zero become rules', t => {
  t.match(rulesOf(ofColumn('missing:')), [
    { key: 'shop.public.orders.n.missing', rule_type: 'NOT_NULL', column_name: 'n', severity: 'critical' },
  ])
  t.match(rulesOf(ofColumn('duplicate: {name: one each, threshold: {level: warn}}')), [
    { rule_type: 'UNIQUE', treat_null_as_valid: true, severity: 'warning', name: 'one each' },
  ])
  t.match(rulesOf(ofColumn('invalid: {valid_values: [1, 2]}')), [
    { rule_type: 'ENUM', rule_config: { allowed_values: [1, 2] } },
  ])
  t.match(rulesOf(ofColumn('invalid: {valid_format: {regex: "^a", name: x}}')), [{ rule_type: 'REGEX' }])
  t.match(rulesOf(ofColumn('invalid: {valid_min: 1, valid_max: 2}')), [
    { rule_type: 'RANGE', rule_config: { min: 1, max: 2 } },
  ])
  t.match(rulesOf(ofTable('failed_rows: {expression: a > b}')), [
    { rule_config: { sql_expression: 'coalesce(not (a > b), true)' } },
  ])
  const reference = 'invalid: {valid_reference_data: {dataset: pg/shop/public/sizes, column: id}}'
  t.match(ofColumn(reference).document.tables[TABLE]?.checks.referential, [
    { child_column_name: 'n', parent_table_path: 'shop.public.sizes', parent_column_name: 'id' },
  ])
  t.match(
    ofTable('freshness: {column: at, threshold: {unit: day, must_be_less_than: 2}}').document.tables[TABLE],
    {
      checks: { freshness: [{ sla_threshold: '48h', freshness_column: 'at' }] },
    },
  )
  t.end()
})

/** Whether the only check passes for the values of a column. */
function passes(result: ReturnType<typeof convert>, values: (number | null)[]): boolean {
  const database = new DatabaseSync(':memory:')
  database.exec(`attach ':memory:' as shop; create table shop.orders (n int)`)
  const insert = database.prepare('insert into shop.orders values (?)')
  for (const value of values) insert.run(value)
  const [metric] = result.document.tables[TABLE]?.checks.metric ?? []
  const all = (text: string) => database.prepare(text).all()
  try {
    if (!metric) return all(sqlOf(result).replaceAll('shop.public.orders', 'shop.orders')).length === 0
    const { metric_type: type, filter, min = -Infinity, max = Infinity } = metric as Record<string, unknown>
    t.equal(type, 'row_count')
    const [found] = all(`select count(*) as n from shop.orders where ${String(filter)}`)
    return Number(found?.n) >= Number(min) && Number(found?.n) <= Number(max)
  } finally {
    database.close()
  }
}

t.test('thresholds compare the number or the percentage', t => {
  const missing = (threshold: string) => ofColumn(`missing: {threshold: {${threshold}}}`)
  const values = [1, null, null, 4]
  for (const [threshold, isGood] of [
    ['must_be: 2', true],
    ['must_be: 3', false],
    ['must_not_be: 2', false],
    ['must_be_greater_than: 1', true],
    ['must_be_less_than_or_equal: 1', false],
    ['must_be_between: {greater_than: 1, less_than: 3}', true],
    ['must_be_between: {greater_than_or_equal: 3, less_than: 5}', false],
    ['must_be_not_between: {greater_than: 3, less_than: 1}', false],
    ['must_be_not_between: {greater_than_or_equal: 2, less_than: 1}', true],
    ['metric: percent, must_not_be: 50', false],
    ['metric: percent, must_be_less_than: 50', false],
  ] as const)
    t.equal(passes(missing(threshold), values), isGood, threshold)
  t.ok(passes(missing('metric: percent, must_be_less_than: 1'), []), 'of no rows')
  const levels = missing('must_be: 0, additional: {must_be_less_than: 5, level: warn}')
  t.match(levels.document.tables[TABLE]?.checks, {
    validity: [{ rule_type: 'NOT_NULL', severity: 'critical' }],
    metric: [{ metric_type: 'row_count', filter: 'n is null', max: 4, severity: 'warning' }],
  })
  t.ok(
    passes(ofColumn('aggregate: {function: avg, threshold: {must_not_be: 3}}'), []),
    'without a value it is not judged',
  )
  t.equal(passes(ofColumn('aggregate: {function: max, threshold: {must_be_less_than: 3}}'), [1, 4]), false)
  t.ok(passes(ofColumn('duplicate: {threshold: {must_be: 2}}'), [1, 1, 1, null, null]))
  t.ok(passes(ofColumn('duplicate: {threshold: {metric: percent, must_be: 50}}'), [1, 1, null]))
  t.equal(
    passes(ofTable('duplicate: {columns: [n]}'), [null, null]),
    false,
    'NULL is a value of several columns',
  )
  t.end()
})

t.test('numbers of all rows become metrics with limits', t => {
  const metricsOf = ({ document }: ReturnType<typeof convert>) => document.tables[TABLE]?.checks.metric
  t.match(metricsOf(ofTable('row_count:')), [{ metric_type: 'row_count', min: 1 }])
  t.match(metricsOf(ofTable('row_count: {threshold: {must_be_less_than: 9}}')), [{ max: 8 }])
  t.match(metricsOf(ofColumn('missing: {threshold: {metric: percent, must_be_less_than_or_equal: 5}}')), [
    { metric_type: 'null_percent', column_name: 'n', max: 5 },
  ])
  t.match(metricsOf(ofColumn('aggregate: {function: avg_length, threshold: {must_be: 3}}')), undefined)
  t.match(metricsOf(ofColumn('aggregate: {function: avglength, threshold: {must_be: 3}}')), [
    { metric_type: 'mean_length', min: 3, max: 3 },
  ])
  const between = 'must_be_between: {greater_than_or_equal: -3, less_than_or_equal: 5}'
  t.match(metricsOf(ofColumn(`aggregate: {function: sum, name: x, threshold: {${between}}}`)), [
    { metric_type: 'sum', min: -3, max: 5, name: 'x', severity: 'critical' },
  ])
  const filtered = ofTable('row_count: {filter: n > 1, threshold: {must_be: 3}}')
  t.match(metricsOf(filtered), [{ metric_type: 'row_count', min: 3, max: 3, filter: 'n > 1' }])
  const levels =
    'row_count: {threshold: {must_be_greater_than: 9, additional: {must_be_greater_than: 1, level: warn}}}'
  t.match(
    metricsOf(ofTable(levels)),
    [
      { min: 10, severity: 'critical' },
      { min: 2, severity: 'warning' },
    ],
    'each level is a metric of its severity',
  )
  t.end()
})

t.test('settings of a column hold for its checks, and filters for all', t => {
  const settings = '    missing_values: [-1]\n    valid_max: 9\n'
  t.ok(passes(ofColumn('missing: {threshold: {must_be: 2}}', settings), [-1, null, 3]))
  t.ok(passes(ofColumn('missing: {missing_values: [3], threshold: {must_be: 2}}', settings), [-1, null, 3]))
  t.ok(passes(ofColumn('invalid: {threshold: {must_be: 1}}', settings), [-1, 10, 3]))
  t.equal(passes(ofColumn('duplicate:', settings), [3, 3]), false)
  t.ok(passes(ofColumn('duplicate:', settings), [-1, -1]))
  t.match(ofColumn('aggregate: {function: avg, threshold: {must_be: 1}}', settings).left, [
    { reason: /valid values only/ },
  ])
  const filtered = contract('filter: n > 0\ncolumns: [{name: n, checks: [{duplicate: {filter: n < 5}}]}]\n')
  t.match(rulesOf(filtered), [{ rule_type: 'UNIQUE', filter: '(n > 0) and (n < 5)' }])
  const refused = contract(
    'filter: n in (select 1)\ncolumns: [{name: n, checks: [{duplicate: {filter: n < 5}}]}]\n',
  )
  t.match(refused.notes, [{ reason: /SELECT of its own/ }])
  t.equal(passes(refused, [0, 0, 5, 5]), true)
  t.equal(passes(refused, [1, 1]), false)
  const reference = 'valid_reference_data: {dataset: pg/shop/public/sizes, column: id}'
  const referring = contract(
    `filter: n > 0\ncolumns: [{name: n, checks: [{invalid: {filter: n < 5, ${reference}}}]}]\n`,
  )
  t.match(referring.document.tables[TABLE]?.checks.referential, [{ filter: '(n > 0) and (n < 5)' }])
  t.end()
})

t.test('what has no exact counterpart is left out with its place and the reason', t => {
  const reasonOf = (check: string) => ofTable(check).left
  t.match(reasonOf('schema:'), [{ line: 4, name: `schema of ${TABLE}`, reason: /data contract/ }])
  t.match(reasonOf('row_count: {threshold: {must_be: "${var.N}"}}'), [{ reason: /variable/ }])
  t.match(reasonOf('row_count: {scope: eu}'), [{ reason: /scope/ }])
  t.match(reasonOf('row_count: {threshold: {must_be: 1, must_not_be: 2}}'), [{ reason: /one comparison/ }])
  t.match(reasonOf('metric: {query: select 1, threshold: {must_be: 1}}'), [{ reason: /CUSTOM_SQL/ }])
  t.match(reasonOf('metric: {expression: sum(a)}'), [{ reason: /one comparison/ }])
  t.match(reasonOf('group_by:'), [{ reason: /no check of the contract language/ }])
  t.match(reasonOf('{type: no_missing_values, column: a}'), [{ reason: /only field/ }])
  t.match(ofColumn('missing:', '    column_expression: n::int\n').left, [{ reason: /expression/ }])
  t.match(contract('columns: []\nreconciliation: {}\n').left, [{ line: 3, name: 'reconciliation' }])
  t.match(contract('columns: [{name: n, checks: {missing: null}}]\n').left, [{ reason: /no list/ }])
  t.end()
})
