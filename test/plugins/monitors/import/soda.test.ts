import t from 'tap'
import { importSoda } from '../../../../plugins/monitors/import/soda.ts'
import { startImport } from '../../../../plugins/monitors/import/import-draft.ts'
import { readMonitors, writeMonitors } from '../../../../plugins/monitors/file/monitors-file.ts'

function convert(text: string) {
  const draft = startImport('shop')
  importSoda([{ name: 'checks.yml', text }], draft, { engine: 'postgresql' })
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

t.test('other comparisons become a SELECT that returns a row when they fail', t => {
  const start = 'select 1 as failed from (select'
  t.equal(sqlOf('row_count > 0'), `${start} count(*) as value from orders) measured where not (value > 0)`)
  t.match(sqlOf('row_count between 10 and 20'), /not \(\(value >= 10 and value <= 20\)\)$/)
  t.match(sqlOf('max(n) between (1 and 2.5]'), /max\(n\).*not \(\(value > 1 and value <= 2\.5\)\)$/)
  t.match(sqlOf('missing_percent(a) < 5 %'), /100\.0 \* coalesce.*not \(value < 5\)$/)
  t.match(sqlOf('avg(n) > 1:\n      filter: n > 0'), /from orders where n > 0\)/)
  t.match(
    sqlOf('invalid_count(s) < 3:\n      valid max length: 2'),
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
  const { document } = one('row_count:\n      warn: when < 10\n      fail: when < 1')
  t.match(document.tables.orders?.checks.validity, [
    { severity: 'critical', rule_config: { sql_expression: /where value < 1$/ } },
    { severity: 'warning', rule_config: { sql_expression: /where value < 10$/ } },
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
  t.match(convert('checks for orders [daily]:\n  - row_count > 0\n').left, [{ reason: /partition/ }])
  t.match(convert('filter orders [daily]:\n  where: a > 1\n').left, [{ reason: /filter/ }])
  t.end()
})

t.test('what is not read is left out, not dropped in silence', t => {
  const left = (text: string) => convert(text).left.map(({ line, reason }) => [line, reason])
  t.match(left('- a list'), [[null, /no object/]])
  t.match(left('checks for orders:\n  row_count > 0\n'), [[1, /no list of checks/]])
  t.match(left('for each dataset D:\n  checks: [row_count > 0]\n'), [[1, /names no table/]])
  t.match(left('checks for orders:\n  - row_count > 0:\n    filter: x = 1\n'), [[2, /several keys/]])
  t.match(left('checks for orders:\n  - row_count > 0:\n      <<: 1\n'), [
    [3, /<</],
    [2, /<</],
  ])
  t.match(left('checks for orders:\n  - constructor(x) > 0\n'), [[2, /metric of the project/]])
  const { document } = convert(
    'for each dataset D:\n  datasets: [orders, dim_date, include items, exclude dim_%]\n  checks: [row_count > 0]\n',
  )
  t.strictSame(Object.keys(document.tables), ['orders', 'items'])
  t.end()
})
