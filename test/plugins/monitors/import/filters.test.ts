import t from 'tap'
import { importDbt } from '../../../../plugins/monitors/import/dbt.ts'
import { importSuites } from '../../../../plugins/monitors/import/great-expectations.ts'
import type { ImportDraft, ImportResult } from '../../../../plugins/monitors/import/import-draft.ts'
import { importSoda } from '../../../../plugins/monitors/import/soda.ts'
import type { Check } from '../../../../checks/check.ts'
import { explainScan } from '../../../../checks/scan.ts'
import { check, ORDERS, run } from '../../../checks/scan-helpers.ts'
import { postgresqlStand } from '../../../checks/test-databases.ts'
import { startDraft, startDraftWithoutFilters } from './draft.ts'

const FILTERS = ["status = 'paid'", 'amount > 10', "status = 'new' and amount is not null"]
/** Fifty of each: `make` is called with a number that is different for each. */
const fifty = <Made>(make: (index: number) => Made): Made[] => Array.from({ length: 50 }, (_, n) => make(n))
const filterAt = (index: number): string => FILTERS[index % FILTERS.length]!

const ENGINE = { engine: 'postgresql' } as const

/** Two hundred checks of a table, all with a filter: fifty each of dbt, Great Expectations, and Soda Core 3 and 4. */
function importAll(draft: ImportDraft): ImportResult {
  const dbtTests = fifty(index => {
    const config = { where: filterAt(index) }
    const args = [
      { not_null: { config } },
      { unique: { config } },
      { 'dbt_utils.accepted_range': { min_value: 0, max_value: 100 + index, config } },
      { accepted_values: { values: [5, index], quote: false, config } },
    ]
    return args[index % args.length]
  })
  const dbt = { models: [{ name: 'orders', columns: [{ name: 'amount', tests: dbtTests }] }] }
  importDbt([{ name: 'schema.yml', text: JSON.stringify(dbt) }], draft, ENGINE)
  const expectations = fifty(index => {
    const row_condition = { type: 'comparison', column: { name: 'id' }, operator: '>', parameter: index % 5 }
    const given = [
      ['expect_column_values_to_not_be_null', {}],
      ['expect_column_values_to_be_between', { min_value: 0, max_value: index }],
      ['expect_column_sum_to_be_between', { min_value: 1, max_value: 1_000 + index }],
      ['expect_column_values_to_be_unique', {}],
    ] as const
    const [type, kwargs] = given[index % given.length]!
    return { type, kwargs: { column: 'amount', row_condition, ...kwargs } }
  })
  const suite = JSON.stringify({ expectations })
  importSuites([{ name: 'suite.json', text: suite }], draft, { ...ENGINE, table: 'orders' })
  const sodaChecks = fifty(index => {
    const names = [
      'missing_count(email) = 0',
      'duplicate_count(amount) = 0',
      'avg(amount) <= 9',
      'row_count > 0',
    ]
    return { [names[index % names.length]!]: { filter: filterAt(index) } }
  })
  const contractChecks = fifty(index => {
    const filter = filterAt(index)
    const checks = [
      { missing: { filter } },
      { invalid: { filter, valid_min: 0, valid_max: index } },
      { aggregate: { filter, function: 'max', threshold: { must_be_less_than_or_equal: index } } },
      { duplicate: { filter } },
    ]
    return { ...checks[index % checks.length] }
  })
  const contract = { dataset: 'pg/orders', columns: [{ name: 'amount', checks: contractChecks }] }
  importSoda(
    [
      { name: 'checks.yml', text: JSON.stringify({ 'checks for orders': sodaChecks }) },
      { name: 'contract.yml', text: JSON.stringify(contract) },
    ],
    draft,
    ENGINE,
  )
  return draft.finish()
}

/** The checks of an import as a scan measures them. */
function checksOf({ document }: ImportResult): Check[] {
  const { validity = [], metric = [] } = document.tables.orders?.checks ?? {}
  return [...validity, ...metric].map(entry => {
    const { rule_type, metric_type, column_name, rule_config, filter } = entry as {
      rule_type?: string
      metric_type?: string
      column_name?: string
      rule_config?: Record<string, unknown>
      filter?: string
    }
    return check(rule_type ?? metric_type ?? '', column_name, rule_config, { filter })
  })
}

t.test('two hundred imported checks with filters read their table in one statement', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(ORDERS, [
    [5, 'paid', 'a@b'],
    [20, 'new', null],
  ])
  const imported = importAll(startDraft())
  t.equal(imported.converted, 200)
  const { statements, outcomes } = await run(on, table, checksOf(imported))
  t.same(
    outcomes.filter(({ status }) => status === 'error'),
    [],
  )
  t.equal(statements, 1)

  const before = importAll(startDraftWithoutFilters())
  t.equal(before.converted, 150, 'a condition on rows of Great Expectations has no SELECT of its own')
  const explained = await explainScan(on.engine, table, checksOf(before))
  t.equal(explained.length, 150, 'SELECTs have a statement each')
})
