import t from 'tap'
import { importSuites } from '../../../../plugins/monitors/import/great-expectations.ts'
import { startImport } from '../../../../plugins/monitors/import/import-draft.ts'
import { readMonitors, writeMonitors } from '../../../../plugins/monitors/file/monitors-file.ts'
import type { SqlEngine } from '../../../../plugins/monitors/import/sql-text.ts'

function convert(type: string, kwargs: object, engine: SqlEngine = 'postgresql') {
  const draft = startImport('shop')
  const text = JSON.stringify({ expectations: [{ type, kwargs, meta: {} }] })
  importSuites([{ name: 'suite.json', text }], draft, { engine, table: 'public.orders' })
  const { document, left } = draft.finish()
  readMonitors(writeMonitors(document), 'written.yaml')
  const check = document.tables['public.orders']?.checks.validity?.[0]
  return { check, sql: (check?.rule_config as { sql_expression?: string } | undefined)?.sql_expression, left }
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

t.test('expectations of the whole table compare a number', t => {
  t.equal(
    convert('expect_table_row_count_to_be_between', { min_value: 1, max_value: 9 }).sql,
    'select 1 as failed from (select count(*) as value from public.orders) measured where value is null or not (value >= 1 and value <= 9)',
  )
  t.match(
    convert('expect_column_max_to_be_between', { column: 'Total', max_value: 9 }, 'mysql').sql,
    /max\(`Total`\)/,
  )
  t.match(
    convert('expect_compound_columns_to_be_unique', { column_list: ['a', 'b'] }).sql,
    /group by a, b having count\(\*\) > 1/,
  )
  t.end()
})

t.test('what has no exact counterpart is left out with the reason', t => {
  const reasonOf = (type: string, kwargs: object = { column: 'a' }, engine?: SqlEngine) =>
    convert(type, kwargs, engine).left[0]?.reason
  t.match(reasonOf('expect_column_to_exist'), /schema/)
  t.match(reasonOf('expect_column_kl_divergence_to_be_less_than'), /no exact counterpart/)
  t.match(reasonOf('expect_column_values_to_be_in_set', { column: 'a', value_set: [] }), /value_set/)
  t.match(
    reasonOf('expect_column_values_to_not_be_null', { column: 'a', row_condition: 'b > 1' }),
    /row_condition/,
  )
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
