import Joi from 'joi'
import {
  failedJudgement,
  held,
  NO_BAND,
  publicIdOf,
  type AlertKind,
  type CheckKind,
  type CheckSpec,
} from 'tidemark/check-kind'
import { RowBudget } from './models.ts'

const budgetExceeded: AlertKind = {
  name: 'row_budget_exceeded',
  label: 'row_budget',
  title: 'too many rows',
  isRechecked: true,
  symptom: 'volume',
  details: Joi.object({ budget_id: held.text, rows: held.count, max_rows: held.count }),
  ruleIdOf: ({ cause }) => cause,
  facts: ({ rows, max_rows: most }, { fill }) => [
    ['Found', fill`${rows} rows`],
    ['Expected', fill`at most ${most} rows`],
  ],
}

/** A built-in metric, so that scans count the rows once for budgets and metrics. */
const ROWS: CheckSpec = { type: 'row_count', config: {} }

export const rowBudgets: CheckKind<RowBudget> = {
  name: 'row_budget',
  feature: 'row-budgets',
  label: 'Row budget',
  idPrefix: 'b_',
  model: RowBudget,
  alert: budgetExceeded,
  specs: budgets => budgets.map(() => ROWS),
  judge({ maxRows }, outcome, _moment, state) {
    if (outcome.status !== 'measured' || outcome.value === null)
      return failedJudgement(outcome, 'The rows were not counted', state)
    const { value, total: totalRows } = outcome
    const status = value > maxRows ? 'fail' : 'pass'
    const judged = { status, value, totalRows, errorMessage: null, details: {}, ...NO_BAND } as const
    return { judged, state, detection: null, bands: [] }
  },
  alertTexts: ({ row: budget }, { judged: { value } }) => ({
    severity: budget.severity,
    ruleName: budget.name,
    title: { found: `${value} rows`, expected: `at most ${budget.maxRows}` },
    details: { budget_id: publicIdOf(rowBudgets, budget), rows: value, max_rows: budget.maxRows },
  }),
  describe: ({ name, severity, maxRows }, [result]) => ({
    name,
    severity,
    status: result!.status,
    message: result!.errorMessage ?? `${result!.value} rows, expected at most ${maxRows}`,
  }),
}
