import {
  checksWithNames,
  columnsOf,
  defaultsOf,
  formatName,
  insertChecks,
  presentFields,
  publicIdOf,
  validateBody,
  withoutDefaults,
  type CheckFields,
  type CheckResource,
  type CheckResult,
  type ChecksApi,
  type CheckToStore,
  type Database,
} from 'tidemark/check-kind'
import {
  budgetFields,
  declaredBudget,
  dryRunBody,
  dryRunReply,
  replies,
  schemas,
  type BudgetPatch,
  type NewBudget,
} from './fields.ts'
import { rowBudgets } from './kind.ts'
import { RowBudget, type NamedBudget } from './models.ts'

interface Deps {
  db: Database
  checks: ChecksApi
}

/** What is measured for a budget, as a metric would be. */
const ROWS = {
  family: 'metric',
  type: 'row_count',
  typeField: 'metric_type',
  column: undefined,
  config: {},
  configField: undefined,
} as const

/** Row budgets as the API offers them. */
export function budgetResource({ db, checks }: Deps): CheckResource<RowBudget> {
  return {
    kind: rowBudgets,
    names: {
      path: 'row-budgets',
      one: 'row budget',
      many: 'row budgets',
      id: 'budget_id',
      run: 'check',
      results: 'results',
      audit: 'row_budget',
      notFound: 'NOT_FOUND',
      errors: ['ASSET_NOT_FOUND', 'NOT_FOUND'],
    },
    schemas,
    replies,
    identify: ({ name }) => ({ title: `Row budget ${name}`, details: { name } }),
    subjectOf: ({ tableId }) => ({ tableId, type: 'row_budget', column: null }),
    async create(companyId, assetId, body, audit) {
      const { table_path: path, ...fields } = body as NewBudget
      const table = await checks.configure(companyId, assetId, { ...ROWS, tablePath: path })
      return db.company(companyId, async trx => {
        const [budget] = await insertChecks(trx, RowBudget, [rowOf(table, fields)])
        await audit(trx, budget!)
        return presentBudget(budget!)
      })
    },
    present: (_trx, budget) => presentBudget(budget),
    changeOf: (_trx, _budget, patch) => ({
      columns: columnsOf<RowBudget>(budgetFields, patch as BudgetPatch),
    }),
    presentRun: (_budget, [result]) => presentResult(result!),
    presentResult,
    declaration: {
      kind: rowBudgets.name,
      body: declaredBudget,
      fixedFields: () => [],
      engineFields: [],
      async list(trx, source) {
        const budgets = await checksWithNames(trx, RowBudget)
          .where('checks.sourceId', source.id)
          .orderBy('checks.id')
        return budgets.map(budget => {
          const fields = presentFields(budgetFields, budget)
          return {
            id: publicIdOf(rowBudgets, budget),
            tableId: budget.tableId,
            tablePath: pathOf(budget),
            isTableActive: budget.isTableActive,
            owner: budget.ownerRef,
            fields,
            body: withoutDefaults(fields, { ...DEFAULTS, name: usualName(budget.ofTable) }),
          }
        })
      },
      read: async ({ table }, body) => complete(table, validateBody<CheckFields>(declaredBudget, body)),
      complete,
      rowsOf: async (_trx, all) => all.map(({ table, fields }) => rowOf(table, fields)),
    },
    dryRun: {
      body: dryRunBody,
      reply: dryRunReply,
      async measure(companyId, body) {
        const { asset_id: assetId, table_path: path, ...fields } = body as NewBudget & { asset_id: string }
        const configured = await checks.configure(companyId, assetId, { ...ROWS, tablePath: path })
        const { statements, outcome, at } = await checks.dryRun(configured, null)
        const budget = RowBudget.fromJson(rowOf(configured, fields))
        const { judged } = rowBudgets.judge(budget, outcome, { at, wasActive: null }, null)
        return { sql: statements, ...presentMeasured(judged) }
      },
    },
  }
}

const DEFAULTS = defaultsOf(budgetFields)

const usualName = (table: string) => `rows of ${table}`

const complete = (table: { name: string }, body: CheckFields): CheckFields => ({
  ...DEFAULTS,
  name: usualName(table.name),
  ...body,
})

function rowOf({ source, table }: CheckToStore['table'], fields: object) {
  return {
    sourceId: source.id,
    tableId: table.id,
    type: 'row_budget',
    name: usualName(table.name),
    ...columnsOf<RowBudget>(budgetFields, fields),
  }
}

const pathOf = ({ catalogName, schemaName, ofTable }: NamedBudget) =>
  formatName([catalogName, schemaName, ofTable])

const presentBudget = (budget: NamedBudget) => ({
  id: publicIdOf(rowBudgets, budget),
  asset_id: budget.tableId,
  table_path: pathOf(budget),
  ...presentFields(budgetFields, budget),
  status: budget.status,
})

const presentMeasured = ({
  status,
  value,
  errorMessage,
}: Pick<CheckResult, 'status' | 'value' | 'errorMessage'>) => ({
  status,
  rows: value,
  error_message: errorMessage,
})

const presentResult = (result: CheckResult) => ({
  id: Number(result.id),
  ...presentMeasured(result),
  checked_at: result.at,
})
