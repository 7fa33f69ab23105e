import t from 'tap'
import { failsWhen } from '../../../../plugins/monitors/import/sql-text.ts'

/** The condition in which a number fails, its unit, and what it must be. */
const CASES: [string, string | undefined, string][] = [
  ['value > 10', 'failing rows', 'at most 10'],
  ['value <> 0', 'rows', '0'],
  ['not (value = 0)', undefined, '0'],
  ['not (value < 5)', '%', 'less than 5 %'],
  ['not (value between 1 and 5)', '%', 'between 1 and 5 %'],
  ['value < 0.5 or value > 0.9', undefined, 'at least 0.5 and at most 0.9'],
  ['value is null or not (value >= 1 and value < 9)', undefined, 'at least 1 and less than 9'],
  ['value is null or value <> 3', undefined, '3'],
  ['value % 2 = 0', undefined, 'not % 2 = 0'],
]

t.test('an imported threshold says what its number must be', t => {
  for (const [failed, unit, expected] of CASES)
    t.match(
      failsWhen({ value: 'count(*)', from: 'orders' }, failed, unit),
      {
        rule_type: 'CUSTOM_SQL',
        rule_config: {
          ...{ sql_expression: new RegExp('^select value from'), expected, value_column: 'value' },
          ...(unit !== undefined && { value_unit: unit }),
        },
      },
      failed,
    )
  t.end()
})
