import t from 'tap'
import { describeChangeValue } from '../../../../plugins/catalog/drift/value-text.ts'

t.test('a value of a schema change is one line', async t => {
  const column = { name: 'total', data_type: 'numeric(10,2)', nullable: true }
  const cases: [object | null, string, string | null][] = [
    [null, 'column_added', null],
    [column, 'column_added', 'numeric(10,2)'],
    [column, 'column_renamed', 'total'],
    [{ ...column, nullable: false, default: '0' }, 'column_type_changed', 'numeric(10,2) not null default 0'],
    [{ ...column, default: null, base_type: 'numeric' }, 'column_type_changed', 'numeric(10,2) (numeric)'],
    [{ name: 'orders', type: 'table', columns: 1 }, 'table_added', 'table, 1 column'],
    [
      { name: 'orders', type: 'materialized_view', columns: 3 },
      'table_removed',
      'materialized_view, 3 columns',
    ],
    [{ partition_of: 'shop.app.events' }, 'table_removed', 'partition of shop.app.events'],
    [{ name: 'pk', type: 'primary_key', columns: ['a', 'b'] }, 'constraint_changed', 'primary key (a, b)'],
    [
      {
        name: 'u',
        type: 'unique',
        columns: ['a', 'b'],
        prefix_lengths: [10, null],
        nulls_not_distinct: true,
      },
      'constraint_changed',
      'unique (a(10), b) nulls not distinct',
    ],
    [
      {
        name: 'fk',
        type: 'foreign_key',
        columns: ['customer_id'],
        references: { table: 'shop.app.customers', columns: ['id'] },
        match: 'full',
        on_delete: 'set_null',
        on_update: 'cascade',
        deferrable: true,
        initially_deferred: true,
      },
      'constraint_changed',
      'foreign key (customer_id) references shop.app.customers (id) match full on delete set null on update cascade deferrable initially deferred',
    ],
  ]
  for (const [value, type, line] of cases) t.equal(describeChangeValue(value, type), line)
})
