/** Constructs of other tools about one table, and the data they are judged on. */

export const TABLES = [
  `create table customers (id int, name text)`,
  `create table orders (id int, customer_id int, status text, total numeric(10, 2), email text, note text,
     created_at timestamptz)`,
  `insert into customers select n, 'customer ' || n from generate_series(1, 20) n`,
]

/** States of the table, each a list of statements. */
export const STATES: Record<string, string[]> = {
  clean: [
    `insert into orders select n, n % 20 + 1, (array['new', 'paid', 'shipped'])[n % 3 + 1], n, 'a' || n || '@x.org',
       'note', now() from generate_series(1, 100) n`,
  ],
  'with some faults': [
    `insert into orders select n, n % 20 + 1, (array['new', 'paid', 'shipped'])[n % 3 + 1], n, 'a' || n || '@x.org',
       'note', now() from generate_series(1, 100) n`,
    `update orders set id = null, total = null where id in (3, 4)`,
    `update orders set id = 10, status = 'lost', total = -1 where id in (11, 12)`,
    `update orders set customer_id = 99, email = 'none', note = ' ' where id in (20, 21)`,
  ],
  'with many faults': [
    `insert into orders select n % 40, n % 30 + 1, case when n % 4 = 0 then 'lost' when n % 4 = 1 then 'paid' end,
       n - 50, case when n % 3 > 0 then 'x' || n end, '', null from generate_series(1, 100) n`,
  ],
  empty: [],
}

/** Tests of dbt on columns of `orders`, or on the table where the column is ''. */
export const DBT_TESTS: [column: string, test: string, args?: object, config?: object][] = [
  ['id', 'not_null'],
  ['id', 'unique'],
  ['id', 'not_null', {}, { severity: 'warn' }],
  ['id', 'not_null', {}, { error_if: '>10', warn_if: '>0' }],
  ['id', 'unique', {}, { error_if: '>=1000' }],
  ['id', 'unique', {}, { where: `status = 'paid'` }],
  ['total', 'not_null', {}, { where: `total > 0 or status = 'lost'` }],
  ['status', 'accepted_values', { values: ['new', 'paid', 'shipped'] }],
  ['status', 'accepted_values', { values: ['new', 'paid'] }, { severity: 'warn' }],
  ['status', 'accepted_values', { values: ['new', 'paid', 'shipped', true] }],
  ['status', 'accepted_values', { values: ['new', 'paid', 'shipped'] }, { error_if: '>1', warn_if: '>0' }],
  ['customer_id', 'accepted_values', { values: [1, 2, 3], quote: false }],
  ['customer_id', 'relationships', { to: "source('shop', 'customers')", field: 'id' }],
  [
    'customer_id',
    'relationships',
    { to: "source('shop', 'customers')", field: 'id' },
    { where: `status <> 'lost'` },
  ],
  ['customer_id', 'relationships', { to: "source('shop', 'customers')", field: 'id' }, { error_if: '>5' }],
  ['id', 'unique', {}, { where: `total > 20 or note = ''` }],
  ['id', 'not_null', {}, { where: 'total > 0', severity: 'warn' }],
  ['id', 'not_null', {}, { where: 'customer_id in (select id from customers where id > 3)' }],
  ['status', 'accepted_values', { values: ['new', 'paid'] }, { where: `status <> 'shipped'` }],
  ['email', 'not_null', {}, { where: `status = 'paid' and total < 20` }],
]

const column = (name: string, more: object = {}) => ({ column: name, ...more })

const compare = (name: string, operator: string, parameter: unknown) => ({
  ...{ type: 'comparison', column: { name }, operator, parameter },
})

export const EXPECTATIONS: [type: string, kwargs: object][] = [
  ['expect_column_values_to_not_be_null', column('id')],
  ['expect_column_values_to_not_be_null', column('id', { mostly: 0.98 })],
  ['expect_column_values_to_not_be_null', column('id', { mostly: 0.99 })],
  ['expect_column_values_to_be_null', column('note', { mostly: 0.5 })],
  ['expect_column_values_to_be_unique', column('id')],
  ['expect_column_values_to_be_in_set', column('status', { value_set: ['new', 'paid', 'shipped'] })],
  [
    'expect_column_values_to_be_in_set',
    column('status', { value_set: ['new', 'paid', 'shipped'], mostly: 0.95 }),
  ],
  ['expect_column_values_to_be_in_set', column('status', { value_set: ['new', 'paid'], mostly: 0.66 })],
  ['expect_column_values_to_not_be_in_set', column('status', { value_set: ['lost'] })],
  ['expect_column_values_to_be_between', column('total', { min_value: 0, max_value: 100 })],
  ['expect_column_values_to_be_between', column('total', { min_value: 0 })],
  ['expect_column_values_to_be_between', column('total', { min_value: 1, strict_min: true })],
  ['expect_column_values_to_be_between', column('total', { max_value: 100, strict_max: true, mostly: 0.9 })],
  ['expect_column_values_to_match_regex', column('email', { regex: '@' })],
  ['expect_column_values_to_match_regex', column('email', { regex: '@', mostly: 0.5 })],
  ['expect_column_values_to_not_match_regex', column('email', { regex: '^x' })],
  ['expect_column_value_lengths_to_be_between', column('status', { min_value: 3, max_value: 7 })],
  ['expect_column_value_lengths_to_be_between', column('note', { min_value: 1 })],
  ['expect_column_value_lengths_to_equal', column('note', { value: 4 })],
  ['expect_column_pair_values_to_be_equal', { column_A: 'id', column_B: 'total' }],
  ['expect_column_pair_values_a_to_be_greater_than_b', { column_A: 'id', column_B: 'customer_id' }],
  [
    'expect_column_pair_values_a_to_be_greater_than_b',
    { column_A: 'id', column_B: 'total', or_equal: true, ignore_row_if: 'either_value_is_missing' },
  ],
  // NULL in either column, in each way to look at it.
  ...['both_values_are_missing', 'either_value_is_missing', 'neither'].flatMap(
    (ignored): [string, object][] => [
      [
        'expect_column_pair_values_to_be_equal',
        { column_A: 'id', column_B: 'total', ignore_row_if: ignored },
      ],
      [
        'expect_column_pair_values_a_to_be_greater_than_b',
        { column_A: 'customer_id', column_B: 'total', ignore_row_if: ignored },
      ],
      [
        'expect_column_pair_values_to_be_in_set',
        { column_A: 'status', column_B: 'note', value_pairs_set: [['lost', 'note']], ignore_row_if: ignored },
      ],
    ],
  ),
  ...['all_values_are_missing', 'any_value_is_missing', 'never'].flatMap((ignored): [string, object][] => [
    [
      'expect_compound_columns_to_be_unique',
      { column_list: ['customer_id', 'note'], ignore_row_if: ignored },
    ],
    [
      'expect_select_column_values_to_be_unique_within_record',
      { column_list: ['status', 'note', 'email'], ignore_row_if: ignored },
    ],
    [
      'expect_multicolumn_sum_to_equal',
      { column_list: ['id', 'total'], sum_total: 200, ignore_row_if: ignored },
    ],
  ]),
  ['expect_compound_columns_to_be_unique', { column_list: ['id', 'status'] }],
  ['expect_table_row_count_to_be_between', { min_value: 1, max_value: 1_000 }],
  ['expect_table_row_count_to_equal', { value: 100 }],
  ['expect_column_max_to_be_between', column('total', { min_value: 60, max_value: 100 })],
  ['expect_column_min_to_be_between', column('total', { min_value: 0 })],
  ['expect_column_mean_to_be_between', column('total', { min_value: 10, max_value: 60 })],
  ['expect_column_sum_to_be_between', column('total', { min_value: 1_000 })],
  ['expect_column_unique_value_count_to_be_between', column('status', { min_value: 3, max_value: 3 })],
  ['expect_column_proportion_of_unique_values_to_be_between', column('id', { min_value: 0.9 })],
  // With a condition on rows, in each way to write it.
  ...[
    { row_condition: 'col("status") == "paid"', condition_parser: 'great_expectations' },
    { row_condition: 'col("status")!="lost"', condition_parser: 'great_expectations__experimental__' },
    { row_condition: 'col("total").notNull()', condition_parser: 'great_expectations' },
    { row_condition: 'col("total") >= -10.5', condition_parser: 'great_expectations' },
    { row_condition: compare('status', 'NOT_IN', ['lost', 'new']) },
    {
      row_condition: {
        type: 'or',
        conditions: [
          { type: 'nullity', column: { name: 'status' }, is_null: true },
          {
            type: 'and',
            conditions: [compare('total', '>', 0), compare('customer_id', '<=', 12.5)],
          },
        ],
      },
    },
  ].flatMap((condition): [string, object][] => [
    ['expect_column_values_to_not_be_null', column('id', { mostly: 0.98, ...condition })],
    ['expect_column_values_to_be_unique', column('id', condition)],
    ['expect_column_values_to_be_in_set', column('status', { value_set: ['new', 'paid'], ...condition })],
    [
      'expect_column_values_to_be_in_set',
      column('status', { value_set: ['paid'], mostly: 0.5, ...condition }),
    ],
    ['expect_table_row_count_to_be_between', { min_value: 20, max_value: 80, ...condition }],
    ['expect_column_sum_to_be_between', column('total', { min_value: 1_000, ...condition })],
    ['expect_column_max_to_be_between', column('total', { max_value: 60, ...condition })],
    ['expect_compound_columns_to_be_unique', { column_list: ['id', 'status'], ...condition }],
    [
      'expect_column_pair_values_a_to_be_greater_than_b',
      { column_A: 'customer_id', column_B: 'total', ...condition },
    ],
  ]),
]

export const SODA_CHECKS: [check: string, config?: object][] = [
  ['row_count > 0'],
  ['row_count between 50 and 100'],
  ['missing_count(id) = 0'],
  ['missing_count(id) < 3'],
  ['missing_percent(id) < 2 %'],
  ['missing_percent(id) <= 2 %'],
  ['duplicate_count(id) = 0'],
  ['duplicate_count(id) < 20'],
  ['duplicate_count(id, status) = 0'],
  ['duplicate_count(id) = 0', { filter: `status = 'paid'` }],
  ['stddev(total) < 29.1'],
  ['row_count same as customers'],
  ['invalid_count(status) = 0', { 'valid values': ['new', 'paid', 'shipped'] }],
  ['invalid_count(status) < 3', { 'valid values': ['new', 'paid', 'shipped'] }],
  ['invalid_percent(status) < 3', { 'valid values': ['new', 'paid', 'shipped'] }],
  ['invalid_count(total) = 0', { 'valid min': 0, 'valid max': 100 }],
  ['invalid_count(total) = 0', { 'valid min': 0 }],
  ['invalid_count(email) = 0', { 'valid regex': '.*@.*' }],
  ['invalid_count(email) < 3', { 'valid regex': '.*@.*' }],
  ['invalid_count(status) = 0', { 'valid max length': 7, 'missing values': ['lost'] }],
  ['missing_count(status) = 0', { 'missing values': ['lost'] }],
  ['avg(total) between 10 and 60'],
  ['max(total) <= 100'],
  ['min(total) >= 0', { filter: `status = 'paid'` }],
  ['sum(total) > 1000'],
  ['max_length(status) <= 7'],
  ['missing_count(id) = 0', { filter: `status = 'paid' or total > 0` }],
  ['invalid_count(status) = 0', { 'valid values': ['new', 'paid'], filter: 'total > 10' }],
  ['avg(total) <= 50', { filter: 'id > 5' }],
  ['missing_percent(id) <= 1 %', { filter: `status = 'paid'` }],
  ['missing_count(id)', { warn: 'when > 0', fail: 'when > 10' }],
  ['row_count', { fail: 'when < 10' }],
  ['values in (customer_id) must exist in customers (id)'],
  ['failed rows', { 'fail condition': 'total < 0' }],
  ['failed rows', { 'fail query': 'select * from orders where customer_id > 50' }],
  ['spread < 150', { 'spread expression': 'max(total) - min(total)' }],
]

/** Checks of the section `checks for orders [part]`, with its filter. */
export const SODA_PART = "(status = 'paid' or total < 0)"
export const SODA_PART_CHECKS: typeof SODA_CHECKS = [
  ['row_count between 20 and 40'],
  ['missing_count(id) = 0'],
  ['missing_count(id) = 0', { filter: `total > 0 or note = ''` }],
  ['missing_count(id) < 2'],
  ['missing_percent(id) <= 2 %'],
  ['duplicate_count(id) = 0'],
  ['duplicate_count(id) = 0', { filter: 'total > 20' }],
  ['invalid_count(status) = 0', { 'valid values': ['new', 'paid'] }],
  ['invalid_count(total) = 0', { 'valid min': 0, 'valid max': 90, filter: 'id > 5' }],
  ['avg(total) between 10 and 60'],
  ['max(total) <= 90', { filter: 'id > 5' }],
  ['values in (customer_id) must exist in customers (id)'],
  ['failed rows', { 'fail condition': 'total < 0' }],
  ['failed rows', { 'fail query': 'select * from orders where customer_id > 50' }],
]

/** Settings of columns, beside checks that they change. */
export const SODA_CONFIGURATIONS = {
  'missing values for status': ['lost'],
  'valid values for status': ['new', 'paid'],
  'valid min for total': 1,
  'missing regex for note': '^$',
}
export const CONFIGURED_SODA_CHECKS: typeof SODA_CHECKS = [
  ['missing_count(status) = 0'],
  ['missing_percent(status) < 3'],
  ['missing_count(status) < 20', { 'missing values': ['shipped'] }],
  ['invalid_count(status) = 0'],
  ['invalid_count(status) = 0', { 'valid values': ['shipped'] }],
  ['invalid_count(total) = 0'],
  ['invalid_count(total) < 30', { 'valid max': 90 }],
  ['invalid_percent(total) < 30', { 'valid min': 10 }],
  ['avg(total) between 1 and 60'],
  ['missing_count(note) = 0'],
  ['missing_count(id) = 0'],
  ['row_count > 0'],
]

/** Checks of a contract of Soda Core 4 on a column of `orders`, or on the table where the column is ''. */
export const SODA_CONTRACT_CHECKS: [column: string, check: string, fields?: object][] = [
  ['', 'row_count'],
  ['', 'row_count', { threshold: { must_be_between: { greater_than: 50, less_than: 101 } } }],
  ['', 'row_count', { filter: `status = 'paid'`, threshold: { must_be_greater_than: 30 } }],
  ['', 'duplicate', { columns: ['id', 'status'] }],
  [
    '',
    'duplicate',
    { columns: ['customer_id', 'note'], threshold: { metric: 'percent', must_be_less_than: 50 } },
  ],
  ['', 'failed_rows', { expression: 'total < 0' }],
  ['', 'failed_rows', { query: 'select * from orders where customer_id > 50' }],
  ['', 'metric', { expression: 'max(total) - min(total)', threshold: { must_be_less_than: 150 } }],
  ['id', 'missing'],
  ['id', 'missing', { threshold: { must_be_less_than: 3 } }],
  ['id', 'missing', { threshold: { level: 'warn', must_be: 0 } }],
  ['id', 'missing', { threshold: { metric: 'percent', must_be_less_than_or_equal: 2 } }],
  ['id', 'missing', { filter: `status = 'paid'` }],
  ['status', 'missing', { missing_values: ['lost'] }],
  ['id', 'duplicate'],
  ['id', 'duplicate', { threshold: { must_be_less_than: 20 } }],
  ['id', 'duplicate', { threshold: { metric: 'percent', must_be_less_than: 3 } }],
  ['status', 'invalid', { valid_values: ['new', 'paid', 'shipped'] }],
  ['status', 'invalid', { valid_values: ['new', 'paid', 'shipped'], threshold: { must_be_less_than: 3 } }],
  [
    'status',
    'invalid',
    { valid_values: ['new', 'paid'], threshold: { metric: 'percent', must_be_less_than: 34 } },
  ],
  ['status', 'invalid', { invalid_values: ['lost'] }],
  ['status', 'invalid', { valid_max_length: 7, valid_min_length: 3 }],
  ['total', 'invalid', { valid_min: 0, valid_max: 100 }],
  ['total', 'invalid', { valid_min: 0 }],
  ['email', 'invalid', { valid_format: { name: 'address', regex: '^.*@.*$' } }],
  [
    'customer_id',
    'invalid',
    { valid_reference_data: { dataset: 'shop/postgres/public/customers', column: 'id' } },
  ],
  [
    'total',
    'aggregate',
    { function: 'avg', threshold: { must_be_between: { greater_than: 10, less_than: 60 } } },
  ],
  ['total', 'aggregate', { function: 'max', threshold: { must_be_less_than_or_equal: 100 } }],
  [
    'total',
    'aggregate',
    { function: 'min', filter: `status = 'paid'`, threshold: { must_be_greater_than: -1 } },
  ],
  ['total', 'aggregate', { function: 'sum', threshold: { must_be_greater_than: 1_000 } }],
  ['status', 'aggregate', { function: 'max_length', threshold: { must_be_less_than_or_equal: 7 } }],
  ['id', 'metric', { expression: 'count(distinct id)', threshold: { must_be_greater_than: 90 } }],
  ['id', 'duplicate', { filter: `status = 'paid' or total < 0` }],
  ['status', 'invalid', { valid_values: ['new', 'paid'], filter: 'total > 10' }],
  ['', 'failed_rows', { expression: 'total < 0', filter: `status = 'paid'` }],
  ['id', 'missing', { filter: 'total > 0', threshold: { metric: 'percent', must_be_less_than_or_equal: 1 } }],
  [
    'customer_id',
    'invalid',
    {
      filter: `status <> 'lost'`,
      valid_reference_data: { dataset: 'shop/postgres/public/customers', column: 'id' },
    },
  ],
]
